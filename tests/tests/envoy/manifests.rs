//! The manifests for Istio and Envoy Gateway: what they configure the gates with, in a real Envoy. `tests/crds.rs` checks
//! their shape.

use std::fs;

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::{Envoy, Listener, native_filter};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{FIREFOX, from};
use crawlpike_tests::manifests::{as_wasm_plugin, documents, wasm_filter};
use crawlpike_tests::nginx::{Folder, ask};
use crawlpike_tests::origin::Origin;
use crawlpike_tests::ports::free_port;
use serde_json::Value;

fn manifests(file: &str) -> Vec<Value> {
    let path = artefacts::repository().join("examples/envoy").join(file);
    documents(&fs::read_to_string(path).unwrap())
}

fn manifest(file: &str) -> Value {
    manifests(file).remove(0)
}

/// Runs an Envoy with each of these filters, which all decide as the policy of the examples says.
fn decide(folder: Folder, filters: impl IntoIterator<Item = Value>) {
    let origin = Origin::start();
    let listener = |filter| {
        let port = free_port();
        Listener { port, filter, access_log: format!("{port}.log") }
    };
    let listeners: Vec<Listener> = filters.into_iter().map(listener).collect();
    let _envoy = Envoy::start(folder, &listeners, origin.port());
    for Listener { port, .. } in listeners {
        let status = |address, agent, path| ask(port, &from(address, Request::get(path).agent(agent))).status;
        assert_eq!(status("192.0.2.1", "PartnerBot/1.0", "/"), 200);
        assert_eq!(status("203.0.113.9", "PartnerBot/1.0", "/"), 403);
        assert_eq!(status("203.0.113.9", "curl/8", "/private/"), 403);
        assert_eq!(status("203.0.113.9", FIREFOX, "/private/"), 200);
    }
}

#[test]
fn the_filter_takes_what_istio_and_envoy_gateway_hand_over() {
    let istio = manifest("istio.yaml");
    let gateway = manifest("envoy-gateway.yaml");
    let wasm = &gateway["spec"]["wasm"][0];
    assert_eq!((&istio["spec"]["pluginName"], &wasm["rootID"]), (&"crawlpike".into(), &"crawlpike".into()));
    assert_eq!((&istio["spec"]["failStrategy"], &wasm["failOpen"]), (&"FAIL_RELOAD".into(), &true.into()));
    assert_eq!(as_wasm_plugin(&manifest("istio-traffic-extension.yaml")), istio);
    decide(Folder::new(), [&istio["spec"]["pluginConfig"], &wasm["config"]].map(wasm_filter));
}

#[test]
fn the_module_takes_what_istio_and_envoy_gateway_hand_over() {
    let folder = Folder::new();
    folder.copy_of_repository("examples/envoy");
    let moved = |value: &Value| -> Value {
        let module = artefacts::envoy_module();
        let text =
            value.to_string().replace("/etc/crawlpike/libcrawlpike_envoy.so", module.to_str().unwrap());
        let files = folder.path().join("examples/envoy");
        serde_json::from_str(&text.replace("/etc/crawlpike", files.to_str().unwrap())).unwrap()
    };
    let istio = moved(&manifest("istio-native.yaml")["spec"]["configPatches"][0]["patch"]["value"]);
    let [proxy, policy] = &manifests("envoy-gateway-native.yaml")[..] else { panic!("two manifests") };
    let module = &policy["spec"]["dynamicModule"][0];
    assert_eq!(module["name"], proxy["spec"]["dynamicModules"][0]["name"]);
    assert_eq!(module["filterName"], "crawlpike");
    let gateway = native_filter(&moved(&module["config"]).to_string());
    decide(folder, [istio, gateway]);
}
