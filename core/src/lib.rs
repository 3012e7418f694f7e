//! What an automated HTTP client may do, decided from published facts.
//!
//! The crate has no I/O, no clock, no threads and no `unsafe`: a host (nginx, Envoy, the command line) reads the
//! bytes, calls in, and does what it is told. One way leads through it: [`Ruleset::compile`] makes a configuration
//! document and its files one immutable ruleset, [`decide()`] answers for one request, and [`Ruleset::describe`] gives
//! the answer its names.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod accept;
pub mod automation_preferences;
pub mod catalog;
mod cidr;
mod compile;
pub mod config;
mod csv;
mod decide;
pub mod decision;
pub mod diagnostic;
pub mod feed;
mod geofeed;
pub mod guard;
pub mod host;
mod http_date;
mod jafar;
mod json;
pub mod measures;
pub mod path_pattern;
pub mod path_set;
pub mod path_spelling;
pub mod policy_lines;
pub mod policy_lint;
pub mod prefix;
pub mod prefix_table;
pub mod reply;
mod representation;
mod request;
pub mod response;
pub mod robots;
pub mod robots_tag;
mod ruleset;
pub mod seldom;
mod sites;
mod source_text;
mod stored;
pub mod typed_json;
pub mod units;
pub mod user_agent;

pub use compile::{Compiled, Files, FoundFile, NoFiles};
pub use decide::{Overrides, PolicyVerdict, Step, decide, decide_telling};
pub use request::Request;
pub use ruleset::{AgentInfo, FeedInfo, FeedState, Finding, Ruleset, is_token_byte};
pub use stored::{StoredError, is_stored};
