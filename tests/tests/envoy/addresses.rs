//! The client's address is the one that Envoy computed, however it was set up to compute it.

use crawlpike_tests::envoy::{Envoy, Filter, Gate, manager};
use crawlpike_tests::http::{Connection, Request, Response, send_bytes};
use crawlpike_tests::lab::lab;
use crawlpike_tests::nginx::{ask, local};
use crawlpike_tests::origin::start_echo;
use serde_json::json;

/// The identity of LabBot with this X-Forwarded-For; its feed has 192.0.2.0/24 and 2001:db8::/32.
fn who(gate: &Gate, forwarded_for: Option<&str>) -> String {
    identity(&gate.ask(&request(forwarded_for)))
}

fn request(forwarded_for: Option<&str>) -> Request {
    let request = Request::get("/").agent("LabBot/1.0");
    forwarded_for.into_iter().fold(request, |request, value| request.header("X-Forwarded-For", value))
}

/// The identity that the response shows: everything denied here is spoofed.
fn identity(response: &Response) -> String {
    match response.denial_reason() {
        Some(reason) => reason,
        None => {
            let found = response.header("x-origin-crawlpike").unwrap_or_default();
            found.split(", ").find_map(|member| member.strip_prefix("identity=")).unwrap_or("none").to_owned()
        }
    }
}

fn a_trusted_proxy_says_it_in_x_forwarded_for(filter: Filter) {
    // The default of these tests: `use_remote_address` with `xff_num_trusted_hops: 1`.
    let gate = Gate::start(filter, lab());
    assert_eq!(who(&gate, Some("192.0.2.1")), "verified");
    assert_eq!(who(&gate, Some("203.0.113.9, 192.0.2.1")), "verified", "the last one is the proxy's");
    assert_eq!(who(&gate, Some("192.0.2.1, 203.0.113.9")), "spoofed-agent", "the first is the client's word");
    assert_eq!(who(&gate, Some("2001:db8::1")), "verified");
    assert_eq!(who(&gate, Some("2001:db9::1")), "spoofed-agent");
    assert_eq!(who(&gate, Some("::ffff:192.0.2.1")), "verified");
    for nonsense in ["unknown", "192.0.2.1.", "", "192.0.2.1;"] {
        assert_eq!(who(&gate, Some(nonsense)), "unverified", "{nonsense:?}: the peer's address counts");
    }
    assert_eq!(who(&gate, None), "unverified", "the peer's address is a private one");
}

fn without_trusted_hops_the_connection_says_it(filter: Filter) {
    let gate = Gate::start_changed(filter, lab(), |listener| {
        manager(listener)["xff_num_trusted_hops"] = 0.into();
    });
    assert_eq!(who(&gate, Some("192.0.2.1")), "unverified", "the peer's address is a private one");
    assert_eq!(who(&gate, None), "unverified");
}

fn a_header_that_a_proxy_before_has_written_is_taken_whole(filter: Filter) {
    let gate = Gate::start_changed(filter, lab(), |listener| {
        manager(listener)["use_remote_address"] = false.into();
    });
    // One trusted hop, which is not this Envoy: the last but one.
    assert_eq!(who(&gate, Some("192.0.2.1, 10.0.0.1")), "verified");
    assert_eq!(who(&gate, Some("203.0.113.9, 192.0.2.1")), "spoofed-agent");
}

fn skip_xff_append_changes_the_header_for_upstreams_only(filter: Filter) {
    let folder = lab();
    let filter = filter.with(&folder, &folder.path().join("crawlpike.json"));
    let (_envoy, port) = Envoy::start_one(folder, filter, start_echo().port(), |listener| {
        manager(listener)["skip_xff_append"] = true.into();
    });
    let response = ask(port, &request(Some("203.0.113.9, 192.0.2.1")));
    let head = response.text();
    assert!(head.contains("identity=verified"), "{head}");
    assert!(head.to_lowercase().contains("x-forwarded-for: 203.0.113.9, 192.0.2.1\r\n"), "{head}");
}

fn the_proxy_protocol_says_it(filter: Filter) {
    let gate = Gate::start_changed(filter, lab(), |listener| {
        manager(listener)["xff_num_trusted_hops"] = 0.into();
        listener["listener_filters"] = json!([{
            "name": "envoy.filters.listener.proxy_protocol",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
            },
        }]);
    });
    let said = |line: &str| {
        let request =
            "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: LabBot/1.0\r\nConnection: close\r\n\r\n";
        send_bytes(local(gate.port), format!("{line}\r\n{request}").as_bytes()).unwrap()
    };
    assert!(said("PROXY TCP4 192.0.2.1 127.0.0.1 40000 80").contains("identity=verified"));
    assert!(said("PROXY TCP6 2001:db8::1 ::1 40000 80").contains("identity=verified"));
    assert!(said("PROXY TCP4 203.0.113.9 127.0.0.1 40000 80").contains("spoofed-agent"));
    assert!(said("PROXY TCP6 2001:db9::1 ::1 40000 80").contains("spoofed-agent"));
}

fn over_a_unix_socket_nobody_has_an_address_and_nobody_is_spoofed(filter: Filter) {
    let folder = lab();
    let socket = folder.path().join("socket");
    let _gate = Gate::start_changed(filter, folder, |listener| {
        manager(listener)["xff_num_trusted_hops"] = 0.into();
        listener["address"] = json!({ "pipe": { "path": socket } });
    });
    let mut connection = Connection::open_unix(&socket).unwrap();
    for forwarded_for in [None, Some("192.0.2.1"), Some("203.0.113.9")] {
        let response = connection.send(&request(forwarded_for)).unwrap();
        assert_eq!(identity(&response), "unverified", "{response:?}");
    }
}

fn a_proxy_on_a_unix_socket_is_trusted_like_another(filter: Filter) {
    let folder = lab();
    let socket = folder.path().join("socket");
    let _gate = Gate::start_changed(filter, folder, |listener| {
        listener["address"] = json!({ "pipe": { "path": socket } });
    });
    let mut connection = Connection::open_unix(&socket).unwrap();
    assert_eq!(identity(&connection.send(&request(Some("192.0.2.1"))).unwrap()), "verified");
    assert_eq!(identity(&connection.send(&request(Some("203.0.113.9"))).unwrap()), "spoofed-agent");
}

for_both_gates!(
    a_trusted_proxy_says_it_in_x_forwarded_for,
    without_trusted_hops_the_connection_says_it,
    a_header_that_a_proxy_before_has_written_is_taken_whole,
    skip_xff_append_changes_the_header_for_upstreams_only,
    the_proxy_protocol_says_it,
    over_a_unix_socket_nobody_has_an_address_and_nobody_is_spoofed,
    a_proxy_on_a_unix_socket_is_trusted_like_another
);
