//! A host that refuses a call: the request passes, or the configuration is rejected.

use crawlpike_tests::envoy::{Filter, Gate, RESOURCE, manager, read_resource, update_resource};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{lab, person, spoofed, unguarded, verified};
use crawlpike_tests::process::wait_for;
use serde_json::{Map, Value, json};

use crate::binary::{EXPORTS, IMPORTS};

/// Whatever a request can call out for: the time for `max_age`, single facts, and two lines of a response's header.
const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "filter_state": ["agent"],
  "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt", "max_age": "7d" } ],
  "agents": [ { "token": "LabBot", "feeds": ["lab"] } ],
  "sites": [ { "hosts": ["example.com"], "robots_tag": [ { "rules": "noindex; LabBot=nosnippet" } ] } ]
}"#;

/// The configuration of an Envoy that refuses one call of a filter, as an operator may have it do.
pub(crate) fn all_but(call: &str, imports: &[&str], exports: &[&str]) -> Value {
    let imports = imports.iter().filter_map(|import| import.split('.').nth(1));
    let allowed = imports.chain(exports.iter().copied()).filter(|name| *name != call);
    let allowed: Map<String, Value> = allowed.map(|name| (name.to_owned(), json!({}))).collect();
    json!({ "allowed_capabilities": allowed })
}

fn gate_without(call: &str) -> Gate {
    let folder = lab();
    folder.write("crawlpike.json", DOCUMENT);
    Gate::start_changed(Filter::Wasm, folder, |listener| {
        let config = &mut manager(listener)["http_filters"][0]["typed_config"]["config"];
        config["capability_restriction_config"] = all_but(call, IMPORTS, EXPORTS);
    })
}

#[test]
fn a_request_for_which_the_host_refuses_a_call_passes() {
    // If Envoy refuses the denial itself, or an input of its decision, the spoofed agent passes, too.
    for (call, status_of_spoofed) in [
        ("proxy_get_header_map_pairs", 200),
        ("proxy_get_property", 200),
        ("proxy_get_current_time_nanoseconds", 200),
        ("proxy_define_metric", 403),
        ("proxy_increment_metric", 403),
        ("proxy_set_property", 200),
        ("proxy_replace_header_map_value", 403),
        ("proxy_remove_header_map_value", 403),
        ("proxy_send_local_response", 200),
        ("proxy_get_header_map_value", 403),
        ("proxy_add_header_map_value", 403),
        ("proxy_call_foreign_function", 403),
        ("proxy_record_metric", 403),
        ("proxy_get_shared_data", 403),
        ("proxy_set_shared_data", 403),
        ("proxy_set_tick_period_milliseconds", 403),
    ] {
        let gate = gate_without(call);
        for _ in 0..10 {
            assert_eq!(gate.status(&verified("/")), 200, "{call}");
            assert_eq!(gate.status(&person("/")), 200, "{call}");
            assert_eq!(gate.status(&spoofed("/")), status_of_spoofed, "{call}");
            let forged = Request::header(verified("/server/tagged"), "X-Crawlpike", "forged");
            assert_eq!(gate.status(&forged), 200, "{call}");
        }
        let name = if call == "proxy_call_foreign_function" { "declare_property" } else { call };
        // 10 is `InternalFailure`.
        let line = gate.envoy.wait_for_line("envoy.log", &format!("the host refused {name} with status 10"));
        assert!(line.contains("crawlpike: internal error: "), "{line}");
        let log = gate.folder().read("envoy.log");
        assert!(!log.contains("panicked") && !log.contains("unexpected status"), "{log}");
    }
}

#[test]
fn a_configuration_that_the_host_refuses_to_give_is_rejected() {
    let folder = lab();
    update_resource(&folder);
    let gate = Gate::discover(folder, RESOURCE);
    assert_eq!(gate.status(&spoofed("/")), 403);
    let mut resource = read_resource(&gate.folder().path().join(RESOURCE));
    let config = &mut resource["typed_config"]["config"];
    config["capability_restriction_config"] = all_but("proxy_get_buffer_bytes", IMPORTS, EXPORTS);
    gate.folder().write(RESOURCE, json!({ "resources": [resource] }).to_string());
    wait_for("a rejection", || (gate.envoy.update_count("config_fail") == 1).then_some(()));
    assert_eq!((gate.status(&verified("/")), gate.status(&spoofed("/"))), (200, 403));
    // The old one was in force all along, and a good one replaces it.
    gate.folder().write("crawlpike.json", unguarded().replace("enforce", "observe"));
    update_resource(gate.folder());
    wait_for("a good configuration", || (gate.status(&spoofed("/")) == 200).then_some(()));
}
