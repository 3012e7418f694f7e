//! The prefixes of a feed with their values, in little memory: 8 bytes for a prefix of IPv4, 20 for one of IPv6.

use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The first address, its most significant word first; then the length in 8 bits and the value in 24. So entries are in the
/// order of their prefixes.
type V4 = [u32; 2];
type V6 = [u32; 5];

/// The number of bits of a value.
const VALUE_BITS: u32 = 24;

/// The largest number of values.
pub(crate) const MOST_VALUES: u32 = 1 << VALUE_BITS;

/// The bit of a place that stands for IPv6.
const OF_V6: u32 = 1 << 31;

/// Prefixes with values. IPv4 comes before IPv6.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    v4: Vec<V4>,
    v6: Vec<V6>,
}

/// The place of an entry, until the entries are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u32);

impl Entries {
    /// Room for as many prefixes of IPv4.
    pub(crate) fn with_capacity(v4: usize) -> Self {
        Self { v4: Vec::with_capacity(v4), v6: Vec::new() }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The prefixes with their values: all of IPv4, then all of IPv6.
    pub fn iter(&self) -> impl Iterator<Item = (IpNet, u32)> {
        let v4 = self.v4.iter().map(|entry| (IpNet::V4(v4_net(*entry)), value(entry[1])));
        v4.chain(self.v6.iter().map(|entry| (IpNet::V6(v6_net(*entry)), value(entry[4]))))
    }

    /// The first and the last address of each prefix of IPv4, with its value.
    pub(crate) fn v4(&self) -> impl Iterator<Item = (Range, u32)> {
        self.v4.iter().map(|entry| {
            let net = v4_net(*entry);
            ((net.network().to_bits().into(), net.broadcast().to_bits().into()), value(entry[1]))
        })
    }

    /// The same of IPv6.
    pub(crate) fn v6(&self) -> impl Iterator<Item = (Range, u32)> {
        self.v6.iter().map(|entry| {
            let net = v6_net(*entry);
            ((net.network().to_bits(), net.broadcast().to_bits()), value(entry[4]))
        })
    }

    /// Adds an entry. `None` if there are too many, or if the value is too large.
    pub(crate) fn push(&mut self, prefix: IpNet, value: u32) -> Option<Place> {
        if value >= MOST_VALUES {
            return None;
        }
        let (index, bit) = match prefix {
            IpNet::V4(_) => (self.v4.len(), 0),
            IpNet::V6(_) => (self.v6.len(), OF_V6),
        };
        let index = u32::try_from(index).ok().filter(|index| *index < OF_V6)?;
        let last = u32::from(prefix.prefix_len()) << VALUE_BITS | value;
        match prefix {
            IpNet::V4(net) => self.v4.push([net.network().to_bits(), last]),
            IpNet::V6(net) => {
                let bits = net.network().to_bits();
                let [a, b, c, d] = [96, 64, 32, 0].map(|shift| (bits >> shift) as u32);
                self.v6.push([a, b, c, d, last]);
            }
        }
        Some(Place(index | bit))
    }

    /// The places of all entries.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        let places = |count: usize, bit: u32| (0..count).map(move |index| Place(index as u32 | bit));
        places(self.v4.len(), 0).chain(places(self.v6.len(), OF_V6))
    }

    /// The entry at a place.
    pub(crate) fn get(&self, place: Place) -> Option<(IpNet, u32)> {
        let index = (place.0 & !OF_V6) as usize;
        if place.0 & OF_V6 == 0 {
            let entry = self.v4.get(index)?;
            Some((IpNet::V4(v4_net(*entry)), value(entry[1])))
        } else {
            let entry = self.v6.get(index)?;
            Some((IpNet::V6(v6_net(*entry)), value(entry[4])))
        }
    }

    /// Gives the entry at a place another value. `None` as for [`Self::push`], and if there is none.
    pub(crate) fn set_value(&mut self, place: Place, value: u32) -> Option<()> {
        let index = (place.0 & !OF_V6) as usize;
        let last = match place.0 & OF_V6 {
            0 => self.v4.get_mut(index)?.last_mut()?,
            _ => self.v6.get_mut(index)?.last_mut()?,
        };
        let value = Some(value).filter(|value| *value < MOST_VALUES)?;
        *last = *last & !(MOST_VALUES - 1) | value;
        Some(())
    }

    /// Puts them into the order of their prefixes, in no more memory than they need. Places are no longer valid.
    pub(crate) fn sort(&mut self) {
        self.v4.sort_unstable();
        self.v6.sort_unstable();
        self.v4.shrink_to_fit();
        self.v6.shrink_to_fit();
    }
}

impl<'e> FromIterator<&'e (IpNet, u32)> for Entries {
    fn from_iter<I: IntoIterator<Item = &'e (IpNet, u32)>>(list: I) -> Self {
        let mut entries = Self::default();
        for (prefix, value) in list {
            entries.push(*prefix, *value);
        }
        entries.sort();
        entries
    }
}

/// A first and a last address.
pub(crate) type Range = (u128, u128);

fn value(last: u32) -> u32 {
    last & (MOST_VALUES - 1)
}

fn length(last: u32) -> u8 {
    (last >> VALUE_BITS) as u8
}

// The lengths are those of prefixes, so the defaults are never used.
fn v4_net([first, last]: V4) -> Ipv4Net {
    Ipv4Net::new(Ipv4Addr::from_bits(first), length(last)).unwrap_or_default()
}

fn v6_net([a, b, c, d, last]: V6) -> Ipv6Net {
    let bits = [a, b, c, d].into_iter().fold(0, |bits, word| bits << 32 | u128::from(word));
    Ipv6Net::new(Ipv6Addr::from_bits(bits), length(last)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::prefix::parse_prefix;

    #[test]
    fn entries_come_in_the_order_of_their_prefixes() {
        let texts = [
            "2001:db8::/32",
            "10.0.0.0/8",
            "::/0",
            "10.0.0.0/16",
            "0.0.0.0/0",
            "255.255.255.255/32",
            "::1/128",
        ];
        let list: Vec<(IpNet, u32)> =
            texts.iter().zip(MOST_VALUES - 7..).map(|(text, n)| (parse_prefix(text).unwrap(), n)).collect();
        let mut sorted = list.clone();
        sorted.sort();
        let entries: Entries = list.iter().collect();
        assert_eq!((entries.iter().collect::<Vec<_>>(), entries.len()), (sorted, 7));
        let ranges: Vec<_> = entries.v4().map(|(range, _)| range).collect();
        assert_eq!(ranges[..2], [(0, u32::MAX.into()), (10 << 24, (11 << 24) - 1)]);
        assert_eq!(entries.v6().next().unwrap().0, (0, u128::MAX));
    }

    #[test]
    fn places_hold_until_the_entries_are_sorted() {
        let mut entries = Entries::default();
        for text in ["2001:db8::/32", "10.0.0.0/8", "9.0.0.0/8"] {
            let prefix = parse_prefix(text).unwrap();
            let place = entries.push(prefix, 5).unwrap();
            assert_eq!(entries.get(place), Some((prefix, 5)));
            assert_eq!(entries.set_value(place, 7), Some(()));
            assert_eq!(entries.get(place), Some((prefix, 7)));
            assert_eq!(entries.set_value(place, MOST_VALUES), None);
            assert_eq!(entries.push(prefix, MOST_VALUES), None);
        }
        assert_eq!((entries.get(Place(2)), entries.get(Place(OF_V6 | 1))), (None, None));
    }
}
