//! A filter in the static configuration: what clients, origins and logs see.

use crawlward_tests::envoy::{Envoy, static_filter};
use crawlward_tests::http::{Connection, Request};
use crawlward_tests::lab::{ADDRESS_HEADER, FIREFOX, VERIFIED, lab, person, spoofed, verified};
use crawlward_tests::nginx::{ask, local};
use crawlward_tests::origin::start_echo;
use serde_json::Value;

const FORGED: &str = "action=allow, identity=verified";

/// Envoy in front of an origin that shows the head of each request as it came.
struct Gate {
    envoy: Envoy,
    port: u16,
}

impl Gate {
    fn start() -> Self {
        let folder = lab();
        let filter = static_filter(&folder, &folder.path().join("crawlward.json"));
        let (envoy, port) = Envoy::start_one(folder, filter, start_echo().port(), |_| {});
        Self { envoy, port }
    }

    /// The values of a header that the origin received.
    fn relayed(&self, request: &Request, name: &str) -> Vec<String> {
        let response = ask(self.port, request);
        assert_eq!(response.status, 200, "{response:?}");
        let value = |line: &str| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        };
        response.text().split("\r\n").filter_map(value).collect()
    }

    fn logged(&self, case: &str) -> Value {
        let line = self.envoy.wait_for_line("access.log", &format!(r#""case":"{case}""#));
        serde_json::from_str(&line).expect("a line of JSON")
    }
}

#[test]
fn forged_headers_are_removed() {
    let gate = Gate::start();
    let forged = |request: Request, lines: usize| {
        (0..lines).fold(request, |request, at| {
            let name = ["X-Crawlward", "x-crawlward", "X_Crawlward", "X-CRAWLWARD"][at % 4];
            request.header(name, FORGED).header(&format!("X-Line-{at}"), "stays")
        })
    };
    for lines in [0, 1, 2, 4, 30] {
        assert_eq!(gate.relayed(&forged(verified("/"), lines), "X-Crawlward"), [VERIFIED], "{lines} lines");
        assert!(gate.relayed(&forged(person("/"), lines), "X-Crawlward").is_empty(), "{lines} lines");
        for request in [verified("/"), person("/")] {
            let request = forged(request, lines);
            assert!(gate.relayed(&request, "X_Crawlward").is_empty(), "{lines} lines");
            for at in 0..lines {
                assert_eq!(gate.relayed(&request, &format!("X-Line-{at}")), ["stays"], "{lines} lines");
            }
        }
    }
    assert_eq!(gate.relayed(&person("/"), "User-Agent"), [FIREFOX]);
}

#[test]
fn the_access_log_tells_the_decision_about_denied_requests_too() {
    let gate = Gate::start();
    let named = |request: Request, name: &str| ask(gate.port, &request.header("X-Test-Case", name));
    named(verified("/"), "verified");
    named(spoofed("/"), "spoofed");
    named(person("/"), "person");
    let line = gate.logged("verified");
    assert_eq!((&line["status"], &line["crawlward"]), (&200.into(), &VERIFIED.into()));
    let line = gate.logged("spoofed");
    let expected = r#"action=deny, identity=spoofed, agent="LabBot""#;
    assert_eq!((&line["status"], &line["crawlward"]), (&403.into(), &expected.into()));
    assert_eq!(line["details"], "crawlward_denied[spoofed-agent]");
    let line = gate.logged("person");
    assert_eq!((&line["status"], &line["crawlward"]), (&200.into(), &Value::Null));
}

#[test]
fn a_connection_is_usable_after_denials() {
    let gate = Gate::start();
    let as_spoofed = |method| {
        Request::new(method, "/", "example.com").agent("LabBot/1.0").header(ADDRESS_HEADER, "203.0.113.9")
    };
    let denied = ask(gate.port, &spoofed("/a?b"));
    assert_eq!(denied.header("cache-control"), Some("no-store"));
    assert_eq!(denied.denial_reason().as_deref(), Some("spoofed-agent"));
    let mut connection = Connection::open(local(gate.port)).unwrap();
    for _ in 0..3 {
        let head = connection.send(&as_spoofed("HEAD")).unwrap();
        assert_eq!((head.status, head.body.len()), (403, 0));
        assert_eq!(connection.send(&as_spoofed("GET")).unwrap().status, 403);
        assert_eq!(connection.send(&verified("/")).unwrap().status, 200);
    }
    // Envoy closes a connection whose request it does not read to the end, after the whole response.
    let post = connection.send(&as_spoofed("POST").body(b"a=b")).unwrap();
    assert_eq!(post.denial_reason().as_deref(), Some("spoofed-agent"));
}
