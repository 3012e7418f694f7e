//! The counts of an agent.

use crawlpike_core::{Action, Facts, Identity, Proof, PurposeUse, Reason, Rule};
use hashbrown::HashMap;

use super::Judged;
use super::client::Client;
use super::distinct::Distinct;
use super::frequent::{Detail, Frequent};

/// Requests and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Sums {
    pub(crate) requests: u64,
    /// The number of bytes that the server sent for them.
    pub(crate) bytes: u64,
}

impl Sums {
    pub(crate) fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Requests for a purpose, by what the site prefers about it for the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Uses {
    pub(crate) disallowed: u64,
    pub(crate) partly_disallowed: u64,
    pub(crate) allowed: u64,
    pub(crate) not_stated: u64,
}

impl Uses {
    fn count(&mut self, preference: PurposeUse) {
        *match preference {
            PurposeUse::Disallowed => &mut self.disallowed,
            PurposeUse::PartlyDisallowed => &mut self.partly_disallowed,
            PurposeUse::Allowed => &mut self.allowed,
            PurposeUse::NotStated => &mut self.not_stated,
        } += 1;
    }

    /// In the order of the fields.
    pub(crate) fn counts(self) -> [u64; 4] {
        [self.disallowed, self.partly_disallowed, self.allowed, self.not_stated]
    }

    /// Returns true if something is preferred about some of the requests.
    pub(crate) fn is_stated(&self) -> bool {
        self.disallowed + self.partly_disallowed + self.allowed > 0
    }

    fn merge(&mut self, other: Self) {
        self.disallowed += other.disallowed;
        self.partly_disallowed += other.partly_disallowed;
        self.allowed += other.allowed;
        self.not_stated += other.not_stated;
    }
}

/// A decision, as far as reports distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Outcome<'r> {
    pub(crate) identity: Identity,
    pub(crate) proof: Option<Proof>,
    pub(crate) action: Action,
    pub(crate) reason: Reason,
    pub(crate) rule: Option<Rule<'r>>,
    pub(crate) site: Option<&'r str>,
    pub(crate) enforced: bool,
}

impl<'r> From<&Facts<'r>> for Outcome<'r> {
    fn from(facts: &Facts<'r>) -> Self {
        Self {
            identity: facts.identity,
            proof: facts.proof,
            action: facts.action,
            reason: facts.reason,
            rule: facts.rule,
            site: facts.site,
            enforced: facts.enforced,
        }
    }
}

/// The requests of one agent.
#[derive(Clone, Debug)]
pub(crate) struct Group<'r> {
    /// Exact. As many as the configuration has rules and sites.
    pub(crate) outcomes: HashMap<Outcome<'r>, Sums>,
    /// Exact.
    pub(crate) statuses: HashMap<Option<u16>, u64>,
    pub(crate) addresses: Distinct,
    pub(crate) clients: Frequent<Client>,
    pub(crate) paths: Frequent<Vec<u8>>,
    /// The requests for each purpose by what is preferred about it. Exact; as many as there are purposes with a category.
    pub(crate) uses: HashMap<&'static str, Uses>,
    /// The first and the last time.
    pub(crate) span: Option<(i64, i64)>,
}

impl Default for Group<'_> {
    fn default() -> Self {
        Self {
            outcomes: HashMap::new(),
            statuses: HashMap::new(),
            addresses: Distinct::default(),
            clients: Frequent::new(Self::CLIENTS),
            paths: Frequent::new(Self::PATHS),
            uses: HashMap::new(),
            span: None,
        }
    }
}

impl<'r> Group<'r> {
    const CLIENTS: usize = 256;
    const PATHS: usize = 512;
    /// The number of bytes of a path that count.
    const LONGEST_PATH: usize = 128;

    pub(crate) fn add(&mut self, judged: &Judged<'_, 'r>, outcome: Outcome<'r>) {
        let Judged { record, client, .. } = judged;
        self.outcomes.entry(outcome).or_default().add(Sums { requests: 1, bytes: record.bytes });
        *self.statuses.entry(record.status).or_default() += 1;
        if let Some(address) = record.address {
            self.addresses.add(address);
        }
        if let Some(client) = client {
            self.clients.add(client);
        }
        for (purpose, preference) in &judged.uses {
            self.uses.entry(purpose).or_default().count(*preference);
        }
        self.paths.add(path(&record.target, Self::LONGEST_PATH));
        if let Some(time) = record.time {
            self.span = joined(self.span, Some((time, time)));
        }
    }
}

impl Detail for Group<'_> {
    fn merge(&mut self, other: Self) {
        for (outcome, sums) in other.outcomes {
            self.outcomes.entry(outcome).or_default().add(sums);
        }
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.addresses.merge(other.addresses);
        self.clients.merge(other.clients);
        self.paths.merge(other.paths);
        for (purpose, uses) in other.uses {
            self.uses.entry(purpose).or_default().merge(uses);
        }
        self.span = joined(self.span, other.span);
    }
}

/// A path without its query, of which there are too many, and which may be private.
pub(crate) fn path(target: &[u8], longest: usize) -> &[u8] {
    let end = memchr::memchr(b'?', target).unwrap_or(target.len());
    match &target[..end.min(longest)] {
        [] => b"/",
        path => path,
    }
}

pub(crate) fn joined(one: Option<(i64, i64)>, other: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (one, other) {
        (Some((first, last)), Some((other_first, other_last))) => {
            Some((first.min(other_first), last.max(other_last)))
        }
        (one, other) => one.or(other),
    }
}
