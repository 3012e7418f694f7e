//! The effect that a configuration would have had on the requests of an access log: `crawlpike report`.
//!
//! [`sources`] finds the logs, a [`LineReader`] reads their lines, and [`Job::run`] judges them with all cores and gives a
//! [`Report`], which [`write_text`], [`write_json`], [`write_csv`] and others show. Memory is bounded by the
//! configuration, not by the logs. The command itself, with its arguments, is in `cli/src/report.rs`, and `crawlpike-core` decides
//! about each request.

#![forbid(unsafe_code)]

mod changes;
mod events;
mod harmless;
mod input;
mod job;
mod judge;
mod limit;
mod line;
mod model;
mod numbers;
mod run;
mod tally;
pub mod threads;
mod view;

pub use input::{Source, Stop, sources};
pub use job::{Job, Options};
pub use limit::Limit;
pub use line::{Fault, LineReader, Record};
pub use model::Report;
pub use view::{write_csv, write_html, write_json, write_text};

/// The time that a log or a person writes, in seconds since the Unix epoch: `22/Nov/2026:07:05:12 +0100`,
/// `2026-11-22T07:05:12Z`, `2026-11-22`, `1795331112`.
pub fn parse_time(text: &str) -> Option<i64> {
    line::moment::parse(text.as_bytes())
}
