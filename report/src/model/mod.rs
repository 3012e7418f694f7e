//! The report: what its views show, and what `--json` prints.

mod facts;
mod outcomes;
mod rows;

use crawlpike_core::{Identity, Mode};
use serde::Serialize;

use crate::judge::Lane;
use crate::line::{Fault, moment};
use crate::run::Job;
use crate::tally::distinct::Count;
use crate::tally::group::{Sums, joined};
use crate::tally::{COLUMNS, DENIED, Tally};
pub use outcomes::{Change, OutcomeRow};
pub use rows::{Item, Kind, Row, StatusRow, Top};

/// What a configuration would have done to the requests of logs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this format. Keys may be added in the same version.
    pub version: u32,
    /// When the report was made, and as of when feeds were judged.
    pub generated: String,
    /// The mode of the configuration document.
    pub mode: Mode,
    /// What was read.
    pub input: Input,
    /// The time of the first request.
    pub first: Option<String>,
    /// The time of the last request.
    pub last: Option<String>,
    /// The most important facts, in words.
    pub facts: Vec<String>,
    /// All requests.
    pub total: Total,
    /// All requests by identity.
    pub identities: Vec<IdentityRow>,
    /// By agent, the one with the most requests first; people and unknown agents are one row each.
    pub agents: Vec<Row>,
    /// The unknown agents one by one, by the products in their User-Agents.
    pub unknown: Unknown,
    /// Where clients are that claim an agent and are not in its ranges.
    pub impostors: Impostors,
    /// Automated requests that no policy was asked about.
    pub uncovered: Uncovered,
    /// Requests by time.
    pub timeline: Timeline,
    /// What the other configuration decides differently; `null` if there is none.
    pub changes: Option<Vec<Change>>,
}

/// What was read.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// The logs.
    pub files: Vec<File>,
    /// All lines.
    pub lines: u64,
    /// The lines that count as requests.
    pub requests: u64,
    /// The requests that the options leave out.
    pub filtered: u64,
    /// Lines that no format reads.
    pub unreadable: u64,
    /// Lines of requests that the server refused before it had read them.
    pub without_request: u64,
    /// Lines over the limit of 1 MiB.
    pub too_long: u64,
    /// Requests whose time is not known.
    pub without_time: u64,
    /// Requests whose host is not known.
    pub without_host: u64,
    /// The first lines that do not count.
    pub examples: Vec<ExampleRow>,
}

/// A log.
#[derive(Clone, Debug, Serialize)]
pub struct File {
    /// Its path, or `<stdin>`.
    pub name: String,
    /// How many bytes were read, before they were decompressed.
    pub bytes: u64,
    /// How many lines were read.
    pub lines: u64,
    /// Why it could not be read, or not to its end.
    pub error: Option<String>,
}

/// A line that does not count.
#[derive(Clone, Debug, Serialize)]
pub struct ExampleRow {
    /// The log.
    pub file: String,
    /// From 1.
    pub line: u64,
    /// `unreadable`, `without-request` or `too-long`.
    pub why: &'static str,
}

/// All requests.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    /// All.
    #[serde(flatten)]
    pub all: Sums,
    /// How many different clients there are.
    pub addresses: Count,
    /// Those of automated clients.
    pub automated: Sums,
    /// Those that the configuration denies, or would deny.
    pub denied: Sums,
    /// Those of them where the mode is `enforce`.
    pub enforced: Sums,
    /// The requests in places where the mode is `off`.
    pub off: u64,
}

/// The requests of one identity.
#[derive(Clone, Debug, Serialize)]
pub struct IdentityRow {
    /// The identity.
    pub identity: Identity,
    /// All.
    #[serde(flatten)]
    pub all: Sums,
    /// Those that are denied.
    pub denied: Sums,
}

/// Automation that claims no known agent.
#[derive(Clone, Debug, Serialize)]
pub struct Unknown {
    /// By how much the numbers of each agent may be too low; 0: they are exact.
    pub missing: u64,
    /// The agents with the most requests.
    pub agents: Vec<Row>,
}

/// Where impostors are.
#[derive(Clone, Debug, Serialize)]
pub struct Impostors {
    /// By how much numbers may be too low; 0: they are exact.
    pub missing: u64,
    /// The networks with the most requests.
    pub networks: Vec<ImpostorRow>,
}

/// A network with impostors.
#[derive(Clone, Debug, Serialize)]
pub struct ImpostorRow {
    /// The /24 or /48.
    pub network: String,
    /// The agent that they claim.
    pub agent: String,
    /// How many requests.
    pub requests: u64,
}

/// Automated requests that no policy was asked about.
#[derive(Clone, Debug, Serialize)]
pub struct Uncovered {
    /// All.
    #[serde(flatten)]
    pub all: Sums,
    /// The hosts with the most of them; the name is empty for requests without one.
    pub hosts: Top,
}

/// Requests by time.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// The length of an interval.
    pub seconds: i64,
    /// From the first to the last request.
    pub intervals: Vec<Interval>,
}

/// An interval of time.
#[derive(Clone, Debug, Serialize)]
pub struct Interval {
    /// Its start.
    pub start: String,
    /// The requests of each identity, in the order of `identities`.
    pub requests: Vec<u64>,
    /// Those of them that are denied.
    pub denied: u64,
}

impl Report {
    const VERSION: u32 = 1;
    const UNKNOWN: usize = 50;
    const IMPOSTORS: usize = 100;
    const HOSTS: usize = 20;
    const INTERVALS: usize = 200;

    /// Makes the report of what was counted.
    pub(crate) fn new(job: &Job<'_, '_>, lane: Lane<'_>, files: Vec<File>) -> Self {
        let Lane { tally, changes, examples, .. } = lane;
        let examples = examples.iter().map(|example| ExampleRow {
            file: files.get(example.source).map(|file| file.name.clone()).unwrap_or_default(),
            line: example.line,
            why: match example.fault {
                Fault::Unreadable => "unreadable",
                Fault::NoRequest => "without-request",
                Fault::TooLong => "too-long",
            },
        });
        let fault = |fault| tally.faults.get(&fault).copied().unwrap_or_default();
        let mut input = Input {
            lines: tally.lines,
            requests: 0,
            filtered: tally.filtered,
            unreadable: fault(Fault::Unreadable),
            without_request: fault(Fault::NoRequest),
            too_long: fault(Fault::TooLong),
            without_time: tally.without_time,
            without_host: tally.without_host,
            examples: examples.collect(),
            files,
        };
        let Tally { groups, unknown, all_unknown, addresses, impostors, uncovered, uncovered_hosts, .. } =
            tally;
        let identities = identities(groups.values().chain([&all_unknown]));
        let total = total(groups.values().chain([&all_unknown]), addresses.count(), tally.off);
        input.requests = total.all.requests;
        let mut agents: Vec<Row> = groups
            .into_iter()
            .map(|(sender, group)| Row::of(sender, group, job.ruleset, job.now))
            .chain([Row::new(Kind::Unknown, String::new(), all_unknown)])
            .filter(|row| row.all.requests > 0)
            .collect();
        agents.sort_by(|one, other| {
            other
                .all
                .requests
                .cmp(&one.all.requests)
                .then_with(|| (one.kind, &one.name).cmp(&(other.kind, &other.name)))
        });
        let unknown = Unknown {
            missing: unknown.missing(),
            agents: unknown
                .into_sorted()
                .into_iter()
                .take(Self::UNKNOWN)
                .map(|(name, _, group)| {
                    Row::new(Kind::Unknown, String::from_utf8_lossy(&name).into_owned(), group)
                })
                .collect(),
        };
        let impostors = Impostors {
            missing: impostors.missing(),
            networks: impostors
                .into_sorted()
                .into_iter()
                .take(Self::IMPOSTORS)
                .map(|(impostor, requests, ())| ImpostorRow {
                    network: impostor.network.to_string(),
                    agent: impostor.agent.to_string(),
                    requests,
                })
                .collect(),
        };
        let uncovered = Uncovered { all: uncovered, hosts: Top::new(uncovered_hosts, Self::HOSTS) };
        let (seconds, intervals) = tally.timeline.into_intervals(Self::INTERVALS);
        let interval = |(start, sums): (i64, [u64; COLUMNS])| Interval {
            start: moment::text(start),
            requests: sums[..DENIED].to_vec(),
            denied: sums[DENIED],
        };
        let span = joined(tally.span, None);
        let mut report = Self {
            version: Self::VERSION,
            generated: moment::text(job.now),
            mode: job.ruleset.mode(),
            input,
            first: span.map(|(first, _)| moment::text(first)),
            last: span.map(|(_, last)| moment::text(last)),
            facts: Vec::new(),
            total,
            identities,
            agents,
            unknown,
            impostors,
            uncovered,
            timeline: Timeline { seconds, intervals: intervals.into_iter().map(interval).collect() },
            changes: job.other.map(|_| outcomes::changes(changes)),
        };
        report.facts = facts::of(&report);
        report
    }

    /// Whether a log could not be read, or not to its end.
    pub fn has_unreadable_files(&self) -> bool {
        self.input.files.iter().any(|file| file.error.is_some())
    }
}

fn identities<'g, 'r: 'g>(
    groups: impl Iterator<Item = &'g crate::tally::group::Group<'r>> + Clone,
) -> Vec<IdentityRow> {
    let row = |identity: &Identity| {
        let (mut all, mut denied) = (Sums::default(), Sums::default());
        for (outcome, sums) in groups.clone().flat_map(|group| &group.outcomes) {
            if outcome.identity == *identity {
                all.add(*sums);
                if outcome.is_denial() {
                    denied.add(*sums);
                }
            }
        }
        IdentityRow { identity: *identity, all, denied }
    };
    Identity::ALL.iter().map(row).collect()
}

fn total<'g, 'r: 'g>(
    groups: impl Iterator<Item = &'g crate::tally::group::Group<'r>>,
    addresses: Count,
    off: u64,
) -> Total {
    let none = Sums::default();
    let mut total = Total { all: none, addresses, automated: none, denied: none, enforced: none, off };
    for (outcome, sums) in groups.flat_map(|group| &group.outcomes) {
        total.all.add(*sums);
        if outcome.is_automated() {
            total.automated.add(*sums);
        }
        if outcome.is_denial() {
            total.denied.add(*sums);
            if outcome.enforced {
                total.enforced.add(*sums);
            }
        }
    }
    total
}
