//! Every manifest is one that an API server accepts.

use std::fs;

use crawlpike_tests::artefacts;
use crawlpike_tests::manifests::definitions::{core_mistakes, crds, mistakes};
use crawlpike_tests::manifests::{as_wasm_plugin, documents};
use serde_json::{Value, json};

use crate::{find, helm, render, render_with, value_sets};

/// The oldest and the newest Kubernetes, and those between that ended the beta of a kind.
const VERSIONS: [&str; 3] = ["1.25", "1.33", "1.37"];

/// The groups of CRDs.
fn is_custom(manifest: &Value) -> bool {
    let api_version = manifest["apiVersion"].as_str().unwrap();
    ["gateway.envoyproxy.io/", "extensions.istio.io/", "networking.istio.io/"]
        .iter()
        .any(|group| api_version.starts_with(group))
}

fn is_of_kubernetes(manifest: &Value, what: &str) {
    for version in VERSIONS {
        assert_eq!(core_mistakes(manifest, version), [""; 0], "{what} in Kubernetes {version}");
    }
}

#[test]
fn the_example_of_a_server_is_as_its_definitions_say() {
    let path = artefacts::repository().join("examples/serve/kubernetes.yaml");
    for manifest in documents(&fs::read_to_string(path).unwrap()) {
        is_of_kubernetes(&manifest, manifest["kind"].as_str().unwrap());
    }
}

#[test]
fn every_manifest_is_as_its_definition_says() {
    if crds().is_none() {
        eprintln!("CRDS is not set: only the kinds of Kubernetes itself are checked");
    }
    for set in value_sets() {
        for manifest in render(&set) {
            let what = format!("{set}: {} {}", manifest["kind"], manifest["metadata"]["name"]);
            let namespace = manifest["metadata"]["namespace"].as_str();
            assert!(matches!(namespace, Some("gates" | "web")), "{what}: {namespace:?}");
            if !is_custom(&manifest) {
                is_of_kubernetes(&manifest, &what);
            } else if crds().is_some() {
                assert_eq!(mistakes(&manifest), [""; 0], "{what}");
            }
        }
    }
}

#[test]
fn a_mistake_is_found() {
    let manifests = render("nginx");
    let changed = |kind, name, place: &str, key: &str, value: Value| {
        let mut manifest = find(&manifests, kind, name).clone();
        manifest.pointer_mut(place).unwrap_or_else(|| panic!("{place}"))[key] = value;
        core_mistakes(&manifest, "1.37")
    };
    let pod = "/spec/template/spec";
    for (kind, name, place, key, value) in [
        ("Deployment", "edge-crawlpike-nginx", "/spec", "replica", json!(2)),
        ("Deployment", "edge-crawlpike-nginx", pod, "volumes", json!({})),
        ("Deployment", "edge-crawlpike-nginx", &*format!("{pod}/containers/0"), "readOnly", json!(true)),
        ("CronJob", "edge-crawlpike-update", "/spec", "schedule", json!(17)),
        ("ConfigMap", "edge-crawlpike-policy", "", "datum", json!({})),
        ("Role", "edge-crawlpike-updater", "/rules/0", "verbs", json!("get")),
    ] {
        assert_ne!(changed(kind, name, place, key, value), [""; 0], "{kind}: {key}");
    }
}

#[test]
fn both_resources_of_istio_mean_the_same() {
    let name = "edge-crawlpike";
    let extension = render("istio-traffic-extension");
    let plugin = render_with("istio-traffic-extension", &["--set", "istio.wasm.api=WasmPlugin"]);
    let plugin = find(&plugin, "WasmPlugin", name);
    assert_eq!(&as_wasm_plugin(find(&extension, "TrafficExtension", name)), plugin);
}

#[test]
fn lint_has_nothing_to_say() {
    for set in value_sets() {
        let output = helm(&["lint", ".", "--strict", "--values", &format!("ci/{set}-values.yaml")]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !said.contains("WARNING"), "{set}: {said}");
    }
}
