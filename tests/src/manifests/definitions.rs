//! The manifests that an API server accepts, apart from rules in CEL: the CRDs that projects publish, and the
//! schemas of Kubernetes itself.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::{Registry, RegistryBuilder, Validator};
use serde_json::Value;

use super::{as_wasm_plugin, documents};
use crate::artefacts;

/// The folder that `CRAWLPIKE_CRDS` names, with the definitions of Istio and of Envoy Gateway.
pub fn crds() -> Option<PathBuf> {
    env::var_os("CRAWLPIKE_CRDS").map(PathBuf::from)
}

/// The definitions in the folder.
static DEFINITIONS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let folder = crds().expect("make test-manifests CRDS=DIR");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("CRDS={}: {error}", folder.display()));
    let files = entries.map(|entry| entry.expect("a readable folder").path()).filter(|path| path.is_file());
    files.flat_map(|path| documents(&fs::read_to_string(path).expect("a readable file"))).collect()
});

/// The validators by what they are for. A schema of Kubernetes takes half a second to build.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

fn validator(name: &str, build: impl FnOnce() -> Validator) -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(validators.entry(name.to_owned()).or_insert_with(|| Arc::new(build())))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The schema of a manifest's `spec`.
fn schema_of_spec(manifest: &Value) -> Value {
    let (api_version, kind) = (text(&manifest["apiVersion"]), text(&manifest["kind"]));
    let (group, version) = api_version.split_once('/').expect("group and version");
    let definition = DEFINITIONS
        .iter()
        .find(|one| one["spec"]["group"] == group && one["spec"]["names"]["kind"] == *kind)
        .unwrap_or_else(|| panic!("no definition of {kind} in {group}"));
    let versions = definition["spec"]["versions"].as_array().expect("versions").clone();
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

fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    let errors = validator.iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Returns true if the folder has a definition of the manifest's kind, in its group.
pub fn is_defined(manifest: &Value) -> bool {
    let group = text(&manifest["apiVersion"]).split_once('/').map(|(group, _)| group);
    DEFINITIONS
        .iter()
        .any(|one| one["spec"]["names"]["kind"] == manifest["kind"] && one["spec"]["group"].as_str() == group)
}

/// The errors of a manifest of a CustomResourceDefinition. If the definitions are those of an Istio before 1.30, a
/// TrafficExtension is checked as a WasmPlugin.
///
/// # Panics
///
/// If the folder has no such definition.
pub fn mistakes(manifest: &Value) -> Vec<String> {
    if manifest["kind"] == "TrafficExtension" && !is_defined(manifest) {
        return mistakes(&as_wasm_plugin(manifest));
    }
    let name = format!("{} {}", manifest["apiVersion"], manifest["kind"]);
    // OpenAPI 3.0 has keywords of this draft, such as `exclusiveMaximum: true`.
    let build = || jsonschema::draft4::new(&schema_of_spec(manifest)).expect("a schema");
    let validator = validator(&name, build);
    errors(&validator, &manifest["spec"])
}

/// The errors of a manifest of one of the kinds of Kubernetes itself, in a version such as `1.37`.
///
/// # Panics
///
/// If that version does not have the kind.
pub fn core_mistakes(manifest: &Value, version: &str) -> Vec<String> {
    let folder = artefacts::kubernetes_schemas().join(format!("v{version}.0-local-strict"));
    let (kind, api_version) = (text(&manifest["kind"]).to_lowercase(), text(&manifest["apiVersion"]));
    // The file of CronJob in batch/v1 is cronjob-batch-v1.json; that of Role in rbac.authorization.k8s.io/v1 role-rbac-v1.json.
    let api_version = match api_version.split_once('/') {
        Some((group, version)) => format!("{}-{version}", group.split('.').next().unwrap_or_default()),
        None => api_version.to_owned(),
    };
    let file = folder.join(format!("{kind}-{api_version}.json"));
    let validator = validator(&file.display().to_string(), || {
        let registry = Registry::new()
            .add("https://kubernetes.io/api/_definitions.json", read(&folder.join("_definitions.json")))
            .and_then(RegistryBuilder::prepare)
            .expect("a registry");
        jsonschema::options().with_registry(&registry).build(&read(&file)).expect("a schema")
    });
    errors(&validator, manifest)
}

fn read(path: &Path) -> Value {
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).expect("a schema in JSON")
}
