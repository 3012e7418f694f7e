//! Answers that are not a good version of a feed. Each leaves the file as it is, and the exit status is 1.

mod bodies;

use std::io;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use crawlpike_tests::publisher::{Asked, Connection, respond};
use serde_json::json;

use crate::fixture::{BETTER, GOOD, Lab, finish, now, says};

/// A lab whose publisher answers so, after an update that went well.
fn then(answer: impl Fn(&Asked, &mut dyn Connection) -> io::Result<()> + Send + Sync + 'static) -> Lab {
    let lab = Lab::updated();
    lab.publisher.answer(answer);
    lab
}

/// The next run fails for this reason, and nothing is lost.
fn fails(lab: &Lab, arguments: &[&str], reason: &str) {
    let mut files = lab.files();
    if reason.contains("is held") {
        files.insert(
            files.iter().position(|file| file == "lab.txt.last-good").unwrap(),
            "lab.txt.held".into(),
        );
    }
    lab.update(arguments)
        .ends(1)
        .says(reason)
        .says("lab.txt is left unchanged")
        .prints_only("1 feed: 0 updated, 0 unchanged, 0 not due, 1 failed\n");
    assert_eq!([lab.read("lab.txt"), lab.read("lab.txt.last-good")], [GOOD, GOOD]);
    assert_eq!(lab.files(), files);
    // The next request is still conditional on our copy.
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
            lab.update(&[]).ends(1).says(reason);
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
    done.says("was not updated: it shrank");
    // The operator need not wait.
    assert_eq!(lab.update(&["--accept", "lab"]).status, 0);
    assert_eq!(lab.publisher.asked()[0].header("if-none-match"), None);
    assert_eq!([lab.read("lab.txt"), lab.read("lab.txt.last-good")], ["192.0.2.0/24\n"; 2]);
    assert_eq!(lab.entry()["error"], json!(null));
}

#[test]
fn a_version_that_is_held_shows_wherever_the_feed_is_read() {
    let answer = |text: &'static str| says(&["Cache-Control: no-cache"], text);
    let lab = Lab::new(answer("20.0.1.0/24\n20.0.2.0/24\n20.0.3.0/24\n"));
    lab.update(&[]).ends(0);
    let shows = |said: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crawlpike"));
        command.args(["feeds", "--config", "crawlpike.json"]);
        lab.prepare(&mut command);
        let done = finish(command);
        assert!(format!("{}{}", done.stdout, done.stderr).contains(said), "{said}\n{done:?}");
    };
    shows("lab  ok ");
    let renumbered = "20.0.4.0/24\n20.0.5.0/24\n20.0.6.0/24\n";
    lab.publisher.answer(answer(renumbered));
    let notified = |arguments: &[&str]| {
        lab.remember(&json!({ "due": 0 }));
        lab.update(&[&["--exec", "echo >> notified"], arguments].concat());
        lab.lines("notified")
    };
    assert_eq!((notified(&[]), notified(&[])), (1, 1), "the server hears of it once");
    shows("lab  held ");
    shows(
        "more than 70%; if the new version is right, run `crawlpike update --config crawlpike.json --only lab --accept lab`",
    );
    // A file that the operator puts there is another version.
    lab.age("lab.txt.held", Duration::from_secs(60));
    shows("lab  ok ");
    assert_eq!((notified(&["--accept", "lab"]), lab.path("lab.txt.held").exists()), (2, false));
    shows("lab  ok ");
    assert_eq!(lab.read("lab.txt"), renumbered);
}

#[test]
fn many_small_steps_are_one_large_one() {
    let list = |count: u32| -> String { (0..count).map(|n| format!("20.0.{n}.0/24\n")).collect() };
    let lab = Lab::new(says(&["Cache-Control: no-cache"], list(256)));
    let mut taken = Vec::new();
    for count in [256, 128, 64, 32, 16, 8, 4, 2, 1] {
        lab.publisher.answer(says(&["Cache-Control: no-cache"], list(count)));
        if lab.path("crawlpike.json.update-state").exists() {
            lab.remember(&json!({ "due": 0 }));
        }
        if lab.update(&[]).status == 0 {
            taken.push(count);
        }
    }
    assert_eq!(
        (&taken[..], lab.lines("lab.txt"), lab.lines("lab.txt.earlier-good")),
        (&[256, 128][..], 128, 256)
    );
    // Whoever accepts a version accepts what it is compared with.
    let why = "since the changes of the last days began, it shrank from 256 to 64 prefixes, by more than 50%";
    let step = |count: u32, arguments: &[&str]| {
        lab.publisher.answer(says(&["Cache-Control: no-cache"], list(count)));
        lab.remember(&json!({ "due": 0 }));
        lab.update(arguments)
    };
    step(64, &[]).ends(1).says(why);
    step(64, &["--accept", "lab"]).ends(0);
    assert!(!lab.path("lab.txt.earlier-good").exists());
    step(32, &[]).ends(0);
    step(16, &[]).ends(1).says("it shrank from 64 to 16");
    // A few days later, the next change begins anew.
    lab.age("lab.txt.earlier-good", Duration::from_secs(3 * 24 * 3600));
    step(16, &[]).ends(0);
    assert_eq!((lab.lines("lab.txt"), lab.lines("lab.txt.earlier-good")), (16, 32));
}

#[test]
fn special_purpose_prefixes_are_left_out_and_counted() {
    let list = format!("{GOOD}10.0.0.0/8\n64:ff9b::/96\n2002::/16\n");
    let lab = Lab::new(says(&["Cache-Control: no-cache"], list));
    let (status, report) = lab.update_json(&[]);
    assert_eq!((status, &report["prefixes"], &report["special"]), (0, &json!(3), &json!(3)), "{report}");
    lab.remember(&json!({ "due": 0 }));
    lab.update(&[])
        .ends(0)
        .says("the feed `lab`: 3 special-purpose prefixes verify nobody; `crawlpike lint` shows them");
}

#[test]
fn a_list_of_another_agent_is_held() {
    let lab = Lab::new(says(&["Cache-Control: no-cache"], GOOD));
    let other = "20.0.0.0/24\n20.0.1.0/24\n";
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
    let document = lab.read("crawlpike.json").replace(
        r#"[{"feeds":["lab","other"],"token":"LabBot"}]"#,
        r#"[{"feeds":["lab"],"token":"LabBot"},{"feeds":["other"],"token":"OtherBot"}]"#,
    );
    assert!(document.contains("OtherBot"), "{document}");
    lab.write("crawlpike.json", document);
    lab.update(&[]).ends(0);
    lab.publisher.answer(says(&["Cache-Control: no-cache"], other));
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.read("lab.txt")), (1, GOOD.into()), "{done:?}");
    done.says("the feed `lab` is held: it has the prefixes of `other`");
}

#[test]
fn a_304_to_somebody_without_a_copy_is_no_answer() {
    let lab = Lab::new(|_, connection| respond(connection, "304 Not Modified", &["ETag: \"1\""], ""));
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.path("lab.txt").exists()), (1, false));
    let reason = "the answer is 304 Not Modified, although the request was not conditional";
    done.says(reason);
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
        done.says("the next attempt is due at 20");
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

#[test]
fn the_configuration_is_not_replaced_by_a_feed() {
    let lab = Lab::updated();
    symlink(".", lab.path("link")).unwrap();
    for source in ["crawlpike.json", "link/crawlpike.json"] {
        lab.configure(&[json!({ "source": source })]);
        let before = lab.read("crawlpike.json");
        let why = format!(
            "crawlpike.json: error: {source} is read by this command; fetch {} into another file",
            lab.publisher.url("/lab.txt")
        );
        lab.update(&[]).ends(2).says(&why);
        assert_eq!(lab.read("crawlpike.json"), before);
    }
    assert!(lab.publisher.asked().is_empty());
}
