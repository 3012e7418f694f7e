//! Exemptions in words: what is exempt, by which list.

use core::fmt;
use core::net::IpAddr;

use alloc::vec::Vec;

use ipnet::IpNet;

use crate::ids::FeedId;
use crate::prefix_table::Match;
use crate::ruleset::data::Ruleset;
use crate::source::quoted::Quoted;

/// An entry of `exempt` that covers the client's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemption {
    feed: FeedId,
    /// The prefix that covers the address.
    pub prefix: IpNet,
}

impl Exemption {
    pub(crate) fn of(address: IpAddr, matched: &Match) -> Option<Self> {
        let prefix = IpNet::new(address, matched.prefix_len).ok()?.trunc();
        Some(Self { feed: matched.feed, prefix })
    }
}

/// An entry of `exempt` that covers an address, for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExemptInfo<'r> {
    /// The prefix that covers the address; IPv4 for an IPv4-mapped address.
    pub prefix: IpNet,
    /// The feed that has the prefix; `None` if the document has it.
    pub feed: Option<&'r str>,
    /// The site that exempts it; `None` if all do.
    pub site: Option<&'r str>,
}

/// The prefix, with the feed and the site after their names.
impl fmt::Display for ExemptInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.prefix)?;
        for (name, text) in [("feed", self.feed), ("site", self.site)] {
            text.map_or(Ok(()), |text| write!(f, " {name}={}", Quoted(text)))?;
        }
        Ok(())
    }
}

impl Ruleset {
    /// The exemption of a step, at the site with this name.
    pub fn exempt_info<'r>(&'r self, exemption: Exemption, site: Option<&'r str>) -> ExemptInfo<'r> {
        let Exemption { feed, prefix } = exemption;
        let site = site.filter(|_| !self.exempt.contains(&feed));
        ExemptInfo { prefix, feed: self.feeds.get(feed).map(|feed| &*feed.name), site }
    }

    /// The exemptions of an address at `now`, in seconds since the Unix epoch, the longest prefix first.
    pub fn exemptions(&self, address: IpAddr, now: i64) -> Vec<ExemptInfo<'_>> {
        let address = self.untranslated(address);
        let mut found = Vec::new();
        for matched in self.table.lookup(address).unwrap_or_default() {
            let is_stale = self.feeds.get(matched.feed).is_some_and(|feed| feed.is_stale(now));
            let Some(exemption) = Exemption::of(address, matched).filter(|_| !is_stale) else { continue };
            if self.exempt.contains(&matched.feed) {
                found.push(self.exempt_info(exemption, None));
                continue;
            }
            let sites = self.sites.list.iter().filter(|site| site.exempt.contains(&matched.feed));
            found.extend(sites.map(|site| self.exempt_info(exemption, Some(&site.name))));
        }
        found
    }
}
