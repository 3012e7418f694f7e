//! `crawlpike lint`: a strict check of configurations, feeds and policies.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use crawlpike_core::lint::{self, FeedStrictness};
use crawlpike_core::{Cause, Diagnostic, FeedFormat, Severity, Shape};
use crawlpike_files::{FilesBeside, is_compiled, now};

use crate::clock::rfc3339;
use crate::doctor::finding::Gravity;
use crate::doctor::situation::Situation;
use crate::doctor::{clock, rights};
use crate::failure::{Failure, UNUSABLE, say_all};
use crate::nginx_conf::NginxConf;
use crate::source;

/// Check configurations, feeds and policies
///
/// Prints diagnostics to stderr, as FILE:LINE:COLUMN: error|warning: MESSAGE, or with --json to stdout, one object per line.
/// The exit status is 0 if there is no error, 1 if there is one, and 2 if a file cannot be read.
///
/// A configuration is checked as it is on this machine: also for feeds that are stale by now, for files with times in the future, for
/// directories none of whose keys holds now, and for files that the user of the server cannot read.
///
/// Feeds are checked strictly, for their publishers. JSON without formatVersion and synctoken, the form that was in use
/// before the specification, is checked leniently, and so is JSON of another shape.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike lint --format config crawlpike.json
  crawlpike lint --format config --as-user www-data crawlpike.json
  crawlpike lint --format robots robots.txt
  crawlpike lint --format jafar googlebot.json gptbot.json
  crawlpike lint --format jafar --shape 'data.ranges[].cidr' ranges.json
  crawlpike lint --format robots-tag tags.txt
  crawlpike lint --format jafar --json feeds/*.json | jq -r .message")]
pub(crate) struct Arguments {
    /// The format of the files
    #[arg(long, value_enum)]
    format: Format,
    /// Check feeds leniently: only an unusable file is an error, other violations are warnings
    #[arg(long, conflicts_with = "strict")]
    lenient: bool,
    /// Check feeds strictly, also in the form that was in use before the specification
    #[arg(long)]
    strict: bool,
    /// The paths of the prefixes in the JSON, as `shape` of a feed in the configuration; implies --lenient
    #[arg(long, conflicts_with = "strict", value_name = "PATHS", value_parser = Shape::parse)]
    shape: Option<Shape>,
    /// Print diagnostics to stdout as JSON, one object per line
    #[arg(long)]
    json: bool,
    /// For config: the user who has to be able to read all files [default: that of nginx's configuration, if it uses the
    /// document]
    #[arg(long, value_name = "USER")]
    as_user: Option<String>,
    /// The files to check
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A configuration document with the files that it names
    Config,
    /// A robots.txt (RFC 9309)
    Robots,
    /// An automation-preferences.txt
    AutomationPreferences,
    /// The Robots-Tag and X-Robots-Tag lines of a response
    RobotsTag,
    /// A directory of the keys by which an agent signs its requests
    KeyDirectory,
    /// IP ranges in JSON
    Jafar,
    /// Places of IP ranges in CSV (RFC 8805)
    Geofeed,
    /// IP ranges, one per line
    Cidr,
}

impl Arguments {
    fn strictness(&self) -> FeedStrictness {
        match (self.lenient, self.strict) {
            (true, _) => FeedStrictness::Lenient,
            (false, true) => FeedStrictness::Strict,
            (false, false) => FeedStrictness::Usual,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if (arguments.lenient || arguments.strict)
        && !matches!(arguments.format, Format::Jafar | Format::Geofeed | Format::Cidr)
    {
        return Err(Failure::because("--lenient and --strict are for jafar, geofeed and cidr"));
    }
    if arguments.shape.is_some() && !matches!(arguments.format, Format::Jafar) {
        return Err(Failure::because("--shape is for jafar"));
    }
    if arguments.as_user.is_some() && !matches!(arguments.format, Format::Config) {
        return Err(Failure::because("--as-user is for config"));
    }
    let mut output = io::stdout().lock();
    let mut status = 0;
    for path in &arguments.files {
        let (diagnostics, worst) = match crawlpike_files::read_file(path) {
            Ok(content) => {
                let mut diagnostics = check(arguments, path, &content);
                if matches!(arguments.format, Format::Config) {
                    diagnostics.extend(beyond_the_document(arguments, path, &diagnostics)?);
                }
                if matches!(arguments.format, Format::Jafar) {
                    diagnostics.extend(of_the_future(path, &content));
                }
                let has_errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
                (diagnostics, u8::from(has_errors))
            }
            Err(error) => (vec![source::unreadable(path, error)], UNUSABLE),
        };
        status = status.max(worst);
        if !arguments.json {
            say_all(&diagnostics);
            continue;
        }
        for diagnostic in &diagnostics {
            serde_json::to_writer(&mut output, diagnostic)?;
            writeln!(output)?;
        }
    }
    Ok(ExitCode::from(status))
}

/// The findings that only this machine shows: feeds that are stale by now, times in the future, and files that the server cannot read.
fn beyond_the_document(
    arguments: &Arguments,
    path: &Path,
    known: &[Diagnostic],
) -> Result<Vec<Diagnostic>, Failure> {
    let situation = Situation::read(path, NginxConf::usual(), arguments.as_user.as_deref())?;
    let diagnostics = situation.compiled.iter().flat_map(|compiled| &compiled.diagnostics);
    let is_of_now = |one: &&Diagnostic| matches!(one.cause, Some(Cause::OldFeed | Cause::FutureFeed));
    let stale = diagnostics.filter(is_of_now).filter(|one| !known.contains(one)).cloned();
    let found = clock::check(&situation).into_iter().chain(rights::check(&situation));
    let found = found.filter(|finding| finding.gravity > Gravity::Note).map(|finding| {
        let place = finding.place.unwrap_or_else(|| path.display().to_string());
        let remedy = finding.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
        let message = format!("{}{remedy}", finding.what);
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(place, message) }
    });
    Ok(stale.chain(found).collect())
}

/// A warning of a feed whose `creationTime` is in the future.
fn of_the_future(path: &Path, content: &[u8]) -> Option<Diagnostic> {
    let created = clock::created_in_the_future(content, now())?;
    let message = format!(
        "`creationTime` is in the future ({}): gates hold a later version with an earlier time",
        rfc3339(created)
    );
    Some(Diagnostic { severity: Severity::Warning, ..Diagnostic::error(path.display().to_string(), message) })
}

fn check(arguments: &Arguments, path: &Path, content: &[u8]) -> Vec<Diagnostic> {
    let name = path.display().to_string();
    let feed =
        |format, name| lint::feed(format, arguments.shape.as_ref(), arguments.strictness(), name, content);
    match arguments.format {
        // A compiled ruleset was accepted when it was made; what can be wrong with it now is found by loading it.
        Format::Config if is_compiled(content) => crawlpike_files::compile(path, &FilesBeside::new(path))
            .map_or_else(|error| vec![source::unreadable(path, error)], |compiled| compiled.diagnostics),
        Format::Config => lint::config(&name, content, &FilesBeside::new(path)),
        Format::Robots => lint::robots(name, content),
        Format::AutomationPreferences => lint::automation_preferences(name, content),
        Format::RobotsTag => lint::robots_tag(name, content),
        Format::KeyDirectory => lint::key_directory(name, content),
        Format::Jafar => feed(FeedFormat::Jafar, name),
        Format::Geofeed => feed(FeedFormat::Geofeed, name),
        Format::Cidr => feed(FeedFormat::Cidr, name),
    }
}
