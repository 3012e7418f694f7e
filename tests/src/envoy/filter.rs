//! Our filters as Envoy is configured with them, and the resources that it watches.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::artefacts;
use crate::nginx::Folder;

/// The type of the Wasm filter's configuration.
const WASM_TYPE: &str = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";

/// The type of the filter that stands in for it.
const HEADER_MUTATION_TYPE: &str =
    "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation";

/// The type of the native module's configuration.
const MODULE_TYPE: &str =
    "type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter";

/// A gate of ours in Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The Proxy-Wasm filter.
    Wasm,
    /// The dynamic module.
    Native,
}

impl Filter {
    /// The element of `http_filters` for the document at `config`. The Wasm filter has it inlined; the module reads it.
    ///
    /// # Panics
    ///
    /// If the document is refused.
    pub fn with(self, folder: &Folder, config: &Path) -> Value {
        match self {
            Self::Wasm => static_filter(folder, config),
            Self::Native => native_filter(&json!({ "config": config }).to_string()),
        }
    }

    /// The elements of `http_filters` for the document at `config`, documents of pages included.
    ///
    /// # Panics
    ///
    /// If the document is refused.
    pub fn with_documents(self, folder: &Folder, config: &Path) -> Vec<Value> {
        let policies = self.with(folder, config);
        if self == Self::Native {
            return vec![policies];
        }
        let to = folder.path().join("documents.resource.json");
        let output =
            write_resource_of(&artefacts::wasm_documents(), config, &to, &["--name", "crawlpike-documents"]);
        assert!(output.status.success(), "crawlpike envoy: {}", String::from_utf8_lossy(&output.stderr));
        vec![policies, filter_of_resource(&to)]
    }

    /// Writes a resource with the compiled ruleset of the document at `config`, which may be compiled itself, as a file that
    /// Envoy can watch.
    ///
    /// # Panics
    ///
    /// If the document is refused.
    pub fn write_resource(self, config: &Path, to: &Path) {
        let output = write_resource_with(config, to, &["--form", "compiled"]);
        assert!(output.status.success(), "crawlpike envoy: {}", String::from_utf8_lossy(&output.stderr));
        if self == Self::Native {
            let ruleset = plugin_configuration(&mut read_resource(to)).take();
            let mut resource = native_filter("");
            resource["@type"] = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig".into();
            resource["typed_config"]["filter_config"] =
                json!({ "@type": "type.googleapis.com/google.protobuf.BytesValue", "value": ruleset });
            fs::write(to, json!({ "resources": [resource] }).to_string()).expect("a folder of ours");
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wasm => "Wasm",
            Self::Native => "native",
        }
    }

    /// The name of its filter state.
    pub fn state(self) -> &'static str {
        match self {
            Self::Wasm => "wasm.crawlpike",
            Self::Native => "crawlpike",
        }
    }
}

/// The native module with this configuration, for a static `http_filters`.
pub fn native_filter(configuration: &str) -> Value {
    json!({
        "name": "crawlpike",
        "typed_config": {
            "@type": MODULE_TYPE,
            "dynamic_module_config": { "name": "crawlpike_envoy" },
            "filter_name": "crawlpike",
            "filter_config": { "@type": "type.googleapis.com/google.protobuf.StringValue", "value": configuration },
        },
    })
}

/// The file in a folder that [`update_resource`] writes.
pub const RESOURCE: &str = "resource.json";

/// Makes [`RESOURCE`] of the folder's `crawlpike.json`.
///
/// # Panics
///
/// If the document is refused.
pub fn update_resource(folder: &Folder) {
    let output = write_resource(&folder.path().join("crawlpike.json"), &folder.path().join(RESOURCE));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Gives [`RESOURCE`] another plugin configuration, which may be one that `crawlpike envoy` refuses to write. As that
/// does, it writes beside the file and moves it there.
pub fn replace_configuration(folder: &Folder, configuration: &str) {
    let mut resource = read_resource(&folder.path().join(RESOURCE));
    *plugin_configuration(&mut resource) = configuration.into();
    folder.write(RESOURCE, json!({ "resources": [resource] }).to_string());
}

/// Runs `crawlpike envoy`, which writes the filter's resource, as a file that Envoy can watch; with the document, which
/// the filter itself then compiles.
///
/// # Panics
///
/// If the command can't be started.
pub fn write_resource(config: &Path, to: &Path) -> Output {
    write_resource_with(config, to, &["--form", "document"])
}

/// Runs `crawlpike envoy` with these arguments besides.
///
/// # Panics
///
/// If the command can't be started.
pub fn write_resource_with(config: &Path, to: &Path, arguments: &[&str]) -> Output {
    write_resource_of(&artefacts::wasm(), config, to, arguments)
}

/// Runs it for the filter with this code.
///
/// # Panics
///
/// If the command can't be started.
pub fn write_resource_of(wasm: &Path, config: &Path, to: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(artefacts::cli());
    command.args(["envoy", "--config"]).arg(config).arg("--wasm").arg(wasm);
    command.args(arguments).arg("--output").arg(to).output().expect("the command line can be started")
}

/// The filter that `crawlpike envoy` makes of a configuration, for a static `http_filters`.
///
/// # Panics
///
/// If it refuses the configuration.
pub fn static_filter(folder: &Folder, config: &Path) -> Value {
    let name = config.file_stem().expect("a file name").to_string_lossy();
    let to = folder.path().join(format!("{name}.resource.json"));
    let output = write_resource(config, &to);
    assert!(output.status.success(), "crawlpike envoy: {}", String::from_utf8_lossy(&output.stderr));
    filter_of_resource(&to)
}

/// The filter in a resource that `crawlpike envoy` wrote, for a static `http_filters`.
pub fn filter_of_resource(path: &Path) -> Value {
    let resource = read_resource(path);
    json!({ "name": resource["name"], "typed_config": resource["typed_config"] })
}

/// The filter that Envoy takes from a file, and again whenever another file is moved there.
pub fn discovered_filter(resource: &Path) -> Value {
    json!({
        "name": "crawlpike",
        "config_discovery": {
            "config_source": { "path_config_source": { "path": resource }, "resource_api_version": "V3" },
            // If the first one is refused; see examples/demo/envoy.yaml.
            "default_config": {
                "@type": HEADER_MUTATION_TYPE,
                "mutations": { "request_mutations": [{ "remove": "x-crawlpike" }, { "remove": "x_crawlpike" }] },
            },
            "type_urls": [WASM_TYPE, MODULE_TYPE, HEADER_MUTATION_TYPE],
        },
    })
}

/// The resource in the discovery response that `crawlpike envoy` writes.
///
/// # Panics
///
/// If the file is something else.
pub fn read_resource(path: &Path) -> Value {
    let text = fs::read(path).expect("the resource that was written");
    let mut response: Value = serde_json::from_slice(&text).expect("a resource in JSON");
    response["resources"][0].take()
}

/// The plugin configuration within a filter's resource: the document with its files, or the compiled ruleset in base64.
///
/// # Panics
///
/// If there is none.
pub fn plugin_configuration(resource: &mut Value) -> &mut Value {
    let path = match resource["typed_config"]["@type"] == MODULE_TYPE {
        true => "/typed_config/filter_config/value",
        false => "/typed_config/config/configuration/value",
    };
    resource.pointer_mut(path).expect("a configuration")
}
