//! `make test-manifests CRDS=DIR`: the manifests in `examples` against the definitions that their projects publish, as a
//! Kubernetes API server reads them, apart from their rules in CEL.

use std::fs;

use crawlpike_tests::artefacts;
use crawlpike_tests::manifests::definitions::{is_defined, mistakes};
use crawlpike_tests::manifests::documents;
use serde_json::{Value, json};

fn manifests(file: &str) -> Vec<Value> {
    let path = artefacts::repository().join("examples").join(file);
    documents(&fs::read_to_string(path).unwrap())
}

fn manifest(file: &str) -> Value {
    manifests(file).remove(0)
}

#[test]
fn the_manifests_are_as_their_definitions_say() {
    for file in [
        "envoy/istio.yaml",
        "envoy/istio-traffic-extension.yaml",
        "envoy/istio-native.yaml",
        "envoy/envoy-gateway.yaml",
        "envoy/envoy-gateway-native.yaml",
    ] {
        for manifest in manifests(file) {
            assert_eq!(mistakes(&manifest), [""; 0], "{file}: {}", manifest["kind"]);
        }
    }
}

#[test]
fn the_manifests_for_other_gateways_are_too() {
    let mut unchecked = Vec::new();
    for file in [
        "kubernetes/nginx-gateway-fabric/gateway.yaml",
        "serve/contour.yaml",
        "serve/gateway-api.yaml",
        "serve/kgateway.yaml",
        "serve/traefik-kubernetes.yaml",
    ] {
        for manifest in manifests(file) {
            if is_defined(&manifest) {
                assert_eq!(mistakes(&manifest), [""; 0], "{file}: {}", manifest["kind"]);
            } else {
                unchecked.push(format!("{file}: {}", manifest["kind"]));
            }
        }
    }
    println!("CRDS has no definition for: {unchecked:#?}");
}

#[test]
fn a_mistake_is_found() {
    let changed = |file: &str, place: &str, key: &str, value: Value| {
        let mut manifest = manifest(file);
        manifest.pointer_mut(place).unwrap()[key] = value;
        mistakes(&manifest)
    };
    for (file, place, key, value) in [
        ("envoy/istio.yaml", "/spec", "failStrategy", json!("FAIL_SLOWLY")),
        ("envoy/istio.yaml", "/spec", "pluginNames", json!("crawlpike")),
        ("envoy/istio.yaml", "/spec/selector", "labels", json!({})),
        ("envoy/istio-traffic-extension.yaml", "/spec/wasm", "pluginNames", json!("crawlpike")),
        ("envoy/envoy-gateway.yaml", "/spec/wasm/0", "failOpen", json!("yes")),
        ("envoy/envoy-gateway.yaml", "/spec/wasm/0/code", "sha", json!("")),
        ("envoy/envoy-gateway.yaml", "/spec/wasm/0/code", "type", json!("Magic")),
        ("envoy/envoy-gateway-native.yaml", "/spec/dynamicModules/0/source", "path", json!("/")),
        ("envoy/istio-native.yaml", "/spec/configPatches/0", "applyTo", json!("EVERYTHING")),
    ] {
        assert_ne!(changed(file, place, key, value), [""; 0], "{file}: {key}");
    }
}
