//! `crawlward envoy`: the Envoy filter with the configuration in it.

mod configuration;
mod resource;

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

use base64::prelude::{BASE64_STANDARD, Engine};
use crawlward_host::{Seen, Watch};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::envoy::configuration::{Configuration, Form};
use crate::envoy::resource::{Format, Syntax, resource, sha256, version};
use crate::failure::{Failure, say};
use crate::source;
use crate::watch::{self, Outcome};

/// The root id of the filter, and the name of the VM in which it runs.
const FILTER: &str = "crawlward";

/// Write the Envoy filter resource with the configuration and its files in it
///
/// The configuration is compiled first: where it is refused, nothing is written and the exit status is 2. Versions of
/// feeds that are good are kept beside their sources, as FILE.last-good.
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
  crawlward envoy --config crawlward.json --output /etc/envoy/crawlward.json --watch
      The same, again after each change of the document, its files or the code, and on SIGHUP.
  crawlward envoy --config crawlward.json --xds-dir /srv/xds --watch
      For several Envoys: writes /srv/xds/crawlward.json and, beside it, the code.
  crawlward envoy --config crawlward.json --format filter --syntax yaml
      The entry of `http_filters` for a static configuration.")]
pub(crate) struct Arguments {
    /// The configuration document, or what `crawlward compile` makes of it
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The file to write, *.json or *.yaml, replaced in one step by a rename, which Envoy watches for [default: stdout]
    #[arg(long, value_name = "FILE", group = "destination")]
    output: Option<PathBuf>,
    /// The folder to write NAME.json to, and the code as crawlward-HASH.wasm, for all Envoys that see the folder
    #[arg(long, value_name = "DIR", group = "destination")]
    xds_dir: Option<PathBuf>,
    /// Where Envoys see the folder of --xds-dir, if elsewhere
    #[arg(long, value_name = "DIR", requires = "xds_dir")]
    mounted_at: Option<PathBuf>,
    /// The filter's code; without --xds-dir, it is where Envoy finds it [default: crawlward.wasm beside this program]
    #[arg(long, value_name = "FILE")]
    wasm: Option<PathBuf>,
    /// Put the code into the resource instead of its path
    #[arg(long)]
    inline_wasm: bool,
    /// The name of the resource: that of the filter in Envoy's configuration
    #[arg(long, value_name = "NAME", default_value = FILTER)]
    name: String,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Ecds)]
    format: Format,
    /// How to write it [default: by the end of the output's name, else json]
    #[arg(long, value_enum)]
    syntax: Option<Syntax>,
    /// What the filter is configured with
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Compiled)]
    form: Form,
    /// Let the new version of a feed in, whatever its guard says; repeatable
    #[arg(long, value_name = "FEED", conflicts_with = "watch")]
    accept: Vec<String>,
    /// Go on: write it again after each change of a file that went into it, and on SIGHUP, until SIGTERM
    #[arg(long, requires = "destination")]
    watch: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(output) = arguments.path() {
        source::check_output(&arguments.config, &output)?;
    }
    if arguments.watch {
        watch::run(|watch| arguments.renew(watch))?;
        return Ok(ExitCode::SUCCESS);
    }
    let made = arguments.make(&Seen::default())?;
    source::keep(&arguments.config, &made.good_feeds);
    made.deliver()?;
    Ok(ExitCode::SUCCESS)
}

/// A resource, before it is written.
struct Made {
    text: String,
    to: Option<PathBuf>,
    /// Code that has to be there before the resource, with its place.
    code: Option<(PathBuf, Vec<u8>)>,
    version: String,
    prefixes: usize,
    warnings: usize,
    good_feeds: Vec<(String, Vec<u8>)>,
}

impl Arguments {
    /// Makes the resource of what the files are now, and writes it where it is another one.
    fn renew(&self, watch: &mut Watch) -> Outcome {
        let seen = Seen::default();
        let made = self.make(&seen);
        if !watch.take(seen) {
            say("crawlward: a file changed while it was read; all are read again");
            return Outcome::Done;
        }
        let left_as_it_is = |failure: Failure, outcome| {
            failure.report();
            say("crawlward: the resource is left as it is");
            outcome
        };
        let made = match made {
            Ok(made) => made,
            Err(failure) => return left_as_it_is(failure, Outcome::Done),
        };
        source::keep(&self.config, &made.good_feeds);
        match made.deliver() {
            Ok(is_new) => {
                if is_new {
                    // Where stdout is closed nobody wants to know; the work goes on.
                    let _ = writeln!(io::stdout(), "{}", made.line());
                }
                Outcome::Done
            }
            Err(failure) => left_as_it_is(failure, Outcome::Failed),
        }
    }

    fn make(&self, seen: &Seen) -> Result<Made, Failure> {
        let wasm = self.wasm(seen)?;
        let Configuration { value, prefixes, warnings, good_feeds } =
            configuration::read(&self.config, self.form, &self.accept, seen)?;
        let bytes = source::read(&wasm)?;
        let digest = sha256(&bytes);
        let (code, beside) = match &self.xds_dir {
            _ if self.inline_wasm => (json!({ "inline_bytes": BASE64_STANDARD.encode(bytes) }), None),
            Some(folder) => {
                let name = format!("crawlward-{}.wasm", digest.get(..16).unwrap_or_default());
                let seen_by_envoy = self.mounted_at.as_ref().unwrap_or(folder).join(&name);
                (json!({ "filename": absolute_text(&seen_by_envoy)? }), Some((folder.join(&name), bytes)))
            }
            None => (json!({ "filename": absolute_text(&wasm)? }), None),
        };
        let resource = resource(self.format, &self.name, &json!({ "local": code }), &digest, &value);
        let text = self.syntax().write(&resource)?;
        Ok(Made {
            version: version_of(&resource),
            text,
            to: self.path(),
            code: beside,
            prefixes,
            warnings,
            good_feeds,
        })
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

    /// Where the filter's code is.
    fn wasm(&self, seen: &Seen) -> Result<PathBuf, Failure> {
        let path = match &self.wasm {
            Some(path) => path.clone(),
            None => env::current_exe()
                .map_err(|error| Failure::Because(format!("where this program is, is unknown: {error}")))?
                .with_file_name("crawlward.wasm"),
        };
        seen.note(&path);
        if path.is_file() {
            return Ok(path);
        }
        let shown = path.display();
        Err(Failure::Because(format!(
            "the filter's code, {shown}, is not there: `make build` makes it, `--wasm FILE` says where it is"
        )))
    }
}

impl Made {
    /// Writes it, unless it is there already; whether it was not.
    fn deliver(&self) -> Result<bool, Failure> {
        let Some(path) = &self.to else {
            io::stdout().lock().write_all(self.text.as_bytes())?;
            return Ok(true);
        };
        if let Some((path, bytes)) = &self.code {
            replace_if_changed(path, bytes)?;
        }
        replace_if_changed(path, self.text.as_bytes())
    }

    fn line(&self) -> String {
        let now = OffsetDateTime::from_unix_timestamp(crawlward_host::now()).ok();
        let time = now.and_then(|now| now.format(&Rfc3339).ok()).unwrap_or_default();
        let path = self.to.as_deref().unwrap_or(Path::new("")).display();
        let Self { version, prefixes, warnings, .. } = self;
        format!("{time} {path}: version {version}, {prefixes} prefixes, {warnings} warnings")
    }
}

/// Replaces a file whose content is another one; whether it was. A file that stays as it is makes no Envoy read it.
fn replace_if_changed(path: &Path, bytes: &[u8]) -> Result<bool, Failure> {
    if crawlward_host::read_file(path).is_ok_and(|present| present == bytes) {
        return Ok(false);
    }
    match crawlward_host::replace(path, bytes) {
        Ok(()) => Ok(true),
        Err(error) => Err(Failure::Because(format!("{} can't be written: {error}", path.display()))),
    }
}

/// The version that a discovery response has, and that another resource would have.
fn version_of(resource: &Value) -> String {
    resource["version_info"].as_str().map_or_else(|| version(&resource.to_string()), str::to_string)
}

/// A path as Envoy needs it. Not resolved further: a link that is to be switched to a new version stays a link.
fn absolute_text(path: &Path) -> Result<String, Failure> {
    let absolute =
        absolute(path).map_err(|error| Failure::Because(format!("{}: {error}", path.display())))?;
    let not_utf8 =
        || Failure::Because(format!("{}: Envoy can't take a path that is not UTF-8", absolute.display()));
    absolute.to_str().map(str::to_string).ok_or_else(not_utf8)
}
