//! The measures in Envoy's Prometheus page.

use std::fs::{self, File};
use std::thread;
use std::time::{Duration, SystemTime};

use crawlpike_core::metrics::stats_tags;
use crawlpike_tests::artefacts::repository;
use crawlpike_tests::envoy::{
    Filter, Gate, RESOURCE, discovered_filter, manager, replace_configuration, update_resource,
    write_resource_with,
};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{DOCUMENT, lab, person, spoofed, verified};
use crawlpike_tests::process::wait_for;

/// As the lab's, with a site whose name has what names of statistics are made with.
fn document() -> String {
    let sites = r#""sites": [ { "hosts": ["example.com"] }, { "hosts": ["b.test"], "name": "a \"b\".site=\"c.d\"\nł" } ],"#;
    DOCUMENT.replace(r#""catalog": "none","#, &format!(r#""catalog": "none", {sites}"#))
}

fn start() -> Gate {
    let folder = lab();
    folder.write("crawlpike.json", document());
    update_resource(&folder);
    Gate::discover(folder, RESOURCE)
}

fn page(gate: &Gate) -> String {
    gate.envoy.admin("/stats/prometheus")
}

fn wait_for_value(gate: &Gate, series: &str, is_right: impl Fn(u64) -> bool) {
    wait_for(series, || gate.envoy.value(series).filter(|value| is_right(*value)));
}

fn requests(action: &str, reason: &str, identity: &str, agent: &str, site: &str) -> String {
    format!(
        r#"crawlpike_requests_total{{action="{action}",enforced="true",reason="{reason}",identity="{identity}",agent="{agent}",site="{site}"}}"#
    )
}

/// The counters of reloads that were a success, partial, or a failure.
fn reloads() -> [String; 3] {
    ["success", "partial", "failure"].map(|result| format!("crawlpike_reloads_total{{result=\"{result}\"}}"))
}

#[test]
fn requests_are_counted_by_decision() {
    let gate = start();
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
        wait_for_value(&gate, &series, |value| value == count);
    }
    assert_eq!(gate.envoy.value("crawlpike_errors_total{}"), Some(0));
    assert_eq!(page(&gate).matches("\ncrawlpike_requests_total{").count(), 4, "{}", page(&gate));
}

#[test]
fn counters_go_on_and_gauges_follow_when_the_ruleset_changes() {
    let gate = start();
    let [reloaded, partial, refused] = reloads();
    let series = requests("allow", "allowed", "verified", "LabBot", "example.com");
    gate.ask(&verified("/"));
    wait_for_value(&gate, &series, |value| value == 1);
    assert_eq!(
        [&reloaded, &partial, &refused].map(|series| gate.envoy.value(series)),
        [Some(0); 3],
        "the first is not a reload"
    );
    assert_eq!(gate.envoy.value(r#"crawlpike_feed_prefixes{feed="lab"}"#), Some(2));
    let loaded = gate.envoy.value("crawlpike_ruleset_loaded_timestamp_seconds{}");

    replace_configuration(gate.folder(), "{ broken");
    wait_for_value(&gate, &refused, |value| value == 1);
    assert_eq!(
        gate.envoy.value("crawlpike_ruleset_loaded_timestamp_seconds{}"),
        loaded,
        "the old one is in force"
    );

    gate.folder().write("lab.txt", "192.0.2.0/24\n2001:db8::/32\n198.51.100.0/24\n");
    gate.folder().write("crawlpike.json", document().replace("\"lab\"", "\"laboratory\""));
    update_resource(gate.folder());
    wait_for_value(&gate, r#"crawlpike_feed_prefixes{feed="laboratory"}"#, |value| value == 3);
    wait_for_value(&gate, r#"crawlpike_feed_prefixes{feed="lab"}"#, |value| value == 0);
    wait_for_value(&gate, r#"crawlpike_feed_state{feed="laboratory",state="ok"}"#, |value| value == 1);
    wait_for_value(&gate, r#"crawlpike_feed_state{feed="lab",state="ok"}"#, |value| value == 0);
    assert_eq!(
        [&reloaded, &partial, &refused].map(|series| gate.envoy.value(series)),
        [Some(1), Some(0), Some(1)],
        "once, whatever the workers"
    );
    gate.ask(&verified("/"));
    wait_for_value(&gate, &series, |value| value == 2);
    // Written now, so it is young; it ages without a request or a reload.
    let age = r#"crawlpike_feed_age_seconds{feed="laboratory"}"#;
    let first = gate.envoy.value(age).expect("a feed with a date");
    assert!(first < 1000, "{first}");
    wait_for_value(&gate, age, |value| value > first);
}

/// The lines of Envoy's log that contain a text.
fn logged(gate: &Gate, text: &str) -> usize {
    gate.folder().read("envoy.log").lines().filter(|line| line.contains(text)).count()
}

fn state(gate: &Gate, state: &str) -> Option<u64> {
    gate.envoy.value(&format!(r#"crawlpike_feed_state{{feed="lab",state="{state}"}}"#))
}

const PREFIXES: &str = r#"crawlpike_feed_prefixes{feed="lab"}"#;

#[test]
fn a_feed_that_is_held_is_told_once_and_no_success() {
    let gate = start();
    let [reloaded, partial, refused] = reloads();
    gate.folder().write("lab.txt", "<html>\n");
    // The document alone has the version that is in force, and not why.
    let path = |name: &str| gate.folder().path().join(name);
    assert!(write_resource_with(&path("crawlpike.json"), &path(RESOURCE), &[]).status.success());
    wait_for_value(&gate, &partial, |value| value == 1);
    wait_for("the state", || (state(&gate, "held") == Some(1)).then_some(()));
    assert_eq!((state(&gate, "ok"), gate.envoy.value(PREFIXES)), (Some(0), Some(2)), "the last good version");
    wait_for("the new ruleset", || (gate.envoy.update_count("config_reload") == 2).then_some(()));
    assert_eq!(logged(&gate, "the feed `lab` is held: "), 1, "whatever the workers");
    assert_eq!((gate.envoy.value(&reloaded), gate.envoy.value(&refused)), (Some(0), Some(0)));
}

#[test]
fn a_feed_that_becomes_stale_is_told_once() {
    let folder = lab();
    let document = document().replace(r#""name": "lab","#, r#""name": "lab", "max_age": "1h","#);
    folder.write("crawlpike.json", document);
    let modified = SystemTime::now() - Duration::from_secs(3600 - 45);
    File::options().write(true).open(folder.path().join("lab.txt")).unwrap().set_modified(modified).unwrap();
    update_resource(&folder);
    let gate = Gate::discover(folder, RESOURCE);
    assert_eq!((gate.status(&spoofed("/")), logged(&gate, "is stale")), (403, 0));
    gate.envoy.wait_for_line("envoy.log", "crawlpike: the feed `lab` is stale: it is 60m ");
    wait_for("the state", || (state(&gate, "stale") == Some(1)).then_some(()));
    assert_eq!((state(&gate, "ok"), gate.envoy.value(PREFIXES)), (Some(0), Some(0)));
    assert_eq!(gate.status(&spoofed("/")), 200, "he is unverified");
    // Each worker has looked by then.
    thread::sleep(Duration::from_secs(11));
    assert_eq!(logged(&gate, "is stale"), 1);
    // A load reports it, once as well.
    gate.folder().write("crawlpike.json", gate.folder().read("crawlpike.json") + "\n");
    update_resource(gate.folder());
    wait_for_value(&gate, &reloads()[1], |value| value == 1);
    wait_for("the new ruleset", || (gate.envoy.update_count("config_reload") == 2).then_some(()));
    thread::sleep(Duration::from_secs(11));
    assert_eq!(logged(&gate, "is stale"), 2);
}

#[test]
fn a_feed_of_another_filter_stays_shown_when_one_of_its_name_goes() {
    let folder = lab();
    update_resource(&folder);
    let discovered = discovered_filter(&folder.path().join(RESOURCE));
    // Before the one that changes, so that it is loaded first.
    let gate = Gate::start_changed(Filter::Wasm, folder, |listener| {
        let filters = manager(listener)["http_filters"].as_array_mut().expect("its filters");
        filters[0]["typed_config"]["config"]["name"] = "another".into();
        filters.insert(1, discovered);
    });
    let [lab, laboratory] =
        ["lab", "laboratory"].map(|feed| format!(r#"crawlpike_feed_prefixes{{feed="{feed}"}}"#));
    assert_eq!(gate.envoy.value(&lab), Some(2));
    gate.folder().write("crawlpike.json", DOCUMENT.replace("\"lab\"", "\"laboratory\""));
    update_resource(gate.folder());
    // In each worker, one after the other.
    wait_for("the new ruleset", || (gate.envoy.update_count("config_reload") == 2).then_some(()));
    wait_for_value(&gate, &laboratory, |value| value == 2);
    assert_eq!(gate.envoy.value(&lab), Some(2), "the other filter has it");
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
    for file in
        examples.iter().map(String::as_str).chain(["docs/envoy.md", "packaging/docker/envoy/envoy.yaml"])
    {
        let text = fs::read_to_string(repository().join(file)).unwrap();
        assert!(text.contains(&expected), "{file} lacks:\n{expected}");
    }
}
