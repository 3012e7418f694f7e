//! Answers that are no good version of a feed. Each leaves the file as it is, byte for byte, and the exit status says so.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crawlward_tests::publisher::{Asked, Connection, respond};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, now, says};

/// A lab whose publisher answers so, after an update that went well.
fn then(answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static) -> Lab {
    let lab = Lab::updated();
    lab.publisher.answer(answer);
    lab
}

/// The next run fails for this reason, and nothing is lost.
fn fails(lab: &Lab, arguments: &[&str], reason: &str) {
    let files = lab.files();
    let done = lab.update(arguments);
    assert_eq!(done.status, 1, "{reason}: {done:?}");
    assert!(done.stderr.contains(reason), "{reason}: {}", done.stderr);
    assert!(done.stderr.contains("lab.txt is left unchanged"), "{}", done.stderr);
    assert_eq!(done.stdout, "1 feed: 0 updated, 0 unchanged, 0 not due, 1 failed\n");
    assert_eq!([lab.read("lab.txt"), lab.read("lab.txt.last-good")], [GOOD, GOOD]);
    assert_eq!(lab.files(), files);
    // What we have is still what the publisher can be asked about.
    assert_eq!(lab.entry()["copy"]["etag"], "\"1\"");
    assert_eq!(lab.entry()["failures"], 1);
}

#[test]
fn what_is_not_a_feed_is_refused() {
    // JAFAR-24
    let as_json = json!({ "format": "jafar", "source": "lab.json" });
    let good = r#"{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}"#;
    for (body, reason) in [
        (r#"{"Action needed": "update the location"}"#, "unknown shape: an object with the keys"),
        ("<!doctype html>\n<title>We have moved</title>", "this is HTML"),
        (r#"{"prefixes":[]}"#, "it has no prefixes [JAFAR-24]"),
        ("[]", "an empty array is not a feed"),
        ("", ""),
        ("null", ""),
        (r#"{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv6P"#, ""),
        (r#"{"prefixes":[{"ipv4Prefix":"the whole Internet"}]}"#, ""),
        ("\u{feff}\u{feff}", ""),
    ] {
        for (first, is_left) in [(Some(good), true), (None, false)] {
            let lab = Lab::new(says(&["Content-Type: application/json"], first.unwrap_or(body)));
            lab.configure(std::slice::from_ref(&as_json));
            if first.is_some() {
                assert_eq!(lab.update(&[]).status, 0);
                lab.remember(&json!({ "due": 0 }));
                lab.publisher.answer(says(&["Content-Type: application/json"], body));
            }
            let done = lab.update(&[]);
            assert_eq!(done.status, 1, "{body}: {done:?}");
            assert!(done.stderr.contains(reason), "{body}: {}", done.stderr);
            assert_eq!(lab.path("lab.json").exists(), is_left, "{body}");
            if is_left {
                assert_eq!([lab.read("lab.json"), lab.read("lab.json.last-good")], [good, good], "{body}");
            }
        }
    }
}

#[test]
fn an_empty_list_is_taken_only_if_it_is_accepted() {
    // JAFAR-24
    let lab = then(says(&["Cache-Control: no-cache"], "# nobody\n"));
    lab.configure(&[json!({ "guard": "off" })]);
    fails(&lab, &[], "the feed `lab` is held: it has no prefixes [JAFAR-24]; lab.txt is left unchanged");
    let done = lab.update(&["--accept", "lab"]);
    assert_eq!((done.status, lab.read("lab.txt")), (0, "# nobody\n".into()), "{}", done.stderr);
}

#[test]
fn what_the_guard_holds_waits_for_the_operator() {
    let lab = then(says(&["Cache-Control: no-cache", "ETag: \"2\""], "192.0.2.0/24\n"));
    fails(&lab, &[], "the feed `lab` is held: it shrank from 3 to 1 prefixes, by more than 50%");
    // It is asked for again in an hour, and whole.
    assert!((3600..=4051).contains(&(lab.entry()["due"].as_i64().unwrap() - now())));
    assert_eq!(lab.publisher.asked().len(), 1);
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.publisher.asked().len()), (1, 0));
    assert!(done.stderr.contains("was not updated: it shrank"), "{}", done.stderr);
    // The operator need not wait.
    assert_eq!(lab.update(&["--accept", "lab"]).status, 0);
    assert_eq!(lab.publisher.asked()[0].header("if-none-match"), None);
    assert_eq!([lab.read("lab.txt"), lab.read("lab.txt.last-good")], ["192.0.2.0/24\n"; 2]);
    assert_eq!(lab.entry()["error"], json!(null));
}

#[test]
fn a_list_of_another_agent_is_held() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    let other = "10.0.0.0/24\n10.0.1.0/24\n";
    lab.configure(&[
        json!({}),
        json!({ "name": "other", "source": "other.txt", "url": lab.publisher.url("/other") }),
    ]);
    lab.publisher.answer(move |asked, connection| {
        respond(
            connection,
            "200 OK",
            &["Cache-Control: no-cache"],
            if asked.target == "/other" { other } else { GOOD },
        )
    });
    // Two agents, one for each feed.
    let document = lab.read("crawlward.json").replace(
        r#"[{"feeds":["lab","other"],"token":"LabBot"}]"#,
        r#"[{"feeds":["lab"],"token":"LabBot"},{"feeds":["other"],"token":"OtherBot"}]"#,
    );
    assert!(document.contains("OtherBot"), "{document}");
    lab.write("crawlward.json", document);
    let done = lab.update(&[]);
    assert_eq!(done.status, 0, "{done:?}");
    lab.publisher.answer(says(&["Cache-Control: no-cache"], other));
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.read("lab.txt")), (1, GOOD.into()), "{done:?}");
    assert!(
        done.stderr.contains("the feed `lab` is held: it has the prefixes of `other`"),
        "{}",
        done.stderr
    );
}

#[test]
fn lies_about_the_length_are_noticed() {
    let raw = |head: &'static str, body: &'static str| {
        then(move |_, connection| {
            connection.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}").as_bytes())
        })
    };
    let short = "the answer is incomplete: it ended after ";
    fails(&raw("Content-Length: 500", BETTER), &[], short);
    fails(&raw("Transfer-Encoding: chunked", "d\r\n192.0.2.0/24\n\r\nff\r\n198"), &[], short);
    fails(&raw("Transfer-Encoding: chunked", "d\r\n192.0.2.0/24\n\r\n"), &[], short);
    fails(&raw("Transfer-Encoding: chunked", "zz\r\n192.0.2.0/24\n"), &[], "");
    fails(&raw("Content-Length: nine", BETTER), &[], "");
    fails(&raw("Content-Length: 5\r\nContent-Length: 70", BETTER), &[], "");
    // What is behind the length is not part of the answer.
    let lab = then(|_, connection| {
        let length = BETTER.len();
        write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{BETTER}10.0.0.0/8\n")
    });
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()));
}

#[test]
fn an_answer_that_is_cut_off_without_a_length_is_noticed() {
    // Only TLS tells the end of such an answer from a broken connection.
    let lab = then(|_, connection| {
        connection.write_all(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{BETTER}").as_bytes())?;
        connection.flush()?;
        Err(io::ErrorKind::BrokenPipe.into())
    });
    fails(&lab, &[], "the answer is incomplete");
}

#[test]
fn an_answer_that_never_ends_does() {
    let lab = then(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            connection.write_all(&b"# and so on and so forth\n".repeat(4096))?;
        }
    });
    lab.configure(&[json!({ "limits": { "bytes": 3_000_000 } })]);
    fails(&lab, &[], "the answer has more than 3000000 bytes, decompressed (`limits.bytes` of a feed)");
}

#[test]
fn an_answer_of_one_byte_a_second_is_given_up() {
    let slow = |pause: u64, head: &'static str| {
        then(move |_, connection| {
            connection.write_all(head.as_bytes())?;
            for byte in b"#".iter().cycle() {
                connection.write_all(&[*byte])?;
                connection.flush()?;
                sleep(Duration::from_millis(pause));
            }
            Ok(())
        })
    };
    let started = Instant::now();
    let reason = "the answer stalled after ";
    fails(&slow(100, "HTTP/1.1 200 OK\r\n\r\n"), &["--stall", "1"], reason);
    fails(&slow(5000, "HTTP/1.1 200 OK\r\n\r\n"), &["--stall", "1"], reason);
    let slow_head = slow(100, "HTTP/1.1 200 OK\r\nX: ");
    fails(&slow_head, &["--stall", "1"], "did not begin its answer within 1 s");
    let fast_enough = then(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            connection.write_all(&b"# and so on and so forth\n".repeat(100))?;
            connection.flush()?;
            sleep(Duration::from_millis(100));
        }
    });
    fails(&fast_enough, &["--stall", "1", "--timeout", "2"], "the answer took longer than 2 s");
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// A megabyte of nothing, as often as it takes to exceed the limit of the test by far.
fn zeros(encoder: &mut impl Write) {
    let megabyte = vec![b'#'; 1 << 20];
    for _ in 0..50 {
        encoder.write_all(&megabyte).unwrap();
    }
}

#[test]
fn bombs_do_not_go_off() {
    let limit = json!({ "limits": { "bytes": 2_000_000 } });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    zeros(&mut gzip);
    let gzip = gzip.finish().unwrap();
    assert!(gzip.len() < 100_000);
    let lab = then(says(&["Content-Encoding: gzip"], gzip.clone()));
    lab.configure(std::slice::from_ref(&limit));
    fails(&lab, &[], "the answer has more than 2000000 bytes, decompressed (`limits.bytes` of a feed)");
    // Other encodings were not asked for, and are not unpacked.
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
    zeros(&mut deflate);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zeros(&mut zlib);
    for (encoding, body) in [
        ("deflate", deflate.finish().unwrap()),
        ("deflate", zlib.finish().unwrap()),
        ("br", b"\x0b\x02\x80hello\x03".to_vec()),
        ("zstd", b"\x28\xb5\x2f\xfd\x00".to_vec()),
        ("gzip, gzip", gzip),
    ] {
        let header: &'static str = format!("Content-Encoding: {encoding}").leak();
        let lab = then(says(Box::leak(Box::new([header])), body));
        lab.configure(std::slice::from_ref(&limit));
        fails(
            &lab,
            &[],
            &format!("the answer has the Content-Encoding \"{encoding}\"; only gzip was asked for"),
        );
    }
}

#[test]
fn compressed_answers_are_read_and_damaged_ones_are_not() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(BETTER.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let lab = then(says(&["Content-Encoding: gzip", "Cache-Control: no-cache"], gzip.clone()));
    assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()));
    let half = gzip[..gzip.len() / 2].to_vec();
    fails(&then(says(&["Content-Encoding: gzip"], half)), &[], "the answer is damaged: ");
    fails(&then(says(&["Content-Encoding: gzip"], BETTER)), &[], "the answer is damaged: ");
    let mut wrong = gzip;
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    fails(&then(says(&["Content-Encoding: gzip"], wrong)), &[], "the answer is damaged: ");
}

#[test]
fn the_bytes_count_whatever_the_headers_call_them() {
    let utf16: Vec<u8> = "\u{feff}192.0.2.0/24\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fails(&then(says(&["Content-Type: text/plain; charset=utf-8"], utf16)), &[], "UTF-16");
    let latin1 = b"192.0.2.0/24 # caf\xe9\n".to_vec();
    fails(&then(says(&["Content-Type: text/plain; charset=iso-8859-1"], latin1)), &[], "UTF-8");
    for kind in ["Content-Type: text/html; charset=utf-16", "Content-Type: image/png", "Content-Type: ;;;"] {
        let lab = then(says(Box::leak(Box::new([kind, "Cache-Control: no-cache"])), BETTER));
        assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, BETTER.into()), "{kind}");
    }
}

#[test]
fn a_304_to_somebody_without_a_copy_is_no_answer() {
    let lab = Lab::new(|_, connection| respond(connection, "304 Not Modified", &["ETag: \"1\""], ""));
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.path("lab.txt").exists()), (1, false));
    let reason = "the answer is 304 Not Modified, although we said of no copy that we have it";
    assert!(done.stderr.contains(reason), "{}", done.stderr);
    // A copy that is gone, or that somebody has changed, is none.
    for spoil in [Some("192.0.2.0/24\n"), None] {
        let lab = Lab::updated();
        match spoil {
            Some(content) => lab.write("lab.txt", content),
            None => std::fs::remove_file(lab.path("lab.txt")).unwrap(),
        }
        assert_eq!((lab.update(&[]).status, lab.read("lab.txt")), (0, GOOD.into()));
        assert_eq!(lab.publisher.asked()[0].header("if-none-match"), None);
    }
}

#[test]
fn redirects_end() {
    let lab = then(|asked, connection| {
        let next = if asked.target == "/lab.txt" { "/b" } else { "/lab.txt" };
        respond(connection, "302 Found", &[&format!("Location: {next}")], "")
    });
    fails(&lab, &[], "more than 5 redirects, the last one to ");
    assert_eq!(lab.publisher.asked().len(), 6);
    let onwards = then(|asked, connection| {
        respond(connection, "301 Moved Permanently", &[&format!("Location: {}x", asked.target)], "")
    });
    fails(&onwards, &[], "more than 5 redirects");
    for (location, reason) in [
        (None, "the answer is 302 Found without a Location"),
        (Some("http://127.0.0.1:1/"), "only https is followed"),
        (Some("ftp://127.0.0.1/"), "only https is followed"),
        (Some("data:text/plain,192.0.2.0/24"), "only https is followed"),
        (Some("https://[::1"), "a redirect leads to the invalid URL"),
        (Some("https://caf\u{e9}.example/"), "a redirect leads to a URL that is not ASCII"),
    ] {
        let lab = then(move |_, connection| {
            let line = location.map(|to| format!("Location: {to}"));
            respond(connection, "302 Found", &line.iter().map(String::as_str).collect::<Vec<_>>(), "")
        });
        fails(&lab, &[], reason);
    }
}

#[test]
fn a_redirect_to_a_page_is_no_feed() {
    // JAFAR-24
    let lab = then(|asked, connection| match &*asked.target {
        "/" => respond(connection, "200 OK", &["Content-Type: text/html"], "<html>Welcome</html>"),
        _ => respond(connection, "302 Found", &["Location: /"], ""),
    });
    fails(&lab, &[], "this is HTML");
}

#[test]
fn publishers_who_refuse_are_left_alone() {
    for (status, header, from, until) in [
        ("429 Too Many Requests", "Retry-After: 600", 600, 676),
        ("503 Service Unavailable", "Retry-After: 7200", 7200, 8101),
        ("503 Service Unavailable", "Retry-After: 0", 60, 68),
        ("503 Service Unavailable", "Retry-After: 99999999999", 604_800, 680_401),
        ("429 Too Many Requests", "Retry-After: soon", 3600, 4051),
        ("503 Service Unavailable", "X: y", 3600, 4051),
        ("404 Not Found", "X: y", 3600, 4051),
        ("403 Forbidden", "X: y", 3600, 4051),
        ("204 No Content", "X: y", 3600, 4051),
        ("206 Partial Content", "X: y", 3600, 4051),
        ("999 What", "X: y", 3600, 4051),
    ] {
        let lab = then(move |_, connection| respond(connection, status, &[header], BETTER));
        fails(&lab, &[], &format!("the answer is {}", &status[..3]));
        let due = lab.entry()["due"].as_i64().unwrap() - now();
        assert!((from - 2..=until).contains(&due), "{status}, {header}: {due}");
        assert_eq!(lab.publisher.asked().len(), 1);
        let done = lab.update(&[]);
        assert_eq!((done.status, lab.publisher.asked().len()), (1, 0), "{done:?}");
        assert!(done.stderr.contains("the next attempt is due at 20"), "{}", done.stderr);
    }
}

#[test]
fn failures_in_a_row_are_counted_until_one_goes_well() {
    let lab = then(|_, connection| respond(connection, "500 Internal Server Error", &[], ""));
    for failures in 1..4 {
        lab.remember(&json!({ "due": 0 }));
        assert_eq!(lab.update(&[]).status, 1);
        assert_eq!(lab.entry()["failures"], failures);
    }
    assert!(lab.entry()["due"].as_i64().unwrap() - now() >= 4 * 3600 - 2);
    lab.publisher.answer(|_, connection| respond(connection, "304 Not Modified", &[], ""));
    lab.remember(&json!({ "due": 0 }));
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!((&lab.entry()["failures"], &lab.entry()["error"]), (&json!(0), &json!(null)));
}

#[test]
fn heads_that_are_no_http_are_refused() {
    for head in [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX\0Y: z\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "\r\n\r\n",
        "",
    ] {
        let lab = then(move |_, connection| connection.write_all(head.as_bytes()));
        fails(&lab, &[], "the feed `lab` is not updated: ");
    }
    let lab = then(|_, connection| {
        connection.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            connection.write_all(b"X-Header: and so on and so forth\r\n")?;
        }
    });
    fails(&lab, &[], "the feed `lab` is not updated: ");
    let long = |_: &Asked, connection: &mut dyn Connection| {
        let etag = format!("ETag: \"{}\"", "x".repeat(5000));
        respond(connection, "200 OK", &[&etag, "Age: 18446744073709551615", "Cache-Control: max-age=1"], GOOD)
    };
    let lab = Lab::new(long);
    assert_eq!(lab.update(&[]).status, 0);
    assert_eq!(lab.entry()["copy"]["etag"], json!(null));
}
