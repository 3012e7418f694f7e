//! A filter from a file (ECDS): a new ruleset, or the old one where the new one is refused.

use std::fs;

use crawlward_tests::artefacts::compile_ruleset;
use crawlward_tests::envoy::{
    Envoy, Listener, discovered_filter, plugin_configuration, read_resource, replace_resource,
    write_resource, write_resource_with,
};
use crawlward_tests::http::Request;
use crawlward_tests::lab::{DOCUMENT, lab, person, spoofed, verified};
use crawlward_tests::load::{Probe, ten_seconds};
use crawlward_tests::nginx::{ask, local};
use crawlward_tests::origin::{Origin, Received};
use crawlward_tests::ports::free_port;
use crawlward_tests::process::wait_for;
use serde_json::Value;

const RESOURCE: &str = "resource.json";

/// Envoy that takes its filter from a file in its folder.
struct Gate {
    envoy: Envoy,
    port: u16,
    _origin: Origin,
}

impl Gate {
    fn start() -> Self {
        Self::start_with(|_| {})
    }

    /// Replaces the feed by one that has nothing of the old one, which its guard would hold.
    fn swap_feed(&self, prefixes: &str) {
        self.envoy.folder().write("crawlward.json", unguarded());
        self.envoy.folder().write("lab.txt", prefixes);
        assert_eq!(self.write().0, Some(0));
    }

    /// Starts it with a plugin configuration that `change` made of the good one.
    fn start_with(change: impl FnOnce(&mut Value)) -> Self {
        let (folder, origin, port) = (lab(), Origin::start(), free_port());
        let resource = folder.path().join(RESOURCE);
        let output = write_resource(&folder.path().join("crawlward.json"), &resource);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut first = read_resource(&resource);
        change(plugin_configuration(&mut first));
        replace_resource(&folder, RESOURCE, &first);
        let listener =
            Listener { port, filter: discovered_filter(&resource), access_log: "access.log".into() };
        Self { envoy: Envoy::start(folder, &[listener], origin.port()), port, _origin: origin }
    }

    /// Runs `crawlward envoy` over the file that Envoy watches; gives its exit status and messages.
    fn write(&self) -> (Option<i32>, String) {
        let folder = self.envoy.folder().path();
        let output = write_resource(&folder.join("crawlward.json"), &folder.join(RESOURCE));
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Moves a resource with another plugin configuration over the file that Envoy watches: what no tool of ours
    /// writes.
    fn replace(&self, document: &str) {
        let folder = self.envoy.folder();
        let mut resource = read_resource(&folder.path().join(RESOURCE));
        *plugin_configuration(&mut resource) = document.into();
        replace_resource(folder, RESOURCE, &resource);
    }

    fn status(&self, request: &Request) -> u16 {
        ask(self.port, request).status
    }
}

/// The document whose feed may change in any way.
fn unguarded() -> String {
    DOCUMENT.replace(r#""name": "lab","#, r#""name": "lab", "guard": "off","#)
}

#[test]
fn a_changed_feed_counts_when_its_resource_is_moved_there() {
    let gate = Gate::start();
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
    gate.swap_feed("203.0.113.9\n");
    wait_for("the new feed", || (gate.status(&spoofed("/")) == 200).then_some(()));
    wait_for("the end of the old feed", || (gate.status(&verified("/")) == 403).then_some(()));
    assert_eq!(gate.status(&person("/")), 200);
}

#[test]
fn a_compiled_ruleset_is_taken_as_bytes() {
    let gate = Gate::start();
    let folder = gate.envoy.folder();
    // The other way round, so that the answers tell which ruleset is in force.
    folder.write("lab.txt", "203.0.113.9\n");
    folder.write("crawlward.json", unguarded());
    let (document, compiled) = (folder.path().join("crawlward.json"), folder.path().join("crawlward.bin"));
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
    let configuration = plugin_configuration(&mut written);
    let base64 = configuration.as_str().unwrap().trim_end_matches('=').to_owned();
    *configuration = base64[..base64.len() / 8 * 4].into();
    replace_resource(folder, RESOURCE, &written);
    gate.envoy.wait_for_line("envoy.log", "configuration: error: the compiled ruleset is cut short");
    assert_eq!((gate.status(&spoofed("/")), gate.status(&verified("/"))), (200, 403), "the old one stays");
}

#[test]
fn what_is_refused_leaves_the_old_ruleset_in_force() {
    let gate = Gate::start();
    let unchanged = || {
        for _ in 0..5 {
            assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
            assert_eq!(gate.status(&person("/")), 200);
        }
    };

    // The command line refuses it first, and leaves the file as it is.
    let resource = gate.envoy.folder().path().join(RESOURCE);
    let before = fs::read(&resource).unwrap();
    gate.envoy.folder().write("crawlward.json", DOCUMENT.replace("enforce", "enforced"));
    let (status, message) = gate.write();
    assert_eq!(status, Some(2), "{message}");
    assert!(message.contains("crawlward.json:2:11: error: `mode`: unknown value `enforced`"), "{message}");
    assert_eq!(fs::read(&resource).unwrap(), before);

    // Envoy refuses it with the same words.
    let in_log = |text: &str| {
        gate.envoy.wait_for_line("envoy.log", text);
        unchanged();
    };
    gate.replace(&DOCUMENT.replace("enforce", "enforced"));
    in_log(":2:11: error: `mode`: unknown value `enforced` (did you mean `enforce`?)");
    gate.replace("{ \"mode\": \"enforce\",\n");
    in_log(":2:1: error: not JSON");
    gate.replace(&DOCUMENT.replace(
        r#""catalog": "none","#,
        r#""catalog": "none", "files": { "lab.txt": { "text": "404\nnot found\n" } },"#,
    ));
    in_log("lab.txt: error: none of the 2 entries can be used");
    gate.envoy.folder().write(RESOURCE, "{ \"resources\": [");
    in_log("Filesystem config update failure");

    // It goes on from there.
    gate.swap_feed("203.0.113.0/24\n");
    wait_for("the new feed", || (gate.status(&spoofed("/")) == 200).then_some(()));
}

#[test]
fn where_the_first_one_is_refused_requests_pass_until_a_good_one_comes() {
    let gate = Gate::start_with(|configuration| *configuration = "{ broken".into());
    for request in [verified("/"), spoofed("/"), person("/")] {
        let response = ask(gate.port, &request.header("X-Crawlward", "action=allow, identity=verified"));
        assert_eq!(Received::of(&response).map(|received| received.crawlward), Some(None), "{response:?}");
    }
    assert_eq!(gate.write().0, Some(0));
    wait_for("the first good one", || (gate.status(&spoofed("/")) == 403).then_some(()));
    assert_eq!((gate.status(&verified("/")), gate.status(&person("/"))), (200, 200));
}

#[test]
fn no_request_fails_under_swaps() {
    let gate = Gate::start();
    let probes = [
        Probe { request: verified("/"), status: 200 },
        Probe { request: spoofed("/"), status: 403 },
        Probe { request: person("/"), status: 200 },
    ];
    let mut swaps = 0;
    let report = ten_seconds(local(gate.port), &probes, |number| {
        // Every third one is refused; the others change nothing that a probe sees.
        if number % 3 == 2 {
            gate.replace("{ broken");
            return;
        }
        gate.envoy.folder().write("lab.txt", format!("192.0.2.0/24\n198.51.100.{number}\n"));
        gate.envoy.folder().write("crawlward.json", DOCUMENT);
        assert_eq!(gate.write().0, Some(0));
        swaps += 1;
    });
    assert!(report.failures.is_empty(), "of {} requests: {:#?}", report.requests, report.failures);
    assert!(report.requests > 0 && swaps > 5);
    assert!(gate.envoy.folder().read("envoy.log").contains("configuration:1:3: error: not JSON"));
}
