//! SIGHUP: a new ruleset, or the old one where the new one is refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use crawlpike_tests::artefacts::compile_ruleset;
use crawlpike_tests::lab::{DOCUMENT, HTTP, lab, person, spoofed, unguarded, verified};
use crawlpike_tests::load::{Probe, ten_seconds};
use crawlpike_tests::nginx::{Folder, Nginx, ask, link_loop, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;

fn start() -> (Nginx, u16) {
    let port = free_port();
    let http = format!(
        "{HTTP} server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /crawlpike.json =404; }} }}"
    );
    (Nginx::start(lab(), &http), port)
}

/// Makes `crawlpike.bin` of the document.
fn compile(folder: &Folder) {
    let output = compile_ruleset(&folder.path().join("crawlpike.json"), &folder.path().join("crawlpike.bin"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_changed_feed_counts_after_a_reload() {
    let (nginx, port) = start();
    // Another address altogether, as when a partner moves.
    nginx.folder().write("crawlpike.json", unguarded());
    nginx.reload();
    assert_eq!(ask(port, &spoofed("/")).status, 403);
    nginx.folder().write("lab.txt", "203.0.113.9\n");
    assert_eq!(ask(port, &spoofed("/")).status, 403, "not before");
    nginx.reload();
    wait_for("the new feed", || (ask(port, &spoofed("/")).status == 200).then_some(()));
    wait_for("the end of the old feed", || (ask(port, &verified("/")).status == 403).then_some(()));
}

#[test]
fn a_compiled_ruleset_loads_in_place_of_the_document() {
    let (folder, port) = (lab(), free_port());
    compile(&folder);
    // The sources of the file have been removed.
    for name in ["crawlpike.json", "lab.txt"] {
        fs::rename(folder.path().join(name), folder.path().join(name).with_extension("away")).unwrap();
    }
    let http = HTTP.replace("crawlpike.json", "crawlpike.bin");
    let nginx = Nginx::start(
        folder,
        &format!(
            "{http} server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /crawlpike.bin =404; }} }}"
        ),
    );
    let statuses = || [verified("/"), spoofed("/"), person("/")].map(|request| ask(port, &request).status);
    assert_eq!(statuses(), [200, 403, 200]);

    let good = fs::read(nginx.folder().path().join("crawlpike.bin")).unwrap();
    nginx.folder().write("crawlpike.bin", &good[..good.len() - 8]);
    nginx.reload();
    nginx.wait_for_line("error.log", "crawlpike.bin: error: the compiled ruleset is cut short");
    assert_eq!(statuses(), [200, 403, 200], "the old one stays in force");

    nginx.folder().write("crawlpike.json", unguarded());
    nginx.folder().write("lab.txt", "203.0.113.9\n");
    compile(nginx.folder());
    nginx.reload();
    wait_for("the new ruleset", || (statuses() == [403, 200, 200]).then_some(()));
}

#[test]
fn a_ruleset_that_is_refused_leaves_the_old_one_in_force() {
    let (nginx, port) = start();
    let broken = [
        ("crawlpike.json", r#"{ "mode": "enforced" }"#, "crawlpike.json:1:11: error: `mode`: unknown value"),
        ("crawlpike.json", "", "crawlpike.json:1:1: error: not JSON"),
    ];
    let good = BTreeMap::from([("crawlpike.json", DOCUMENT), ("lab.txt", "192.0.2.0/24\n")]);
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
    nginx.folder().write("crawlpike.json", unguarded());
    nginx.folder().write("lab.txt", "203.0.113.0/24\n");
    nginx.reload();
    wait_for("the new feed", || (ask(port, &spoofed("/")).status == 200).then_some(()));
}

#[test]
fn the_last_good_version_of_a_feed_stays_in_force() {
    let (nginx, port) = start();
    let good = "192.0.2.0/24\n2001:db8::/32\n198.51.100.0/24\n198.51.101.0/24\n";
    nginx.folder().write("lab.txt", good);
    nginx.reload();
    wait_for("the feed to be kept", || (nginx.folder().read("lab.txt.last-good") == good).then_some(()));
    let stays = |expected: &str| {
        nginx.reload();
        nginx.wait_for_line("error.log", expected);
        for _ in 0..5 {
            assert_eq!(ask(port, &spoofed("/")).status, 403, "{expected}");
            assert_eq!(ask(port, &verified("/")).status, 200, "{expected}");
        }
    };
    for (broken, expected) in [
        ("", "the feed `lab` is held: it became empty, after 4 prefixes"),
        (&good[..14], "the feed `lab` is held: it shrank from 4 to 1 prefixes, by more than 50%"),
        ("404\n", "lab.txt: cannot read any of the 1 entries"),
        ("0.0.0.0/0\n", "the feed `lab` is held: it covers 0.0.0.0/0, wider than the limit (`widest`)"),
        (
            "203.0.113.0/24\n10.0.0.0/24\n",
            "the feed `lab` is held: 4 of its 4 prefixes are gone, more than 70%",
        ),
    ] {
        nginx.folder().write("lab.txt", broken);
        stays(expected);
    }
    nginx.folder().remake("lab.txt", |path| fs::create_dir(path));
    stays("lab.txt: not a regular file");
    nginx.folder().remake("lab.txt", |path| symlink(path, path));
    stays(&format!("lab.txt: {}", link_loop()));
    nginx.folder().remake("lab.txt", |_| Ok(()));
    stays("lab.txt no longer exists; the last good version stays in force");
    assert_eq!(nginx.folder().read("lab.txt.last-good"), good);
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
        nginx.folder().write("crawlpike.json", document);
        nginx.reload();
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    assert!(report.requests > 0);
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("exited on signal") && !log.contains("[alert]"), "{log}");
}
