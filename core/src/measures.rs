//! What both gates count and show: the metrics by name, and the label values of one decision, bounded whatever clients
//! send.

use alloc::string::String;

use crate::decision::{Action, Decision, Identity, Reason};
use crate::ruleset::Ruleset;
use crate::typed_json::json_words;

mod counters;
mod page;
mod stats;

pub use self::counters::{Counters, RecentSlots};
pub use self::page::{Form, Page};
pub use self::stats::{StatsTag, stats_tags};

/// How many series of [`REQUESTS`] a gate keeps with the names of agents and sites. A decision that would begin one more
/// is counted with `other` in their place, see [`Series::in_others`].
///
/// The names come from the configuration alone, so no client can make series; a configuration of many sites can.
pub const MAX_SERIES: usize = 4096;

/// The bound on the series without names: one for each action, reason and identity, with and without agent and site.
pub const MAX_OTHERS: usize = Action::ALL.len() * Reason::ALL.len() * Identity::ALL.len() * 4;

/// The longest value of a label in bytes; the rest of a longer name of a site is left out.
const LONGEST_VALUE: usize = 255;

/// What is counted instead of the name of an agent or a site when there are too many.
const OTHER: &str = "other";

/// How the value of a metric moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Up only.
    Counter,
    /// Up and down.
    Gauge,
}

/// A metric, under the same name in both gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How it moves.
    pub kind: Kind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// What it tells the operator.
    pub help: &'static str,
}

/// Requests by decision, those of people included.
pub const REQUESTS: Metric = Metric {
    name: "crawlward_requests_total",
    kind: Kind::Counter,
    labels: &["action", "reason", "identity", "agent", "site"],
    help: "Requests by decision; where the mode is observe, action is what would have been done.",
};

/// The size of each feed.
pub const FEED_PREFIXES: Metric = Metric {
    name: "crawlward_feed_prefixes",
    kind: Kind::Gauge,
    labels: &["feed"],
    help: "Distinct prefixes in the version of the feed that is in force.",
};

/// The age of each feed that has a date.
pub const FEED_AGE: Metric = Metric {
    name: "crawlward_feed_age_seconds",
    kind: Kind::Gauge,
    labels: &["feed"],
    help: "Seconds since the feed was made or fetched, whichever is longer ago.",
};

/// When the ruleset in force was loaded.
pub const RULESET_LOADED: Metric = Metric {
    name: "crawlward_ruleset_loaded_timestamp_seconds",
    kind: Kind::Gauge,
    labels: &[],
    help: "When the ruleset in force was loaded, in seconds since the Unix epoch.",
};

/// Bugs of ours, which let the request pass.
pub const ERRORS: Metric = Metric {
    name: "crawlward_errors_total",
    kind: Kind::Counter,
    labels: &[],
    help: "Internal errors; the request at hand passed undecided.",
};

/// Rulesets that were to replace the one in force.
pub const RELOADS: Metric = Metric {
    name: "crawlward_reloads_total",
    kind: Kind::Counter,
    labels: &["result"],
    help: "Reloads of the ruleset: taken into service, or refused so that the one before stayed.",
};

/// Every metric.
const ALL: [Metric; 6] = [REQUESTS, FEED_PREFIXES, FEED_AGE, RULESET_LOADED, ERRORS, RELOADS];

json_words! {
    /// The label of [`RELOADS`].
    pub enum ReloadResult {
        /// The new ruleset is in force.
        Success = "success",
        /// The new one was refused, and the one before stayed in force.
        Failure = "failure",
    }
}

/// An agent or a site in a [`Series`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Name {
    None,
    /// By its number in the ruleset.
    Of(u16),
    Other,
}

impl Name {
    fn of(id: Option<u16>) -> Self {
        id.map_or(Self::None, Self::Of)
    }

    fn in_others(self) -> Self {
        match self {
            Self::Of(_) => Self::Other,
            Self::None | Self::Other => self,
        }
    }

    /// Seventeen bits.
    fn key(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Of(id) => u64::from(id) + 1,
            Self::Other => 0x1_ffff,
        }
    }

    fn value<'r>(self, name_of: impl FnOnce(u16) -> Option<&'r str>) -> &'r str {
        match self {
            Self::None => "",
            Self::Of(id) => shortened(name_of(id).unwrap_or_default()),
            Self::Other => OTHER,
        }
    }
}

/// As much of a label's value as is shown.
fn shortened(value: &str) -> &str {
    let mut ends = (0..=value.len().min(LONGEST_VALUE)).rev();
    ends.find_map(|end| value.get(..end)).unwrap_or_default()
}

/// What one request adds to: a combination of the labels of [`REQUESTS`], in numbers of the ruleset that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    action: Action,
    reason: Reason,
    identity: Identity,
    agent: Name,
    site: Name,
}

impl Series {
    /// Where a decision is counted; `None` where the mode is `off`, which looks at nothing.
    pub fn of(decision: &Decision) -> Option<Self> {
        let Decision { action, reason, identity, ignored, agent, site, .. } = *decision;
        let series = Self { action, reason, identity, agent: Name::of(agent), site: Name::of(site) };
        (!ignored).then_some(series)
    }

    /// The series with `other` for the names of agent and site, for a gate that has [`MAX_SERIES`] already.
    #[must_use]
    pub fn in_others(self) -> Self {
        Self { agent: self.agent.in_others(), site: self.site.in_others(), ..self }
    }

    /// A number that stands for the series, different for each, as long as the ruleset is the same.
    pub fn key(self) -> u64 {
        let words = self.action as u64 | (self.reason as u64) << 4 | (self.identity as u64) << 12;
        words | self.agent.key() << 16 | self.site.key() << 33
    }

    /// The labels, with the names of the ruleset that decided.
    pub fn labels(self, ruleset: &Ruleset) -> Labels<'_> {
        Labels {
            action: self.action.as_str(),
            reason: self.reason.as_str(),
            identity: self.identity.as_str(),
            agent: self.agent.value(|id| ruleset.agents.get(usize::from(id)).map(|agent| &*agent.token)),
            site: self.site.value(|id| ruleset.sites.get(id).map(|site| &*site.name)),
        }
    }
}

/// The labels of one series of [`REQUESTS`]; empty where there is no agent or no site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Labels<'a> {
    action: &'a str,
    reason: &'a str,
    identity: &'a str,
    agent: &'a str,
    site: &'a str,
}

impl<'a> Labels<'a> {
    /// The most bytes that [`Self::joined`] gives: the name of a site is shortened, and that of an agent is a token,
    /// which has [`MAX_TOKEN`](crate::user_agent::MAX_TOKEN) bytes at most.
    pub const LONGEST: usize = 384;

    /// The values, in the order of the labels of [`REQUESTS`].
    pub fn values(&self) -> [&'a str; 5] {
        [self.action, self.reason, self.identity, self.agent, self.site]
    }

    /// All values in one text of at most [`Self::LONGEST`] bytes: what a gate can keep and compare across rulesets.
    pub fn joined(&self) -> String {
        self.values().join("\n")
    }

    /// The labels that [`Self::joined`] gave.
    pub fn split(joined: &'a str) -> Option<Self> {
        // Only the last value can have line ends: a name of a site is free text.
        let mut values = joined.splitn(REQUESTS.labels.len(), '\n');
        let mut next = || values.next();
        Some(Self { action: next()?, reason: next()?, identity: next()?, agent: next()?, site: next()? })
    }
}

#[cfg(test)]
mod tests;
