//! The rows of agents.

use std::collections::BTreeMap;
use std::hash::Hash;

use crawlpike_core::{Identity, Ruleset};
use serde::Serialize;

use super::outcomes::{self, OutcomeRow};
use crate::line::moment;
use crate::tally::Sender;
use crate::tally::distinct::Count;
use crate::tally::frequent::Frequent;
use crate::tally::group::{Group, Sums, Uses};

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A known agent that clients claim.
    Agent,
    /// Clients that claim no agent, from addresses of this feed.
    Undeclared,
    /// Automation that claims no known agent.
    Unknown,
    /// People's browsers.
    People,
}

/// The requests of an agent.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) kind: Kind,
    /// The token of the agent, the name of the feed, or the product of an unknown agent; empty for all of a kind.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) all: Sums,
    pub(crate) addresses: Count,
    pub(crate) identities: BTreeMap<&'static str, u64>,
    /// The number of requests that each proof verified.
    pub(crate) proofs: BTreeMap<&'static str, u64>,
    /// The reasons why requests that claim the agent are not verified, if any are `unverified`.
    pub(crate) doubts: Vec<String>,
    pub(crate) denied: Sums,
    pub(crate) outcomes: Vec<OutcomeRow>,
    /// The requests for each purpose, by what the site prefers about it; none if nothing is preferred about any.
    pub(crate) usage: Vec<UsageRow>,
    pub(crate) statuses: Vec<StatusRow>,
    /// The paths with the most requests, without queries.
    pub(crate) paths: Top,
    /// The addresses with the most requests, or their networks.
    pub(crate) clients: Top,
    pub(crate) first: Option<String>,
    pub(crate) last: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct UsageRow {
    pub(crate) purpose: &'static str,
    #[serde(flatten)]
    pub(crate) uses: Uses,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatusRow {
    /// The status; `null` if the log has none.
    pub(crate) status: Option<u16>,
    pub(crate) requests: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Top {
    /// By how much each number may be too low, and how many requests a value may have that is not listed; 0: the numbers
    /// are exact.
    pub(crate) missing: u64,
    /// The values, the most frequent first.
    pub(crate) items: Vec<Item>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Item {
    pub(crate) value: String,
    pub(crate) requests: u64,
}

impl Top {
    /// The most frequent values of a table, with their texts.
    pub(super) fn new<K: Hash + Ord + Clone>(
        table: Frequent<K>,
        most: usize,
        text: impl Fn(&K) -> String,
    ) -> Self {
        let missing = table.missing();
        let items = table.into_sorted().into_iter().take(most);
        let items = items.map(|(value, requests, ())| Item { value: text(&value), requests }).collect();
        Self { missing, items }
    }
}

impl Row {
    const PATHS: usize = 10;
    const CLIENTS: usize = 10;

    pub(super) fn of(sender: Sender<'_>, group: Group<'_>, ruleset: &Ruleset, now: i64) -> Self {
        let (kind, name) = match sender {
            Sender::Agent(token) => (Kind::Agent, token),
            Sender::Undeclared(feed) => (Kind::Undeclared, feed),
            Sender::Person => (Kind::People, ""),
        };
        let mut row = Self::new(kind, name.to_string(), group);
        if row.requests_of(Identity::Unverified) > 0 {
            row.doubts = ruleset.doubts(name, None, now).iter().map(ToString::to_string).collect();
        }
        row
    }

    pub(super) fn new(kind: Kind, name: String, group: Group<'_>) -> Self {
        let (mut all, mut denied) = (Sums::default(), Sums::default());
        let (mut identities, mut proofs) = (BTreeMap::new(), BTreeMap::new());
        for (outcome, sums) in &group.outcomes {
            all.add(*sums);
            if outcome.is_denial() {
                denied.add(*sums);
            }
            *identities.entry(outcome.identity.as_str()).or_default() += sums.requests;
            if let Some(proof) = outcome.proof {
                *proofs.entry(proof.as_str()).or_default() += sums.requests;
            }
        }
        let mut statuses: Vec<StatusRow> =
            group.statuses.into_iter().map(|(status, requests)| StatusRow { status, requests }).collect();
        statuses.sort_by_key(|row| (std::cmp::Reverse(row.requests), row.status));
        let usage = group.uses.into_iter().map(|(purpose, uses)| UsageRow { purpose, uses });
        let mut usage: Vec<UsageRow> = usage.filter(|row| row.uses.is_stated()).collect();
        usage.sort_by_key(|row| row.purpose);
        Self {
            kind,
            name,
            all,
            addresses: group.addresses.count(),
            identities,
            proofs,
            doubts: Vec::new(),
            denied,
            outcomes: outcomes::rows(group.outcomes),
            usage,
            statuses,
            paths: Top::new(group.paths, Self::PATHS, |path| String::from_utf8_lossy(path).into_owned()),
            clients: Top::new(group.clients, Self::CLIENTS, ToString::to_string),
            first: group.span.map(|(first, _)| moment::text(first)),
            last: group.span.map(|(_, last)| moment::text(last)),
        }
    }

    pub(crate) fn requests_of(&self, identity: Identity) -> u64 {
        self.identities.get(identity.as_str()).copied().unwrap_or_default()
    }

    /// Its name in a table.
    pub(crate) fn title(&self) -> String {
        match (self.kind, &*self.name) {
            (Kind::People, _) => "(people)".to_string(),
            (Kind::Unknown, "") => "(unknown agents)".to_string(),
            (Kind::Undeclared, feed) => format!("(undeclared, from {feed})"),
            (Kind::Agent | Kind::Unknown, name) => name.to_string(),
        }
    }
}
