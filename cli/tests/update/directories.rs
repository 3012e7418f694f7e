//! Directories of keys from those who publish them.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crawlpike_tests::publisher::{Publisher, respond, self_signed};
use crawlpike_tests::sign::directory;
use serde_json::{Value, json};

use crate::fixture::{Done, Lab, now, publisher, says};

const WELL_KNOWN: &str = "/.well-known/http-message-signatures-directory";

const TYPE: &str = "Content-Type: application/http-message-signatures-directory+json";

/// A folder with an agent whose keys come from the server.
fn lab(seeds: &[u8]) -> Lab {
    let lab = Lab::new(says(&[TYPE, "Cache-Control: no-cache", "ETag: \"1\""], directory(seeds)));
    configure(&lab, &lab.publisher.url(""));
    lab
}

fn configure(lab: &Lab, directory: &str) {
    let keys = json!([{ "directory": directory, "source": "keys/lab.json" }]);
    let document = json!({ "catalog": "none", "agents": [{ "token": "LabBot", "keys": keys }] });
    lab.write("crawlpike.json", document.to_string());
}

/// The saved state of the directory.
fn entry(lab: &Lab) -> Value {
    lab.state()["directories"]["keys/lab.json"].clone()
}

/// A run that leaves the directory as it is, for this reason.
fn refuses(lab: &Lab, reason: &str) -> Done {
    lab.forget();
    let before = fs::read(lab.path("keys/lab.json")).ok();
    let done = lab.update(&[]);
    done.ends(1).says(reason).says("keys/lab.json is left unchanged");
    // SIG-8: a failed fetch revokes nothing.
    assert_eq!(fs::read(lab.path("keys/lab.json")).ok(), before, "{reason}");
    done
}

#[test]
fn sig_7_keys_of_other_kinds_are_skipped_with_a_warning() {
    // SIG-7
    let mut keys: Value = serde_json::from_str(&directory(&[1])).unwrap();
    let list = keys["keys"].as_array_mut().unwrap();
    list.push(json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB" }));
    list.push(json!({ "kty": "EC", "crv": "P-256", "x": "AQAB", "y": "AQAB" }));
    let lab = Lab::new(says(&[TYPE], keys.to_string()));
    configure(&lab, &lab.publisher.url(""));
    let done = lab.update(&[]);
    assert!(done.status == 0 && done.stdout.starts_with("keys/lab.json: updated, 1 key "), "{done:?}");
    let expected =
        "`keys/lab.json`: 2 keys cannot be used; `crawlpike lint --format key-directory` shows why";
    done.says(expected);
}

#[test]
fn sig_7_a_directory_is_fetched_and_kept_current() {
    // SIG-7, SIG-8
    let lab = lab(&[1, 2]);
    lab.update(&["--dry-run"]).ends(0).prints("(a dry run: nothing was written)");
    assert!(!lab.path("keys").exists());
    let done = lab.update(&["--exec", "touch notified"]);
    done.ends(0).says_only("");
    let expected = "keys/lab.json: updated, 2 keys (2 added, 0 removed)\n\
        0 feeds and 1 key directory: 1 updated, 0 unchanged, 0 not due, 0 failed\n";
    assert_eq!((&*done.stdout, lab.read("keys/lab.json")), (expected, directory(&[1, 2])));
    assert!(lab.path("notified").exists() && !lab.path("keys/lab.json.last-good").exists());
    assert_eq!(lab.publisher.asked().last().unwrap().target, WELL_KNOWN);

    // Conditional, and no older than a day whatever the publisher says.
    lab.publisher.answer(|asked, connection| {
        assert_eq!(asked.header("if-none-match"), Some("\"1\""));
        respond(connection, "304 Not Modified", &["Cache-Control: max-age=31536000"], "")
    });
    let done = lab.update(&[]);
    assert!(done.status == 0 && done.stdout.starts_with("keys/lab.json: unchanged\n"), "{done:?}");
    let fresh = entry(&lab)["due"].as_i64().unwrap() - now();
    assert!((86_390..=86_400).contains(&fresh), "{fresh}");
    assert!(
        lab.update(&[]).stdout.contains("0 feeds and 1 key directory: 0 updated, 0 unchanged, 1 not due")
    );
}

#[test]
fn sig_8_what_a_directory_no_longer_has_is_revoked() {
    // SIG-8
    let lab = lab(&[1, 2]);
    assert_eq!(lab.update(&[]).status, 0);
    let ids = |seeds: &[u8]| -> Vec<Value> {
        let directory: Value = serde_json::from_str(&directory(seeds)).unwrap();
        directory["keys"].as_array().unwrap().iter().map(|key| key["kid"].clone()).collect()
    };
    lab.publisher.answer(says(&[TYPE, "Cache-Control: no-cache"], directory(&[2, 3])));
    let (status, report) = lab.update_json(&[]);
    assert_eq!(
        (status, &report["directory"], &report["outcome"]),
        (0, &"keys/lab.json".into(), &"updated".into())
    );
    let expected = json!({ "count": 2, "added": ids(&[3]), "removed": ids(&[1]), "unusable": 0 });
    assert_eq!(report["keys"], expected);
    assert_eq!(lab.read("keys/lab.json"), directory(&[2, 3]));
    // Even all of them.
    lab.publisher.answer(says(&[TYPE], directory(&[])));
    let done = lab.update(&[]);
    done.ends(0).prints("updated, 0 keys (0 added, 2 removed)");
    let warning = "warning: the directory `keys/lab.json`: it has no keys, so it verifies no signature";
    done.says(warning);
}

#[test]
fn sig_8_a_failed_fetch_revokes_nothing_and_is_soon_repeated() {
    // SIG-8
    let lab = lab(&[1]);
    assert_eq!(lab.update(&[]).status, 0);
    for status in ["404 Not Found", "410 Gone", "403 Forbidden", "500 Internal Server Error"] {
        lab.publisher.answer(move |_, connection| respond(connection, status, &[TYPE], directory(&[2])));
        refuses(&lab, &format!("the answer is {status}"));
        let pause = entry(&lab)["due"].as_i64().unwrap() - now();
        assert!((255..=300).contains(&pause), "at most five minutes: {pause}");
    }
    let retry: &[&str] = &["Retry-After: 7200"];
    lab.publisher.answer(move |_, connection| respond(connection, "503 Service Unavailable", retry, ""));
    refuses(&lab, "the answer is 503");
    assert!(entry(&lab)["due"].as_i64().unwrap() - now() > 7000, "the publisher said so");
    // Nor does the end of the server.
    configure(&lab, "https://127.0.0.1:1");
    refuses(&lab, "cannot connect to 127.0.0.1");
}

#[test]
fn sig_7_only_200_with_the_media_type_is_a_directory() {
    // SIG-7
    let lab = lab(&[1]);
    assert_eq!(lab.update(&[]).status, 0);
    for status in
        ["201 Created", "203 Non-Authoritative Information", "206 Partial Content", "304 Not Modified"]
    {
        lab.publisher.answer(move |_, connection| respond(connection, status, &[TYPE], directory(&[2])));
        refuses(&lab, &format!("the answer is {}", &status[..3]));
    }
    let html =
        "its Content-Type is \"text/html\"; it must be application/http-message-signatures-directory+json";
    for (headers, reason) in [
        (&[][..], "its Content-Type is \"\""),
        (&["Content-Type: application/json"], "its Content-Type is \"application/json\""),
        (&["Content-Type: text/html"], html),
    ] {
        lab.publisher.answer(move |_, connection| respond(connection, "200 OK", headers, directory(&[2])));
        refuses(&lab, reason);
    }
    // In any case, and with a parameter.
    let spelled = "Content-Type: Application/HTTP-Message-Signatures-Directory+JSON; charset=utf-8";
    lab.publisher.answer(move |_, connection| respond(connection, "200 OK", &[spelled], directory(&[2])));
    lab.forget();
    assert_eq!((lab.update(&[]).status, lab.read("keys/lab.json")), (0, directory(&[2])));
    // Another set of keys has no type of its own, and is asked for with its query.
    lab.publisher.answer(says(&["Content-Type: application/json"], directory(&[3])));
    configure(&lab, &lab.publisher.url("/jwks.json?v=1"));
    assert_eq!((lab.update(&[]).status, lab.read("keys/lab.json")), (0, directory(&[3])));
    assert_eq!(lab.publisher.asked().last().unwrap().target, "/jwks.json?v=1");
}

#[test]
fn sig_7_no_redirect_is_followed() {
    // SIG-7, SIG-9: keys come from their own origin, never from a third party.
    let lab = lab(&[1]);
    assert_eq!(lab.update(&[]).status, 0);
    let other = Arc::new(publisher(says(&[TYPE], directory(&[2]))));
    for to in [other.url(WELL_KNOWN), lab.publisher.url("/elsewhere"), "http://127.0.0.1/".into()] {
        for status in [
            "301 Moved Permanently",
            "302 Found",
            "303 See Other",
            "307 Temporary Redirect",
            "308 Permanent Redirect",
        ] {
            let location = format!("Location: {to}");
            lab.publisher.answer(move |_, connection| respond(connection, status, &[&location], ""));
            refuses(&lab, &format!("it redirects to {to}"));
        }
    }
    assert_eq!((other.asked().len(), lab.publisher.asked().len()), (0, 16));
}

#[test]
fn sig_9_nobody_else_vouches_for_an_origin() {
    // SIG-9
    let lab = lab(&[1]);
    assert_eq!(lab.update(&[]).status, 0);
    let other = Publisher::https(self_signed(), says(&[TYPE], directory(&[2])));
    configure(&lab, &other.url(""));
    refuses(&lab, "cannot connect to 127.0.0.1");
    for url in ["http://127.0.0.1/", "ftp://a.example/", "https://user@a.example/", "keys.json"] {
        configure(&lab, url);
        let done = lab.update(&[]);
        let message = format!("`{url}` is not a key directory: use an https URL [SIG-5]");
        done.ends(2).says(&message);
    }
}

#[test]
fn sig_7_names_must_not_lead_into_private_networks() {
    // SIG-7
    let lab = lab(&[1]);
    let port = lab.publisher.port();
    configure(&lab, &format!("https://localhost:{port}"));
    refuses(&lab, "the name localhost has only private addresses, such as ")
        .says("if you mean that server, write its address into the URL");
    assert!(lab.publisher.asked().is_empty());
    // A feed comes from wherever its URL says.
    let feed = json!({ "url": format!("https://localhost:{port}/lab.txt") });
    lab.configure(&[feed]);
    lab.publisher.answer(says(&[], crate::fixture::GOOD));
    assert_eq!(lab.update(&[]).status, 0);
}

#[test]
fn sig_7_sizes_numbers_and_times_are_bounded() {
    // SIG-7
    let lab = lab(&[1]);
    assert_eq!(lab.update(&[]).status, 0);
    let long = format!("{}{}", directory(&[2]), " ".repeat(256 << 10));
    lab.publisher.answer(says(&[TYPE], long.clone()));
    refuses(&lab, "the answer has more than 262144 bytes, decompressed");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, long.as_bytes()).unwrap();
    lab.publisher.answer(says(&[TYPE, "Content-Encoding: gzip"], packed.finish().unwrap()));
    refuses(&lab, "the answer has more than 262144 bytes, decompressed");
    for (body, reason) in [
        ("<!doctype html><p>no keys", "this is HTML"),
        ("{}", "not a key directory"),
        ("{\"keys\":[", "EOF"),
        ("", "EOF"),
    ] {
        lab.publisher.answer(says(&[TYPE], body));
        refuses(&lab, reason);
    }
    lab.publisher.answer(|_, connection| {
        connection
            .write_all(format!("HTTP/1.1 200 OK\r\n{TYPE}\r\nContent-Length: 500\r\n\r\n{{").as_bytes())?;
        connection.flush()?;
        std::thread::sleep(Duration::from_secs(5));
        Ok(())
    });
    lab.forget();
    lab.update(&["--stall", "1", "--timeout", "2"]).ends(1).says("keys/lab.json is left unchanged");
    // The first hundred keys count.
    let seeds: Vec<u8> = (1..=101).collect();
    lab.publisher.answer(says(&[TYPE], directory(&seeds)));
    lab.forget();
    lab.update(&[]).ends(0).prints("100 keys (99 added, 0 removed)");
}

#[test]
fn sig_7_keys_that_cannot_be_used_are_counted() {
    // SIG-7
    let lab = lab(&[]);
    // That of RFC 9421, B.1.4, which everybody can sign with.
    let test = r#"{"kty":"OKP","crv":"Ed25519","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}"#;
    let body = directory(&[1]).replace("]}", &format!(",{test}]}}"));
    lab.publisher.answer(says(&[TYPE], body));
    let done = lab.update(&[]);
    done.ends(0).prints("updated, 1 key (1 added, 0 removed)");
    let message = "1 key cannot be used; `crawlpike lint --format key-directory` shows why";
    done.says(message);
}

#[test]
fn sig_6_each_file_has_one_directory() {
    // SIG-6
    let lab = lab(&[1]);
    let agent = |token: &str, directory: &str, source: &str| json!({ "token": token, "keys": [{ "directory": directory, "source": source }] });
    let write = |agents: Value| {
        lab.write("crawlpike.json", json!({ "catalog": "none", "agents": agents }).to_string());
    };
    let url = lab.publisher.url("");
    write(json!([agent("A", &url, "k.json"), agent("B", "https://b.example", "k.json")]));
    let done = lab.update(&[]);
    let message = "k.json is also the file of another directory of keys [SIG-6]";
    done.ends(2).says(message);
    // Agents that share a directory share its file, and it is asked for once.
    write(json!([
        agent("A", &url, "k.json"),
        agent("B", &format!("{url}/"), "k.json"),
        agent("C", "https://127.0.0.1:1", "c.json")
    ]));
    let done = lab.update(&["--only", "k.json"]);
    assert_eq!((done.status, lab.publisher.asked().len(), lab.path("c.json").exists()), (0, 1, false));
    lab.update(&["--only", "d.json"]).ends(2).says("no feed is named `d.json`");
}
