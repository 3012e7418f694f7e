//! The configuration of the filter: the compiled ruleset, or the document with its files in it.

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use clap::ValueEnum;
use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use zerocopy::IntoBytes;

use crawlpike_core::{Compiled, FoundFile, GoodFeed, NoFiles, Ruleset};
use crawlpike_files::{Contents, FeedsInForce, FilesBeside, Recording, Snapshot, is_compiled};

use crate::failure::{Failure, say};
use crate::source;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// The compiled ruleset, which loads in milliseconds
    Compiled,
    /// The document with its files in it, which Envoy's config dump shows, and which each of Envoy's workers compiles
    Document,
}

/// A configuration that the filter takes.
pub(super) struct Configuration {
    /// A `google.protobuf.Any`.
    pub(super) value: Value,
    pub(super) ruleset: Ruleset,
    /// The number of prefixes in force.
    pub(super) prefixes: usize,
    /// The number of warnings.
    pub(super) warnings: usize,
    /// [`Compiled::good_feeds`].
    pub(super) good_feeds: Vec<GoodFeed>,
}

/// Compiles the configuration at `config`, and puts it into a form that the filter takes. Each file is recorded before it
/// is read.
pub(super) fn read(
    config: &Path,
    files: &FilesBeside,
    form: Form,
    accepted: &[String],
    snapshot: &Snapshot,
) -> Result<Configuration, Failure> {
    let contents = Contents::default();
    let recording = match form {
        Form::Compiled => Recording::new(files, snapshot),
        Form::Document => Recording::new(files, snapshot).with_contents(&contents),
    };
    let compiled = source::compile_to_keep(config, recording, snapshot)?;
    let ruleset = compiled.ruleset.as_ref().ok_or(Failure::Reported)?;
    source::check_accepted(ruleset, accepted)?;
    let value = match form {
        Form::Compiled => {
            let too_large = || Failure::because("the ruleset is too large to be stored");
            let words = compiled.store().ok_or_else(too_large)?;
            any("BytesValue", BASE64_STANDARD.encode(words.as_bytes()))
        }
        Form::Document => any("StringValue", document(config, contents, &compiled, snapshot)?),
    };
    let prefixes = ruleset.feeds(crawlpike_files::now()).map(|feed| feed.prefixes).sum();
    let Compiled { ruleset, diagnostics, good_feeds, .. } = compiled;
    let ruleset = ruleset.ok_or(Failure::Reported)?;
    Ok(Configuration { value, ruleset, prefixes, warnings: diagnostics.len(), good_feeds })
}

/// The texts by which a resource in JSON has the configuration as it is now, one for each form that can be made.
pub(crate) fn values(config: &Path) -> Vec<String> {
    let (files, snapshot, contents) = (FilesBeside::new(config), Snapshot::default(), Contents::default());
    let recording = Recording::new(&files, &snapshot).with_contents(&contents);
    let Ok(compiled) = crawlpike_files::compile(config, &recording) else { return Vec::new() };
    let stored = compiled.store().map(|words| BASE64_STANDARD.encode(words.as_bytes()));
    let document = document(config, contents, &compiled, &snapshot)
        .ok()
        .map(|document| Value::from(document).to_string());
    stored.into_iter().chain(document).collect()
}

fn any(kind: &str, value: String) -> Value {
    json!({ "@type": format!("type.googleapis.com/google.protobuf.{kind}"), "value": value })
}

/// The document with the versions of its files that are in force. They are those that were compiled, even if the files
/// change meanwhile. A file that is missing is left out; compiling has warned of it.
fn document(
    config: &Path,
    contents: Contents,
    compiled: &Compiled,
    snapshot: &Snapshot,
) -> Result<String, Failure> {
    let document = source::read_recorded(config, snapshot)?;
    let name = config.display().to_string();
    if is_compiled(&document) {
        return Err(Failure::because(format_args!(
            "`--form document` and `--patch` need the document, and {name} is a compiled ruleset"
        )));
    }
    let not_utf8 = |name: &str| {
        Failure::because(format_args!("{name} is not UTF-8; convert it, or use the compiled form"))
    };
    let mut texts = Map::new();
    for (path, FoundFile { bytes, modified }) in contents.into_versions_in_force(&compiled.good_feeds) {
        let text = String::from_utf8(bytes).map_err(|_| not_utf8(&path))?;
        texts.insert(path, json!({ "text": text, "modified": modified }));
    }
    let document = String::from_utf8(document).map_err(|_| not_utf8(&name))?;
    let document = with_files(document.trim_start_matches('\u{feff}'), texts)?;
    // As the filter will: the document could have changed since it was compiled.
    let Compiled { ruleset, diagnostics, .. } = Ruleset::compile(&name, document.as_bytes(), &NoFiles);
    let Some(ruleset) = ruleset else {
        diagnostics.iter().for_each(say);
        return Err(Failure::Reported);
    };
    // It does not know which versions were accepted here.
    let in_force = compiled.ruleset.as_ref().map(FeedsInForce::of).unwrap_or_default();
    for feed in in_force.missing_in(&FeedsInForce::of(&ruleset)) {
        say(format_args!(
            "{name}: warning: the filter will hold the feed `{feed}`, which is in force here, so it verifies no client there: \
             give it a `guard` that lets it in, or use the compiled form"
        ));
    }
    Ok(document)
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
        None => {
            let before = document.trim_ascii_end().strip_suffix('}');
            let before = before.ok_or_else(|| serde_json::Error::custom("the document is not an object"))?;
            document.split_at(before.len())
        }
    };
    let key = match present {
        Some(_) => "",
        None if before.trim_ascii_end().ends_with('{') => "\"files\":",
        None => ",\"files\":",
    };
    Ok(format!("{before}{key}{texts}{after}"))
}
