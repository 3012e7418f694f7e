//! Reasons why a claim without a proof is not called a forgery, in words.

use core::fmt;
use core::net::IpAddr;

use crate::identity::Doubt;
use crate::ruleset::info::FeedInfo;

/// A [`Doubt`] with what is behind it, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoubtInfo<'r> {
    /// The client's address says nothing of a claim, for this reason.
    Address(IpAddr, Doubt),
    /// No feed has ranges of the agent.
    NoFeed,
    /// The agent also runs at addresses outside its published ranges.
    PartialRanges,
    /// The configuration lacks a feed that has ranges of the agent; this is its name in the catalog.
    LackingFeed(&'r str),
    /// A feed of the agent is missing, stale, held or incomplete.
    Feed(FeedInfo<'r>),
}

impl fmt::Display for DoubtInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address, Doubt::SixToFour) => {
                write!(f, "{address} is a 6to4 address, which relays use for others")
            }
            Self::Address(address, Doubt::Teredo) => {
                write!(f, "{address} is a Teredo address, which relays use for others")
            }
            Self::Address(address, _) => {
                write!(
                    f,
                    "{address} is a private address; if a proxy is in front, configure the client's real address"
                )
            }
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
