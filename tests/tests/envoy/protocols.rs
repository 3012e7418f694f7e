//! Requests of other kinds than GET with a Host, and responses that Envoy makes itself.

use crawlward_tests::envoy::{Envoy, Listener, configuration, manager, static_filter};
use crawlward_tests::http::{Request, Response, send_bytes};
use crawlward_tests::lab::{from, lab, person, spoofed, verified};
use crawlward_tests::nginx::{ask, local};
use crawlward_tests::origin::{Origin, Received};
use crawlward_tests::ports::free_port;
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
struct Gate {
    envoy: Envoy,
    port: u16,
    _origin: Origin,
}

impl Gate {
    fn start(document: &str) -> Self {
        let (folder, origin, port) = (lab(), Origin::start(), free_port());
        folder.write("crawlward.json", document);
        let filter = static_filter(&folder, &folder.path().join("crawlward.json"));
        let listener = Listener { port, filter, access_log: "access.log".into() };
        let mut listener = configuration(&folder, &listener);
        let manager = manager(&mut listener);
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
        Self { envoy: Envoy::start_configured(folder, vec![listener], origin.port()), port, _origin: origin }
    }

    fn status(&self, request: &Request) -> u16 {
        ask(self.port, request).status
    }

    /// Sends bytes, and gives the first line of what comes back.
    fn raw(&self, bytes: &str) -> String {
        let answer = send_bytes(local(self.port), bytes.as_bytes()).unwrap();
        answer.lines().next().unwrap_or_default().to_owned()
    }

    /// The filter made no error and trapped nowhere, whatever it was asked.
    fn is_sound(&self) {
        let page = self.envoy.admin("/stats/prometheus");
        assert!(page.contains("\ncrawlward_errors_total{} 0\n"), "{page}");
        assert!(!self.envoy.folder().read("envoy.log").contains("wasm log"), "nothing to say");
    }
}

#[test]
fn what_envoy_answers_itself_is_decided_like_the_rest() {
    let gate = Gate::start(DOCUMENT);
    for (path, status) in [("/direct", 418), ("/old", 301), ("/gone", 503)] {
        assert_eq!(gate.status(&person(path)), status, "{path}");
        assert_eq!(gate.status(&verified(path).header("Automation-Purpose", "search")), status, "{path}");
        let denied = ask(gate.port, &spoofed(path));
        assert_eq!(denied.denial_reason().as_deref(), Some("spoofed-agent"), "{path}");
    }
    // Served whatever route the path has.
    assert_eq!(ask(gate.port, &spoofed("/robots.txt")).text(), "User-agent: *\nDisallow: /private\n");
    gate.is_sound();
}

#[test]
fn a_grpc_client_is_denied_in_its_protocol() {
    let gate = Gate::start(DOCUMENT);
    let call = |request: Request, kind: &str| {
        ask(gate.port, &request.header("Content-Type", kind).header("TE", "trailers").body(b"\0\0\0\0\0"))
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
    gate.is_sound();
}

#[test]
fn upgrades_and_tunnels_are_decided_like_the_rest() {
    let gate = Gate::start(DOCUMENT);
    let upgrade = |request: Request| {
        request
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Automation-Purpose", "search")
    };
    assert_eq!(gate.status(&upgrade(spoofed("/"))), 403);
    assert_eq!(gate.status(&upgrade(verified("/private"))), 403);
    // The origin is no WebSocket server, and says so.
    assert_ne!(gate.status(&upgrade(verified("/"))), 403);
    let connect = |address: &str, user_agent: &str| {
        gate.raw(&format!(
            "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nUser-Agent: {user_agent}\r\n\
             X-Forwarded-For: {address}\r\nAutomation-Purpose: search\r\nConnection: close\r\n\r\n"
        ))
    };
    assert!(connect("203.0.113.9", "LabBot/1.0").contains(" 403 "));
    assert!(connect("192.0.2.1", "LabBot/1.0").contains(" 418 "));
    gate.is_sound();
}

#[test]
fn a_request_without_a_host_is_decided_for_the_default_host() {
    let gate = Gate::start(DOCUMENT);
    let old = |address: &str| {
        let request = Request::bare("GET", "/").http_1_0().agent("LabBot/1.0");
        ask(gate.port, &from(address, request).header("Automation-Purpose", "search"))
    };
    assert_eq!(old("203.0.113.9").denial_reason().as_deref(), Some("spoofed-agent"));
    assert_eq!(old("192.0.2.1").status, 200);
    // In HTTP/1.1 it is no request; Envoy refuses it before any filter sees it.
    assert_eq!(gate.status(&Request::bare("GET", "/").agent("LabBot/1.0")), 400);
    gate.is_sound();
}

#[test]
fn repeated_headers_and_bytes_that_are_not_utf_8() {
    let gate = Gate::start(DOCUMENT);
    let asked = |purposes: &[&[u8]]| -> Response {
        let request = from("192.0.2.1", Request::get("/").agent("LabBot/1.0"));
        let request =
            purposes.iter().fold(request, |request, purpose| request.header("Automation-Purpose", purpose));
        ask(gate.port, &request.header("X-Odd", b"\xff\xfe\x80"))
    };
    assert_eq!(asked(&[b"search"]).status, 200);
    // The first line counts, as in nginx.
    assert_eq!(asked(&[b"search", b"training"]).status, 200);
    for purposes in [&[&b"training"[..], b"search"][..], &[b"search\xff"], &[b"\xc3\x28"], &[b""], &[]] {
        assert_eq!(asked(purposes).denial_reason().as_deref(), Some("purpose-not-allowed"), "{purposes:?}");
    }
    let agent = from("203.0.113.9", Request::get("/").agent(b"\xff\xfe LabBot/1.0 \x80"));
    assert_eq!(ask(gate.port, &agent).denial_reason().as_deref(), Some("spoofed-agent"));
    gate.is_sound();
}
