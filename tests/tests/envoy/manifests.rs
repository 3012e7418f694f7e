//! The manifests for Istio and Envoy Gateway: what they configure the filter with, in a real Envoy. `tests/crds.rs`
//! checks their shape.

use std::fs;

use crawlward_tests::artefacts;
use crawlward_tests::envoy::{Envoy, Listener};
use crawlward_tests::http::Request;
use crawlward_tests::lab::{FIREFOX, from};
use crawlward_tests::nginx::{Folder, ask};
use crawlward_tests::origin::Origin;
use crawlward_tests::ports::free_port;
use serde_json::{Value, json};

fn manifest(file: &str) -> Value {
    let path = artefacts::repository().join("examples/envoy").join(file);
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Both control planes hand the object over as the JSON text of a StringValue.
fn filter(document: &Value) -> Value {
    let configuration = json!({
        "@type": "type.googleapis.com/google.protobuf.StringValue",
        "value": document.to_string(),
    });
    json!({
        "name": "crawlward",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "config": {
                "name": "crawlward",
                "root_id": "crawlward",
                "vm_config": {
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": { "local": { "filename": artefacts::wasm() } },
                },
                "configuration": configuration,
            },
        },
    })
}

#[test]
fn the_filter_takes_what_istio_and_envoy_gateway_hand_over() {
    let istio = manifest("istio.yaml");
    let gateway = manifest("envoy-gateway.yaml");
    let wasm = &gateway["spec"]["wasm"][0];
    assert_eq!((&istio["spec"]["pluginName"], &wasm["rootID"]), (&"crawlward".into(), &"crawlward".into()));
    assert_eq!((&istio["spec"]["failStrategy"], &wasm["failOpen"]), (&"FAIL_RELOAD".into(), &true.into()));
    let origin = Origin::start();
    let listeners = [&istio["spec"]["pluginConfig"], &wasm["config"]].map(|document| {
        let port = free_port();
        Listener { port, filter: filter(document), access_log: format!("{port}.log") }
    });
    let _envoy = Envoy::start(Folder::new(), &listeners, origin.port());
    for Listener { port, .. } in listeners {
        let status = |address, agent, path| ask(port, &from(address, Request::get(path).agent(agent))).status;
        assert_eq!(status("192.0.2.1", "PartnerBot/1.0", "/"), 200);
        assert_eq!(status("203.0.113.9", "PartnerBot/1.0", "/"), 403);
        assert_eq!(status("203.0.113.9", "curl/8", "/private/"), 403);
        assert_eq!(status("203.0.113.9", FIREFOX, "/private/"), 200);
    }
}
