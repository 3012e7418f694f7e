//! The part of the address space that a feed covers, and what two feeds have in common.

use alloc::vec::Vec;

use ipnet::IpNet;

use crate::feed::Feed;
use crate::sort::sort_by;

/// What a feed covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// In order.
    prefixes: Vec<IpNet>,
    v4: Ranges<u32>,
    v6: Ranges<u128>,
}

impl Extent {
    /// What all of a feed covers.
    pub(crate) fn of(feed: &Feed) -> Self {
        Self::of_prefixes(feed.entries.iter().map(|(prefix, _)| *prefix).collect())
    }

    /// What distinct prefixes cover.
    pub(crate) fn of_prefixes(mut prefixes: Vec<IpNet>) -> Self {
        sort_by(&mut prefixes, Ord::cmp);
        let (mut v4, mut v6) = (Ranges::default(), Ranges::default());
        for prefix in &prefixes {
            match prefix {
                IpNet::V4(net) => v4.extend(net.network().to_bits(), net.broadcast().to_bits()),
                IpNet::V6(net) => v6.extend(net.network().to_bits(), net.broadcast().to_bits()),
            }
        }
        Self { prefixes, v4, v6 }
    }

    /// Whether all addresses of a prefix are in it.
    pub(crate) fn covers(&self, prefix: IpNet) -> bool {
        match prefix {
            IpNet::V4(net) => self.v4.covers(net.network().to_bits(), net.broadcast().to_bits()),
            IpNet::V6(net) => self.v6.covers(net.network().to_bits(), net.broadcast().to_bits()),
        }
    }

    /// The number of prefixes.
    pub(crate) fn prefixes(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether it has the same prefixes as another one.
    pub(crate) fn has_the_prefixes_of(&self, other: &Self) -> bool {
        self.prefixes == other.prefixes
    }

    /// The number of IPv4 addresses.
    pub(crate) fn v4(&self) -> u128 {
        self.v4.size()
    }

    /// The number of IPv6 addresses, at most [`u128::MAX`].
    pub(crate) fn v6(&self) -> u128 {
        self.v6.size()
    }

    /// The number of IPv6 addresses from one to another, both included.
    pub(crate) fn v6_between(&self, first: u128, last: u128) -> u128 {
        let mut between = Ranges::default();
        between.extend(first, last);
        self.v6.in_common(&between)
    }

    /// What this extent and another one have in common.
    pub(crate) fn in_common(&self, other: &Self) -> Common {
        let (mut prefixes, mut others) = (0, other.prefixes.iter().peekable());
        for prefix in &self.prefixes {
            while others.next_if(|other| *other < prefix).is_some() {}
            prefixes += usize::from(others.next_if_eq(&prefix).is_some());
        }
        Common { prefixes, v4: self.v4.in_common(&other.v4), v6: self.v6.in_common(&other.v6) }
    }
}

/// What two feeds have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub(crate) prefixes: usize,
    pub(crate) v4: u128,
    pub(crate) v6: u128,
}

/// Ranges in order that neither overlap nor touch, each from its first address to its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranges<T>(Vec<(T, T)>);

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + Ord + Into<u128>> Ranges<T> {
    /// Adds a range that is inside the last one or behind it.
    fn extend(&mut self, first: T, last: T) {
        match self.0.last_mut() {
            Some((_, end)) if (*end).into().saturating_add(1) >= first.into() => *end = last.max(*end),
            _ => self.0.push((first, last)),
        }
    }

    fn covers(&self, first: T, last: T) -> bool {
        let after = self.0.partition_point(|range| range.0 <= first);
        after.checked_sub(1).and_then(|index| self.0.get(index)).is_some_and(|range| last <= range.1)
    }

    fn size(&self) -> u128 {
        self.0.iter().fold(0, |sum, range| sum.saturating_add(length(*range)))
    }

    fn in_common(&self, other: &Self) -> u128 {
        let (mut sum, mut others) = (0_u128, other.0.iter().copied().peekable());
        for (first, last) in self.0.iter().copied() {
            while let Some((other_first, other_last)) = others.peek().copied() {
                if other_first > last {
                    break;
                }
                if other_last >= first {
                    sum = sum.saturating_add(length((first.max(other_first), last.min(other_last))));
                }
                // It may reach into the next range, too.
                if other_last > last {
                    break;
                }
                others.next();
            }
        }
        sum
    }
}

/// The number of addresses in a range.
fn length<T: Into<u128>>((first, last): (T, T)) -> u128 {
    last.into().saturating_sub(first.into()).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::prefix::parse_prefix;

    fn extent(prefixes: &[&str]) -> Extent {
        Extent::of_prefixes(prefixes.iter().map(|text| parse_prefix(text).unwrap()).collect())
    }

    #[test]
    fn addresses_in_nested_prefixes_count_once() {
        let nested = extent(&["10.1.0.0/16", "10.0.0.0/8", "10.1.2.3", "192.0.2.0/25", "192.0.2.128/25"]);
        assert_eq!((nested.prefixes(), nested.v4(), nested.v6()), (5, (1 << 24) + 256, 0));
        assert_eq!(extent(&["0.0.0.0/0", "255.255.255.255"]).v4(), 1 << 32);
        assert_eq!(extent(&["::/0", "2001:db8::1"]).v6(), u128::MAX);
        assert_eq!(extent(&["2001:db8::/32"]).v6(), 1 << 96);
        let global = (0x2000 << 112, (0x4000 << 112) - 1);
        assert_eq!(extent(&["::/0"]).v6_between(global.0, global.1), 1 << 125);
        assert_eq!(extent(&["fe80::/10"]).v6_between(global.0, global.1), 0);
    }

    #[test]
    fn what_two_feeds_have_in_common_is_counted_by_family() {
        let one = extent(&["10.0.0.0/24", "10.0.2.0/24", "10.0.9.0/24", "2001:db8::/32"]);
        let other = extent(&["10.0.0.0/22", "10.0.9.0/24", "2001:db8:1::/48"]);
        let common = Common { prefixes: 1, v4: 768, v6: 1 << 80 };
        assert_eq!((one.in_common(&other), other.in_common(&one)), (common, common));
        assert_eq!(one.in_common(&Extent::default()), Common { prefixes: 0, v4: 0, v6: 0 });
        assert!(!one.has_the_prefixes_of(&other) && one.has_the_prefixes_of(&one));
    }

    #[test]
    fn a_prefix_is_covered_by_others_together() {
        let halves = extent(&["10.0.0.0/9", "10.128.0.0/9", "255.255.255.255", "::/1", "8000::/1"]);
        let is_covered = |text: &str| halves.covers(parse_prefix(text).unwrap());
        assert_eq!(["10.0.0.0/8", "10.9.0.0/16", "::/0", "255.255.255.255"].map(is_covered), [true; 4]);
        assert_eq!(["10.0.0.0/7", "11.0.0.0/32", "9.255.255.255", "0.0.0.0/0"].map(is_covered), [false; 4]);
        assert!(!Extent::default().covers(parse_prefix("10.0.0.1").unwrap()));
    }
}
