//! The names that users rely on: those of a release must not disappear from the next one of the same major version.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crawlpike_core::{Config, metrics};
use serde_json::Value;

use crate::artefacts::{cli, repository};

/// Names, by what they name.
pub type Names = BTreeMap<String, BTreeSet<String>>;

/// The names of this build.
///
/// # Panics
///
/// If the command line has not been built.
pub fn current() -> Names {
    let mut keys = BTreeSet::new();
    add_keys(&Config::json_schema(), "", &mut keys);
    let mut commands = BTreeSet::new();
    add_commands(&[], &mut commands);
    let metrics = metrics::ALL.iter().flat_map(|metric| {
        let labels = metric.labels.iter().map(|label| format!("{}{{{label}}}", metric.name));
        labels.chain([metric.name.to_owned()])
    });
    let words =
        ["core/src/decide/decision.rs", "core/src/identity/mod.rs", "core/src/reason/mod.rs"].map(words);
    [
        ("keys of the configuration", keys),
        ("commands and options", commands),
        ("metrics", metrics.collect()),
        ("directives of nginx", in_source("nginx-module/src/directives.rs", "(c\"")),
        ("variables of nginx", in_source("nginx-module/src/variables.rs", "    (\"")),
        ("words of decisions", words.into_iter().flatten().collect()),
        ("keys of the JSON decision", decision_keys()),
    ]
    .map(|(what, names)| (what.to_owned(), names))
    .into()
}

/// The texts in quotation marks that follow a text in a source.
///
/// # Panics
///
/// If there is no such source.
pub fn in_source(file: &str, before: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join(file)).expect("a source");
    let quoted = |rest: &str| rest.split('"').next().map(str::to_owned);
    text.split(before).skip(1).filter_map(quoted).collect()
}

fn add_keys(schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        add_keys(property, &path, keys);
        keys.insert(path);
    }
    for word in schema["enum"].as_array().into_iter().flatten() {
        keys.insert(format!("{path}: {word}"));
    }
    for inner in ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key)) {
        add_keys(inner, &format!("{path}[]"), keys);
    }
    for choice in schema["oneOf"].as_array().into_iter().flatten() {
        add_keys(choice, path, keys);
    }
}

/// Adds the options of a command, and its subcommands with theirs.
fn add_commands(command: &[&str], found: &mut BTreeSet<String>) {
    let output =
        Command::new(cli()).args(command).arg("--help").output().expect("the command line can be started");
    let help = String::from_utf8_lossy(&output.stdout);
    let (_, subcommands) = help.split_once("\nCommands:\n").unwrap_or_default();
    for line in subcommands.lines().take_while(|line| !line.is_empty()) {
        // A name is indented by two; its description can go on, further indented.
        let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
        if let Some(name) = name.and_then(|line| line.split(' ').next()).filter(|name| *name != "help") {
            add_commands(&[command, &[name]].concat(), found);
        }
    }
    let command = command.join(" ");
    let options = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    for option in options.filter_map(|line| line.split([' ', '=', '[']).find(|word| word.starts_with("--"))) {
        found.insert(format!("{command} {option}"));
    }
    found.insert(command);
}

/// The words of the enumerations in a source, as in `Allow = "allow",`.
fn words(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join(file)).expect("a source");
    let word = |line: &str| line.strip_suffix("\",")?.split_once(" = \"").map(|(_, word)| word.to_owned());
    text.lines().filter_map(word).collect()
}

fn decision_keys() -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("crawlpike.json");
    std::fs::write(&config, "{}").expect("a temporary file");
    let mut explain = Command::new(cli());
    let output = explain.args(["explain", "--json", "--ip", "192.0.2.1", "--config"]).arg(config).output();
    let decision: BTreeMap<String, Value> =
        serde_json::from_slice(&output.expect("the command line can be started").stdout).expect("a decision");
    decision.into_keys().collect()
}
