//! The proof by address: operators publish the IP ranges that their agents use.

use core::net::IpAddr;

use crate::config::Ranges as Published;
use crate::feed::FeedFormat;
use crate::identity::{Doubt, address};
use crate::ids::{FeedId, ValueId};
use crate::prefix_table::Match;
use crate::request::Request;
use crate::ruleset::data::{Agent, LoadedFeed, Ruleset};
use crate::ruleset::exempt::Exemption;

/// An IP range that covers the client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpRange {
    /// The feed that has the range.
    pub(crate) feed: FeedId,
    /// The number of the feed's value for the range.
    pub(crate) value: ValueId,
}

impl From<&Match> for IpRange {
    fn from(matched: &Match) -> Self {
        Self { feed: matched.feed, value: matched.value }
    }
}

/// The entries of the feeds that are not stale for a client's address.
pub(super) struct Ranges<'r> {
    ruleset: &'r Ruleset,
    address: Option<IpAddr>,
    /// Of each feed that covers the address its most specific entry, the longest prefix first.
    /// `None` where nothing is known of the address, because there is none or the table is damaged.
    matches: Option<&'r [Match]>,
    /// `None`: no feed is stale.
    now: Option<i64>,
}

impl<'r> Ranges<'r> {
    /// Of the client's address, with what [`PrefixTable::first_word`] says of it.
    ///
    /// [`PrefixTable::first_word`]: crate::prefix_table::PrefixTable::first_word
    pub(super) fn new(
        ruleset: &'r Ruleset,
        request: &impl Request,
        address: Option<IpAddr>,
        first_word: Option<u32>,
    ) -> Self {
        let looked_up = address.zip(first_word);
        Self {
            ruleset,
            address,
            matches: looked_up
                .and_then(|(address, first_word)| ruleset.table.lookup_from(first_word, address)),
            now: ruleset
                .fresh_at
                .as_ref()
                .and_then(|fresh| Some(request.now()).filter(|now| !fresh.contains(now))),
        }
    }

    /// The range that proves that the request is the agent's.
    pub(super) fn proof_of(&self, agent: &Agent) -> Option<IpRange> {
        let is_proof = |matched: &&Match| {
            self.ruleset.is_proof(matched, agent) && self.fresh_format(matched.feed).is_some()
        };
        self.matches?.iter().find(is_proof).map(IpRange::from)
    }

    /// The reason why the lack of a proof proves no forgery. `None`: all the agent's ranges are known, and the address, which a
    /// client on the Internet can have, is in none of them; or no client sends the agent's token.
    pub(super) fn doubt(&self, agent: &Agent) -> Option<Doubt> {
        if agent.is_control_token {
            return None;
        }
        let of_address = || match (self.address, self.matches) {
            (Some(address), Some(_)) => address::doubt(address).filter(|_| self.any().is_none()),
            _ => Some(Doubt::UnknownAddress),
        };
        let is_known = |id: &FeedId| self.fresh(*id).is_some_and(LoadedFeed::is_whole);
        of_address().or_else(|| {
            let doubt = match agent.ranges {
                Published::Partial => Doubt::PartialRanges,
                Published::Complete if !agent.lacking_feeds.is_empty() => Doubt::LackingFeed,
                Published::Complete if agent.feeds.is_empty() => Doubt::NoFeed,
                Published::Complete if agent.feeds.iter().all(is_known) => return None,
                Published::Complete => Doubt::FeedState,
            };
            Some(doubt)
        })
    }

    /// The most specific range, whoever's it is.
    pub(super) fn any(&self) -> Option<IpRange> {
        self.first(|format| format != FeedFormat::Geofeed).map(IpRange::from)
    }

    /// The most specific entry of these feeds. A stale feed exempts nobody: what it would say today is unknown.
    pub(super) fn exemption(&self, feeds: &[FeedId]) -> Option<Exemption> {
        if feeds.is_empty() {
            return None;
        }
        let is_stale = |feed: &LoadedFeed| self.now.is_some_and(|now| feed.is_stale(now));
        let exempts = |matched: &&Match| {
            feeds.contains(&matched.feed) && !self.ruleset.feeds.get(matched.feed).is_some_and(is_stale)
        };
        Exemption::of(self.address?, self.matches?.iter().find(exempts)?)
    }

    /// The value of the most specific entry of a geofeed.
    pub(super) fn place(&self) -> Option<ValueId> {
        self.first(|format| format == FeedFormat::Geofeed).map(|matched| matched.value)
    }

    fn first(&self, is_wanted: impl Fn(FeedFormat) -> bool) -> Option<&'r Match> {
        self.matches?.iter().find(|matched| self.fresh_format(matched.feed).is_some_and(&is_wanted))
    }

    /// The format of a feed that is not stale.
    fn fresh_format(&self, id: FeedId) -> Option<FeedFormat> {
        self.fresh(id).map(|feed| feed.format)
    }

    /// A feed that is not stale.
    fn fresh(&self, id: FeedId) -> Option<&'r LoadedFeed> {
        let feed = self.ruleset.feeds.get(id)?;
        let is_stale = self.now.is_some_and(|now| feed.is_stale(now));
        (!is_stale).then_some(feed)
    }
}

#[cfg(test)]
mod tests {
    use crate::prefix_table::PrefixTable;
    use crate::request::tests::Asked;
    use crate::{Identity, NoFiles, Overrides, Ruleset, decide};

    #[test]
    fn a_damaged_table_condemns_nobody() {
        let document = br#"{ "catalog": "none",
            "feeds": [ { "name": "lab", "format": "cidr", "source": "lab" } ],
            "agents": [ { "token": "LabBot", "feeds": ["lab"] } ],
            "files": { "lab": { "text": "192.0.2.0/24\n" } } }"#;
        let mut ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.unwrap();
        let request =
            Asked { address: Some([198, 51, 100, 1].into()), user_agent: "LabBot/1.0", ..Asked::default() };
        let identity = |ruleset: &Ruleset| decide(ruleset, &request, Overrides::default()).identity;
        assert_eq!(identity(&ruleset), Identity::Spoofed);
        let mut words = ruleset.table.as_words().to_vec();
        // Behind the header, every word refers to another far outside.
        words[8..].fill(u32::MAX);
        ruleset.table = PrefixTable::from_words(words.into()).unwrap();
        assert_eq!(identity(&ruleset), Identity::Unverified);
    }
}
