//! From the lists `exempt` to numbers of feeds: the prefixes of a list are a feed of their own in the table, behind those of
//! the document, so that the lookup of a decision finds them, too.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

use ipnet::{IpNet, Ipv6Net};

use super::Compiler;
use super::bindings::KnownFeeds;
use crate::config::{Config, ExemptFeed, Exemption};
use crate::feed::prefix::{parse_prefix, unmap};
use crate::ids::{FeedId, Id, List, ValueId};
use crate::prefix_table::{Entry, TableError};
use crate::request::nat64::is_translated;
use crate::ruleset::data::LoadedFeed;
use crate::sort::{map_of, set_of};
use crate::source::position::Placed;

/// A list that exempts clients.
#[derive(Default)]
struct ExemptList {
    /// Numbers of feeds of the configuration.
    feeds: BTreeSet<usize>,
    prefixes: Vec<IpNet>,
}

/// The lists of the document and of its sites.
#[derive(Default)]
pub(super) struct Exemptions {
    document: ExemptList,
    /// By the numbers of the sites that have one.
    sites: BTreeMap<usize, ExemptList>,
}

/// The numbers of the feeds whose addresses are exempt.
pub(super) struct ExemptFeeds {
    /// At every site.
    pub(super) document: Box<[FeedId]>,
    /// In the order of the sites, each with the document's.
    pub(super) sites: Vec<Box<[FeedId]>>,
}

impl Exemptions {
    fn lists(&self) -> impl Iterator<Item = &ExemptList> {
        iter::once(&self.document).chain(self.sites.values())
    }

    /// The numbers of the configuration's feeds that exempt clients.
    pub(super) fn feeds(&self) -> BTreeSet<usize> {
        set_of(self.lists().flat_map(|list| &list.feeds).copied())
    }

    pub(super) fn has_prefixes(&self) -> bool {
        self.lists().any(|list| !list.prefixes.is_empty())
    }

    /// Adds the prefixes of the lists, as those of feeds behind the `feeds` of the document.
    pub(super) fn add(
        &self,
        feeds: usize,
        value: ValueId,
        entries: &mut Vec<Entry>,
    ) -> Result<(), TableError> {
        let lists = self.lists().filter(|list| !list.prefixes.is_empty());
        for (list, number) in lists.zip(feeds..) {
            let feed = FeedId::from_index(number).ok_or(TableError::TooLarge)?;
            entries.extend(list.prefixes.iter().map(|prefix| Entry { prefix: *prefix, feed, value }));
        }
        Ok(())
    }

    /// The numbers of all lists, as [`Self::add`] gave them, and of the feeds in them.
    pub(super) fn numbered(&self, feeds: &List<FeedId, LoadedFeed>, sites: usize) -> ExemptFeeds {
        let mut next = feeds.len();
        let mut numbered = |list: &ExemptList, others: &[FeedId]| -> Box<[FeedId]> {
            let own = (!list.prefixes.is_empty()).then_some(next);
            next += usize::from(own.is_some());
            let own = own.and_then(FeedId::from_index);
            let named = list.feeds.iter().filter_map(|number| feeds.id_at(*number));
            others.iter().copied().chain(own).chain(named).collect()
        };
        let document = numbered(&self.document, &[]);
        let of_site = |site| match self.sites.get(&site) {
            Some(list) => numbered(list, &document),
            None => document.clone(),
        };
        let sites = (0..sites).map(of_site).collect();
        ExemptFeeds { document, sites }
    }
}

impl Compiler<'_> {
    /// Reads the lists, and reports what cannot be an entry of one, or was hardly meant.
    pub(super) fn exemptions(
        &mut self,
        config: &Config,
        known: &KnownFeeds<'_>,
        nat64: &[Ipv6Net],
    ) -> Exemptions {
        let mut read = |list: &[Exemption]| {
            let mut exempt = ExemptList::default();
            for entry in list {
                match entry {
                    Exemption::Prefix(text) => exempt.prefixes.extend(self.exempt_prefix(text, nat64)),
                    Exemption::Feed(ExemptFeed { feed }) => {
                        exempt.feeds.extend(self.exempt_feed(feed, known));
                    }
                }
            }
            exempt
        };
        let document = read(&config.exempt);
        let sites = config.sites.iter().enumerate().filter(|(_, site)| !site.exempt.is_empty());
        Exemptions { document, sites: map_of(sites.map(|(number, site)| (number, read(&site.exempt)))) }
    }

    fn exempt_prefix(&mut self, text: &Placed<String>, nat64: &[Ipv6Net]) -> Option<IpNet> {
        let prefix = match parse_prefix(text) {
            Ok(prefix) => unmap(prefix),
            Err(why) => {
                self.own.error(text.position, None, format!("`{}` in `exempt`: {why}", **text));
                return None;
            }
        };
        if is_wide(prefix) {
            let message = format!("`{prefix}` in `exempt` is wide: whoever sends from there is never denied");
            self.own.warning(text.position, None, message);
        }
        if let IpNet::V6(v6) = prefix
            && is_translated(nat64, &v6)
        {
            let message = format!(
                "`{prefix}` in `exempt` has no effect: a client behind NAT64 has its IPv4 address; write that prefix"
            );
            self.own.warning(text.position, None, message);
        }
        Some(prefix)
    }

    fn exempt_feed(&mut self, name: &Placed<String>, known: &KnownFeeds<'_>) -> Option<usize> {
        let number = self.named_feed(name, known)?;
        self.is_of_ranges(name, known.config.feeds.get(number), "exempt clients").then_some(number)
    }
}

/// Returns true if a prefix has more addresses than anybody's monitoring, unless they are of a private network.
fn is_wide(prefix: IpNet) -> bool {
    const UNIQUE_LOCAL: u8 = 0xfc;
    match prefix {
        IpNet::V4(v4) => v4.prefix_len() < 8,
        IpNet::V6(v6) => v6.prefix_len() < 16 && v6.network().octets().first() != Some(&UNIQUE_LOCAL),
    }
}
