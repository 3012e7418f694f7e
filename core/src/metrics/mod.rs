//! The metrics that every gate counts and shows: by name, and the series of one decision, bounded whatever clients
//! send.
//!
//! The place of the numbers depends on the gate. nginx has [`Counters`] in memory that its workers share, and shows a
//! [`Page`] of them. Envoy keeps statistics itself: its gates implement [`Statistics`], and [`ProxyMetrics`] does the rest.
//! [`stats_tags`] is for the Wasm filter alone, which can give a statistic no labels but in its name.

use crate::feed::state::FeedState;
use crate::json::typed::json_words;
use crate::ruleset::data::Ruleset;

mod denial_log;
mod event;
mod feed_news;
mod once_a_minute;
mod page;
mod recent;
mod series;
mod shared_counters;
mod stat_names;
mod statistics;

pub use self::denial_log::{DenialLog, LeftOut};
pub use self::event::Event;
pub use self::feed_news::FeedNews;
pub use self::once_a_minute::OnceAMinute;
pub use self::page::{Form, Page};
pub use self::recent::Recent;
pub use self::series::{Labels, Series, SeriesGroup};
pub use self::shared_counters::{Counters, RecentSlots};
pub use self::stat_names::{StatsTag, stats_tags};
pub use self::statistics::{InForce, ProxyMetrics, Statistics};

/// The way in which the value of a metric moves.
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
    /// The way in which it moves.
    pub kind: Kind,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// The description for the operator.
    pub help: &'static str,
}

/// Requests by decision, those of people included.
pub const REQUESTS: Metric = Metric {
    name: "crawlpike_requests_total",
    kind: Kind::Counter,
    labels: &["action", "enforced", "reason", "identity", "agent", "site"],
    help: "Requests by decision; where enforced is false, action is what would have been done.",
};

/// The state of each feed.
pub const FEED_STATE: Metric = Metric {
    name: "crawlpike_feed_state",
    kind: Kind::Gauge,
    labels: &["feed", "state"],
    help: "1 for the state that the feed is in, 0 for the others.",
};

/// The size of each feed.
pub const FEED_PREFIXES: Metric = Metric {
    name: "crawlpike_feed_prefixes",
    kind: Kind::Gauge,
    labels: &["feed"],
    help: "Distinct prefixes in the version of the feed that is in force; 0 where the feed is stale.",
};

/// The age of each feed that has a date.
pub const FEED_AGE: Metric = Metric {
    name: "crawlpike_feed_age_seconds",
    kind: Kind::Gauge,
    labels: &["feed"],
    help: "Seconds since the feed was last known to be current.",
};

/// When the ruleset in force was loaded.
pub const RULESET_LOADED: Metric = Metric {
    name: "crawlpike_ruleset_loaded_timestamp_seconds",
    kind: Kind::Gauge,
    labels: &[],
    help: "When the ruleset in force was loaded, in seconds since the Unix epoch.",
};

/// Bugs of ours, which let the request pass.
pub const ERRORS: Metric = Metric {
    name: "crawlpike_errors_total",
    kind: Kind::Counter,
    labels: &[],
    help: "Internal errors and unclear questions of proxies, without a decision.",
};

/// Rulesets that were to replace the one in force.
pub const RELOADS: Metric = Metric {
    name: "crawlpike_reloads_total",
    kind: Kind::Counter,
    labels: &["result"],
    help: "New rulesets: in force with the newest version of each feed, in force without one, or refused.",
};

/// Requests with signatures, by what came of these.
pub const SIGNATURES: Metric = Metric {
    name: "crawlpike_signatures_total",
    kind: Kind::Counter,
    labels: &["result"],
    help: "Requests whose signatures were examined, by the result.",
};

/// Lookups of the names of addresses.
pub const NAME_LOOKUPS: Metric = Metric {
    name: "crawlpike_name_lookups_total",
    kind: Kind::Counter,
    labels: &["result"],
    help: "Lookups of the names of clients' addresses, by the result.",
};

/// Claims without a proof that are not called forgeries.
pub const DOUBTS: Metric = Metric {
    name: "crawlpike_doubts_total",
    kind: Kind::Counter,
    labels: &["doubt"],
    help: "Claims of an agent that are neither verified nor spoofed, by the reason.",
};

/// Requests for documents.
pub const DOCUMENTS: Metric = Metric {
    name: "crawlpike_documents_total",
    kind: Kind::Counter,
    labels: &["form", "outcome"],
    help: "Requests for documents, by the form that was asked for and the outcome.",
};

/// The bytes of pages that became documents, and those of the documents.
pub const DOCUMENT_BYTES: Metric = Metric {
    name: "crawlpike_document_bytes_total",
    kind: Kind::Counter,
    labels: &["form", "direction"],
    help: "Bytes of the pages that became documents, without their coding (in), and of the documents (out).",
};

/// The time of conversions.
pub const DOCUMENT_TIME: Metric = Metric {
    name: "crawlpike_document_microseconds_total",
    kind: Kind::Counter,
    labels: &[],
    help: "Time that conversions of pages took, also of those that went out as they were.",
};

/// Every metric.
pub const ALL: [Metric; 13] = [
    REQUESTS,
    FEED_STATE,
    FEED_PREFIXES,
    FEED_AGE,
    RULESET_LOADED,
    ERRORS,
    RELOADS,
    SIGNATURES,
    NAME_LOOKUPS,
    DOUBTS,
    DOCUMENTS,
    DOCUMENT_BYTES,
    DOCUMENT_TIME,
];

json_words! {
    /// The label `direction` of [`DOCUMENT_BYTES`].
    pub enum Direction {
        /// Of the page.
        In = "in",
        /// Of the document.
        Out = "out",
    }
}

json_words! {
    /// The label of [`RELOADS`].
    pub enum ReloadResult {
        /// The new ruleset is in force, with the newest version of each feed.
        Success = "success",
        /// The new ruleset is in force, but a feed is held, stale or missing.
        Partial = "partial",
        /// The new one was refused, and the one before stayed in force.
        Failure = "failure",
    }
}

impl ReloadResult {
    /// The result of a load that gave this ruleset, or none because it was refused, at `now` in seconds since the Unix epoch.
    pub fn of(ruleset: Option<&Ruleset>, now: i64) -> Self {
        let is_newest = |state: FeedState| matches!(state, FeedState::Ok | FeedState::Incomplete);
        match ruleset.map(|ruleset| ruleset.feeds(now).all(|feed| is_newest(feed.state))) {
            Some(true) => Self::Success,
            Some(false) => Self::Partial,
            None => Self::Failure,
        }
    }
}

#[cfg(test)]
mod tests;
