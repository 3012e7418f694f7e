//! Requests of other kinds than GET with a Host, and responses that Envoy makes itself.

use crawlpike_tests::envoy::{Filter, Gate, manager};
use crawlpike_tests::http::{Request, Response, send_bytes};
use crawlpike_tests::lab::{from, lab, person, spoofed, verified};
use crawlpike_tests::nginx::local;
use crawlpike_tests::origin::Received;
use serde_json::{Value, json};

const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] } ],
  "sites": [ { "robots_txt": "robots.txt", "automation_preferences": "preferences.txt" } ],
  "files": {
    "robots.txt": { "text": "User-agent: *\nDisallow: /private\n" },
    "preferences.txt": { "text": "scope: /\nallowed-methods: GET, POST, CONNECT\nallowed-purposes: search\n" }
  }
}"#;

/// Envoy with routes that it answers itself, and with upgrades and CONNECT.
fn start(filter: Filter) -> Gate {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT);
    Gate::start_changed(filter, folder, |listener| {
        let manager = manager(listener);
        manager["http_protocol_options"] =
            json!({ "accept_http_10": true, "default_host_for_http_10": "example.com" });
        manager["upgrade_configs"] = json!([{ "upgrade_type": "websocket" }, { "upgrade_type": "CONNECT" }]);
        let routes =
            manager.pointer_mut("/route_config/virtual_hosts/0/routes").and_then(Value::as_array_mut);
        routes.unwrap().splice(
            0..0,
            [
                json!({ "match": { "path": "/direct" }, "direct_response": { "status": 418 } }),
                json!({ "match": { "path": "/old" }, "redirect": { "path_redirect": "/new" } }),
                json!({ "match": { "path": "/gone" }, "route": { "cluster_header": "x-cluster" } }),
                json!({ "match": { "connect_matcher": {} }, "direct_response": { "status": 418 } }),
            ],
        );
    })
}

/// The filter made no error and trapped nowhere, whatever it was asked.
fn is_sound(gate: &Gate) {
    let page = gate.envoy.admin("/stats/prometheus");
    assert!(page.contains("\ncrawlpike_errors_total{} 0\n"), "{page}");
    let log = gate.folder().read("envoy.log");
    assert!(!log.contains("wasm log") && !log.contains("crawlpike: "), "nothing to say: {log}");
}

fn what_envoy_answers_itself_is_decided_like_the_rest(filter: Filter) {
    let gate = start(filter);
    for (path, status) in [("/direct", 418), ("/old", 301), ("/gone", 503)] {
        assert_eq!(gate.status(&person(path)), status, "{path}");
        assert_eq!(gate.status(&verified(path).header("Automation-Purpose", "search")), status, "{path}");
        let denied = gate.ask(&spoofed(path));
        assert_eq!(denied.denial_reason().as_deref(), Some("spoofed-agent"), "{path}");
    }
    // Served whatever route the path has.
    assert_eq!(gate.ask(&spoofed("/robots.txt")).text(), "User-agent: *\nDisallow: /private\n");
    is_sound(&gate);
}

fn a_grpc_client_is_denied_in_its_protocol(filter: Filter) {
    let gate = start(filter);
    let call = |request: Request, kind: &str| {
        gate.ask(&request.header("Content-Type", kind).header("TE", "trailers").body(b"\0\0\0\0\0"))
    };
    let post = |address| {
        let request = Request::new("POST", "/lab.Lab/Ask", "example.com").agent("LabBot/1.0");
        from(address, request).header("Automation-Purpose", "search")
    };
    const PERMISSION_DENIED: Option<&str> = Some("7");
    for kind in ["application/grpc", "application/grpc+proto"] {
        let denied = call(post("203.0.113.9"), kind);
        assert_eq!((denied.status, denied.header("grpc-status")), (200, PERMISSION_DENIED), "{denied:?}");
        assert_eq!(denied.header("content-type"), Some("application/grpc"), "{denied:?}");
        assert!(denied.body.is_empty(), "{denied:?}");
        let message = denied.header("grpc-message").unwrap_or_default();
        assert!(message.contains(r#""reason":"spoofed-agent""#), "{denied:?}");
    }
    assert!(Received::of(&call(post("192.0.2.1"), "application/grpc")).is_some(), "passed");
    assert_eq!(call(post("203.0.113.9"), "application/json").status, 403);
    is_sound(&gate);
}

fn upgrades_and_tunnels_are_decided_like_the_rest(filter: Filter) {
    let gate = start(filter);
    let upgrade = |request: Request| {
        request
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Automation-Purpose", "search")
    };
    assert_eq!(gate.status(&upgrade(spoofed("/"))), 403);
    assert_eq!(gate.status(&upgrade(verified("/private"))), 403);
    // The origin is not a WebSocket server, and refuses.
    assert_ne!(gate.status(&upgrade(verified("/"))), 403);
    let connect = |address: &str, user_agent: &str| {
        let request = format!(
            "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nUser-Agent: {user_agent}\r\n\
             X-Forwarded-For: {address}\r\nAutomation-Purpose: search\r\nConnection: close\r\n\r\n"
        );
        send_bytes(local(gate.port), request.as_bytes()).unwrap()
    };
    assert!(connect("203.0.113.9", "LabBot/1.0").starts_with("HTTP/1.1 403 "));
    assert!(connect("192.0.2.1", "LabBot/1.0").starts_with("HTTP/1.1 418 "));
    is_sound(&gate);
}

fn a_request_without_a_host_is_decided_for_the_default_host(filter: Filter) {
    let gate = start(filter);
    let old = |address: &str| {
        let request = Request::bare("GET", "/").http_1_0().agent("LabBot/1.0");
        gate.ask(&from(address, request).header("Automation-Purpose", "search"))
    };
    assert_eq!(old("203.0.113.9").denial_reason().as_deref(), Some("spoofed-agent"));
    assert_eq!(old("192.0.2.1").status, 200);
    // In HTTP/1.1 it is not a request; Envoy refuses it before any filter sees it.
    assert_eq!(gate.status(&Request::bare("GET", "/").agent("LabBot/1.0")), 400);
    is_sound(&gate);
}

fn repeated_headers_and_bytes_that_are_not_utf_8(filter: Filter) {
    let gate = start(filter);
    let asked = |purposes: &[&[u8]]| -> Response {
        let request = from("192.0.2.1", Request::get("/").agent("LabBot/1.0"));
        let request =
            purposes.iter().fold(request, |request, purpose| request.header("Automation-Purpose", purpose));
        gate.ask(&request.header("X-Odd", b"\xff\xfe\x80"))
    };
    assert_eq!(asked(&[b"search"]).status, 200);
    // Each line is a purpose.
    assert_eq!(asked(&[b"search", b"search"]).status, 200);
    for purposes in [
        &[&b"training"[..], b"search"][..],
        &[b"search", b"training"],
        &[b"search", b""],
        &[b"search\xff"],
        &[b"\xc3\x28"],
        &[b""],
        &[],
    ] {
        assert_eq!(asked(purposes).denial_reason().as_deref(), Some("purpose-not-allowed"), "{purposes:?}");
    }
    let agent = from("203.0.113.9", Request::get("/").agent(b"\xff\xfe LabBot/1.0 \x80"));
    assert_eq!(gate.ask(&agent).denial_reason().as_deref(), Some("spoofed-agent"));
    is_sound(&gate);
}

for_both_gates!(
    what_envoy_answers_itself_is_decided_like_the_rest,
    a_grpc_client_is_denied_in_its_protocol,
    upgrades_and_tunnels_are_decided_like_the_rest,
    a_request_without_a_host_is_decided_for_the_default_host,
    repeated_headers_and_bytes_that_are_not_utf_8
);
