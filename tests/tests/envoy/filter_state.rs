//! Single facts in the filter state, for access logs and other filters.

use crawlpike_tests::envoy::{Filter, Gate, manager};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{FIREFOX, lab};
use crawlpike_tests::verdict::FIELDS;
use serde_json::{Value, json};

/// All facts for one site, the document's choice for another, none for a third.
fn document() -> String {
    json!({
        "mode": "enforce",
        "catalog": "none",
        "filter_state": ["reason", "agent"],
        "feeds": [{ "name": "lab", "format": "cidr", "source": "lab.txt" }],
        "agents": [{ "token": "LabBot", "feeds": ["lab"] }],
        "sites": [
            { "hosts": ["all.test"], "robots_txt": "robots.txt", "filter_state": FIELDS },
            { "hosts": ["none.test"], "filter_state": [] },
        ],
        "files": { "robots.txt": { "text": "User-agent: *\nDisallow: /private\n" } },
    })
    .to_string()
}

fn the_access_log_shows_the_facts_that_are_asked_for_and_no_others(filter: Filter) {
    let folder = lab();
    folder.write("crawlpike.json", document());
    let gate = Gate::start_changed(filter, folder, |listener| {
        let shown = FIELDS.map(|key| (key, format!("%FILTER_STATE({}.{key}:PLAIN)%", filter.state())));
        let format = manager(listener).pointer_mut("/access_log/0/typed_config/log_format/json_format");
        *format.unwrap() = shown.into_iter().chain([("case", "%REQ(X-TEST-CASE)%".to_owned())]).collect();
    });
    let logged = |case: &str, host: &str, path: &str, address: &str, user_agent: &str| {
        let request = Request::new("GET", path, host).agent(user_agent);
        gate.ask(&request.header("X-Forwarded-For", address).header("X-Test-Case", case));
        let line = gate.envoy.wait_for_line("access.log", &format!(r#""case":"{case}""#));
        let mut line: serde_json::Map<String, Value> = serde_json::from_str(&line).unwrap();
        line.remove("case");
        line.retain(|_, value| !value.is_null());
        Value::Object(line)
    };
    assert_eq!(
        logged("denied", "all.test", "/private/a", "192.0.2.1", "LabBot/1.0"),
        json!({
            "action": "deny", "status": "403", "reason": "robots-disallowed", "identity": "verified",
            "agent": "LabBot", "feed": "lab", "site": "all.test", "rule": "robots.txt:2", "proof": "ip-range",
            "enforced": "true",
        })
    );
    assert_eq!(
        logged("document's", "other.test", "/", "203.0.113.9", "LabBot/1.0"),
        json!({ "reason": "spoofed-agent", "agent": "LabBot" })
    );
    assert_eq!(
        logged("absent", "other.test", "/", "203.0.113.9", "curl/8.5.0"),
        json!({ "reason": "allowed" }),
        "no agent is claimed"
    );
    assert_eq!(logged("none", "none.test", "/", "192.0.2.1", "LabBot/1.0"), json!({}));
    assert_eq!(logged("person", "all.test", "/", "203.0.113.9", FIREFOX), json!({}));
}

for_both_gates!(the_access_log_shows_the_facts_that_are_asked_for_and_no_others);
