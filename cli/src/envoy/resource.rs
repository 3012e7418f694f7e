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

    /// How the name of a file ends.
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

/// The resource that gives Envoy a configuration.
pub(super) fn resource(
    format: Format,
    name: &str,
    code: &Value,
    digest: &str,
    configuration: &Value,
) -> Value {
    let filter = wasm_filter(name, code, digest, configuration);
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

/// `envoy.extensions.filters.http.wasm.v3.Wasm`.
fn wasm_filter(name: &str, code: &Value, digest: &str, configuration: &Value) -> Value {
    json!({
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
                "code": code,
                // Envoy ignores a resource that it has already: new code at the same path has to make another one.
                "configuration": {
                    "@type": "type.googleapis.com/google.protobuf.StringValue",
                    "value": format!("sha256:{digest}"),
                },
            },
            "configuration": configuration,
        },
    })
}

/// A short name of a content, which no other content has: the first 64 bits of its SHA-256.
pub(super) fn version(content: &[u8]) -> String {
    sha256(content).chars().take(16).collect()
}

/// A SHA-256 in hexadecimal.
pub(super) fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
