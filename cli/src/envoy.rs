//! `crawlpike envoy`: the Envoy filter with the configuration in it.

mod configuration;
mod resource;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;
use std::sync::mpsc::Receiver;

use base64::prelude::{BASE64_STANDARD, Engine};
use crawlpike_core::{GoodFeed, Ruleset};
use crawlpike_files::{FeedsInForce, FilesBeside, Snapshot, Watch};
use serde_json::{Value, json};

use crate::clock;
pub(crate) use crate::envoy::configuration::values;
use crate::envoy::configuration::{Configuration, Form};
use crate::envoy::resource::{Code, Format, Syntax, patch, resource, version};
use crate::failure::{Failure, say, say_all};
use crate::source;
use crate::watch::{self, Watched};

/// The root id of the filter, and the name of the VM in which it runs.
const FILTER: &str = "crawlpike";

/// Write the Envoy filter resource with the configuration in it
///
/// The configuration is compiled first. If it is refused, nothing is written, and the exit status is 2. Good versions of
/// feeds are kept beside their sources, as FILE.last-good.
///
/// Only users who can read all files that it is made of can read the resource. As root, the command refuses policies that
/// are not readable by everybody, because the filter serves them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike envoy --config crawlpike.json --output /etc/envoy/crawlpike.json
      In envoy.yaml, this filter reads the file and follows its changes (Envoy needs a `node` with `id` and `cluster`):
        - name: crawlpike
          config_discovery:
            config_source:
              path_config_source: { path: /etc/envoy/crawlpike.json }
            type_urls: [type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm]
  crawlpike envoy --config crawlpike.json --output /etc/envoy/crawlpike.json --watch
      The same, and writes the file again when the document, its files or the code change, and on SIGHUP.
  crawlpike envoy --config crawlpike.json --xds-dir /srv/xds --watch
      For several Envoys: writes /srv/xds/crawlpike.json and, beside it, the code.
  crawlpike envoy --config crawlpike.json --format filter --syntax yaml
      The entry of `http_filters` for a static configuration.
  crawlpike envoy --config crawlpike.json --patch /spec/pluginConfig --output patch.json
  kubectl patch wasmplugin crawlpike --type=json --patch-file=patch.json
      For Istio, whose WasmPlugin has the document in it.")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The file to write, *.json or *.yaml; it is replaced in one step [default: stdout]
    #[arg(long, value_name = "FILE", group = "destination")]
    output: Option<PathBuf>,
    /// The folder to write NAME.json and the code (crawlpike-HASH.wasm) to, for several Envoys
    #[arg(long, value_name = "DIR", group = "destination")]
    xds_dir: Option<PathBuf>,
    /// The path of the --xds-dir folder as Envoys see it, if it is mounted elsewhere
    #[arg(long, value_name = "DIR", requires = "xds_dir")]
    mounted_at: Option<PathBuf>,
    /// The filter's code; without --xds-dir, Envoy reads it there [default: crawlpike.wasm beside this program]
    #[arg(long, value_name = "FILE")]
    wasm: Option<PathBuf>,
    /// Put the code itself into the resource instead of its path
    #[arg(long)]
    inline_wasm: bool,
    /// The name of the resource, which is that of the filter in Envoy's configuration
    #[arg(long, value_name = "NAME", default_value = FILTER)]
    name: String,
    /// The resource to write
    #[arg(long, value_enum, default_value_t = Format::Ecds)]
    format: Format,
    /// The syntax of the output [default: by the extension of the output's name, else json]
    #[arg(long, value_enum)]
    syntax: Option<Syntax>,
    /// The form of the configuration in the resource
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Compiled)]
    form: Form,
    /// Write a JSON Patch instead, which puts the document with its files at this path of a Kubernetes resource
    #[arg(long, value_name = "PATH", conflicts_with_all = ["xds_dir", "wasm", "inline_wasm", "name", "format", "form"],
          value_parser = resource::pointer)]
    patch: Option<String>,
    /// Accept the new version of this feed, even if its guard holds it; can be repeated
    #[arg(long, value_name = "FEED", conflicts_with = "watch")]
    accept: Vec<String>,
    /// Keep running, and write the resource again when a file that it is made of changes, and on SIGHUP, until SIGTERM
    #[arg(long, requires = "destination")]
    watch: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = source::files_to_deliver(&arguments.config).accepting(&arguments.accept);
    if arguments.watch {
        watch::run(&mut Watching { arguments, files, in_force: None })?;
        return Ok(ExitCode::SUCCESS);
    }
    let made = arguments.make(&files, &Snapshot::default())?;
    source::warn_of_unkept(&arguments.config, files.keep(&made.good_feeds));
    made.write()?;
    Ok(ExitCode::SUCCESS)
}

/// A ruleset, with the time of the last look for feeds that have become stale, in seconds since the Unix epoch.
struct Loaded {
    ruleset: Ruleset,
    looked: i64,
}

/// The output that is made of a configuration.
enum Target<'a> {
    /// A patch that puts the document at this path of a Kubernetes resource.
    Patch(&'a str),
    /// A resource for Envoy, with the filter's code in this file.
    Filter(PathBuf),
}

/// A copy of the filter's code, before it is written.
struct CodeCopy {
    to: PathBuf,
    bytes: Vec<u8>,
    source: Snapshot,
}

/// A resource, before it is written.
struct Made {
    text: String,
    to: Option<PathBuf>,
    /// Code that has to be there before the resource.
    code: Option<CodeCopy>,
    /// The files that it is made of.
    sources: Snapshot,
    version: String,
    prefixes: usize,
    warnings: usize,
    good_feeds: Vec<GoodFeed>,
    /// `None` once it is in force.
    loaded: Option<Loaded>,
}

/// `--watch`.
struct Watching<'a> {
    arguments: &'a Arguments,
    files: FilesBeside,
    in_force: Option<Loaded>,
}

impl Watched for Watching<'_> {
    type Made = Result<Made, Failure>;

    fn make(&self, snapshot: &Snapshot) -> Self::Made {
        self.arguments.make(&self.files, snapshot)
    }

    /// A failure also if a feed that is in force would be lost.
    fn make_of_changed(&self, snapshot: &Snapshot) -> Self::Made {
        let made = self.make(snapshot)?;
        let rulesets = self.in_force.iter().zip(&made.loaded);
        let document = self.arguments.config.display().to_string();
        let lost: Vec<_> = rulesets
            .flat_map(|(old, new)| FeedsInForce::of(&old.ruleset).lost_in(&new.ruleset, &document))
            .collect();
        say_all(&lost);
        if lost.is_empty() { Ok(made) } else { Err(Failure::Reported) }
    }

    /// Keeps the good versions of feeds, and writes the resource if it is new.
    fn deliver(&mut self, watch: &Watch, made: Self::Made) -> Option<Self::Made> {
        let mut made = match made {
            Ok(made) => made,
            Err(failure) => {
                self.arguments.report(&failure);
                return None;
            }
        };
        self.in_force = made.loaded.take().or(self.in_force.take());
        // Taken, so that they are not kept again if the resource has to be written again.
        let good_feeds = std::mem::take(&mut made.good_feeds);
        source::warn_of_unkept(&self.arguments.config, watch.keep(&self.files, &good_feeds));
        match made.write() {
            Ok(is_new) => {
                if is_new {
                    // If stdout is closed, nobody reads it; the work goes on.
                    let _ = writeln!(io::stdout(), "{}", made.line());
                }
                None
            }
            Err(failure) => {
                self.arguments.report(&failure);
                Some(Ok(made))
            }
        }
    }

    /// Reports the feeds that have become stale since the last look.
    fn idle(&mut self, _: &Receiver<i32>) -> ControlFlow<()> {
        if let Some(Loaded { ruleset, looked }) = &mut self.in_force {
            let now = crawlpike_files::now();
            for feed in ruleset.became_stale(*looked, now) {
                say(format_args!("{}: warning: {feed}", self.arguments.config.display()));
            }
            *looked = now;
        }
        ControlFlow::Continue(())
    }
}

impl Arguments {
    fn report(&self, failure: &Failure) {
        failure.report();
        if let Some(path) = self.path() {
            say(format_args!("crawlpike: {} is left unchanged", path.display()));
        }
    }

    fn make(&self, files: &FilesBeside, snapshot: &Snapshot) -> Result<Made, Failure> {
        let looked = crawlpike_files::now();
        let (target, form) = match &self.patch {
            Some(path) => (Target::Patch(path), Form::Document),
            None => (Target::Filter(self.wasm(snapshot)?), self.form),
        };
        let Configuration { value, ruleset, prefixes, warnings, good_feeds } =
            configuration::read(&self.config, files, form, &self.accept, snapshot)?;
        if let Some(output) = self.path() {
            source::check_output(&output, snapshot)?;
        }
        let (resource, copy) = match target {
            Target::Patch(path) => (patch(path, &value)?, None),
            Target::Filter(wasm) => self.filter(&wasm, &value, snapshot)?,
        };
        let text = self.syntax().write(&resource)?;
        Ok(Made {
            version: version_of(&resource),
            text,
            to: self.path(),
            code: copy,
            sources: snapshot.clone(),
            prefixes,
            warnings,
            good_feeds,
            loaded: Some(Loaded { ruleset, looked }),
        })
    }

    /// The resource for Envoy with a configuration, and the code to write before it.
    fn filter(
        &self,
        wasm: &Path,
        configuration: &Value,
        snapshot: &Snapshot,
    ) -> Result<(Value, Option<CodeCopy>), Failure> {
        let bytes = source::read_recorded(wasm, snapshot)?;
        let code = |local: Value| Code::new(json!({ "local": local }), &bytes);
        let (code, copy) = match &self.xds_dir {
            _ if self.inline_wasm => (code(json!({ "inline_bytes": BASE64_STANDARD.encode(&bytes) })), None),
            Some(folder) => {
                let name = format!("crawlpike-{}.wasm", version(&bytes));
                let seen_by_envoy = self.mounted_at.as_ref().unwrap_or(folder).join(&name);
                let source = Snapshot::default();
                source.record(wasm);
                let code = code(json!({ "filename": absolute_text(&seen_by_envoy)? }));
                (code, Some(CodeCopy { to: folder.join(&name), bytes, source }))
            }
            None => (code(json!({ "filename": absolute_text(wasm)? })), None),
        };
        Ok((resource(self.format, &self.name, &code, configuration), copy))
    }

    /// The file to write.
    fn path(&self) -> Option<PathBuf> {
        let in_folder =
            |folder: &PathBuf| folder.join(format!("{}.{}", self.name, self.syntax().extension()));
        self.output.clone().or_else(|| self.xds_dir.as_ref().map(in_folder))
    }

    fn syntax(&self) -> Syntax {
        let by_name = || self.output.as_deref().map_or(Syntax::Json, Syntax::of);
        self.syntax.unwrap_or_else(by_name)
    }

    /// The path of the filter's code.
    fn wasm(&self, snapshot: &Snapshot) -> Result<PathBuf, Failure> {
        let path = match &self.wasm {
            Some(path) => path.clone(),
            None => {
                let own = env::current_exe().map_err(|error| {
                    Failure::because(format_args!(
                        "cannot find the path of this program: {error}; give the filter's code with --wasm FILE"
                    ))
                })?;
                own.with_file_name("crawlpike.wasm")
            }
        };
        let shown = path.display();
        match snapshot.read(&path, || fs::metadata(&path)) {
            Ok(file) if file.is_file() => return Ok(path),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Failure::because(format_args!("cannot read {shown}: {error}")));
            }
            _ => {}
        }
        Err(Failure::because(format_args!(
            "there is no file {shown}; give the filter's code with --wasm FILE, or build it with `make build`"
        )))
    }
}

impl Made {
    /// Writes the resource, unless it is there already; returns true if it was written. Envoy reads only what is written.
    fn write(&self) -> Result<bool, Failure> {
        let Some(path) = &self.to else {
            io::stdout().lock().write_all(self.text.as_bytes())?;
            return Ok(true);
        };
        if let Some(CodeCopy { to, bytes, source }) = &self.code {
            source::replace(to, bytes, source)?;
        }
        source::replace(path, self.text.as_bytes(), &self.sources)
    }

    /// The line about a resource that was written.
    fn line(&self) -> String {
        let time = clock::rfc3339(crawlpike_files::now());
        let path = self.to.as_deref().unwrap_or(Path::new("-")).display();
        let Self { version, prefixes, warnings, .. } = self;
        format!("{time} {path}: version {version}, {prefixes} prefixes, {warnings} warnings")
    }
}

/// The version that a discovery response has, and that another resource would have.
fn version_of(resource: &Value) -> String {
    resource["version_info"].as_str().map_or_else(|| version(resource.to_string().as_bytes()), str::to_string)
}

/// A path as Envoy needs it. Not resolved further: a link that is to be switched to a new version stays a link.
fn absolute_text(path: &Path) -> Result<String, Failure> {
    let absolute =
        absolute(path).map_err(|error| Failure::because(format_args!("{}: {error}", path.display())))?;
    let not_utf8 = || Failure::because(format_args!("{}: Envoy needs a path in UTF-8", absolute.display()));
    absolute.to_str().map(str::to_string).ok_or_else(not_utf8)
}
