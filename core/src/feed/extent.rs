//! The part of the address space that a feed covers, and what two feeds have in common.
//!
//! Nothing is kept beside the entries, which are in order: ranges of addresses are made while they are counted.

use alloc::vec::Vec;

use ipnet::IpNet;

use crate::feed::Feed;
use crate::feed::entries::{Entries, Range};

/// The addresses that a feed covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent<'f>(&'f Entries);

impl<'f> Extent<'f> {
    /// The extent of all of a feed.
    pub(crate) fn of(feed: &'f Feed) -> Self {
        Self(&feed.entries)
    }

    /// The number of prefixes.
    pub(crate) fn prefixes(self) -> usize {
        self.0.len()
    }

    /// Returns true if it has the same prefixes as another one.
    pub(crate) fn has_the_prefixes_of(self, other: Extent<'_>) -> bool {
        let prefixes = |entries: &'_ Entries| entries.len();
        prefixes(self.0) == prefixes(other.0)
            && self.0.iter().map(|(prefix, _)| prefix).eq(other.0.iter().map(|(prefix, _)| prefix))
    }

    /// The number of IPv4 addresses.
    pub(crate) fn v4(self) -> u128 {
        size(self.v4_ranges())
    }

    /// The number of IPv6 addresses, at most [`u128::MAX`].
    pub(crate) fn v6(self) -> u128 {
        size(self.v6_ranges())
    }

    fn v4_ranges(self) -> impl Iterator<Item = Range> {
        united(self.0.v4().map(|(range, _)| range))
    }

    fn v6_ranges(self) -> impl Iterator<Item = Range> {
        united(self.0.v6().map(|(range, _)| range))
    }

    /// The intersection of this extent and another one.
    pub(crate) fn in_common(self, other: Extent<'_>) -> Common {
        Common {
            prefixes: common_prefixes(self.0, other.0).count(),
            v4: common_size(self.v4_ranges(), other.v4_ranges()),
            v6: common_size(self.v6_ranges(), other.v6_ranges()),
        }
    }
}

/// The prefixes that two lists have in common, with the values that both give them.
pub(crate) fn common_prefixes(one: &Entries, other: &Entries) -> impl Iterator<Item = (IpNet, u32, u32)> {
    let mut others = other.iter().peekable();
    one.iter().filter_map(move |(prefix, value)| {
        while others.next_if(|(other, _)| *other < prefix).is_some() {}
        others.next_if(|(other, _)| *other == prefix).map(|(_, other)| (prefix, value, other))
    })
}

/// The intersection of two feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    pub(crate) prefixes: usize,
    pub(crate) v4: u128,
    pub(crate) v6: u128,
}

/// Addresses that lie in at least one of some prefixes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    v4: Vec<Range>,
    v6: Vec<Range>,
}

impl Coverage {
    pub(crate) fn of_prefixes(prefixes: impl Iterator<Item = IpNet>) -> Self {
        let mut entries = Entries::default();
        for prefix in prefixes {
            entries.push(prefix, 0);
        }
        entries.sort();
        let extent = Extent(&entries);
        Self { v4: extent.v4_ranges().collect(), v6: extent.v6_ranges().collect() }
    }

    /// Returns true if all addresses of a prefix are in it.
    pub(crate) fn covers(&self, prefix: IpNet) -> bool {
        let (ranges, (first, last)) = match prefix {
            IpNet::V4(net) => (&self.v4, (net.network().to_bits().into(), net.broadcast().to_bits().into())),
            IpNet::V6(net) => (&self.v6, (net.network().to_bits(), net.broadcast().to_bits())),
        };
        let after = ranges.partition_point(|range| range.0 <= first);
        after.checked_sub(1).and_then(|index| ranges.get(index)).is_some_and(|range| last <= range.1)
    }
}

/// Ranges that are in the order of their first addresses, without overlaps; those that touch are one.
pub(crate) fn united(ranges: impl Iterator<Item = Range>) -> impl Iterator<Item = Range> {
    let mut ranges = ranges.peekable();
    core::iter::from_fn(move || {
        let (first, mut last) = ranges.next()?;
        while let Some((_, end)) = ranges.next_if(|next| next.0 <= last.saturating_add(1)) {
            last = last.max(end);
        }
        Some((first, last))
    })
}

/// The number of addresses in ranges without overlaps, at most [`u128::MAX`].
pub(crate) fn size(ranges: impl Iterator<Item = Range>) -> u128 {
    ranges.fold(0, |sum, range| sum.saturating_add(length(range)))
}

/// The number of addresses that are in ranges of both lists.
pub(crate) fn common_size(one: impl Iterator<Item = Range>, others: impl Iterator<Item = Range>) -> u128 {
    let (mut sum, mut others) = (0_u128, others.peekable());
    for (first, last) in one {
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

/// The number of addresses in a range.
fn length((first, last): Range) -> u128 {
    last.saturating_sub(first).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::prefix::parse_prefix;

    fn entries(prefixes: &[&str]) -> Entries {
        prefixes.iter().map(|text| (parse_prefix(text).unwrap(), 0)).collect::<Vec<_>>().iter().collect()
    }

    #[test]
    fn addresses_in_nested_prefixes_count_once() {
        let nested = entries(&["10.1.0.0/16", "10.0.0.0/8", "10.1.2.3", "192.0.2.0/25", "192.0.2.128/25"]);
        let nested = Extent(&nested);
        assert_eq!((nested.prefixes(), nested.v4(), nested.v6()), (5, (1 << 24) + 256, 0));
        assert_eq!(Extent(&entries(&["0.0.0.0/0", "255.255.255.255"])).v4(), 1 << 32);
        assert_eq!(Extent(&entries(&["::/0", "2001:db8::1"])).v6(), u128::MAX);
        assert_eq!(Extent(&entries(&["2001:db8::/32"])).v6(), 1 << 96);
    }

    #[test]
    fn what_two_feeds_have_in_common_is_counted_by_family() {
        let one = entries(&["10.0.0.0/24", "10.0.2.0/24", "10.0.9.0/24", "2001:db8::/32"]);
        let other = entries(&["10.0.0.0/22", "10.0.9.0/24", "2001:db8:1::/48"]);
        let (one, other) = (Extent(&one), Extent(&other));
        let common = Common { prefixes: 1, v4: 768, v6: 1 << 80 };
        assert_eq!((one.in_common(other), other.in_common(one)), (common, common));
        let (last, none) = (entries(&["10.0.0.255", "10.0.2.0"]), Entries::default());
        assert_eq!(one.in_common(Extent(&last)), Common { prefixes: 0, v4: 2, v6: 0 });
        assert_eq!(one.in_common(Extent(&none)), Common { prefixes: 0, v4: 0, v6: 0 });
        assert!(!one.has_the_prefixes_of(other) && one.has_the_prefixes_of(one));
    }

    #[test]
    fn a_prefix_is_covered_by_others_together() {
        let halves = ["10.0.0.0/9", "10.128.0.0/9", "255.255.255.255", "::/1", "8000::/1"];
        let halves = Coverage::of_prefixes(halves.iter().map(|text| parse_prefix(text).unwrap()));
        let is_covered = |text: &str| halves.covers(parse_prefix(text).unwrap());
        assert_eq!(["10.0.0.0/8", "10.9.0.0/16", "::/0", "255.255.255.255"].map(is_covered), [true; 4]);
        assert_eq!(["10.0.0.0/7", "11.0.0.0/32", "9.255.255.255", "0.0.0.0/0"].map(is_covered), [false; 4]);
        assert!(!Coverage::default().covers(parse_prefix("10.0.0.1").unwrap()));
    }
}
