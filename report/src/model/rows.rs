//! The rows of agents.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crawlpike_core::{Identity, Ruleset};
use serde::Serialize;

use super::outcomes::{self, OutcomeRow};
use crate::line::moment;
use crate::tally::Sender;
use crate::tally::distinct::Count;
use crate::tally::frequent::{Detail, Frequent};
use crate::tally::group::{Group, Sums};

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
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
pub struct Row {
    /// What the row is about.
    pub kind: Kind,
    /// The token of the agent, the name of the feed, or the product of an unknown agent; empty for all of a kind.
    pub name: String,
    /// All requests.
    #[serde(flatten)]
    pub all: Sums,
    /// How many different clients.
    pub addresses: Count,
    /// How many requests of each identity.
    pub identities: BTreeMap<&'static str, u64>,
    /// How many requests each proof verified.
    pub proofs: BTreeMap<&'static str, u64>,
    /// Why requests that claim the agent are not verified, if any are `unverified`.
    pub doubts: Vec<String>,
    /// Those that are denied.
    pub denied: Sums,
    /// What was decided, the most frequent first.
    pub outcomes: Vec<OutcomeRow>,
    /// The statuses that the server sent.
    pub statuses: Vec<StatusRow>,
    /// The paths with the most requests, without queries.
    pub paths: Top,
    /// The addresses with the most requests, or their networks.
    pub clients: Top,
    /// The time of the first request.
    pub first: Option<String>,
    /// The time of the last request.
    pub last: Option<String>,
}

/// How often the server sent a status.
#[derive(Clone, Debug, Serialize)]
pub struct StatusRow {
    /// The status; `null` if the log has none.
    pub status: Option<u16>,
    /// How many requests.
    pub requests: u64,
}

/// The most frequent values.
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    /// By how much each number may be too low, and how many requests a value may have that is not listed; 0: the numbers
    /// are exact.
    pub missing: u64,
    /// The values, the most frequent first.
    pub items: Vec<Item>,
}

/// A value and its requests.
#[derive(Clone, Debug, Serialize)]
pub struct Item {
    /// The value.
    pub value: String,
    /// How many requests.
    pub requests: u64,
}

impl Top {
    pub(super) fn new<K: Shown + std::hash::Hash + Ord + Clone, D: Detail>(
        table: Frequent<K, D>,
        most: usize,
    ) -> Self {
        let missing = table.missing();
        let items = table.into_sorted().into_iter().take(most);
        let items =
            items.map(|(value, requests, _)| Item { value: value.shown().into_owned(), requests }).collect();
        Self { missing, items }
    }
}

/// A value as reports have it.
pub(super) trait Shown {
    fn shown(&self) -> Cow<'_, str>;
}

impl Shown for Vec<u8> {
    fn shown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self)
    }
}

impl Shown for crate::tally::client::Client {
    fn shown(&self) -> Cow<'_, str> {
        self.to_string().into()
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
            row.doubts = ruleset.doubts(name, now).iter().map(ToString::to_string).collect();
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
            statuses,
            paths: Top::new(group.paths, Self::PATHS),
            clients: Top::new(group.clients, Self::CLIENTS),
            first: group.span.map(|(first, _)| moment::text(first)),
            last: group.span.map(|(_, last)| moment::text(last)),
        }
    }

    /// How many requests have this identity.
    pub fn requests_of(&self, identity: Identity) -> u64 {
        self.identities.get(identity.as_str()).copied().unwrap_or_default()
    }

    /// What to call it in a table.
    pub fn title(&self) -> String {
        match (self.kind, &*self.name) {
            (Kind::People, _) => "(people)".to_string(),
            (Kind::Unknown, "") => "(unknown agents)".to_string(),
            (Kind::Undeclared, feed) => format!("(undeclared, from {feed})"),
            (Kind::Agent | Kind::Unknown, name) => name.to_string(),
        }
    }
}
