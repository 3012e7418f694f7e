//! What an update tells: a line for each feed, as text or as JSON.

use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};

use crawlpike_core::{Addresses, Change, Country, FeedFormat};
use serde::Serialize;
use serde_json::{Value, json};

use crate::clock;
use crate::failure::say;
use crate::http::Redirect;
use crate::update::keys::KeysChange;
use crate::update::subject::{Kind, Subject};

/// What became of a feed.
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
    /// Whether what we have is what the publisher publishes.
    pub(super) fn is_current(&self) -> bool {
        matches!(self, Self::Updated | Self::Unchanged | Self::Fresh)
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

/// What there is to tell of a feed.
#[derive(Clone, Debug)]
pub(super) struct Report<'a> {
    pub(super) subject: Subject<'a>,
    /// What its file says from now on, if it is not what it was.
    pub(super) instead: Option<&'static str>,
    pub(super) outcome: Outcome,
    /// Of the version that was fetched.
    pub(super) prefixes: Option<usize>,
    pub(super) unreadable: usize,
    pub(super) change: Option<Change>,
    /// Of a directory, the keys of the version that was fetched.
    pub(super) keys: Option<KeysChange>,
    pub(super) redirects: Vec<Redirect>,
    /// Where the publisher has moved the feed for good.
    pub(super) moved_to: Option<String>,
    /// From when on the publisher may be asked again, in seconds since the Unix epoch.
    pub(super) due: i64,
    /// Other things that may be wrong.
    pub(super) warnings: Vec<String>,
}

impl<'a> Report<'a> {
    /// That of a feed of which nothing else is known.
    pub(super) fn new(subject: Subject<'a>, outcome: Outcome, due: i64) -> Self {
        Self {
            subject,
            instead: None,
            outcome,
            due,
            prefixes: None,
            unreadable: 0,
            change: None,
            keys: None,
            redirects: Vec::new(),
            moved_to: None,
            warnings: Vec::new(),
        }
    }
}

/// How reports are written.
#[derive(Clone, Debug)]
pub(super) struct Reporter {
    /// The name of the configuration in messages.
    pub(super) config: String,
    pub(super) json: bool,
    pub(super) dry_run: bool,
    /// Whether lines have a time, because the command keeps running.
    pub(super) dated: bool,
    /// The share of prefixes, in percent, that may change their country without a warning (GEO-19).
    pub(super) moved: u8,
    counts: Counts,
    /// The length of the progress that stands on the terminal.
    progress: usize,
}

/// How many feeds had each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    updated: usize,
    unchanged: usize,
    fresh: usize,
    failed: usize,
    /// How many of all are policies.
    policies: usize,
    /// How many of all are directories of keys.
    directories: usize,
}

impl Reporter {
    pub(super) fn new(config: String, json: bool, dry_run: bool, dated: bool, moved: u8) -> Self {
        Self { config, json, dry_run, dated, moved, counts: Counts::default(), progress: 0 }
    }

    /// Tells of a feed.
    pub(super) fn tell(&mut self, report: &Report<'_>) {
        self.clear_progress();
        let count = match report.outcome {
            Outcome::Updated => &mut self.counts.updated,
            Outcome::Unchanged => &mut self.counts.unchanged,
            Outcome::Fresh => &mut self.counts.fresh,
            Outcome::Held(_) | Outcome::Failed(_) | Outcome::Waiting(_) => &mut self.counts.failed,
        };
        *count += 1;
        match report.subject.kind {
            Kind::Feed(_) => {}
            Kind::Policy(_) => self.counts.policies += 1,
            Kind::Directory { .. } => self.counts.directories += 1,
        }
        let (kind, name) = (report.subject.kind.word(), report.subject.name);
        for warning in report.warnings.iter().cloned().chain(self.warnings(report)) {
            self.say("warning", format_args!("the {kind} `{name}`: {warning}"));
        }
        if self.json {
            self.line(self.json_of(report));
        } else if matches!(report.outcome, Outcome::Updated | Outcome::Unchanged) {
            self.line(self.text_of(report));
        }
        let source = report.subject.source;
        let unchanged = format_args!("{source} {}", report.instead.unwrap_or("is left unchanged"));
        match &report.outcome {
            Outcome::Held(why) => {
                let advice = "if the new version is right, accept it with --accept";
                self.say(
                    "error",
                    format_args!("the {kind} `{name}` is held: {why}; {unchanged}; {advice} {name}"),
                );
            }
            Outcome::Failed(why) => {
                self.say("error", format_args!("the {kind} `{name}` is not updated: {why}; {unchanged}"));
            }
            Outcome::Waiting(why) => {
                let due = clock::rfc3339(report.due);
                self.say(
                    "error",
                    format_args!(
                        "the {kind} `{name}` was not updated: {why}; the next attempt is due at {due}"
                    ),
                );
            }
            _ => {}
        }
    }

    /// Tells how many feeds had each outcome.
    pub(super) fn sum_up(&mut self) {
        self.clear_progress();
        let Counts { updated, unchanged, fresh, failed, policies, directories } =
            std::mem::take(&mut self.counts);
        if self.json {
            return;
        }
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => String::new(),
            1 => format!(" and 1 {one}"),
            _ => format!(" and {count} {many}"),
        };
        let feeds = updated + unchanged + fresh + failed - policies - directories;
        let plural = if feeds == 1 { "" } else { "s" };
        let policies = counted(policies, "policy", "policies");
        let directories = counted(directories, "key directory", "key directories");
        let not = if self.dry_run { " (a dry run: nothing was written)" } else { "" };
        self.line(format_args!(
            "{feeds} feed{plural}{policies}{directories}: {updated} updated, {unchanged} unchanged, {fresh} not due, {failed} failed{not}"
        ));
    }

    /// Shows how far it is, on a terminal.
    pub(super) fn progress(&mut self, done: usize, all: usize) {
        let mut terminal = io::stderr();
        if terminal.is_terminal() {
            self.clear_progress();
            let text = format!("{done} of {all}");
            self.progress = text.len();
            let _ = write!(terminal, "{text}").and_then(|()| terminal.flush());
        }
    }

    fn clear_progress(&mut self) {
        if self.progress > 0 {
            let _ = write!(io::stderr(), "\r{:1$}\r", "", self.progress);
            self.progress = 0;
        }
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
                "its `url` begins with http://, so anybody on the way can change what it says; use https:// [GEO-17]"
                    .into(),
            );
        }
        if let Some(url) = &report.moved_to {
            warnings.push(format!("it has moved for good: change its `url` to {url}"));
        }
        if report.unreadable > 0 {
            let (count, plural) = (report.unreadable, if report.unreadable == 1 { "y" } else { "ies" });
            warnings.push(format!("{count} entr{plural} cannot be read; `crawlpike lint` shows them"));
        }
        if let Some(change) = report.change.as_ref().filter(|change| self.is_flagged(change)) {
            let (moved, located) = (change.moved(), change.located);
            let moves = change
                .moves
                .iter()
                .take(3)
                .map(|(from, to, count)| format!("{} to {} {count}", Shown(*from), Shown(*to)));
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
        if let (Outcome::Updated, Some(keys)) = (&report.outcome, &report.keys) {
            text += &format!(", {keys}");
        }
        if let (Outcome::Updated, Some(prefixes)) = (&report.outcome, report.prefixes) {
            text += &format!(", {prefixes} prefixes");
            if let Some(change) = &report.change {
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
        let Report { subject, outcome, prefixes, unreadable, change, keys, redirects, moved_to, due, .. } =
            report;
        let reason = match outcome {
            Outcome::Held(why) | Outcome::Failed(why) | Outcome::Waiting(why) => Some(why),
            _ => None,
        };
        let redirects: Vec<Value> =
            redirects.iter().map(|one| json!({ "status": one.status, "to": one.to.as_str() })).collect();
        let kind = subject.kind.word();
        json!({
            kind: subject.name,
            "url": subject.url,
            "source": subject.source,
            "outcome": outcome.word(),
            "reason": reason,
            "prefixes": prefixes,
            "unreadable": unreadable,
            "change": change.as_ref().map(|change| ShownChange::new(change, self.is_flagged(change))),
            "keys": keys,
            "redirects": redirects,
            "moved_to": moved_to,
            "due": clock::rfc3339(*due),
            "dry_run": self.dry_run,
        })
    }
}

/// What is new and what is gone, as shares of the addresses before.
fn share_of(family: &str, addresses: Addresses) -> String {
    let (added, removed) = (addresses.added_share() * 100.0, addresses.removed_share() * 100.0);
    if added == 0.0 && removed == 0.0 {
        return String::new();
    }
    format!(", {family} addresses +{added:.1}% -{removed:.1}%")
}

/// A [`Change`] as JSON.
#[derive(Serialize)]
struct ShownChange {
    added: usize,
    removed: usize,
    ipv4: ShownAddresses,
    ipv6: ShownAddresses,
    /// The prefixes of a geofeed that both versions have.
    located: usize,
    moved: usize,
    moves: Vec<Value>,
    flagged: bool,
}

/// Shares of the addresses before.
#[derive(Serialize)]
struct ShownAddresses {
    added_share: f64,
    removed_share: f64,
}

impl ShownChange {
    fn new(change: &Change, flagged: bool) -> Self {
        let moves = change.moves.iter().map(|(from, to, count)| {
            let text = |country: &Country| country.map(|_| Shown(*country).to_string());
            json!({ "from": text(from), "to": text(to), "prefixes": count })
        });
        Self {
            added: change.added,
            removed: change.removed,
            ipv4: change.v4.into(),
            ipv6: change.v6.into(),
            located: change.located,
            moved: change.moved(),
            moves: moves.collect(),
            flagged,
        }
    }
}

impl From<Addresses> for ShownAddresses {
    fn from(addresses: Addresses) -> Self {
        Self { added_share: addresses.added_share(), removed_share: addresses.removed_share() }
    }
}

/// A country for people.
struct Shown(Country);

impl Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(letters) => letters.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter))),
            None => f.write_str("none"),
        }
    }
}
