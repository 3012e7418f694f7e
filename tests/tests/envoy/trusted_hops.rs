//! With `trusted_hops`, the Wasm filter takes the client's address from X-Forwarded-For: the one that Envoy takes, or it asks.

use std::collections::BTreeMap;

use crawlpike_tests::envoy::{Filter, Gate, manager};
use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::lab::{DOCUMENT, lab};
use crawlpike_tests::nginx::{Folder, ask};
use crawlpike_tests::process::wait_for;
use serde_json::{Value, json};

/// Addresses whose places a geofeed has, so that the city in the log shows which of them the filter took.
const ADDRESSES: [&str; 8] = [
    "192.0.2.1",
    "198.51.100.2",
    "203.0.113.3",
    "2001:db8::4",
    "10.0.0.5",
    "127.0.0.1",
    "::ffff:192.0.2.6",
    "192.0.2.7",
];

/// The lines of X-Forwarded-For that a request has.
const FORWARDED: [&[&str]; 27] = [
    &[],
    &["192.0.2.1"],
    &["192.0.2.1, 198.51.100.2"],
    &["192.0.2.1,198.51.100.2,203.0.113.3,2001:db8::4"],
    &["192.0.2.1 ,\t198.51.100.2 , 203.0.113.3 "],
    &["2001:db8::4, 192.0.2.1, 2001:DB8:0::4"],
    &["::ffff:192.0.2.6, ::ffff:192.0.2.6, 192.0.2.1"],
    &["[2001:db8::4], 192.0.2.1"],
    &["192.0.2.1, [2001:db8::4]"],
    &["192.0.2.1:80, 192.0.2.7:80"],
    &["[2001:db8::4]:80"],
    &["192.0.2.1, 2001:db8::4%eth0"],
    &["192.0.2.1, unknown"],
    &["unknown, 192.0.2.1"],
    &["192.0.2.1, 192.0.2.07, 198.51.100.2"],
    &["192.0.2.1, 192.0.2, 198.51.100.2"],
    &["192.0.2.1, 0xc0000207"],
    &[""],
    &[","],
    &["192.0.2.1,"],
    &["192.0.2.1,,198.51.100.2"],
    &[",192.0.2.1"],
    &["192.0.2.1", "198.51.100.2"],
    &["192.0.2.1", "", "198.51.100.2, 203.0.113.3"],
    &["10.0.0.5"],
    &["10.0.0.5, 192.0.2.1, 10.0.0.5"],
    &["127.0.0.1, 127.0.0.1"],
];

/// Headers of Envoy's own that a client pretends.
const PRETENDED: [&[(&str, &str)]; 4] = [
    &[],
    &[("X-Envoy-External-Address", "192.0.2.1")],
    &[("X-Envoy-Internal", "true")],
    &[("X-Envoy-Original-Url", "http://example.com/before")],
];

/// The laboratory with `trusted_hops`, and with places of [`ADDRESSES`] that the log shows.
fn lab_with(trusted_hops: u8) -> Folder {
    let folder = lab();
    let places: String =
        ADDRESSES.iter().enumerate().map(|(place, address)| format!("{address},PL,,City{place}\n")).collect();
    folder.write("places.csv", places);
    let mut document: Value = serde_json::from_str(DOCUMENT).unwrap();
    document["mode"] = "observe".into();
    document["trusted_hops"] = trusted_hops.into();
    document["filter_state"] = json!(["city"]);
    let feeds = document["feeds"].as_array_mut().unwrap();
    feeds.push(json!({ "name": "places", "format": "geofeed", "source": "places.csv" }));
    folder.write("crawlpike.json", document.to_string());
    folder
}

/// As [`lab`], with `trusted_hops`.
fn enforcing(trusted_hops: u8) -> Folder {
    let folder = lab();
    let mut document: Value = serde_json::from_str(DOCUMENT).unwrap();
    document["trusted_hops"] = trusted_hops.into();
    folder.write("crawlpike.json", document.to_string());
    folder
}

fn forwarded(lines: &[&str]) -> Request {
    let request = Request::get("/").agent("LabBot/1.0");
    lines.iter().fold(request, |request, line| request.header("X-Forwarded-For", line))
}

/// Each way in which Envoy can take the address from the header, with so many hops.
fn is_envoys(hops: u8) {
    for (is_remote_used, is_append_skipped) in [(true, false), (true, true), (false, false)] {
        let gate = Gate::start_changed(Filter::Wasm, lab_with(hops), |listener| {
            let manager = manager(listener);
            manager["use_remote_address"] = is_remote_used.into();
            manager["skip_xff_append"] = is_append_skipped.into();
            manager["xff_num_trusted_hops"] = hops.into();
            let format = manager.pointer_mut("/access_log/0/typed_config/log_format/json_format");
            *format.unwrap() = json!({
                "case": "%REQ(X-TEST-CASE)%",
                "city": "%FILTER_STATE(wasm.crawlpike.city:PLAIN)%",
                "address": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
            });
        });
        // The first request of each worker asks, whatever the header says.
        (0..20).for_each(|_| drop(gate.ask(&forwarded(FORWARDED[3]))));
        let cases =
            FORWARDED.iter().flat_map(|lines| PRETENDED.iter().map(move |pretended| (lines, pretended)));
        for (number, (lines, pretended)) in cases.clone().enumerate() {
            let request = forwarded(lines).header("X-Test-Case", number.to_string());
            let request =
                pretended.iter().fold(request, |request, (name, value)| request.header(name, value));
            ask(gate.port, &request);
        }
        let logged: BTreeMap<usize, Value> = wait_for("a line of each case", || {
            let lines = gate.folder().lines("access.log").into_iter().filter_map(|line| {
                let line: Value = serde_json::from_str(&line).unwrap();
                Some((line["case"].as_str()?.parse().ok()?, line))
            });
            Some(lines.collect::<BTreeMap<_, _>>()).filter(|logged| logged.len() == cases.clone().count())
        });
        for (number, (lines, pretended)) in cases.enumerate() {
            let address = logged[&number]["address"].as_str().unwrap();
            let known = ADDRESSES.iter().position(|known| *known == address);
            let expected = known.map_or(Value::Null, |place| format!("City{place}").into());
            assert_eq!(
                logged[&number]["city"], expected,
                "use_remote_address: {is_remote_used}, skip_xff_append: {is_append_skipped}, {hops} hops, {lines:?}, \
                 {pretended:?}: Envoy took {address}"
            );
        }
        // None of these settings is another than Envoy's.
        assert!(!gate.folder().read("envoy.log").contains("another address"), "{is_append_skipped}");
    }
}

#[test]
fn the_address_is_envoys_without_trusted_hops() {
    is_envoys(0);
}

#[test]
fn the_address_is_envoys_with_one_trusted_hop() {
    is_envoys(1);
}

#[test]
fn the_address_is_envoys_with_two_trusted_hops() {
    is_envoys(2);
}

#[test]
fn the_address_is_envoys_with_three_trusted_hops() {
    is_envoys(3);
}

/// Here the document trusts a hop that Envoy does not, so that the first address is the client's own word.
#[test]
fn a_setting_that_is_not_envoys_verifies_nobody_and_is_reported() {
    for is_remote_used in [true, false] {
        let gate = Gate::start_changed(Filter::Wasm, enforcing(1), |listener| {
            manager(listener)["use_remote_address"] = is_remote_used.into();
            manager(listener)["xff_num_trusted_hops"] = 0.into();
        });
        for _ in 0..20 {
            let response = gate.ask(&forwarded(&["192.0.2.1, 203.0.113.9"]));
            let facts = response.header("x-origin-crawlpike").unwrap_or_default();
            assert!(!facts.contains("identity=verified"), "{is_remote_used}: {response:?}");
        }
        // With `use_remote_address`, Envoy itself says in a header that it is the peer's.
        if !is_remote_used {
            gate.envoy.wait_for_line("envoy.log", "`trusted_hops` is 1, but Envoy took another address");
        }
    }
}

/// Envoy then adds nothing to the header, which is the client's own word.
#[test]
fn over_a_unix_socket_the_header_verifies_nobody() {
    for hops in [0, 1] {
        let folder = enforcing(hops);
        let socket = folder.path().join("socket");
        let _gate = Gate::start_changed(Filter::Wasm, folder, |listener| {
            manager(listener)["xff_num_trusted_hops"] = hops.into();
            listener["address"] = json!({ "pipe": { "path": socket } });
        });
        // Garbage where the trusted hop would have written the address.
        let lines = if hops == 0 { "192.0.2.1" } else { "192.0.2.1, unknown" };
        let mut connection = Connection::open_unix(&socket).unwrap();
        for pretended in ["192.0.2.1", ""] {
            let request = forwarded(&[lines]).header("X-Envoy-External-Address", pretended);
            let response = connection.send(&request).unwrap();
            let found = response.header("x-origin-crawlpike").unwrap_or_default();
            assert!(found.contains("identity=unverified"), "{hops} hops, {pretended:?}: {response:?}");
        }
    }
}

#[test]
fn a_request_without_the_header_is_reported_and_envoy_is_asked() {
    let gate = Gate::start_changed(Filter::Wasm, enforcing(0), |listener| {
        manager(listener)["use_remote_address"] = false.into();
        manager(listener)["xff_num_trusted_hops"] = 0.into();
    });
    let response = gate.ask(&forwarded(&[]));
    let facts = response.header("x-origin-crawlpike").unwrap_or_default();
    assert!(facts.contains("identity=unverified"), "{response:?}");
    gate.envoy.wait_for_line("envoy.log", "`trusted_hops` is 0, but a request has no single X-Forwarded-For");
}
