//! `make test-manifests CRDS=DIR`: the manifests in `examples/envoy` against the definitions that Istio and Envoy Gateway
//! publish, as a Kubernetes API server reads them, apart from their rules in CEL.

use std::env;
use std::fs;
use std::path::PathBuf;

use crawlward_tests::artefacts;
use serde_json::{Value, json};

/// The documents of a YAML file.
fn documents(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

/// The definitions in the folder that the variable names.
fn definitions() -> Vec<Value> {
    let folder = env::var_os("CRAWLWARD_CRDS").map(PathBuf::from).expect("make test-manifests CRDS=DIR");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("CRDS={}: {error}", folder.display()));
    let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    files.flat_map(|path| documents(&fs::read_to_string(path).unwrap())).collect()
}

/// The schema of a manifest's `spec`.
fn schema(manifest: &Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&manifest["apiVersion"]), text(&manifest["kind"]));
    let (group, version) = api_version.split_once('/').expect("group and version");
    let definition = definitions()
        .into_iter()
        .find(|one| one["spec"]["group"] == group && one["spec"]["names"]["kind"] == *kind)
        .unwrap_or_else(|| panic!("no definition of {kind} in {group}"));
    let versions = definition["spec"]["versions"].as_array().unwrap().clone();
    let served = versions.into_iter().find(|one| one["name"] == version && one["served"] == true);
    let mut schema =
        served.expect("a version that is served")["schema"]["openAPIV3Schema"]["properties"]["spec"].take();
    close(&mut schema);
    schema
}

/// Forbids the fields that a schema does not name: an API server drops them, and the manifest would not mean what it says.
fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(close);
        if object.get("x-kubernetes-preserve-unknown-fields") != Some(&true.into()) {
            object.insert("additionalProperties".to_owned(), false.into());
        }
    }
    for key in ["items", "additionalProperties"] {
        object.get_mut(key).map(close);
    }
}

fn manifests(file: &str) -> Vec<Value> {
    let path = artefacts::repository().join("examples/envoy").join(file);
    documents(&fs::read_to_string(path).unwrap())
}

fn manifest(file: &str) -> Value {
    manifests(file).remove(0)
}

/// What is wrong with a manifest.
fn mistakes(manifest: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&schema(manifest)).unwrap();
    let errors = validator.iter_errors(&manifest["spec"]);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_manifests_are_as_their_definitions_say() {
    for file in ["istio.yaml", "istio-native.yaml", "envoy-gateway.yaml", "envoy-gateway-native.yaml"] {
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
        ("istio.yaml", "/spec", "pluginNames", json!("crawlward")),
        ("istio.yaml", "/spec/selector", "labels", json!({})),
        ("envoy-gateway.yaml", "/spec/wasm/0", "failOpen", json!("yes")),
        ("envoy-gateway.yaml", "/spec/wasm/0/code", "sha", json!("")),
        ("envoy-gateway.yaml", "/spec/wasm/0/code", "type", json!("Magic")),
        ("envoy-gateway-native.yaml", "/spec/dynamicModules/0/source", "path", json!("/")),
        ("istio-native.yaml", "/spec/configPatches/0", "applyTo", json!("EVERYTHING")),
    ] {
        assert_ne!(changed(file, place, key, value), [""; 0], "{file}: {key}");
    }
}
