//! `make test-manifests CRDS=DIR`: the manifests in `examples/envoy` against the definitions that Istio and Envoy Gateway
//! publish, as a Kubernetes API server reads them, apart from their rules in CEL.

use std::fs;

use crawlpike_tests::artefacts;
use crawlpike_tests::manifests::definitions::mistakes;
use crawlpike_tests::manifests::documents;
use serde_json::{Value, json};

fn manifests(file: &str) -> Vec<Value> {
    let path = artefacts::repository().join("examples/envoy").join(file);
    documents(&fs::read_to_string(path).unwrap())
}

fn manifest(file: &str) -> Value {
    manifests(file).remove(0)
}

#[test]
fn the_manifests_are_as_their_definitions_say() {
    for file in [
        "istio.yaml",
        "istio-traffic-extension.yaml",
        "istio-native.yaml",
        "envoy-gateway.yaml",
        "envoy-gateway-native.yaml",
    ] {
        for manifest in manifests(file) {
            assert_eq!(mistakes(&manifest), [""; 0], "{file}: {}", manifest["kind"]);
        }
    }
}

#[test]
fn a_mistake_is_found() {
    let changed = |file: &str, place: &str, key: &str, value: Value| {
        let mut manifest = manifest(file);
        manifest.pointer_mut(place).unwrap()[key] = value;
        mistakes(&manifest)
    };
    for (file, place, key, value) in [
        ("istio.yaml", "/spec", "failStrategy", json!("FAIL_SLOWLY")),
        ("istio.yaml", "/spec", "pluginNames", json!("crawlpike")),
        ("istio.yaml", "/spec/selector", "labels", json!({})),
        ("istio-traffic-extension.yaml", "/spec/wasm", "pluginNames", json!("crawlpike")),
        ("envoy-gateway.yaml", "/spec/wasm/0", "failOpen", json!("yes")),
        ("envoy-gateway.yaml", "/spec/wasm/0/code", "sha", json!("")),
        ("envoy-gateway.yaml", "/spec/wasm/0/code", "type", json!("Magic")),
        ("envoy-gateway-native.yaml", "/spec/dynamicModules/0/source", "path", json!("/")),
        ("istio-native.yaml", "/spec/configPatches/0", "applyTo", json!("EVERYTHING")),
    ] {
        assert_ne!(changed(file, place, key, value), [""; 0], "{file}: {key}");
    }
}
