//! Facts about clients that claim nothing, and limits by them.

use crawlpike_tests::envoy::{Filter, Gate, filter_of_resource, manager};
use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::{DOCUMENT, FIREFOX, from, lab};
use crawlpike_tests::nginx::{Folder, ask};
use crawlpike_tests::origin::{Received, start_echo};
use crawlpike_tests::process::wait_for;
use crawlpike_tests::rate_limit_service::RateLimitService;
use crawlpike_tests::swarm::{attack, check};
use serde_json::{Value, json};

use crate::examples::Example;

const FACTS: [&str; 8] =
    ["network", "asn", "as_name", "as_kind", "costly", "browser", "fingerprint", "crowd_key"];

fn folder() -> Folder {
    let folder = lab();
    let settings = json!({
        "filter_state": FACTS.as_slice(),
        "networks": [{ "name": "as", "format": "iptoasn", "source": "as.tsv" }],
        "fingerprint_header": "X-JA4",
        "sites": [{ "costly": ["/costly/"] }],
    });
    let mut document: Value = serde_json::from_str(DOCUMENT).unwrap();
    document.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    folder.write("crawlpike.json", document.to_string());
    folder.write("as.tsv", "45.0.0.0\t45.255.255.255\t64500\tUS\tSwarm \"1\"\n");
    folder
}

/// Starts a gate with the compiled ruleset, since a Wasm filter reads no tables.
fn start(filter: Filter, change: impl FnOnce(&mut Value)) -> Gate {
    let folder = folder();
    let (config, resource) = (folder.path().join("crawlpike.json"), folder.path().join("resource.json"));
    filter.write_resource(&config, &resource);
    Gate::start_with(folder, filter_of_resource(&resource), change)
}

fn the_access_log_shows_the_facts_about_everybody(filter: Filter) {
    let gate = start(filter, |listener| {
        let shown = FACTS.map(|key| (key, format!("%FILTER_STATE({}.{key}:PLAIN)%", filter.state())));
        let format = manager(listener).pointer_mut("/access_log/0/typed_config/log_format/json_format");
        *format.unwrap() = shown.into_iter().chain([("case", "%REQ(X-TEST-CASE)%".to_owned())]).collect();
    });
    let logged = |case: &str, path: &str, address: &str, user_agent: &str| {
        let request =
            Request::get(path).agent(user_agent).header("X-JA4", "t13d").header("X-Test-Case", case);
        gate.ask(&from(address, request));
        let line = gate.envoy.wait_for_line("access.log", &format!(r#""case":"{case}""#));
        let line: serde_json::Map<String, Value> = serde_json::from_str(&line).unwrap();
        FACTS.map(|fact| line[fact].as_str().unwrap_or("-").to_owned()).join("|")
    };
    for (case, path, address, user_agent, expected) in [
        (
            "costly",
            "/costly/1",
            "45.1.2.3",
            FIREFOX,
            "45.1.2.0/24|64500|Swarm '1'|-|1|unknown|t13d|45.1.2.0/24",
        ),
        ("cheap", "/", "45.1.2.3", FIREFOX, "45.1.2.0/24|64500|Swarm '1'|-|-|unknown|t13d|-"),
        (
            "v6",
            "/costly/",
            "2001:db9:1:2::3",
            "curl/8",
            "2001:db9:1::/48|-|-|-|1|unknown|t13d|2001:db9:1::/48",
        ),
        ("verified", "/costly/1", "192.0.2.1", "LabBot/1.0", "192.0.2.0/24|-|-|-|1|unknown|t13d|-"),
    ] {
        assert_eq!(logged(case, path, address, user_agent), expected, "{case}");
    }
}

/// A bucket of 20 for each key, which is filled after an hour.
fn limit(descriptor: &Value) -> Value {
    json!({
        "name": "envoy.filters.http.local_ratelimit",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
            "stat_prefix": "swarm",
            "filter_enabled": { "default_value": { "numerator": 100 } },
            "filter_enforced": { "default_value": { "numerator": 100 } },
            "rate_limits": [{ "actions": [descriptor] }],
            "descriptors": [{
                "entries": [{ "key": "crowd" }],
                "token_bucket": { "max_tokens": 20, "tokens_per_fill": 1, "fill_interval": "3600s" },
            }],
            "max_dynamic_descriptors": 1000,
            "token_bucket": { "max_tokens": u32::MAX, "fill_interval": "1s" },
            "always_consume_default_token_bucket": false,
        },
    })
}

/// The native module shows its facts as metadata; those of the Wasm filter are in the filter state.
fn a_local_rate_limit_holds_for_a_swarm_and_spares_a_verified_agent(filter: Filter) {
    let descriptor = match filter {
        Filter::Native => json!({ "metadata": {
            "descriptor_key": "crowd",
            "metadata_key": { "key": "crawlpike", "path": [{ "key": "crowd_key" }] },
        } }),
        _ => json!({ "extension": {
            "name": "envoy.rate_limit_descriptors.expr",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor",
                "descriptor_key": "crowd",
                "skip_if_error": true,
                "text": "filter_state['wasm.crawlpike.crowd_key']",
            },
        } }),
    };
    let gate = start(filter, |listener| {
        let filters = manager(listener)["http_filters"].as_array_mut().expect("its filters");
        filters.insert(1, limit(&descriptor));
    });
    check(&attack(gate.port, "/costly/1"), 20);
}

for_both_gates!(
    the_access_log_shows_the_facts_about_everybody,
    a_local_rate_limit_holds_for_a_swarm_and_spares_a_verified_agent,
);

/// Starts an example, with these paths besides its document replaced.
fn example(file: &str, paths: &[(&str, String)]) -> Example {
    let folder = Folder::new();
    folder.copy_of_repository("examples/envoy");
    let document = folder.path().join("examples/envoy/swarms.json").display().to_string();
    let paths = paths.iter().cloned().chain([("/etc/crawlpike/swarms.json", document)]);
    Example::start(folder, file, &paths.collect())
}

#[test]
fn the_example_limits_by_network() {
    let example = example("swarms.yaml", &[]);
    let status = |address: &str, agent: &str, path: &str| example.ask(address, agent, path).status;
    let of_network = |host: u8, path: &str| status(&format!("203.0.113.{host}"), FIREFOX, path);
    wait_for("the end of the burst", || {
        (0..100).any(|host| of_network(host, "/a/blame/b") == 429).then_some(())
    });
    for host in 0..50 {
        assert_eq!(of_network(host, "/a"), 200);
        assert_eq!(status("192.0.2.1", "PartnerBot/1.0", "/a/blame/b"), 200);
    }
    assert_eq!(status("203.0.112.1", FIREFOX, "/a/blame/b"), 200);
}

/// The example asks a service that permits 20 requests of each network.
#[test]
fn a_global_rate_limit_counts_networks_and_is_not_asked_about_a_verified_agent() {
    let (service, port) = RateLimitService::start("crawlpike", "crowd", 20);
    let cluster = format!("port_value: {port} ");
    let example = example(
        "swarms-global.yaml",
        &[("port_value: 8081 ", cluster), ("timeout: 0.1s", "timeout: 60s".into())],
    );
    for path in ["/a", "/a/blame/b"] {
        assert_eq!(example.ask("192.0.2.1", "PartnerBot/1.0", path).status, 200);
        assert_eq!(service.values(), 0, "{path}");
    }
    for network in 0..30 {
        let statuses: Vec<u16> = (0..25)
            .map(|host| example.ask(&format!("45.0.{network}.{host}"), FIREFOX, "/a/blame/b").status)
            .collect();
        assert_eq!(statuses, [[200; 20].as_slice(), &[429; 5]].concat());
    }
    assert_eq!(example.ask("45.0.0.1", FIREFOX, "/a").status, 200);
    assert_eq!(example.ask("192.0.2.1", "PartnerBot/1.0", "/a/blame/b").status, 200);
    assert_eq!(service.values(), 30);
}

#[test]
fn routes_lead_those_who_are_not_known_to_a_login_and_to_copies() {
    let copies = format!("port_value: {} ", start_echo().port());
    let example = example("swarms-routes.yaml", &[("port_value: 8001 ", copies)]);
    let person = |path: &str| example.ask("203.0.113.1", FIREFOX, path);
    let is_of_origin = |response: &Response| response.status == 200 && Received::of(response).is_some();
    let login = person("/archive/1?page=2");
    assert_eq!(
        (login.status, login.header("location")),
        (302, Some("http://example.com/login?next=/archive/1?page=2"))
    );
    let copy = person("/a/blame/b");
    assert!(
        copy.status == 200 && !is_of_origin(&copy) && copy.text().starts_with("GET /a/blame/b "),
        "{copy:?}"
    );
    assert!(is_of_origin(&person("/a")));
    for path in ["/archive/1", "/a/blame/b", "/a"] {
        assert!(is_of_origin(&example.ask("192.0.2.1", "PartnerBot/1.0", path)), "{path}");
        let known = Request::get(path).agent(FIREFOX).header("Cookie", "a=b; passed=1");
        assert!(is_of_origin(&ask(example.port, &from("203.0.113.1", known))), "{path}");
    }
    assert_eq!(person("/archive/1").status, 302);
}
