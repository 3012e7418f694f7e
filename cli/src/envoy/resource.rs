//! The resource that Envoy takes, as JSON or YAML.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};
use serde_saphyr::SerializerOptions;
use sha2::{Digest, Sha256};

use super::FILTER;
use crate::failure::Failure;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// A DiscoveryResponse for ECDS by file, which Envoy follows without a restart
    Ecds,
    /// An entry of `http_filters`, for a static configuration
    Filter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Syntax {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

impl Syntax {
    /// The syntax of a file, by the ends of names that Envoy reads as YAML.
    pub(super) fn of(path: &Path) -> Self {
        let yaml = ["yaml", "yml"].map(Some);
        if yaml.contains(&path.extension().and_then(|end| end.to_str())) { Self::Yaml } else { Self::Json }
    }

    /// The extension of a file's name.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }

    /// A resource as text.
    pub(super) fn write(self, resource: &Value) -> Result<String, Failure> {
        match self {
            Self::Json => Ok(format!("{resource:#}\n")),
            Self::Yaml => {
                // A string stays in one line: base64 that is folded is base64 with spaces.
                let mut options = SerializerOptions::default();
                options.prefer_block_scalars = false;
                serde_saphyr::to_string_with_options(resource, options).map_err(|error| {
                    Failure::because(format_args!("cannot write the resource as YAML: {error}"))
                })
            }
        }
    }
}

/// The code of a filter.
pub(super) struct Code {
    /// The source of the code, for Envoy.
    pub(super) source: Value,
    digest: String,
    takes_bodies: bool,
}

impl Code {
    pub(super) fn new(source: Value, bytes: &[u8]) -> Self {
        const CALLBACK: &[u8] = b"proxy_on_response_body";
        let takes_bodies = bytes.windows(CALLBACK.len()).any(|name| name == CALLBACK);
        Self { source, digest: sha256(bytes), takes_bodies }
    }
}

/// The resource that gives Envoy a configuration.
pub(super) fn resource(format: Format, name: &str, code: &Code, configuration: &Value) -> Value {
    let filter = wasm_filter(name, code, configuration);
    match format {
        Format::Filter => json!({ "name": name, "typed_config": filter }),
        Format::Ecds => {
            let resource = json!({
                "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
                "name": name,
                "typed_config": filter,
            });
            json!({ "version_info": version(resource.to_string().as_bytes()), "resources": [resource] })
        }
    }
}

/// A path of a JSON Patch, as on the command line.
pub(super) fn pointer(text: &str) -> Result<String, String> {
    match text.strip_prefix('/') {
        Some(rest) if !rest.is_empty() => Ok(text.to_owned()),
        _ => Err("not a path: it must start with \"/\", such as /spec/pluginConfig".to_owned()),
    }
}

/// A JSON Patch (RFC 6902) that puts the document of a configuration at a path, whether there is one already or not.
pub(super) fn patch(path: &str, configuration: &Value) -> Result<Value, Failure> {
    let text = configuration["value"].as_str().unwrap_or_default();
    let document: Value = serde_json::from_str(text)?;
    Ok(json!([{ "op": "add", "path": path, "value": document }]))
}

/// `envoy.extensions.filters.http.wasm.v3.Wasm`.
fn wasm_filter(name: &str, code: &Code, configuration: &Value) -> Value {
    let mut filter = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
        "config": {
            "name": name,
            "root_id": FILTER,
            // Envoy replaces a virtual machine that trapped; until then its worker answers 503. It waits for one to one
            // and a half times the interval, by default a second.
            "failure_policy": "FAIL_RELOAD",
            "reload_config": { "backoff": { "base_interval": "0.1s" } },
            "vm_config": {
                "vm_id": FILTER,
                "runtime": "envoy.wasm.runtime.v8",
                "code": code.source,
                // Envoy ignores a resource that it has already: new code at the same path has to make another one.
                "configuration": {
                    "@type": "type.googleapis.com/google.protobuf.StringValue",
                    "value": format!("sha256:{}", code.digest),
                },
            },
            "configuration": configuration,
        },
    });
    if code.takes_bodies {
        // Otherwise a head that waits for its body keeps the body from coming. Older versions of Envoy refuse the key.
        filter["config"]["allow_on_headers_stop_iteration"] = true.into();
    }
    filter
}

/// A short name of a content, which no other content has: the first 64 bits of its SHA-256.
pub(super) fn version(content: &[u8]) -> String {
    sha256(content).chars().take(16).collect()
}

/// A SHA-256 in hexadecimal.
fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
