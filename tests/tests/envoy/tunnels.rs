//! CONNECT: what is decided about a tunnel, and that nobody gets into one who is denied.

use crawlpike_tests::envoy::{Filter, Gate, manager};
use crawlpike_tests::http::send_bytes;
use crawlpike_tests::lab::{FIREFOX, lab};
use crawlpike_tests::nginx::local;
use serde_json::{Value, json};

/// `example.com` allows tunnels, `no-method.test` and `closed.test` do not, and `open.test` has no rule about methods.
const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] } ],
  "sites": [
    { "hosts": ["example.com"], "robots_txt": "private.txt", "automation_preferences": "tunnels.txt" },
    { "hosts": ["no-method.test"], "robots_txt": "private.txt", "automation_preferences": "get.txt" },
    { "hosts": ["closed.test"], "robots_txt": "closed.txt" },
    { "robots_txt": "private.txt" }
  ],
  "files": {
    "private.txt": { "text": "User-agent: *\nDisallow: /private\n" },
    "closed.txt": { "text": "User-agent: *\nDisallow: /\n" },
    "tunnels.txt": { "text": "scope: /\nallowed-methods: GET, CONNECT\n\nscope: /a\nallowed-methods: GET\n" },
    "get.txt": { "text": "scope: /\nallowed-methods: GET, HEAD\n\nscope: /a\nallowed-methods: CONNECT\n" }
  }
}"#;

/// Envoy with a route on which it makes tunnels to the origin.
fn start(filter: Filter) -> Gate {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT);
    Gate::start_changed(filter, folder, |listener| {
        let manager = manager(listener);
        manager["upgrade_configs"] = json!([{ "upgrade_type": "CONNECT" }]);
        // The time that Envoy waits for the client to close a tunnel that has ended.
        manager["delayed_close_timeout"] = "0.1s".into();
        let routes = manager
            .pointer_mut("/route_config/virtual_hosts/0/routes")
            .and_then(Value::as_array_mut)
            .unwrap();
        let tunnel = json!({
            "cluster": "origin",
            "upgrade_configs": [{ "upgrade_type": "CONNECT", "connect_config": {} }],
        });
        routes.insert(0, json!({ "match": { "connect_matcher": {} }, "route": tunnel }));
    })
}

/// The answer to a client with this address that requests a tunnel and, at once, a page of the origin through it.
fn connect(gate: &Gate, address: &str, user_agent: &str, target: &str, host: &str) -> String {
    let head = format!(
        "CONNECT {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {user_agent}\r\nX-Forwarded-For: {address}\r\n\
         Connection: close\r\n\r\n"
    );
    // Nobody decides about what goes through a tunnel.
    let within = "GET /private HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n";
    send_bytes(local(gate.port), (head + within).as_bytes()).unwrap()
}

/// `Ok` if there was a tunnel; otherwise the reason.
fn verdict(answer: &str) -> Result<(), &str> {
    if answer.starts_with("HTTP/1.1 200 ") {
        assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 2, "the origin has answered within: {answer}");
        return Ok(());
    }
    assert!(!answer.contains("HTTP/1.1 200 "), "nothing went through: {answer}");
    let reason = answer.split(r#""reason":""#).nth(1).and_then(|rest| rest.split('"').next());
    Err(reason.unwrap_or(answer))
}

fn a_tunnel_is_decided_as_the_root_of_its_host(filter: Filter) {
    let gate = start(filter);
    let lab_bot = |target: &str| connect(&gate, "192.0.2.1", "LabBot/1.0", target, target);
    for (target, expected) in [
        ("example.com:443", Ok(())),
        ("EXAMPLE.com:8443", Ok(())),
        ("no-method.test:443", Err("method-not-allowed")),
        ("closed.test:443", Err("robots-disallowed")),
        ("closed.test:80", Err("robots-disallowed")),
        ("other.test:443", Ok(())),
        ("example.com..:443", Err("invalid-host")),
    ] {
        let answer = lab_bot(target);
        assert_eq!(verdict(&answer), expected, "{target}: {answer}");
    }
    let spoofed = connect(&gate, "203.0.113.9", "LabBot/1.0", "example.com:443", "example.com:443");
    assert_eq!(verdict(&spoofed), Err("spoofed-agent"));
    assert!(spoofed.starts_with("HTTP/1.1 403 ") && spoofed.contains("cache-control: no-store"), "{spoofed}");
    let person = connect(&gate, "203.0.113.9", FIREFOX, "closed.test:443", "closed.test:443");
    assert_eq!(verdict(&person), Ok(()), "no rule is for people");
}

fn the_target_of_a_tunnel_counts_and_no_other_host(filter: Filter) {
    let gate = start(filter);
    let lab_bot = |target: &str, host: &str| connect(&gate, "192.0.2.1", "LabBot/1.0", target, host);
    assert_eq!(verdict(&lab_bot("closed.test:443", "example.com")), Err("robots-disallowed"));
    assert_eq!(verdict(&lab_bot("example.com:443", "closed.test")), Ok(()));
}

for_both_gates!(a_tunnel_is_decided_as_the_root_of_its_host, the_target_of_a_tunnel_counts_and_no_other_host);
