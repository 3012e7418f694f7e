//! Why a claim without a proof is not called a forgery.

use core::fmt;

use crate::ruleset::info::FeedInfo;

/// Why the lack of a proof says nothing about a client that claims an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt<'r> {
    /// No feed has ranges of the agent.
    NoFeed,
    /// The agent also runs at addresses outside its published ranges.
    PartialRanges,
    /// The configuration lacks a feed that has ranges of the agent; this is its name in the catalog.
    LackingFeed(&'r str),
    /// A feed of the agent is missing, stale, held or incomplete.
    Feed(FeedInfo<'r>),
}

impl fmt::Display for Doubt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFeed => f.write_str("no feed lists its addresses"),
            Self::PartialRanges => f.write_str("it also runs outside its published ranges"),
            Self::LackingFeed(name) => write!(f, "the configuration has no feed with the ranges of `{name}`"),
            Self::Feed(FeedInfo { name, state, why, .. }) => {
                write!(f, "the feed `{name}` is {state}")?;
                why.iter().try_for_each(|why| write!(f, ": {why}"))
            }
        }
    }
}
