//! The report: what its views show, and what `--json` prints.

mod facts;
mod limits;
mod outcomes;
mod rows;
mod timeline;

use std::collections::BTreeMap;

use crawlpike_core::{Action, Identity, Mode};
use serde::Serialize;

use crate::job::Job;
use crate::judge::Lane;
use crate::limit::Replayed;
use crate::line::{Fault, moment};
use crate::tally::Tally;
use crate::tally::distinct::Count;
use crate::tally::group::{Sums, joined};
pub(crate) use limits::{KindRow, LimitRow, Limits, NetworkRow};
pub(crate) use outcomes::{Change, OutcomeRow};
pub(crate) use rows::{Kind, Row, Top, UsageRow};
pub(crate) use timeline::{Interval, Timeline};

/// The decisions of a configuration about the requests of logs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this format. Keys may be added in the same version.
    pub(crate) version: u32,
    /// When the report was made, and as of when feeds were judged.
    pub(crate) generated: String,
    /// True if the logs were not read to their ends, because somebody interrupted it.
    pub(crate) partial: bool,
    pub(crate) mode: Mode,
    pub(crate) input: Input,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) facts: Vec<String>,
    pub(crate) total: Total,
    pub(crate) identities: Vec<IdentityRow>,
    /// By agent, the one with the most requests first; people and unknown agents are one row each.
    pub(crate) agents: Vec<Row>,
    /// The unknown agents one by one, by the products in their User-Agents.
    pub(crate) unknown: Unknown,
    /// The networks of clients that claim an agent and are not in its ranges.
    pub(crate) impostors: Impostors,
    /// Automated requests that no policy was asked about.
    pub(crate) uncovered: Uncovered,
    pub(crate) documents: Documents,
    /// The effect that limits would have had; `null` if none is given.
    pub(crate) limits: Option<Limits>,
    pub(crate) timeline: Timeline,
    /// The decisions that the other configuration makes differently; `null` if there is none.
    pub(crate) changes: Option<Vec<Change>>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Input {
    pub(crate) files: Vec<File>,
    pub(crate) lines: u64,
    /// The lines that count as requests.
    pub(crate) requests: u64,
    pub(crate) filtered: u64,
    /// Requests without a time, which `--since` leaves out.
    pub(crate) undated: u64,
    /// Requests that claim an agent from a private address.
    pub(crate) private: u64,
    /// Requests from private addresses, whatever they claim.
    pub(crate) from_private: u64,
    /// Lines that no format reads.
    pub(crate) unreadable: u64,
    /// Lines of requests that the server refused before it had read them.
    pub(crate) without_request: u64,
    /// Lines over the limit of 1 MiB.
    pub(crate) too_long: u64,
    pub(crate) without_time: u64,
    pub(crate) without_host: u64,
    /// Requests of which the log has no address of the client.
    pub(crate) without_address: u64,
    /// Requests of which the log has only the path after rewrites.
    pub(crate) rewritten: u64,
    /// The first lines that do not count.
    pub(crate) examples: Vec<ExampleRow>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct File {
    /// Its path, or `<stdin>`.
    pub(crate) name: String,
    /// The number of bytes that were read, before they were decompressed.
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// The name by which the file is read, if this is another name of it.
    pub(crate) same_as: Option<String>,
    /// The reason why it could not be read, or not to its end.
    pub(crate) error: Option<String>,
}

/// A line that does not count.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExampleRow {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: u64,
    /// `unreadable`, `without-request` or `too-long`.
    pub(crate) why: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Total {
    #[serde(flatten)]
    pub(crate) all: Sums,
    pub(crate) addresses: Count,
    /// Those of automated clients.
    pub(crate) automated: Sums,
    /// Those that the configuration denies, or would deny.
    pub(crate) denied: Sums,
    /// Those of them where the mode is `enforce`.
    pub(crate) enforced: Sums,
    /// The requests in places where the mode is `off`.
    pub(crate) off: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct IdentityRow {
    pub(crate) identity: Identity,
    #[serde(flatten)]
    pub(crate) all: Sums,
    pub(crate) denied: Sums,
}

/// Automation that claims no known agent.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Unknown {
    /// By how much the numbers of each agent may be too low; 0: they are exact.
    pub(crate) missing: u64,
    pub(crate) agents: Vec<Row>,
}

/// The networks of impostors.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Impostors {
    /// By how much numbers may be too low; 0: they are exact.
    pub(crate) missing: u64,
    pub(crate) networks: Vec<ImpostorRow>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ImpostorRow {
    /// The /24 or /48.
    pub(crate) network: String,
    pub(crate) agent: String,
    pub(crate) requests: u64,
}

/// Automated requests that no policy was asked about.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Uncovered {
    #[serde(flatten)]
    pub(crate) all: Sums,
    /// The hosts with the most of them; the name is empty for requests without one.
    pub(crate) hosts: Top,
}

/// Requests for documents.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Documents {
    /// The requests to which sites offer documents.
    pub(crate) offered: u64,
    /// Those of them that have an Accept in the log: not `-`, and not empty.
    pub(crate) with_accept: u64,
    /// The requests for documents by the form that they would get, or by the reason why they get the page.
    pub(crate) outcomes: BTreeMap<&'static str, u64>,
}

impl Report {
    const VERSION: u32 = 1;
    const UNKNOWN: usize = 50;
    const IMPOSTORS: usize = 100;
    const HOSTS: usize = 20;

    /// Makes the report of what was counted.
    pub(crate) fn new(
        job: &Job<'_, '_>,
        lane: Lane<'_>,
        replayed: Replayed,
        files: Vec<File>,
        is_partial: bool,
    ) -> Self {
        let Lane { tally, changes, examples, crowds, .. } = lane;
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
            undated: tally.undated,
            private: tally.private,
            from_private: tally.from_private,
            unreadable: fault(Fault::Unreadable),
            without_request: fault(Fault::NoRequest),
            too_long: fault(Fault::TooLong),
            without_time: tally.without_time,
            without_host: tally.without_host,
            without_address: tally.without_address,
            rewritten: tally.rewritten,
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
        let uncovered = Uncovered {
            all: uncovered,
            hosts: Top::new(uncovered_hosts, Self::HOSTS, |host| String::from_utf8_lossy(host).into_owned()),
        };
        let limits = (!job.options.limits.is_empty()).then(|| Limits::new(job, replayed, crowds));
        let span = joined(tally.span, None);
        let mut report = Self {
            version: Self::VERSION,
            generated: moment::text(job.now),
            partial: is_partial,
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
            documents: Documents {
                offered: tally.offered,
                with_accept: tally.with_accept,
                outcomes: tally.documents.into_iter().collect(),
            },
            limits,
            timeline: Timeline::new(tally.timeline),
            changes: job.other.map(|_| outcomes::changes(changes)),
        };
        report.facts = facts::of(&report);
        report
    }

    /// The denials by reason, rule and site, the most frequent first.
    pub(crate) fn denials(&self) -> Vec<([&str; 3], u64)> {
        let mut denials: BTreeMap<[&str; 3], u64> = BTreeMap::new();
        let outcomes = self.agents.iter().flat_map(|row| &row.outcomes);
        for row in outcomes.filter(|row| row.action == Action::Deny) {
            let [rule, site] = [&row.rule, &row.site].map(|text| text.as_deref().unwrap_or_default());
            *denials.entry([row.reason.as_str(), rule, site]).or_default() += row.sums.requests;
        }
        let mut denials: Vec<_> = denials.into_iter().collect();
        denials.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
        denials
    }

    /// The requests of each agent for each purpose about which the site prefers something.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (&Row, &UsageRow)> {
        self.agents.iter().flat_map(|row| row.usage.iter().map(move |usage| (row, usage)))
    }

    /// Returns true if somebody interrupted it before the logs were read.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// The logs that could not be read, or not to their ends, with the reasons.
    pub fn unreadable_logs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.input.files.iter().filter_map(|file| Some((&*file.name, file.error.as_deref()?)))
    }

    /// The names of logs that are read by another name, with that name.
    pub fn duplicate_logs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.input.files.iter().filter_map(|file| Some((&*file.name, file.same_as.as_deref()?)))
    }

    /// Returns true if there are lines, and none of them matches the log format.
    pub fn matches_no_line(&self) -> bool {
        let input = &self.input;
        input.requests + input.filtered + input.undated == 0 && input.unreadable + input.too_long > 0
    }

    /// A warning about the lines that cannot be read.
    pub fn warning(&self) -> Option<String> {
        let lost = self.input.unreadable + self.input.too_long;
        let example = self.input.examples.iter().find(|example| example.why != "without-request");
        let place = example.map(|example| format!("{}:{}: ", example.file, example.line)).unwrap_or_default();
        (lost > 0).then(|| format!("{place}warning: {lost} of {} lines cannot be read", self.input.lines))
    }

    /// Returns true if another configuration changes a decision.
    pub fn has_changes(&self) -> bool {
        self.changes.as_ref().is_some_and(|changes| !changes.is_empty())
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
