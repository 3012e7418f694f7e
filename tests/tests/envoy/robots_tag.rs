//! Robots-Tag and Content-Usage on responses that only Envoy makes: its own local replies, behind our filter and before it. What is merged
//! how is in the table of cases.

use crawlpike_tests::envoy::{Envoy, Filter, manager};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{from, lab, person, spoofed};
use crawlpike_tests::nginx::ask;
use crawlpike_tests::ports::free_port;
use serde_json::{Value, json};

const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] } ],
  "sites": [ { "hosts": ["example.com"], "modes": [ { "scope": "/off", "mode": "off" } ], "robots_tag": [
    { "rules": "noindex; LabBot=nosnippet" }, { "scope": "/drafts/", "rules": "nofollow" } ],
    "usage": { "send": true, "rules": [ { "scope": "/", "preferences": "train-ai=n" } ] } } ]
}"#;

/// Envoy in front of nothing, with a filter that denies some paths before ours.
fn start(filter: Filter) -> (Envoy, u16) {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT);
    let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
    Envoy::start_one(folder, filter, free_port(), |listener| {
        manager(listener)["http_filters"].as_array_mut().expect("its filters").insert(0, guard());
    })
}

/// Denies `/guarded`.
fn guard() -> Value {
    json!({
        "name": "envoy.filters.http.rbac",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
            "rules": { "action": "DENY", "policies": { "guarded": {
                "permissions": [{ "url_path": { "path": { "prefix": "/guarded" } } }],
                "principals": [{ "any": true }],
            } } },
        },
    })
}

fn local_replies_have_the_rules_of_the_site(filter: Filter) {
    let (_envoy, port) = start(filter);
    for (request, status) in [
        // The origin is not there.
        (person("/"), 503),
        (spoofed("/"), 403),
        (person("/server/moved"), 301),
    ] {
        let response = ask(port, &request);
        assert_eq!(response.status, status, "{request:?}");
        assert_eq!(response.lines("robots-tag"), ["noindex; LabBot=nosnippet"], "{request:?}");
        assert_eq!(response.lines("x-robots-tag"), ["noindex", "LabBot: nosnippet"], "{request:?}");
        let usage: &[&str] = if status == 403 { &[] } else { &["train-ai=n"] };
        assert_eq!(response.lines("content-usage"), usage, "{request:?}");
    }
    let response = ask(port, &person("/drafts/"));
    assert_eq!(response.lines("x-robots-tag"), ["noindex, nofollow", "LabBot: nosnippet"]);
    // Our filter does not see a response of a filter before it.
    for (target, host, status) in
        [("/off", "example.com", 503), ("/", "other.test", 503), ("/guarded", "example.com", 403)]
    {
        let response = ask(port, &from("203.0.113.9", Request::new("GET", target, host)));
        assert_eq!(response.status, status, "{target}");
        assert_eq!(response.lines("robots-tag"), [""; 0], "{target}");
        assert_eq!(response.lines("x-robots-tag"), [""; 0], "{target}");
        assert_eq!(response.lines("content-usage"), [""; 0], "{target}");
    }
}

for_both_gates!(local_replies_have_the_rules_of_the_site);
