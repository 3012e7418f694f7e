//! SIGHUP: a new ruleset, or the old one where the new one is refused.

use std::collections::BTreeMap;

use crawlward_tests::lab::{DOCUMENT, HTTP, lab, person, spoofed, verified};
use crawlward_tests::load::{Probe, ten_seconds};
use crawlward_tests::nginx::{Nginx, ask, local};
use crawlward_tests::ports::free_port;
use crawlward_tests::process::wait_for;

fn start() -> (Nginx, u16) {
    let port = free_port();
    let http = format!(
        "{HTTP} server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /crawlward.json =404; }} }}"
    );
    (Nginx::start(lab(), &http), port)
}

#[test]
fn a_changed_feed_counts_after_a_reload() {
    let (nginx, port) = start();
    assert_eq!(ask(port, &spoofed("/")).status, 403);
    nginx.folder().write("lab.txt", "203.0.113.9\n");
    assert_eq!(ask(port, &spoofed("/")).status, 403, "not before");
    nginx.reload();
    wait_for("the new feed", || (ask(port, &spoofed("/")).status == 200).then_some(()));
    wait_for("the end of the old feed", || (ask(port, &verified("/")).status == 403).then_some(()));
}

#[test]
fn a_ruleset_that_is_refused_leaves_the_old_one_in_force() {
    let (nginx, port) = start();
    let broken = [
        ("crawlward.json", r#"{ "mode": "enforced" }"#, "crawlward.json:1:11: error: `mode`: unknown value"),
        ("crawlward.json", "", "crawlward.json:1:1: error: not JSON"),
        ("lab.txt", "404\n", "lab.txt: error: none of the 1 entries can be used"),
    ];
    let good = BTreeMap::from([("crawlward.json", DOCUMENT), ("lab.txt", "192.0.2.0/24\n")]);
    for (file, text, expected) in broken {
        nginx.folder().write(file, text);
        nginx.reload();
        nginx.wait_for_line("error.log", expected);
        for _ in 0..5 {
            assert_eq!(ask(port, &spoofed("/")).status, 403);
            assert_eq!(ask(port, &verified("/")).status, 200);
            assert_eq!(ask(port, &person("/")).status, 200);
        }
        nginx.folder().write(file, good[file]);
    }
    // It goes on from there.
    nginx.folder().write("lab.txt", "203.0.113.0/24\n");
    nginx.reload();
    wait_for("the new feed", || (ask(port, &spoofed("/")).status == 200).then_some(()));
}

#[test]
fn no_request_fails_under_reloads() {
    let (nginx, port) = start();
    let probes = [
        Probe { request: verified("/"), status: 200 },
        Probe { request: spoofed("/"), status: 403 },
        Probe { request: person("/"), status: 200 },
    ];
    let report = ten_seconds(local(port), &probes, |number| {
        // Every third one is refused; the others change nothing that a probe sees.
        let document = if number % 3 == 2 { "{ broken".to_owned() } else { DOCUMENT.replace(' ', "") };
        nginx.folder().write("crawlward.json", document);
        nginx.reload();
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    assert!(report.requests > 0);
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("exited on signal") && !log.contains("[alert]"), "{log}");
}
