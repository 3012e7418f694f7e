//! Manifests of Kubernetes: what they configure the gates with, and whether they are as their definitions say.

#[cfg(feature = "manifests")]
pub mod definitions;

use serde_json::{Value, json};

use crate::artefacts;

/// The documents of a YAML file; empty ones are left out.
///
/// # Panics
///
/// If it is not YAML.
pub fn documents(text: &str) -> Vec<Value> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    documents.into_iter().filter(|document| !document.is_null()).collect()
}

/// The Wasm filter with what Istio and Envoy Gateway hand over: both pass an object on as the JSON text of a StringValue.
pub fn wasm_filter(document: &Value) -> Value {
    json!({
        "name": "crawlpike",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "config": {
                "name": "crawlpike",
                "root_id": "crawlpike",
                "vm_config": {
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": { "local": { "filename": artefacts::wasm() } },
                },
                "configuration": {
                    "@type": "type.googleapis.com/google.protobuf.StringValue",
                    "value": document.to_string(),
                },
            },
        },
    })
}

/// A TrafficExtension as the WasmPlugin that means the same.
///
/// # Panics
///
/// If it is something else.
pub fn as_wasm_plugin(extension: &Value) -> Value {
    let mut plugin = extension.clone();
    plugin["kind"] = "WasmPlugin".into();
    let spec = plugin["spec"].as_object_mut().expect("a spec");
    let Some(Value::Object(wasm)) = spec.remove("wasm") else { panic!("no filter: {extension}") };
    spec.extend(wasm);
    plugin
}
