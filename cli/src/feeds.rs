//! `crawlpike feeds`: the feeds of a configuration, as the gates load them.

use std::path::PathBuf;
use std::process::ExitCode;

use crawlpike_core::{FeedInfo, Files, Ruleset};
use crawlpike_files::{FilesBeside, Snapshot, now};
use serde::Serialize;

use crate::document::{ConfiguredFeed, Document};
use crate::failure::{Failure, say};
use crate::update::{self, Remembered};
use crate::{source, table};

/// List the feeds of a configuration, with their states
///
/// Loads the configuration as the gates do. The columns are the name, the state, the age, the number of prefixes in force,
/// the agents that the feed verifies, and remarks: the reason why the state is not `ok`, and the reason why the last attempt
/// of `crawlpike update` failed. A warning names each policy whose last update failed.
///
/// The exit status is 0 whatever the states are, and 2 if the configuration is invalid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike feeds --config crawlpike.json
  crawlpike feeds --config crawlpike.json --json | jq -r 'select(.state != \"ok\") | .name'")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The file in which `crawlpike update` keeps its state [default: CONFIG.update-state, or that of the units and images that come
    /// with Crawlpike, if it is newer and has these feeds]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Print a JSON object for each feed. Times are in seconds since the Unix epoch
    #[arg(long)]
    json: bool,
}

/// A feed, for people and for programs.
#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a str,
    format: &'static str,
    state: &'static str,
    /// The reason why the state is not `ok`.
    why: Option<&'a str>,
    /// Its age in seconds, as `max_age` counts.
    age: Option<u64>,
    /// From when on it is stale.
    expires: Option<i64>,
    prefixes: usize,
    agents: Vec<&'a str>,
    /// True if clients from it are allowed whatever they say.
    exempts: bool,
    source: &'a str,
    /// When its content last changed here.
    changed: Option<i64>,
    /// The state that `crawlpike update` saved; `null` if it has never asked for the feed.
    update: Option<&'a Remembered>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { config, state, json } = arguments;
    let files = FilesBeside::new(config);
    let compiled = source::compile(config, &files, &Snapshot::default())?;
    let configured = Document::of(&compiled)?.feeds;
    let ruleset = compiled.ruleset.ok_or(Failure::Reported)?;
    let state = update::state_file(config, state.as_deref(), &configured);
    let remembered = update::remembered(&state);
    let now = now();
    let feeds: Vec<FeedInfo<'_>> = ruleset.feeds(now).collect();
    let row = |feed| row(&ruleset, feed, &configured, remembered.get(feed.name), &files);
    let rows: Vec<Row<'_>> = feeds.iter().map(row).collect();
    for (file, error) in update::failed_policies(&state) {
        let config = config.display();
        say(format_args!("{config}: warning: the policy `{file}` was not updated: {error}"));
    }
    table::print(&rows, *json, Row::cells)
}

fn row<'a>(
    ruleset: &'a Ruleset,
    feed: &'a FeedInfo<'a>,
    configured: &'a [ConfiguredFeed],
    update: Option<&'a Remembered>,
    files: &FilesBeside,
) -> Row<'a> {
    let is_of = |token: &str| ruleset.all_feeds_of(token).any(|name| name == feed.name);
    let agents = ruleset.agents().map(|agent| agent.token).filter(|token| is_of(token));
    let source = configured.iter().find(|one| one.name == feed.name).map_or("", |one| &one.source);
    // The publisher's file is renewed when it is asked and nothing changed; the last good version is not.
    let version = files.last_good(source).or_else(|| files.read(source).ok()?);
    Row {
        name: feed.name,
        format: feed.format.as_str(),
        state: feed.state.as_str(),
        why: feed.why.as_deref(),
        age: feed.age,
        expires: feed.expires,
        prefixes: feed.prefixes,
        agents: agents.collect(),
        exempts: feed.exempts,
        source,
        changed: version.and_then(|version| version.modified),
        update,
    }
}

impl Row<'_> {
    fn cells(&self) -> [String; 6] {
        let age = self.age.map_or_else(|| "-".into(), shown);
        let agents = match &self.agents[..] {
            [] if self.exempts => "exempts clients".into(),
            [] => "no agent".into(),
            [first, second, third, others @ ..] if !others.is_empty() => {
                format!("{first}, {second}, {third} and {} more", others.len())
            }
            few => few.join(", "),
        };
        let failed = self.update.and_then(|update| update.error.as_ref());
        let failed = failed.map(|error| format!("last update failed: {error}"));
        let remarks: Vec<String> = self.why.map(String::from).into_iter().chain(failed).collect();
        let prefixes = format!("{} prefixes", self.prefixes);
        [self.name.into(), self.state.into(), age, prefixes, agents, remarks.join("; ")]
    }
}

/// A duration in its largest unit.
fn shown(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
