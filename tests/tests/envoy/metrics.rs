//! The measures in Envoy's Prometheus page.

use std::fs;
use std::path::Path;

use crawlward_core::measures::stats_tags;
use crawlward_tests::artefacts::repository;
use crawlward_tests::envoy::{
    Envoy, Listener, discovered_filter, plugin_configuration, read_resource, replace_resource, write_resource,
};
use crawlward_tests::http::Request;
use crawlward_tests::lab::{DOCUMENT, lab, person, spoofed, verified};
use crawlward_tests::nginx::ask;
use crawlward_tests::origin::Origin;
use crawlward_tests::ports::free_port;
use crawlward_tests::process::wait_for;

const RESOURCE: &str = "resource.json";

/// As the lab's, with a site whose name has what names of statistics are made with.
fn document() -> String {
    let sites = r#""sites": [ { "hosts": ["example.com"] }, { "hosts": ["b.test"], "name": "a \"b\".site=\"c.d\"\nł" } ],"#;
    DOCUMENT.replace(r#""catalog": "none","#, &format!(r#""catalog": "none", {sites}"#))
}

/// Envoy that takes its filter from a file in its folder.
struct Gate {
    envoy: Envoy,
    port: u16,
    _origin: Origin,
}

impl Gate {
    fn start() -> Self {
        let (folder, origin, port) = (lab(), Origin::start(), free_port());
        folder.write("crawlward.json", document());
        let resource = folder.path().join(RESOURCE);
        write(&folder.path().join("crawlward.json"), &resource);
        let filter = discovered_filter(&resource);
        let listener = Listener { port, filter, access_log: "access.log".into() };
        Self { envoy: Envoy::start(folder, &[listener], origin.port()), port, _origin: origin }
    }

    fn reload(&self, document: &str) {
        let folder = self.envoy.folder();
        folder.write("crawlward.json", document);
        write(&folder.path().join("crawlward.json"), &folder.path().join(RESOURCE));
    }

    fn page(&self) -> String {
        self.envoy.admin("/stats/prometheus")
    }

    /// The value of a series; `None` where there is none.
    fn value(&self, series: &str) -> Option<u64> {
        let page = self.page();
        let mut lines = page.lines();
        lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
    }

    fn wait_for(&self, series: &str, is_right: impl Fn(u64) -> bool) {
        wait_for(series, || self.value(series).filter(|value| is_right(*value)));
    }

    fn ask(&self, request: &Request) {
        ask(self.port, request);
    }
}

fn write(document: &Path, resource: &Path) {
    let output = write_resource(document, resource);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn requests(action: &str, reason: &str, identity: &str, agent: &str, site: &str) -> String {
    format!(
        r#"crawlward_requests_total{{action="{action}",reason="{reason}",identity="{identity}",agent="{agent}",site="{site}"}}"#
    )
}

#[test]
fn requests_are_counted_by_decision() {
    let gate = Gate::start();
    for request in [verified("/"), verified("/"), spoofed("/"), person("/")] {
        gate.ask(&request);
    }
    gate.ask(&Request::new("GET", "/", "b.test").agent("FreeBot/1.0"));
    let expected = [
        (requests("allow", "allowed", "verified", "LabBot", "example.com"), 2),
        (requests("deny", "spoofed-agent", "spoofed", "LabBot", "example.com"), 1),
        (requests("allow", "not-automated", "none", "", "example.com"), 1),
        (requests("allow", "allowed", "unverified", "FreeBot", r#"a \"b\".site=\"c.d\"\nł"#), 1),
    ];
    for (series, count) in expected {
        gate.wait_for(&series, |value| value == count);
    }
    assert_eq!(gate.value("crawlward_errors_total{}"), Some(0));
    assert_eq!(gate.page().matches("\ncrawlward_requests_total{").count(), 4, "{}", gate.page());
}

#[test]
fn counters_go_on_and_gauges_follow_when_the_ruleset_changes() {
    let gate = Gate::start();
    let [reloaded, refused] =
        ["success", "failure"].map(|result| format!("crawlward_reloads_total{{result=\"{result}\"}}"));
    let series = requests("allow", "allowed", "verified", "LabBot", "example.com");
    gate.ask(&verified("/"));
    gate.wait_for(&series, |value| value == 1);
    assert_eq!((gate.value(&reloaded), gate.value(&refused)), (Some(0), Some(0)), "the first is no reload");
    assert_eq!(gate.value(r#"crawlward_feed_prefixes{feed="lab"}"#), Some(2));
    let loaded = gate.value("crawlward_ruleset_loaded_timestamp_seconds{}");

    let folder = gate.envoy.folder();
    let mut bad = read_resource(&folder.path().join(RESOURCE));
    *plugin_configuration(&mut bad) = "{ broken".into();
    replace_resource(folder, RESOURCE, &bad);
    gate.wait_for(&refused, |value| value == 1);
    assert_eq!(gate.value("crawlward_ruleset_loaded_timestamp_seconds{}"), loaded, "the old one is in force");

    folder.write("lab.txt", "192.0.2.0/24\n");
    gate.reload(&document().replace("\"lab\"", "\"laboratory\""));
    gate.wait_for(r#"crawlward_feed_prefixes{feed="laboratory"}"#, |value| value == 1);
    gate.wait_for(r#"crawlward_feed_prefixes{feed="lab"}"#, |value| value == 0);
    assert_eq!(
        (gate.value(&reloaded), gate.value(&refused)),
        (Some(1), Some(1)),
        "once, whatever the workers"
    );
    gate.ask(&verified("/"));
    gate.wait_for(&series, |value| value == 2);
    // Written now, so it is young; it ages without a request or a reload.
    let age = r#"crawlward_feed_age_seconds{feed="laboratory"}"#;
    let first = gate.value(age).expect("a feed with a date");
    assert!(first < 1000, "{first}");
    gate.wait_for(age, |value| value > first);
}

#[test]
fn the_tags_in_examples_and_docs_are_those_of_the_code() {
    let tags: String = stats_tags()
        .iter()
        .map(|tag| format!("    - tag_name: {}\n      regex: '{}'\n", tag.name, tag.regex))
        .collect();
    let expected = format!("stats_config:\n  stats_tags:\n{tags}");
    let examples = ["demo/envoy.yaml", "envoy/static.yaml", "envoy/rate-limit.yaml"]
        .map(|file| format!("examples/{file}"));
    for file in examples.iter().map(String::as_str).chain(["docs/envoy.md"]) {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        assert!(text.contains(&expected), "{file} lacks:\n{expected}");
    }
}
