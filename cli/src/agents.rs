//! `crawlpike agents`: the known agents, and how they can be verified.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crawlpike_core::{AgentInfo, Compiled, Ruleset};
use crawlpike_files::{FilesBeside, Snapshot, now};
use serde::Serialize;

use crate::catalog::{Catalog, KnownAgent};
use crate::document::{ConfiguredKeys, Document};
use crate::failure::Failure;
use crate::{source, table};

/// List the known agents, and how each can be verified
///
/// Without a configuration, the agents are those of the built-in catalog. With one, they are those of the configuration and
/// its catalog, and the last column says whether Crawlpike can verify them at the moment. The columns are the token, the
/// operator, the purposes, and the proofs that the operator publishes: complete or partial IP ranges, reverse DNS names,
/// and keys of signatures. The gates verify IP ranges and, if the configuration has the keys, signatures; nginx verifies reverse
/// DNS names, too, if `crawlpike_rdns` is on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crawlpike agents
  crawlpike agents --config crawlpike.json
  crawlpike agents --config crawlpike.json --json | jq -r 'select(.verifiable == false) | .token'")]
pub(crate) struct Arguments {
    /// The configuration document, or a file that `crawlpike compile` wrote
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print a JSON object for each agent
    #[arg(long)]
    json: bool,
}

/// An agent, for people and for programs.
#[derive(Debug, Serialize)]
struct Row<'a> {
    token: &'a str,
    operator: &'a str,
    purposes: Vec<&'a str>,
    /// The feeds that verify it: those of the configuration, or those of the catalog.
    feeds: Vec<&'a str>,
    ranges: &'a str,
    rdns: Vec<&'a str>,
    /// The directories of its keys: those of the configuration, and those that the catalog knows.
    keys: Vec<&'a str>,
    docs: Option<&'a str>,
    /// The agent's action; `null` without a configuration.
    action: Option<&'static str>,
    /// True if a feed or key can verify it at the moment; `null` without a configuration.
    verifiable: Option<bool>,
    /// The reasons why no signature of its keys holds, and why a client that claims it from elsewhere is not `spoofed`.
    doubts: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.config {
        Some(config) => with_config(config, arguments.json),
        None => {
            let catalog = Catalog::built_in()?;
            table::print(&catalog.agents.iter().map(row).collect::<Vec<_>>(), arguments.json, Row::cells)
        }
    }
}

fn with_config(config: &Path, is_json: bool) -> Result<ExitCode, Failure> {
    let compiled = source::compile(config, &FilesBeside::new(config), &Snapshot::default())?;
    let document = Document::of(&compiled)?;
    let catalog = Catalog::of(&document, &compiled)?;
    let ruleset = compiled.ruleset.as_ref().ok_or(Failure::Reported)?;
    let row = |agent| row_of(&agent, ruleset, &compiled, &document, &catalog);
    let rows: Vec<Row<'_>> = ruleset.agents().map(row).collect();
    table::print(&rows, is_json, Row::cells)
}

fn row(agent: &KnownAgent) -> Row<'_> {
    Row {
        token: &agent.token,
        operator: &agent.operator,
        purposes: agent.purposes.iter().map(String::as_str).collect(),
        feeds: agent.feeds.iter().map(String::as_str).collect(),
        ranges: &agent.ranges,
        rdns: agent.rdns.iter().map(String::as_str).collect(),
        keys: agent.keys.iter().map(String::as_str).collect(),
        docs: agent.docs.as_deref(),
        action: None,
        verifiable: None,
        doubts: Vec::new(),
    }
}

fn row_of<'a>(
    agent: &AgentInfo<'a>,
    ruleset: &'a Ruleset,
    compiled: &Compiled,
    document: &'a Document,
    catalog: &'a Catalog,
) -> Row<'a> {
    let known = catalog.agent(agent.token);
    let now = now();
    let mut keys: Vec<&str> = document.keys_of(agent.token).map(|keys| &*keys.directory).collect();
    let others = known.into_iter().flat_map(|known| &known.keys).map(String::as_str);
    keys.extend(
        others.filter(|directory| document.keys_of(agent.token).all(|keys| keys.directory != *directory)),
    );
    let has_keys = ruleset.keys_of(agent.token, now) > 0;
    let without_key = document.keys_of(agent.token).filter(|_| !has_keys);
    let doubts = without_key.map(|ConfiguredKeys { directory, source }| match compiled.file(source) {
        Some(_) => format!("no key in {source} holds now"),
        None => format!("the keys of {directory} have never been fetched"),
    });
    let of_feeds = ruleset.doubts(agent.token, None, now);
    Row {
        token: agent.token,
        operator: known.map_or("", |known| &known.operator),
        purposes: agent.purposes.iter().map(|purpose| &**purpose).collect(),
        feeds: ruleset.all_feeds_of(agent.token).collect(),
        ranges: agent.ranges.as_str(),
        rdns: ruleset.domains_of(agent.token).collect(),
        keys,
        docs: known.and_then(|known| known.docs.as_deref()),
        action: Some(agent.action.as_str()),
        verifiable: Some(has_keys || ruleset.feeds_of(agent.token, now).next().is_some()),
        doubts: doubts.chain(of_feeds.iter().map(ToString::to_string)).collect(),
    }
}

impl Row<'_> {
    fn cells(&self) -> [String; 5] {
        let purposes = self.purposes.join(", ");
        [self.token.into(), self.operator.into(), purposes, self.proofs(), self.is_verifiable()]
    }

    fn proofs(&self) -> String {
        let ranges = match (self.feeds.is_empty(), self.ranges) {
            (true, _) => String::new(),
            (false, "partial") => format!("partial ranges: {}", self.feeds.join(", ")),
            (false, _) => format!("ranges: {}", self.feeds.join(", ")),
        };
        let rdns = if self.rdns.is_empty() { "" } else { "reverse DNS" };
        let keys = if self.keys.is_empty() { "" } else { "signatures" };
        let all: Vec<&str> = [&*ranges, rdns, keys].into_iter().filter(|proof| !proof.is_empty()).collect();
        if all.is_empty() { "none".into() } else { all.join("; ") }
    }

    fn is_verifiable(&self) -> String {
        match self.verifiable {
            None => String::new(),
            Some(true) => "verifiable".into(),
            Some(false) => format!("not verifiable: {}", self.doubts.join("; ")),
        }
    }
}
