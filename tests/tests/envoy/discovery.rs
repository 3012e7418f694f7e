//! A filter from a file (ECDS): a new ruleset, or the old one where the new one is refused.

use std::fs;

use crawlpike_tests::artefacts::compile_ruleset;
use crawlpike_tests::envoy::{
    Gate, RESOURCE, plugin_configuration, read_resource, replace_configuration, update_resource,
    write_resource, write_resource_with,
};
use crawlpike_tests::lab::{DOCUMENT, lab, person, spoofed, unguarded, verified};
use crawlpike_tests::load::{Probe, ten_seconds};
use crawlpike_tests::nginx::local;
use crawlpike_tests::origin::Received;
use crawlpike_tests::process::wait_for;

fn start() -> Gate {
    let folder = lab();
    update_resource(&folder);
    Gate::discover(folder, RESOURCE)
}

/// Replaces the feed by one that has nothing of the old one, which its guard would hold.
fn swap_feed(gate: &Gate, prefixes: &str) {
    gate.folder().write("crawlpike.json", unguarded());
    gate.folder().write("lab.txt", prefixes);
    update_resource(gate.folder());
}

#[test]
fn a_changed_feed_counts_when_its_resource_is_moved_there() {
    let gate = start();
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
    swap_feed(&gate, "203.0.113.9\n");
    wait_for("the new feed", || (gate.status(&spoofed("/")) == 200).then_some(()));
    wait_for("the end of the old feed", || (gate.status(&verified("/")) == 403).then_some(()));
    assert_eq!(gate.status(&person("/")), 200);
}

#[test]
fn a_compiled_ruleset_is_taken_as_bytes() {
    let gate = start();
    let folder = gate.folder();
    // The other way round, so that the answers show which ruleset is in force.
    folder.write("lab.txt", "203.0.113.9\n");
    folder.write("crawlpike.json", unguarded());
    let (document, compiled) = (folder.path().join("crawlpike.json"), folder.path().join("crawlpike.bin"));
    let output = compile_ruleset(&document, &compiled);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let resource = folder.path().join(RESOURCE);
    assert!(write_resource_with(&compiled, &resource, &[]).status.success());
    let mut written = read_resource(&resource);
    assert_eq!(
        written.pointer("/typed_config/config/configuration/@type").unwrap(),
        "type.googleapis.com/google.protobuf.BytesValue"
    );
    wait_for("the compiled ruleset", || (gate.status(&spoofed("/")) == 200).then_some(()));
    wait_for("the end of the document", || (gate.status(&verified("/")) == 403).then_some(()));

    // Half of it: whole groups of four, so that it still is base64.
    let base64 = plugin_configuration(&mut written).as_str().unwrap().trim_end_matches('=');
    let half = &base64[..base64.len() / 8 * 4];
    replace_configuration(folder, half);
    gate.envoy.wait_for_line("envoy.log", "configuration: error: the compiled ruleset is cut short");
    assert_eq!((gate.status(&spoofed("/")), gate.status(&verified("/"))), (200, 403), "the old one stays");
}

#[test]
fn what_is_refused_leaves_the_old_ruleset_in_force() {
    let gate = start();
    let unchanged = || {
        for _ in 0..5 {
            assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
            assert_eq!(gate.status(&person("/")), 200);
        }
    };

    // The command line refuses it first, and leaves the file as it is.
    let resource = gate.folder().path().join(RESOURCE);
    let before = fs::read(&resource).unwrap();
    gate.folder().write("crawlpike.json", DOCUMENT.replace("enforce", "enforced"));
    let output = write_resource(&gate.folder().path().join("crawlpike.json"), &resource);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("crawlpike.json:2:11: error: `mode`: unknown value `enforced`"), "{message}");
    assert_eq!(fs::read(&resource).unwrap(), before);

    // Envoy refuses it with the same words.
    let in_log = |text: &str| {
        gate.envoy.wait_for_line("envoy.log", text);
        unchanged();
    };
    replace_configuration(gate.folder(), &DOCUMENT.replace("enforce", "enforced"));
    in_log(":2:11: error: `mode`: unknown value `enforced` (did you mean `enforce`?)");
    replace_configuration(gate.folder(), "{ \"mode\": \"enforce\",\n");
    in_log(":2:1: error: not JSON");
    replace_configuration(
        gate.folder(),
        &DOCUMENT.replace(
            r#""catalog": "none","#,
            r#""catalog": "none", "files": { "lab.txt": { "text": "404\nnot found\n" } },"#,
        ),
    );
    in_log("lab.txt: error: cannot read any of the 2 entries");
    gate.folder().write(RESOURCE, "{ \"resources\": [");
    in_log("Filesystem config update failure");

    // It goes on from there.
    swap_feed(&gate, "203.0.113.0/24\n");
    wait_for("the new feed", || (gate.status(&spoofed("/")) == 200).then_some(()));
}

#[test]
fn where_the_first_one_is_refused_requests_pass_until_a_good_one_comes() {
    let folder = lab();
    update_resource(&folder);
    replace_configuration(&folder, "{ broken");
    let gate = Gate::discover(folder, RESOURCE);
    for request in [verified("/"), spoofed("/"), person("/")] {
        let response = gate.ask(&request.header("X-Crawlpike", "action=allow, identity=verified"));
        assert_eq!(Received::of(&response).map(|received| received.crawlpike), Some(None), "{response:?}");
    }
    update_resource(gate.folder());
    wait_for("the first good one", || (gate.status(&spoofed("/")) == 403).then_some(()));
    assert_eq!((gate.status(&verified("/")), gate.status(&person("/"))), (200, 200));
}

#[test]
fn no_request_fails_under_swaps() {
    let gate = start();
    let probes = [
        Probe { request: verified("/"), status: 200 },
        Probe { request: spoofed("/"), status: 403 },
        Probe { request: person("/"), status: 200 },
    ];
    let mut swaps = 0;
    let report = ten_seconds(local(gate.port), &probes, |number| {
        // Every third one is refused; the others change nothing that a probe sees.
        if number % 3 == 2 {
            replace_configuration(gate.folder(), "{ broken");
            return;
        }
        gate.folder().write("lab.txt", format!("192.0.2.0/24\n198.51.100.{number}\n"));
        gate.folder().write("crawlpike.json", DOCUMENT);
        update_resource(gate.folder());
        swaps += 1;
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    assert!(report.requests > 0 && swaps > 5);
    assert!(gate.folder().read("envoy.log").contains("configuration:1:3: error: not JSON"));
}
