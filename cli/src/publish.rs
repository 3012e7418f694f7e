//! `crawlpike publish`: a conforming feed from lists of prefixes, or a list for other servers.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use crawlpike_core::publish::{Content, Kind, Source};
use crawlpike_core::{Diagnostic, Shape};
use crawlpike_files::{Snapshot, now};
use serde::Deserialize;

use crate::clock::{format_rfc3339, parse_rfc3339};
use crate::failure::{Failure, say};
use crate::source;

/// Publish IP ranges or places as a conforming feed, or convert a feed for other servers
///
/// Reads lists of prefixes and writes one feed: the fewest prefixes that cover the same addresses, sorted, so that the same lists give
/// the same file. A list is plain text as for feeds of the format `cidr`, CSV (`prefix,service`, or a geofeed), or JSON of
/// any shape that Crawlpike reads.
///
/// Nothing is written unless every entry can be read and the feed conforms to its specification. In a feed of IP ranges,
/// the synctoken is a hash of the content. The creationTime stays as long as the content of the output file does; with
/// --refresh, it is the current time, or that of SOURCE_DATE_EPOCH. It never goes back. Postal codes are never published.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike publish jafar --service examplebot --output examplebot.json prefixes.txt
  crawlpike publish jafar --refresh --output examplebot.json prefixes.txt
      For a timer: renews the creationTime once a day.
  crawlpike publish geofeed --place PL,PL-14,Warszawa --output geofeed.csv warsaw.txt
  crawlpike publish jafar --format nginx-geo --name googlebot --output googlebot.conf googlebot.json
      In nginx.conf: include googlebot.conf;")]
pub(crate) struct Arguments {
    /// The kind of feed
    #[arg(value_enum)]
    kind: KindName,
    /// The form of the output
    #[arg(long, value_enum, default_value_t = Form::Feed)]
    format: Form,
    /// The file to write, replaced in one step; stdout by default
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The service of prefixes for which the lists state none
    #[arg(long, conflicts_with = "place")]
    service: Option<String>,
    /// The place of plain lists: a country, a region and a city, separated by commas
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// Remarks for the readers of IP ranges
    #[arg(long, value_name = "TEXT")]
    notes: Option<String>,
    /// Renew the creationTime, even if the content is the same
    #[arg(long)]
    refresh: bool,
    /// The name of the variable (nginx-geo), or of the tag of prefixes without a service (envoy-ip-tagging)
    #[arg(long, default_value = "crawlpike", value_parser = name)]
    name: String,
    /// The paths of the prefixes in JSON lists, as `shape` of a feed in the configuration
    #[arg(long, value_name = "PATHS", value_parser = Shape::parse)]
    shape: Option<Shape>,
    /// The lists; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindName {
    /// IP ranges of automated clients, with their services
    Jafar,
    /// Places of IP ranges (RFC 8805)
    Geofeed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// The feed itself
    Feed,
    /// The prefixes, one per line
    Cidr,
    /// A geo block for nginx
    NginxGeo,
    /// Envoy's filter envoy.filters.http.ip_tagging, as JSON
    EnvoyIpTagging,
}

/// A name that nginx takes for a variable.
fn name(text: &str) -> Result<String, &'static str> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain && !text.is_empty() { Ok(text.into()) } else { Err("use letters, digits and underscores") }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    check(arguments)?;
    let snapshot = Snapshot::default();
    let mut content = content(arguments, &snapshot)?;
    if let Some(output) = &arguments.output {
        source::check_output(output, &snapshot)?;
    }
    if content.is_empty() {
        return Err(Failure::because("the lists have no prefixes; an empty feed would verify no client"));
    }
    content.aggregate();
    let feed = feed(arguments, &content)?;
    let text = match arguments.format {
        Form::Feed => feed,
        Form::Cidr => content.cidr(),
        Form::NginxGeo => content.nginx_geo(&arguments.name),
        Form::EnvoyIpTagging => content.envoy_ip_tagging(&arguments.name),
    };
    match &arguments.output {
        Some(output) => _ = source::replace(output, text.as_bytes(), &snapshot)?,
        None => io::stdout().lock().write_all(text.as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn check(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { kind, format, service, place, notes, refresh, shape, .. } = arguments;
    let is_feed_of_ranges = *kind == KindName::Jafar && *format == Form::Feed;
    for (is_given, option, is_right, what) in [
        (service.is_some(), "--service", *kind == KindName::Jafar, "jafar"),
        (shape.is_some(), "--shape", *kind == KindName::Jafar, "jafar"),
        (place.is_some(), "--place", *kind == KindName::Geofeed, "geofeed"),
        (notes.is_some(), "--notes", is_feed_of_ranges, "jafar with --format feed"),
        (*refresh, "--refresh", is_feed_of_ranges, "jafar with --format feed"),
    ] {
        if is_given && !is_right {
            return Err(Failure::because(format_args!("{option} is for {what}")));
        }
    }
    Ok(())
}

fn content(arguments: &Arguments, snapshot: &Snapshot) -> Result<Content, Failure> {
    let mut content = Content::new(match arguments.kind {
        KindName::Jafar => Kind::Jafar,
        KindName::Geofeed => Kind::Geofeed,
    });
    let mut is_whole = true;
    for path in &arguments.files {
        if path != Path::new("-") {
            snapshot.record(path);
        }
        let bytes = source::read_or_stdin(path)?;
        let name = source::shown(path);
        let (shape, meaning) =
            (arguments.shape.as_ref(), arguments.service.as_ref().or(arguments.place.as_ref()));
        let list = Source { name: &name, bytes: &bytes, shape, meaning: meaning.map(String::as_str) };
        if let Err(problems) = content.add(&list) {
            problems.iter().for_each(say);
            is_whole = false;
        }
    }
    if is_whole { Ok(content) } else { Err(Failure::Reported) }
}

/// The feed, which conforms to its specification.
fn feed(arguments: &Arguments, content: &Content) -> Result<String, Failure> {
    let notes = arguments.notes.as_deref();
    let is_feed = arguments.format == Form::Feed;
    let output = arguments.output.as_ref().map_or_else(|| "stdout".into(), |path| path.display().to_string());
    let known = arguments.output.as_deref().filter(|_| is_feed).and_then(published);
    let created = match known {
        Some(known) if !arguments.refresh && known.synctoken == content.token(notes) => {
            if parse_rfc3339(&known.creation_time) > Some(now()) {
                say(format_args!(
                    "{output}: warning: its creationTime is in the future ({}): gates hold a later version with an earlier time; \
                     to correct it now, remove the file and publish again",
                    known.creation_time
                ));
            }
            known.creation_time
        }
        known => {
            let created = time_of_creation()?;
            if let Some(known) =
                known.filter(|known| parse_rfc3339(&known.creation_time) > parse_rfc3339(&created))
            {
                return Err(Failure::because(format_args!(
                    "the creationTime would go back from {} in {output} to {created}, and gates hold such a feed; check the clock \
                     and SOURCE_DATE_EPOCH, or, if the time in the file is wrong, remove the file",
                    known.creation_time
                )));
            }
            created
        }
    };
    let text = content.feed(&created, notes);
    let problems = content.check(&output, &text);
    for problem in &problems {
        // In another form, the entry has another place.
        say(Diagnostic { position: problem.position.filter(|_| is_feed), ..problem.clone() });
    }
    if problems.is_empty() { Ok(text) } else { Err(Failure::Reported) }
}

/// The version of a published feed.
#[derive(Deserialize)]
struct Published {
    synctoken: String,
    #[serde(rename = "creationTime")]
    creation_time: String,
}

/// The version in the output file, if it is a feed.
fn published(path: &Path) -> Option<Published> {
    serde_json::from_slice(&crawlpike_files::read_file(path).ok()?).ok()
}

/// The current time, or that of `SOURCE_DATE_EPOCH`, for reproducible builds.
fn time_of_creation() -> Result<String, Failure> {
    const VARIABLE: &str = "SOURCE_DATE_EPOCH";
    let seconds = match std::env::var(VARIABLE) {
        Ok(text) => text.parse().ok(),
        Err(_) => Some(now()),
    };
    seconds.and_then(format_rfc3339).ok_or_else(|| {
        Failure::because(format_args!("{VARIABLE} is not a time in seconds since the Unix epoch"))
    })
}
