//! `crawlward envoy`: the Envoy filter with the configuration in it.

use std::cell::RefCell;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

use base64::prelude::{BASE64_STANDARD, Engine};
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crawlward_core::{Files, FoundFile, is_stored};
use crawlward_host::FilesBeside;

use crate::failure::Failure;
use crate::source;

/// The root id of the filter, and the name of the VM in which it runs.
const FILTER: &str = "crawlward";

/// Write the Envoy filter resource with the configuration and its files in it
///
/// The configuration is compiled first: where it is refused, nothing is written and the exit status is 2.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlward envoy --config crawlward.json --output /etc/envoy/crawlward.json
      In envoy.yaml, which needs a `node` with `id` and `cluster`, the filter that reads the file and follows its changes:
        - name: crawlward
          config_discovery:
            config_source:
              path_config_source: { path: /etc/envoy/crawlward.json }
            type_urls: [type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm]
  crawlward envoy --config crawlward.json --format filter
      The entry of `http_filters` for a static configuration.")]
pub(crate) struct Arguments {
    /// The configuration document
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The file to write, *.json for Envoy, replaced in one step by a rename, which Envoy watches for [default: stdout]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The filter's code, where Envoy finds it [default: crawlward.wasm beside this program]
    #[arg(long, value_name = "FILE")]
    wasm: Option<PathBuf>,
    /// The name of the resource: that of the filter in Envoy's configuration
    #[arg(long, value_name = "NAME", default_value = FILTER)]
    name: String,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Ecds)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A DiscoveryResponse for ECDS by file: Envoy takes a new one without a restart
    Ecds,
    /// One entry of `http_filters`, for a static configuration
    Filter,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let configuration = configuration(&arguments.config)?;
    let wasm = wasm(arguments.wasm.as_deref())?;
    let resource = match arguments.format {
        Format::Ecds => discovery_response(&arguments.name, &wasm, &configuration),
        Format::Filter => filter(&arguments.name, &wasm, &configuration),
    };
    let text = format!("{resource:#}\n");
    match &arguments.output {
        Some(path) => crawlward_host::replace(path, text.as_bytes())
            .map_err(|error| Failure::Because(format!("{} can't be written: {error}", path.display())))?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The files beside a document, of which those that are read are kept: what was compiled is what is inlined, whatever
/// happens to the files meanwhile.
struct Recorder {
    beside: FilesBeside,
    read: RefCell<Vec<(String, FoundFile)>>,
}

impl Files for Recorder {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let file = self.beside.read(path)?;
        if let Some(file) = &file {
            self.read.borrow_mut().push((path.to_string(), file.clone()));
        }
        Ok(file)
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.beside.last_good(path)
    }

    fn display_name(&self, path: &str) -> String {
        self.beside.display_name(path)
    }
}

/// The filter's configuration: the document with all its files, or the compiled ruleset as it is.
fn configuration(config: &Path) -> Result<Value, Failure> {
    let files = Recorder { beside: FilesBeside::new(config), read: RefCell::default() };
    source::compile(config, &files)?;
    let document = source::read(config)?;
    let (kind, value) = if is_stored(&document) {
        ("BytesValue", BASE64_STANDARD.encode(document))
    } else {
        ("StringValue", inlined(config, document, &files)?)
    };
    Ok(json!({ "@type": format!("type.googleapis.com/google.protobuf.{kind}"), "value": value }))
}

/// The document with all its files under `files`. One that is not there is left out; compiling has warned of it.
fn inlined(config: &Path, document: Vec<u8>, files: &Recorder) -> Result<String, Failure> {
    let not_utf8 = |name: String| {
        let advice = "write it in UTF-8, or give `envoy` what `crawlward compile` makes of the configuration";
        Failure::Because(format!("{name} is not UTF-8, and can't be put into a JSON document: {advice}"))
    };
    let mut texts = Map::new();
    for (path, FoundFile { bytes, modified }) in files.read.take() {
        let text = String::from_utf8(bytes).map_err(|_| not_utf8(files.display_name(&path)))?;
        texts.insert(path, json!({ "text": text, "modified": modified }));
    }
    let document = String::from_utf8(document).map_err(|_| not_utf8(config.display().to_string()))?;
    Ok(with_files(document.trim_start_matches('\u{feff}'), texts)?)
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    files: Option<&'a RawValue>,
}

/// Puts files into a document that compiles. The rest of its text stays as it is, so that Envoy's log names the lines
/// and columns of the original.
fn with_files(document: &str, mut texts: Map<String, Value>) -> serde_json::Result<String> {
    let present = serde_json::from_str::<Document<'_>>(document)?.files.map(RawValue::get);
    if let Some(present) = present {
        texts.extend(serde_json::from_str::<Map<String, Value>>(present)?);
    }
    let texts = Value::from(texts);
    let (before, after) = match present {
        Some(present) => {
            let at = present.as_ptr() as usize - document.as_ptr() as usize;
            (&document[..at], &document[at + present.len()..])
        }
        None => document.split_at(document.rfind('}').unwrap_or(document.len())),
    };
    let key = match present {
        Some(_) => "",
        None if before.trim_ascii_end().ends_with('{') => "\"files\":",
        None => ",\"files\":",
    };
    Ok(format!("{before}{key}{texts}{after}"))
}

/// The absolute path of the filter's code.
fn wasm(given: Option<&Path>) -> Result<String, Failure> {
    let path = match given {
        Some(path) => path.to_path_buf(),
        None => env::current_exe()
            .map_err(|error| Failure::Because(format!("where this program is, is unknown: {error}")))?
            .with_file_name("crawlward.wasm"),
    };
    if !path.is_file() {
        let shown = path.display();
        return Err(Failure::Because(format!(
            "the filter's code, {shown}, is not there: `make build` makes it, `--wasm FILE` says where it is"
        )));
    }
    // Not resolved further: a link that is to be switched to a new version stays a link.
    let path = absolute(&path).map_err(|error| Failure::Because(format!("{}: {error}", path.display())))?;
    match path.to_str() {
        Some(path) => Ok(path.to_string()),
        None => {
            Err(Failure::Because(format!("{}: Envoy can't take a path that is not UTF-8", path.display())))
        }
    }
}

/// `envoy.extensions.filters.http.wasm.v3.Wasm`.
fn wasm_filter(name: &str, wasm: &str, configuration: &Value) -> Value {
    json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
        "config": {
            "name": name,
            "root_id": FILTER,
            // A filter that trapped is started anew with the next request.
            "failure_policy": "FAIL_RELOAD",
            "vm_config": {
                "vm_id": FILTER,
                "runtime": "envoy.wasm.runtime.v8",
                "code": { "local": { "filename": wasm } },
            },
            "configuration": configuration,
        },
    })
}

fn filter(name: &str, wasm: &str, configuration: &Value) -> Value {
    json!({ "name": name, "typed_config": wasm_filter(name, wasm, configuration) })
}

fn discovery_response(name: &str, wasm: &str, configuration: &Value) -> Value {
    let resource = json!({
        "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
        "name": name,
        "typed_config": wasm_filter(name, wasm, configuration),
    });
    json!({ "version_info": version(&resource.to_string()), "resources": [resource] })
}

/// The first 64 bits of the content's SHA-256, in hexadecimal.
fn version(content: &str) -> String {
    Sha256::digest(content).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
