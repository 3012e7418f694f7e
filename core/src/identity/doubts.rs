//! Reasons why a claim without a proof is not called a forgery, in words.

use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;

use super::{Doubt, address};
use crate::config::Ranges;
use crate::ruleset::data::Ruleset;
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
    /// A feed of the agent is missing, stale or incomplete, or held without a good version.
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
                    "{address} is a private address; if a proxy is in front, set the client's real address"
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

impl Ruleset {
    /// The reasons why a client that claims this agent from an address in none of its ranges is not called spoofed at
    /// `now`, in seconds since the Unix epoch; none if it is. Without an address, those that hold for every client.
    pub fn doubts<'r>(&'r self, token: &str, address: Option<IpAddr>, now: i64) -> Vec<DoubtInfo<'r>> {
        let Some(agent) = self.agent(token).filter(|agent| !agent.is_control_token) else {
            return Vec::new();
        };
        let address = address.map(|address| self.untranslated(address));
        let of_address =
            address.and_then(|address| Some(DoubtInfo::Address(address, address::doubt(address)?)));
        let mut doubts: Vec<DoubtInfo<'r>> = of_address.into_iter().collect();
        if agent.ranges == Ranges::Partial {
            doubts.push(DoubtInfo::PartialRanges);
        }
        doubts.extend(agent.lacking_feeds.iter().map(|name| DoubtInfo::LackingFeed(name)));
        let uncertain = self.loaded_feeds_of(agent).filter(|feed| !feed.is_whole() || !feed.is_in_force(now));
        doubts.extend(uncertain.map(|feed| DoubtInfo::Feed(feed.at(now))));
        if doubts.is_empty() && agent.feeds.is_empty() {
            doubts.push(DoubtInfo::NoFeed);
        }
        doubts
    }
}
