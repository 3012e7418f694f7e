//! Publishers that cannot be reached, or that are not the ones that they claim to be.

use std::io::Write;
use std::net::{Ipv6Addr, TcpListener};
use std::sync::Arc;
use std::thread;

use crawlpike_tests::publisher::{Authority, Publisher, VALID, self_signed};
use serde_json::json;

use crate::fixture::{AUTHORITY, GOOD, Lab, now, says};

/// A run that asks for this URL fails for this reason; as nobody was asked, the next run tries again.
fn fails(url: &str, reason: &str) {
    let lab = Lab::new(says(&[], GOOD));
    lab.configure(&[json!({ "url": url })]);
    for attempt in 1..3 {
        lab.update(&["--stall", "2"]).ends(1).says(reason);
        assert!(!lab.path("lab.txt").exists());
        assert_eq!(lab.entry()["failures"], attempt);
    }
    let due = lab.entry()["due"].as_i64().unwrap() - now();
    assert!((595..=676).contains(&due), "{due}");
    assert_eq!(lab.entry()["asked"], json!(null));
}

#[test]
fn certificates_that_prove_nothing_are_refused() {
    for (identity, reason) in [
        (AUTHORITY.identity((2020, 2021)), "certificate expired"),
        (AUTHORITY.identity((2100, 2120)), "certificate not valid yet"),
        (self_signed(), "invalid peer certificate: "),
        (
            Authority::new().identity(VALID),
            "UnknownIssuer; if a certificate authority of your own has issued it",
        ),
    ] {
        let publisher = Publisher::https(identity, says(&[], GOOD));
        fails(&publisher.url("/"), reason);
        assert!(publisher.asked().is_empty());
    }
    // The certificate is for localhost and the addresses of loopback.
    let publisher = Publisher::https(AUTHORITY.identity(VALID), says(&[], GOOD));
    fails(&format!("https://127.0.0.2:{}/", publisher.port()), "cannot connect to 127.0.0.2");
    fails(&format!("https://localhost.localdomain.invalid:{}/", publisher.port()), "cannot be resolved");
    assert!(publisher.asked().is_empty());
}

#[test]
fn a_server_without_tls_is_not_one_with_it() {
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", plain.local_addr().unwrap());
    thread::spawn(move || {
        for stream in plain.incoming().map_while(Result::ok) {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    fails(&url, "cannot connect to 127.0.0.1: ");
}

#[test]
fn a_machine_without_authorities_says_so() {
    let lab = Lab::new(says(&[], GOOD));
    for content in ["", "-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n"] {
        lab.write("none.pem", content);
        let mut command = lab.command(&[]);
        command.env("SSL_CERT_FILE", lab.path("none.pem"));
        crate::fixture::finish(command).ends(2).says("this machine has no certificates of authorities");
    }
}

#[test]
fn who_is_not_there_is_asked_again_soon() {
    fails("https://publisher.invalid/", "the name publisher.invalid cannot be resolved; check the URL");
    // The port is free again.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    fails(&format!("https://127.0.0.1:{port}/"), "Connection refused");
    // Somebody who accepts, and never says anything.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    fails(&format!("https://{}/", silent.local_addr().unwrap()), "cannot connect to 127.0.0.1 within 2 s");
}

#[test]
fn ipv6_alone_suffices() {
    let publisher = Publisher::start(
        Ipv6Addr::LOCALHOST.into(),
        Some(AUTHORITY.identity(VALID)),
        Arc::new(says(&[], GOOD)),
    );
    let lab = Lab::new(says(&[], GOOD));
    lab.configure(&[json!({ "url": publisher.url("/lab.txt") })]);
    assert!(publisher.url("/").starts_with("https://[::1]:"));
    let done = lab.update(&[]);
    assert_eq!((done.status, lab.read("lab.txt")), (0, GOOD.into()), "{}", done.stderr);
}

#[test]
fn a_hundred_publishers_are_asked_in_one_run_and_none_waits_for_another() {
    let lab = Lab::new(says(&[], GOOD));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let feeds = (0..100).map(|number| {
        let url = if number == 0 {
            format!("https://{}/", silent.local_addr().unwrap())
        } else {
            lab.publisher.url("/")
        };
        json!({ "name": format!("lab{number}"), "source": format!("feeds/{number}.txt"), "url": url })
    });
    lab.configure(&feeds.collect::<Vec<_>>());
    for counts in
        ["99 updated, 0 unchanged, 0 not due, 1 failed", "0 updated, 0 unchanged, 99 not due, 1 failed"]
    {
        lab.update(&["--stall", "2", "--jobs", "4"]).ends(1).prints(&format!("100 feeds: {counts}\n"));
        assert_eq!(lab.publisher.asked().len(), if counts.starts_with("99") { 99 } else { 0 });
    }
}

#[test]
fn failures_for_one_cause_are_one_line() {
    let lab = Lab::new(says(&[], GOOD));
    let feed = |number: u8| json!({ "name": format!("feed{number}"), "source": format!("{number}.txt"), "url": format!("https://host{number}.invalid/") });
    lab.configure(&(1..=4).map(feed).collect::<Vec<_>>());
    let done = lab.update(&["--jobs", "1"]);
    done.ends(1).says("crawlpike.json: error: 4 feeds are not updated, all for one reason, such as `feed1`: the name host1.invalid cannot be resolved;");
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    let done = lab.update(&["--jobs", "1", "--verbose"]);
    assert_eq!(done.ends(1).stderr.matches(" is not updated: the name host").count(), 4, "{done:?}");
    // A few have a line each.
    lab.configure(&[feed(1), feed(2)]);
    lab.update(&[])
        .ends(1)
        .says("the feed `feed1` is not updated: ")
        .says("the feed `feed2` is not updated: ");
}
