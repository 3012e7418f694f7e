//! A filter in the static configuration: what clients, origins and logs see.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use crawlpike_tests::envoy::{self, Envoy, Filter, manager};
use crawlpike_tests::http::{Connection, Request, send_bytes};
use crawlpike_tests::lab::{ADDRESS_HEADER, FIREFOX, VERIFIED, lab, person, spoofed, verified};
use crawlpike_tests::nginx::{ask, local};
use crawlpike_tests::origin::start_echo;
use serde_json::{Value, json};

const FORGED: &str = "action=allow, identity=verified";

/// Envoy in front of an origin that shows the head of each request as it came.
struct Gate {
    envoy: Envoy,
    port: u16,
}

impl Gate {
    fn start(filter: Filter) -> Self {
        Self::start_changed(filter, |_| {})
    }

    fn start_changed(filter: Filter, change: impl FnOnce(&mut Value)) -> Self {
        let folder = lab();
        let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
        let (envoy, port) = Envoy::start_one(folder, filter, start_echo().port(), change);
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

fn no_client_has_the_next_hop_remove_our_header(filter: Filter) {
    // Envoy removes the header itself, but for upgrades.
    let gate = Gate::start_changed(filter, |listener| {
        manager(listener)["upgrade_configs"] = json!([ { "upgrade_type": "websocket" } ]);
    });
    for (connection, expected) in
        [("Upgrade, X-Crawlpike", "Upgrade"), ("x-crawlpike,upgrade", "upgrade"), ("Upgrade", "Upgrade")]
    {
        let request = format!(
            "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: LabBot/1.0\r\n{ADDRESS_HEADER}: 192.0.2.1\r\n\
             Connection: {connection}\r\nUpgrade: websocket\r\n\r\n"
        );
        let answer = send_bytes(local(gate.port), request.as_bytes()).unwrap();
        let (head, relayed) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 101"), "{answer}");
        let value = |name: &str| {
            relayed.split("\r\n").filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name)
        };
        assert_eq!(value("connection").map(|(_, value)| value), Some(expected), "{answer}");
        assert_eq!(value("x-crawlpike").map(|(_, value)| value), Some(VERIFIED), "{answer}");
    }
}

/// Of the Wasm filter only: Envoy does not show a dynamic module the responses that the module sends.
#[test]
fn a_denial_that_envoy_shows_in_its_own_form_is_stored_nowhere() {
    let gate = Gate::start_changed(Filter::Wasm, |listener| {
        manager(listener)["local_reply_config"] = json!({ "mappers": [ {
            "filter": { "status_code_filter": { "comparison": { "op": "EQ",
                "value": { "default_value": 403, "runtime_key": "none" } } } },
            "status_code": 404,
            "headers_to_add": [
                { "header": { "key": "Cache-Control", "value": "max-age=9" }, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD" },
                { "header": { "key": "CDN-Cache-Control", "value": "max-age=9" } },
                { "header": { "key": "X-More", "value": "stays" } } ]
        } ] });
    });
    let denied = ask(gate.port, &spoofed("/"));
    assert_eq!((denied.status, denied.header("x-more")), (404, Some("stays")), "{denied:?}");
    assert_eq!(denied.lines("cache-control"), ["no-store"], "{denied:?}");
    assert_eq!(denied.header("cdn-cache-control"), None, "{denied:?}");
}

fn forged_headers_are_removed(filter: Filter) {
    let gate = Gate::start(filter);
    let forged = |request: Request, lines: usize| {
        (0..lines).fold(request, |request, at| {
            let name =
                ["X-Crawlpike", "x-crawlpike", "X_Crawlpike", "X-CRAWLPIKE", "X.Crawlpike", "x~crawlpike"]
                    [at % 6];
            request.header(name, FORGED).header(&format!("X-Line-{at}"), "stays")
        })
    };
    for lines in [0, 1, 2, 4, 30] {
        assert_eq!(gate.relayed(&forged(verified("/"), lines), "X-Crawlpike"), [VERIFIED], "{lines} lines");
        assert!(gate.relayed(&forged(person("/"), lines), "X-Crawlpike").is_empty(), "{lines} lines");
        for request in [verified("/"), person("/")] {
            let request = forged(request, lines);
            for name in ["X_Crawlpike", "X.Crawlpike", "X~Crawlpike"] {
                assert!(gate.relayed(&request, name).is_empty(), "{name}, {lines} lines");
            }
            for at in 0..lines {
                assert_eq!(gate.relayed(&request, &format!("X-Line-{at}")), ["stays"], "{lines} lines");
            }
        }
    }
    assert_eq!(gate.relayed(&person("/"), "User-Agent"), [FIREFOX]);
}

fn the_access_log_tells_the_decision_about_denied_requests_too(filter: Filter) {
    let gate = Gate::start(filter);
    let named = |request: Request, name: &str| ask(gate.port, &request.header("X-Test-Case", name));
    named(verified("/"), "verified");
    named(spoofed("/"), "spoofed");
    named(person("/"), "person");
    let line = gate.logged("verified");
    assert_eq!((&line["status"], &line[filter.state()]), (&200.into(), &VERIFIED.into()));
    let line = gate.logged("spoofed");
    let expected = r#"action=deny, identity=spoofed, agent="LabBot""#;
    assert_eq!((&line["status"], &line[filter.state()]), (&403.into(), &expected.into()));
    assert_eq!(line["details"], "crawlpike_denied[spoofed-agent]");
    let line = gate.logged("person");
    assert_eq!((&line["status"], &line[filter.state()]), (&200.into(), &Value::Null));
}

fn a_connection_is_usable_after_denials(filter: Filter) {
    let gate = Gate::start(filter);
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

/// No client can send one, but a filter before ours can.
fn a_header_name_that_is_not_utf_8_changes_nothing(filter: Filter) {
    let gate = envoy::Gate::start_changed(filter, lab(), |listener| {
        let lua = r#"function envoy_on_request(handle)
            handle:headers():add("x-\xff", "\xfe")
            if handle:headers():get("x-\xff") ~= "\xfe" then handle:respond({[":status"] = "500"}) end
        end"#;
        let filter = json!({
            "name": "envoy.filters.http.lua",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
                "default_source_code": { "inline_string": lua },
            },
        });
        manager(listener)["http_filters"].as_array_mut().expect("its filters").insert(0, filter);
    });
    // Answered by Envoy, since an origin may refuse such a header.
    assert_eq!(gate.status(&person("/server/direct")), 200);
    assert_eq!(gate.status(&verified("/server/direct")), 200);
    assert_eq!(gate.status(&spoofed("/server/direct")), 403);
}

fn automation_says_which_host_it_wants_and_people_need_not(filter: Filter) {
    let gate = Gate::start(filter);
    for hosts in [
        &["user@example.com"][..],
        &["example.com.."],
        &["exam%70le.com"],
        &["example.com;x"],
        &["example.com", "example.com"],
        &["example.com", "x.invalid"],
    ] {
        let asked = |agent: &str| {
            let request = Request::bare("GET", "/").header(ADDRESS_HEADER, "203.0.113.9").agent(agent);
            ask(gate.port, &hosts.iter().fold(request, |request, host| request.header("Host", host)))
        };
        let denied = asked("curl/8");
        assert_eq!(
            (denied.status, denied.lines("cache-control")),
            (400, vec!["no-store"]),
            "{hosts:?}: {denied:?}"
        );
        assert_eq!(denied.problem().unwrap()["reason"], "invalid-host", "{hosts:?}");
        assert_eq!(asked(FIREFOX).status, 200, "{hosts:?}");
    }
}

fn forged_trailers_are_removed(filter: Filter) {
    let origin = TcpListener::bind(local(0)).unwrap();
    let folder = lab();
    let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
    let port_of_origin = origin.local_addr().unwrap().port();
    let (_envoy, port) = Envoy::start_one(folder, filter, port_of_origin, |listener| {
        manager(listener)["http_protocol_options"] = json!({ "enable_trailers": true });
    });
    let head =
        format!("POST / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: {FIREFOX}\r\nConnection: close\r\n");
    let trailers = format!("X-Crawlpike: {FORGED}\r\nX-Stays: stays\r\nx_crawlpike: {FORGED}\r\n");
    let request = format!("{head}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n{trailers}\r\n");
    let client = thread::spawn(move || send_bytes(local(port), request.as_bytes()).unwrap());
    let (mut connection, _) = origin.accept().unwrap();
    let (mut received, mut room) = (String::new(), [0; 4096]);
    while !(received.contains("\r\n0\r\n") && received.ends_with("\r\n\r\n")) {
        let length = connection.read(&mut room).unwrap();
        assert_ne!(length, 0, "{received}");
        received.push_str(str::from_utf8(&room[..length]).unwrap());
    }
    connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    assert!(client.join().unwrap().starts_with("HTTP/1.1 204 "));
    assert!(received.contains("\r\nx-stays: stays\r\n") && !received.contains(FORGED), "{received}");
}

fn headers_of_changing_sizes_change_nothing(filter: Filter) {
    let gate = Gate::start(filter);
    for size in [0, 300, 5_000, 20_000, 50_000, 20_000, 40, 5_000, 0, 17_000, 1] {
        let padding = "x".repeat(size);
        let padded = |request: Request| request.header("X-Padding", &padding);
        assert_eq!(gate.relayed(&padded(verified("/")), "x-crawlpike"), [VERIFIED], "{size}");
        assert_eq!(gate.relayed(&padded(person("/")), "x-padding"), [padding.as_str()]);
        assert_eq!(ask(gate.port, &padded(spoofed("/"))).status, 403, "{size}");
        assert_eq!(gate.relayed(&padded(person("/")), "x-crawlpike"), [""; 0], "{size}");
    }
}

for_both_gates!(
    no_client_has_the_next_hop_remove_our_header,
    forged_headers_are_removed,
    forged_trailers_are_removed,
    the_access_log_tells_the_decision_about_denied_requests_too,
    a_connection_is_usable_after_denials,
    automation_says_which_host_it_wants_and_people_need_not,
    a_header_name_that_is_not_utf_8_changes_nothing,
    headers_of_changing_sizes_change_nothing
);
