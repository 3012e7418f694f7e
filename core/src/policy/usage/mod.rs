//! Usage preferences: what may be done with a page once it is fetched.
//!
//! Three notations of robots.txt say it, and each is read as its own text has it:
//!
//! | notation | text | says |
//! |---|---|---|
//! | `Content-Usage` | draft-ietf-aipref-attach-05 | in a group: a preference about each category of use, by path |
//! | `Content-Signal` | draft-romm-aipref-contentsignals-00, and as deployed | above all groups or in one: the same, for all paths |
//! | `License` | RSL 1.0 | anywhere: where the terms are |
//!
//! Statements combine by category, the most restrictive counts ([`UsageStatement::and`]). None of it says who may fetch a page.
//! The categories and the words for them are data: see [`vocabulary`].

mod header;
mod read;
mod rules;
mod statement;
pub(crate) mod vocabulary;

pub(crate) use self::header::{Upstream, united};
pub(crate) use self::read::{
    objection_to_license, path_and_statement, preference, signals, statement, statement_of_signals,
};
pub(crate) use self::rules::{Longest, StatementLine, UsageRule, UsageRules, in_each_spelling};
pub(crate) use self::statement::Preference;
pub use self::statement::{PurposeUse, UsageStatement};

/// The beginning of reserved tokens, in lower case. A proposal uses them for something else than agents.
pub(crate) const RESERVED_TOKEN: &str = "__usage_";

/// The largest number of licences of a site that count.
pub(crate) const MOST_LICENSES: usize = 8;
