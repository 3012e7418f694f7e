//! `crawlpike envoy --watch` beside a running Envoy: what changes on the disk changes decisions, and nothing else.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::Gate;
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, from, lab, person, spoofed, verified};
use crawlpike_tests::load::{Probe, ten_seconds};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::process::{Server, wait_for};
use rustix::process::Signal;

/// The file that the command writes into its folder.
const RESOURCE: &str = "xds/crawlpike.yaml";

/// An Envoy that takes its filter from a folder, and the command that keeps the folder up to date; it ends before the
/// folder goes with Envoy, since what comes last is dropped first.
fn start() -> (Gate, Server) {
    start_in(lab())
}

/// The same with the documents of a folder.
pub(crate) fn start_in(folder: Folder) -> (Gate, Server) {
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("xds")).unwrap();
    fs::copy(artefacts::wasm(), path("crawlpike.wasm")).unwrap();
    let mut command = Command::new(artefacts::cli());
    command.args(["envoy", "--watch", "--syntax", "yaml", "--config"]).arg(path("crawlpike.json"));
    command.arg("--wasm").arg(path("crawlpike.wasm")).arg("--xds-dir").arg(path("xds"));
    let mut watcher = Server::start("crawlpike", &mut command, &path("watch.log"), &[]);
    watcher.wait_until("the resource", || path(RESOURCE).exists().then_some(()));
    (Gate::discover(folder, RESOURCE), watcher)
}

/// The files that Envoy has the filter's code from.
fn delivered_code(folder: &Folder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path().join("xds")).unwrap();
    let is_code = |path: &PathBuf| path.extension().is_some_and(|end| end == "wasm");
    entries.map(|entry| entry.unwrap().path()).filter(is_code).collect()
}

#[test]
fn feeds_change_under_load_and_no_request_fails() {
    let (gate, watcher) = start();
    let moved = |to: &str| from(to, Request::get("/").agent("LabBot/1.0"));
    let probes = [
        Probe { request: verified("/"), status: 200 },
        Probe { request: spoofed("/"), status: 403 },
        Probe { request: person("/"), status: 200 },
    ];
    let report = ten_seconds(local(gate.port), &probes, |number| {
        let address = format!("198.51.100.{number}");
        gate.folder().write("lab.txt", format!("192.0.2.0/24\n2001:db8::/32\n{address}\n"));
        watcher.signal(Signal::HUP);
        wait_for("the new feed", || (gate.status(&moved(&address)) == 200).then_some(()));
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    // The first one, and each of the ten.
    assert_eq!((gate.envoy.update_count("config_reload"), gate.envoy.update_count("config_fail")), (11, 0));
}

#[test]
fn what_does_not_compile_does_not_reach_envoy() {
    let (gate, _watcher) = start();
    let before = (gate.folder().read(RESOURCE), gate.envoy.update_count("update_success"));
    let broken = DOCUMENT.replace("enforce", "enforced");
    // Without a signal: the change is seen.
    gate.folder().write("crawlpike.json", &broken);
    gate.envoy.wait_for_line("watch.log", "crawlpike.json:2:11: error: `mode`: unknown value `enforced`");
    gate.folder().write("crawlpike.json", DOCUMENT);
    gate.folder().write("lab.txt", "<html>404</html>\n");
    gate.envoy.wait_for_line("watch.log", "the feed `lab` is held");
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
    gate.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/24\n");
    wait_for("the new feed", || (gate.status(&spoofed("/")) == 200).then_some(()));
    assert_ne!(gate.folder().read(RESOURCE), before.0);
    // The state of the held feed is part of what is delivered; the document that did not compile is not.
    assert!(gate.envoy.update_count("update_success") - before.1 <= 2);
    assert_eq!((gate.envoy.update_count("update_rejected"), gate.envoy.update_count("config_fail")), (0, 0));
}

#[test]
fn new_code_is_taken_while_requests_go_on() {
    let (gate, _watcher) = start();
    assert_eq!(delivered_code(gate.folder()).len(), 1);
    let before = gate.folder().read(RESOURCE);
    // The same code with an empty custom section, named "new".
    let mut code = fs::read(artefacts::wasm()).unwrap();
    code.extend_from_slice(b"\0\x04\x03new");
    let probes =
        [Probe { request: verified("/"), status: 200 }, Probe { request: spoofed("/"), status: 403 }];
    let report = ten_seconds(local(gate.port), &probes, |number| {
        if number == 0 {
            gate.folder().write("crawlpike.wasm", &code);
            wait_for("the new resource", || (gate.folder().read(RESOURCE) != before).then_some(()));
            wait_for("the new filter", || (gate.envoy.update_count("config_reload") == 2).then_some(()));
        }
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    assert_eq!(
        delivered_code(gate.folder()).len(),
        2,
        "an Envoy that has not read the new resource may still need the old code"
    );
    assert_eq!(gate.envoy.update_count("config_fail"), 0);
}
