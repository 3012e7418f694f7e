//! The report of an update: a line for each feed, as text or as JSON.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

use crawlpike_core::{Addresses, Change, Country, FeedFormat};
use serde_json::{Value, json};

use crate::clock;
use crate::failure::{is_verbose, say};
use crate::http::Redirect;
use crate::update::failures::Failures;
use crate::update::keep::Kept;
use crate::update::subject::{Kind, Subject};

/// The outcome for a feed.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// Its file has a new version.
    Updated,
    /// The publisher was asked, and there is nothing new.
    Unchanged,
    /// The publisher was not asked, because what we have is fresh.
    Fresh,
    /// The guard holds the new version.
    Held(String),
    /// There is no new version, for this reason.
    Failed(String),
    /// The publisher was not asked, because the last attempt failed for this reason and the next one is not due.
    Waiting(String),
}

impl Outcome {
    /// Returns true if our copy is the version that the publisher publishes.
    pub(super) fn is_current(&self) -> bool {
        matches!(self, Self::Updated | Self::Unchanged | Self::Fresh)
    }

    /// The reason of an outcome that is not current.
    pub(super) fn reason(&self) -> Option<&str> {
        match self {
            Self::Held(why) | Self::Failed(why) | Self::Waiting(why) => Some(why),
            Self::Updated | Self::Unchanged | Self::Fresh => None,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Fresh => "fresh",
            Self::Held(_) => "held",
            Self::Failed(_) => "failed",
            Self::Waiting(_) => "waiting",
        }
    }
}

/// The report about a feed.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) outcome: Outcome,
    pub(super) kept: Kept,
    pub(super) redirects: Vec<Redirect>,
    /// The URL to which the publisher has moved the feed permanently.
    pub(super) moved_to: Option<String>,
    /// From when on the publisher may be asked again, in seconds since the Unix epoch.
    pub(super) due: i64,
}

/// Writes reports.
#[derive(Debug)]
pub(super) struct Reporter {
    /// The name of the configuration in messages.
    pub(super) config: String,
    pub(super) json: bool,
    pub(super) dry_run: bool,
    /// True if lines have a time, because the command keeps running.
    pub(super) dated: bool,
    /// The share of prefixes, in percent, that may change their country without a warning (GEO-19).
    pub(super) moved: u8,
    /// The number of feeds for each outcome, and that of subjects of each kind, by their words.
    counts: BTreeMap<&'static str, usize>,
    failures: Failures,
}

impl Reporter {
    pub(super) fn new(config: String, json: bool, dry_run: bool, dated: bool, moved: u8) -> Self {
        Self { config, json, dry_run, dated, moved, counts: BTreeMap::new(), failures: Failures::default() }
    }

    /// Reports about a feed.
    pub(super) fn report(&mut self, report: &Report<'_>) {
        let (kind, name) = (report.subject.kind.word(), report.subject.name);
        for word in [kind, report.outcome.word()] {
            *self.counts.entry(word).or_default() += 1;
        }
        for warning in report.kept.warnings.iter().cloned().chain(self.warnings(report)) {
            self.say("warning", format_args!("the {kind} `{name}`: {warning}"));
        }
        if self.json {
            self.line(self.json_of(report));
        } else if matches!(report.outcome, Outcome::Updated | Outcome::Unchanged) {
            self.line(self.text_of(report));
        }
        let source = report.subject.source;
        let unchanged = format_args!("{source} {}", report.kept.instead.unwrap_or("is left unchanged"));
        match &report.outcome {
            Outcome::Held(why) => {
                let advice = match report.subject.kind {
                    Kind::Feed(_) => format!("; if the new version is right, accept it with --accept {name}"),
                    Kind::Policy(_) | Kind::Directory { .. } => String::new(),
                };
                self.say("error", format_args!("the {kind} `{name}` is held: {why}; {unchanged}{advice}"));
            }
            Outcome::Failed(why) => {
                let line = format!("the {kind} `{name}` is not updated: {why}; {unchanged}");
                self.fail(report, why, line);
            }
            Outcome::Waiting(why) => {
                let due = clock::rfc3339(report.due);
                let line =
                    format!("the {kind} `{name}` was not updated: {why}; the next attempt is due at {due}");
                self.fail(report, why, line);
            }
            _ => {}
        }
    }

    /// Reports a failure at once, or when it is known which others are alike.
    fn fail(&mut self, report: &Report<'_>, why: &str, line: String) {
        if is_verbose() {
            self.say("error", line);
        } else {
            self.failures.add(report, why, line);
        }
    }

    /// Reports the failures of a round that is over, one line for each cause.
    pub(super) fn end_round(&mut self) {
        for line in std::mem::take(&mut self.failures).into_lines() {
            self.say("error", line);
        }
    }

    /// Reports the number of feeds for each outcome.
    pub(super) fn sum_up(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        if self.json {
            return;
        }
        let count = |word: &str| counts.get(word).copied().unwrap_or_default();
        let failed = count("held") + count("failed") + count("waiting");
        let others = |word: &str, one: &str, many: &str| match count(word) {
            0 => String::new(),
            1 => format!(" and 1 {one}"),
            count => format!(" and {count} {many}"),
        };
        let plural = if count("feed") == 1 { "" } else { "s" };
        let policies = others("policy", "policy", "policies");
        let directories = others("directory", "key directory", "key directories");
        let [feeds, updated, unchanged, fresh] = ["feed", "updated", "unchanged", "fresh"].map(count);
        let not = if self.dry_run { " (a dry run: nothing was written)" } else { "" };
        self.line(format_args!(
            "{feeds} feed{plural}{policies}{directories}: {updated} updated, {unchanged} unchanged, {fresh} not due, {failed} failed{not}"
        ));
    }

    /// Writes a line to stderr.
    pub(super) fn say(&self, severity: &str, message: impl Display) {
        let (time, config) = (self.time(), &self.config);
        say(format_args!("{time}{config}: {severity}: {message}"));
    }

    fn line(&self, line: impl Display) {
        // If stdout is closed, nobody reads it; the work goes on.
        let time = if self.json { String::new() } else { self.time() };
        let _ = writeln!(io::stdout(), "{time}{line}");
    }

    fn time(&self) -> String {
        if self.dated { format!("{} ", clock::rfc3339(crawlpike_files::now())) } else { String::new() }
    }

    fn warnings(&self, report: &Report<'_>) -> Vec<String> {
        let mut warnings = Vec::new();
        let was_asked = !matches!(report.outcome, Outcome::Fresh | Outcome::Waiting(_));
        if was_asked && report.subject.url.starts_with("http://") {
            warnings.push(
                "its `url` begins with http://, so its content can be changed on the way; use https:// [GEO-17]"
                    .into(),
            );
        }
        if let Some(url) = &report.moved_to {
            warnings.push(format!("it has moved permanently: change its `url` to {url}"));
        }
        if report.kept.unreadable > 0 {
            let (count, plural) =
                (report.kept.unreadable, if report.kept.unreadable == 1 { "y" } else { "ies" });
            warnings.push(format!("{count} entr{plural} cannot be read; `crawlpike lint` shows them"));
        }
        if report.kept.special > 0 {
            let count = report.kept.special;
            let (prefixes, verify) = if count == 1 { ("prefix", "verifies") } else { ("prefixes", "verify") };
            warnings.push(format!(
                "{count} special-purpose {prefixes} {verify} nobody; `crawlpike lint` shows them"
            ));
        }
        if let Some(change) = report.kept.change.as_ref().filter(|change| self.is_flagged(change)) {
            let (moved, located) = (change.moved(), change.located);
            let moves = change
                .moves
                .iter()
                .take(3)
                .map(|(from, to, count)| format!("{} to {} {count}", shown(*from), shown(*to)));
            let moves: Vec<String> = moves.collect();
            warnings.push(format!(
                "{moved} of {located} prefixes changed their country ({}), more than {}%; check the geofeed [GEO-19]",
                moves.join(", "),
                self.moved
            ));
        }
        warnings
    }

    fn is_flagged(&self, change: &Change) -> bool {
        change.moved() * 100 > change.located * usize::from(self.moved)
    }

    fn text_of(&self, report: &Report<'_>) -> String {
        let name = report.subject.name;
        let mut text = format!("{name}: {}", report.outcome.word());
        if let (Outcome::Updated, Some(keys)) = (&report.outcome, &report.kept.keys) {
            text += &format!(", {keys}");
        }
        if let (Outcome::Updated, Some(prefixes)) = (&report.outcome, report.kept.prefixes) {
            text += &format!(", {prefixes} prefixes");
            if let Some(change) = &report.kept.change {
                text += &format!(" ({} added, {} removed)", change.added, change.removed);
                for (family, addresses) in [("IPv4", change.v4), ("IPv6", change.v6)] {
                    text += &share_of(family, addresses);
                }
                if report.subject.kind == Kind::Feed(FeedFormat::Geofeed) {
                    text += &format!(", {} of {} with another country", change.moved(), change.located);
                }
            }
        }
        text
    }

    fn json_of(&self, report: &Report<'_>) -> Value {
        let Report { subject, outcome, kept, redirects, moved_to, due } = report;
        let redirects: Vec<Value> =
            redirects.iter().map(|one| json!({ "status": one.status, "to": one.to.as_str() })).collect();
        let kind = subject.kind.word();
        json!({
            kind: subject.name,
            "url": subject.url,
            "source": subject.source,
            "outcome": outcome.word(),
            "reason": outcome.reason(),
            "prefixes": kept.prefixes,
            "unreadable": kept.unreadable,
            "special": kept.special,
            "change": kept.change.as_ref().map(|change| self.json_of_change(change)),
            "keys": kept.keys,
            "redirects": redirects,
            "moved_to": moved_to,
            "due": clock::rfc3339(*due),
            "dry_run": self.dry_run,
        })
    }

    fn json_of_change(&self, change: &Change) -> Value {
        let country = |country: Country| country.map(|_| shown(country));
        let moves = change.moves.iter().map(
            |(from, to, count)| json!({ "from": country(*from), "to": country(*to), "prefixes": count }),
        );
        let shares = |addresses: Addresses| json!({ "added_share": addresses.added_share(), "removed_share": addresses.removed_share() });
        json!({
            "added": change.added,
            "removed": change.removed,
            "ipv4": shares(change.v4),
            "ipv6": shares(change.v6),
            "located": change.located,
            "moved": change.moved(),
            "moves": moves.collect::<Vec<_>>(),
            "flagged": self.is_flagged(change),
        })
    }
}

/// The addresses that are new or gone, as shares of the addresses before.
fn share_of(family: &str, addresses: Addresses) -> String {
    let (added, removed) = (addresses.added_share() * 100.0, addresses.removed_share() * 100.0);
    if added == 0.0 && removed == 0.0 {
        return String::new();
    }
    format!(", {family} addresses +{added:.1}% -{removed:.1}%")
}

/// A country for people.
fn shown(country: Country) -> String {
    country.map_or_else(|| "none".into(), |letters| letters.map(char::from).iter().collect())
}
