//! What the filter is configured with: the compiled ruleset, or the document with its files in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use zerocopy::IntoBytes;

use crawlward_core::{Compiled, Files, FoundFile, NoFiles, Ruleset, is_stored};
use crawlward_host::{FilesBeside, Seen};

use crate::failure::{Failure, say};
use crate::source;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// The compiled ruleset: it loads in milliseconds, and says what is in force here, whatever happens to the files
    Compiled,
    /// The document with its files in it: readable in Envoy's config dump, compiled again by each of Envoy's workers
    Document,
}

/// A configuration that the filter takes.
pub(super) struct Configuration {
    /// A `google.protobuf.Any`.
    pub(super) value: Value,
    /// How many prefixes are in force.
    pub(super) prefixes: usize,
    /// How many warnings were given.
    pub(super) warnings: usize,
    /// [`Compiled::good_feeds`].
    pub(super) good_feeds: Vec<(String, Vec<u8>)>,
}

/// Compiles the configuration at `config`, and puts it into a form that the filter takes. Each file is noted before it
/// is read.
pub(super) fn read(
    config: &Path,
    form: Form,
    accepted: &[String],
    seen: &Seen,
) -> Result<Configuration, Failure> {
    let files = Recorder {
        beside: FilesBeside::new(config).accepting(accepted),
        seen,
        newest: RefCell::default(),
        last_good: RefCell::default(),
    };
    seen.note(config);
    let compiled = source::compile(config, &files)?;
    let ruleset = compiled.ruleset.as_ref().ok_or(Failure::Told)?;
    source::check_accepted(ruleset, accepted)?;
    let value = match form {
        Form::Compiled => {
            let too_large = || Failure::Because("the ruleset is too large to be stored".to_string());
            let words = compiled.store().ok_or_else(too_large)?;
            any("BytesValue", BASE64_STANDARD.encode(words.as_bytes()))
        }
        Form::Document => any("StringValue", document(config, &files, &compiled)?),
    };
    let prefixes = ruleset.feeds(crawlward_host::now()).map(|feed| feed.prefixes).sum();
    let warnings = compiled.diagnostics.len();
    Ok(Configuration { value, prefixes, warnings, good_feeds: compiled.good_feeds })
}

fn any(kind: &str, value: String) -> Value {
    json!({ "@type": format!("type.googleapis.com/google.protobuf.{kind}"), "value": value })
}

/// The files beside a document, of which those that are read are kept: what was compiled is what is inlined, whatever
/// happens to the files meanwhile.
struct Recorder<'s> {
    beside: FilesBeside,
    seen: &'s Seen,
    newest: RefCell<Vec<(String, FoundFile)>>,
    last_good: RefCell<Vec<(String, FoundFile)>>,
}

impl Files for Recorder<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        self.seen.note(&self.beside.path(path));
        let file = self.beside.read(path)?;
        self.newest.borrow_mut().extend(file.clone().map(|file| (path.to_string(), file)));
        Ok(file)
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        // `crawlward compile --accept` changes it.
        self.seen.note(&self.beside.last_good_path(path));
        let file = self.beside.last_good(path)?;
        self.last_good.borrow_mut().push((path.to_string(), file.clone()));
        Some(file)
    }

    fn accepts(&self, feed: &str) -> bool {
        self.beside.accepts(feed)
    }

    fn display_name(&self, path: &str) -> String {
        self.beside.display_name(path)
    }
}

/// The document with the versions of its files that are in force. One that is not there is left out; compiling has
/// warned of it.
fn document(config: &Path, files: &Recorder<'_>, compiled: &Compiled) -> Result<String, Failure> {
    let document = source::read(config)?;
    if is_stored(&document) {
        let advice = "give the document that it was made of, or leave `--form document` out";
        let config = config.display();
        return Err(Failure::Because(format!("{config} is a compiled ruleset, and no document: {advice}")));
    }
    let not_utf8 = |name: String| {
        let advice = "write it in UTF-8, or leave `--form document` out";
        Failure::Because(format!("{name} is not UTF-8, and can't be put into a JSON document: {advice}"))
    };
    let mut in_force: BTreeMap<String, FoundFile> = files.newest.take().into_iter().collect();
    for (path, file) in files.last_good.take() {
        let is_newest = in_force.get(&path).is_some_and(|newest| newest.bytes == file.bytes);
        if !is_newest && compiled.good_feeds.iter().all(|(good, _)| *good != path) {
            in_force.insert(path, file);
        }
    }
    let mut texts = Map::new();
    for (path, FoundFile { bytes, modified }) in in_force {
        let text = String::from_utf8(bytes).map_err(|_| not_utf8(files.display_name(&path)))?;
        texts.insert(path, json!({ "text": text, "modified": modified }));
    }
    let document = String::from_utf8(document).map_err(|_| not_utf8(config.display().to_string()))?;
    let document = with_files(document.trim_start_matches('\u{feff}'), texts)?;
    // As the filter will: the document could have changed since it was compiled.
    let name = config.display().to_string();
    match Ruleset::compile(&name, document.as_bytes(), &NoFiles) {
        Compiled { ruleset: Some(_), .. } => Ok(document),
        Compiled { diagnostics, .. } => {
            diagnostics.iter().for_each(say);
            Err(Failure::Told)
        }
    }
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
