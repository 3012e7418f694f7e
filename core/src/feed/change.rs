//! The differences between a new version of a feed and the last good one, for reports.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::feed::extent::{Extent, common_prefixes};
use crate::feed::{Feed, FeedValue};

/// A country, ISO 3166-1 alpha-2 in upper case; `None` if a prefix has none.
pub type Country = Option<[u8; 2]>;

/// The differences between a new version of a feed and another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The number of prefixes that only the new version has.
    pub added: usize,
    /// The number of prefixes that only the other version has.
    pub removed: usize,
    /// IPv4 addresses.
    pub v4: Addresses,
    /// IPv6 addresses.
    pub v6: Addresses,
    /// The number of prefixes that both versions of a geofeed have (GEO-19).
    pub located: usize,
    /// The numbers of these prefixes that moved from one country to another, the most frequent move first.
    pub moves: Vec<(Country, Country, usize)>,
}

/// The changes of the addresses of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// Their number before.
    pub before: u128,
    /// Their number now.
    pub now: u128,
    /// The number of those that both versions have.
    pub kept: u128,
}

impl Change {
    pub(crate) fn between(old: &Feed, new: &Feed) -> Self {
        let (located, moves) = moves(old, new);
        let (old, new) = (Extent::of(old), Extent::of(new));
        let common = new.in_common(old);
        Self {
            added: new.prefixes() - common.prefixes,
            removed: old.prefixes() - common.prefixes,
            v4: Addresses { before: old.v4(), now: new.v4(), kept: common.v4 },
            v6: Addresses { before: old.v6(), now: new.v6(), kept: common.v6 },
            located,
            moves,
        }
    }

    /// The number of prefixes whose country changed.
    pub fn moved(&self) -> usize {
        self.moves.iter().map(|(_, _, count)| count).sum()
    }
}

impl Addresses {
    /// The share of the addresses before that are gone, from 0 to 1.
    pub fn removed_share(&self) -> f64 {
        share(self.before.saturating_sub(self.kept), self.before)
    }

    /// The number of new addresses as a share of the addresses before; of addresses now, if there were none before.
    pub fn added_share(&self) -> f64 {
        let whole = if self.before == 0 { self.now } else { self.before };
        share(self.now.saturating_sub(self.kept), whole)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is for people")]
fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn country(feed: &Feed, value: u32) -> Option<Country> {
    match feed.values.get(usize::try_from(value).ok()?)? {
        FeedValue::Place { country, .. } => Some(*country),
        FeedValue::Range { .. } => None,
    }
}

/// The number of prefixes that two geofeeds have in common, and their moves.
fn moves(old: &Feed, new: &Feed) -> (usize, Vec<(Country, Country, usize)>) {
    let is_geofeed = new.values.iter().any(|value| matches!(value, FeedValue::Place { .. }));
    if !is_geofeed {
        return (0, Vec::new());
    }
    let (mut located, mut counts) = (0, BTreeMap::new());
    for (_, value, other) in common_prefixes(&new.entries, &old.entries) {
        located += 1;
        let (Some(from), Some(to)) = (country(old, other), country(new, value)) else { continue };
        if from != to {
            *counts.entry((from, to)).or_insert(0) += 1;
        }
    }
    let mut moves: Vec<_> = counts.into_iter().map(|((from, to), count)| (from, to, count)).collect();
    moves.sort_by_key(|(_, _, count)| core::cmp::Reverse(*count));
    (located, moves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{FeedFormat, ReadOptions, read};
    use crate::source::diagnostic::{Diagnostics, Load};

    fn change(format: FeedFormat, old: &str, new: &str) -> Change {
        let [old, new] = [old, new].map(|text| {
            let mut diagnostics = Diagnostics::new("f", Load);
            read(format, text.as_bytes().into(), &ReadOptions::default(), &mut diagnostics).unwrap()
        });
        Change::between(&old, &new)
    }

    #[test]
    fn prefixes_and_addresses_are_counted() {
        let old = "192.0.2.0/25\n198.51.100.0/25\n2001:db8::/32\n";
        let change = change(FeedFormat::Cidr, old, "192.0.2.0/24\n2001:db8::/32\n203.0.113.0/25\n");
        assert_eq!((change.added, change.removed, change.located), (2, 2, 0));
        assert_eq!(change.v4, Addresses { before: 256, now: 384, kept: 128 });
        assert_eq!((change.v4.removed_share(), change.v4.added_share()), (0.5, 1.0));
        assert_eq!((change.v6.removed_share(), change.v6.added_share()), (0.0, 0.0));
    }

    #[test]
    fn a_family_that_is_new_is_new_as_a_whole() {
        let change = change(FeedFormat::Cidr, "192.0.2.0/25\n", "192.0.2.0/25\n2001:db8::/32\n");
        assert_eq!((change.v6.removed_share(), change.v6.added_share()), (0.0, 1.0));
    }

    #[test]
    fn moves_from_country_to_country_are_counted() {
        // GEO-19
        let old = "192.0.2.0/25,PL,,,\n192.0.2.128/25,PL,,,\n198.51.100.0/24,DE,,,\n203.0.113.0/24,,,,\n10.0.0.0/8,US,,,\n";
        let new = "203.0.113.0/24,FR,,,\n192.0.2.0/25,CZ,,,\n192.0.2.128/25,CZ,,,\n198.51.100.0/24,DE,DE-BE,,\n11.0.0.0/8,FR,,,\n";
        let change = change(FeedFormat::Geofeed, old, new);
        assert_eq!((change.located, change.moved(), change.added, change.removed), (4, 3, 1, 1));
        assert_eq!(change.moves, [(Some(*b"PL"), Some(*b"CZ"), 2), (None, Some(*b"FR"), 1)]);
    }
}
