//! The input and the settings of a report.

use crawlpike_core::Ruleset;

use crate::input::{Source, Stop};
use crate::limit::{self, Limit};
use crate::line::LineReader;

/// Which requests count, and how they are shown.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The host of requests for which the log has none.
    pub default_host: Option<String>,
    /// Only requests from this time on, in seconds since the Unix epoch.
    pub since: Option<i64>,
    /// Only requests for this host.
    pub host: Option<String>,
    /// Only requests of this agent, or of this unknown one.
    pub agent: Option<String>,
    /// The limits that the requests are passed through, at most [`Self::LIMITS`].
    pub limits: Vec<Limit>,
    /// Addresses are cut to their networks.
    pub anonymize: bool,
}

impl Options {
    /// The largest number of limits.
    pub const LIMITS: usize = limit::MOST;
}

/// The input and the settings of a report.
#[derive(Debug)]
pub struct Job<'r, 'o> {
    /// The configuration.
    pub ruleset: &'r Ruleset,
    /// Another one, to be compared with it.
    pub other: Option<&'r Ruleset>,
    /// Reads the lines.
    pub reader: &'o LineReader,
    /// Which requests count.
    pub options: &'o Options,
    /// The logs, in the order in which they are read.
    pub sources: &'o [Source],
    /// The time, in seconds since the Unix epoch: feeds are judged as they are then.
    pub now: i64,
    /// The number of threads that judge lines.
    pub threads: usize,
    /// Ends the reading; the report then has what was read before.
    pub stop: Stop,
}
