//! From an address to its autonomous system.
//!
//! Prefixes are laid out flat and sorted, each with the system that counts from its start on as long as the leading bits are
//! the same. So a gap costs nothing, and what is left of a prefix after one within it is one more entry. An entry of IPv4
//! takes 6 bytes, since those with the same first 16 bits are found by an index; one of IPv6 takes 12.
//!
//! ```text
//! words 0 to 2 numbers of entries of IPv4 and of IPv6, and of systems
//! if IPv4      65,537 positions: where the entries of each first half begin
//!              second halves of their starts, two to a word
//!              their bits and systems: the number of leading bits in 8 bits, the place of the system in 24
//! then IPv6    the first 32 bits of starts, the next 32 bits, bits and systems
//! then         the numbers of the systems; where their names end, in 29 bits, and above these their kinds
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::feed::AsKind;

/// The number of bits of the place of a system.
pub(super) const PLACE_BITS: u32 = 24;
/// The number of different first halves of IPv4 addresses.
pub(super) const HALVES: usize = 1 << 16;

/// An autonomous system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemInfo<'r> {
    /// Its number.
    pub asn: u32,
    /// Its name: printable, without quotes and backslashes.
    pub name: Option<&'r str>,
    /// Its kind.
    pub kind: Option<AsKind>,
}

/// Which system announces an address.
#[derive(Debug, Default)]
pub(crate) struct SystemTable {
    words: Vec<u32>,
    /// The names of all systems, one after the other.
    names: Box<str>,
}

/// The parts of the words.
struct Parts<'t> {
    index: &'t [u32],
    lows: &'t [u32],
    ends_v4: &'t [u32],
    high: &'t [u32],
    low: &'t [u32],
    ends_v6: &'t [u32],
    asns: &'t [u32],
    ends_of_names: &'t [u32],
}

impl<'t> Parts<'t> {
    fn of(words: &'t [u32]) -> Option<Self> {
        let (&[v4, v6, systems], rest) = words.split_first_chunk()?;
        let [v4, v6, systems] = [v4, v6, systems].map(|count| count as usize);
        let (index, rest) = rest.split_at_checked(if v4 == 0 { 0 } else { HALVES + 1 })?;
        let (lows, rest) = rest.split_at_checked(v4.div_ceil(2))?;
        let (ends_v4, rest) = rest.split_at_checked(v4)?;
        let (high, rest) = rest.split_at_checked(v6)?;
        let (low, rest) = rest.split_at_checked(v6)?;
        let (ends_v6, rest) = rest.split_at_checked(v6)?;
        let (asns, ends_of_names) = rest.split_at_checked(systems)?;
        let is_whole = ends_of_names.len() == systems;
        is_whole.then_some(Self { index, lows, ends_v4, high, low, ends_v6, asns, ends_of_names })
    }

    /// The second half of the start of an entry of IPv4.
    fn low_of(&self, place: usize) -> Option<u32> {
        let word = self.lows.get(place / 2)?;
        Some(if place.is_multiple_of(2) { word & 0xffff } else { word >> 16 })
    }

    /// The start of an entry of IPv6.
    fn start_v6(&self, place: usize) -> Option<u64> {
        Some(u64::from(*self.high.get(place)?) << 32 | u64::from(*self.low.get(place)?))
    }

    fn v4(&self, bits: u32) -> Option<u32> {
        let half = usize::try_from(bits >> 16).ok()?;
        let [from, to] = *self.index.get(half..)?.first_chunk()?;
        let wanted = u64::from(bits & 0xffff);
        let range = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
        let place = last_up_to(range, wanted, |place| self.low_of(place).map(u64::from))?;
        let start = u64::from(self.low_of(place)?);
        place_if_in(wanted, start, 16, *self.ends_v4.get(place)?)
    }

    fn v6(&self, bits: u64) -> Option<u32> {
        let place = last_up_to((0, self.high.len()), bits, |place| self.start_v6(place))?;
        place_if_in(bits, self.start_v6(place)?, 64, *self.ends_v6.get(place)?)
    }

    /// The system at a place.
    fn system<'n>(&self, place: u32, names: &'n str) -> Option<SystemInfo<'n>> {
        let place = usize::try_from(place).ok()?;
        let end = *self.ends_of_names.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.ends_of_names.get(before));
        let range = before.map_or(0, |before| before & END_MASK) as usize..(end & END_MASK) as usize;
        let kind = (end >> END_BITS).checked_sub(1).and_then(|kind| AsKind::ALL.get(kind as usize)).copied();
        let name = names.get(range)?;
        Some(SystemInfo {
            asn: *self.asns.get(place)?,
            name: Some(name).filter(|name| !name.is_empty()),
            kind,
        })
    }
}

/// The number of bits of the end of a name. There are 16 million systems at most, and few have long names.
pub(super) const END_BITS: u32 = 29;
pub(super) const END_MASK: u32 = (1 << END_BITS) - 1;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;

/// The place of the last entry that starts at `wanted` or before.
fn last_up_to(
    (mut from, to): (usize, usize),
    wanted: u64,
    start: impl Fn(usize) -> Option<u64>,
) -> Option<usize> {
    let (first, mut end) = (from, to);
    while from < end {
        let middle = from + (end - from) / 2;
        if start(middle)? <= wanted {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    from.checked_sub(1).filter(|place| *place >= first)
}

/// The place of the system of an entry, if an address shares the leading bits with its start.
fn place_if_in(wanted: u64, start: u64, width: u32, end: u32) -> Option<u32> {
    let others = width.saturating_sub(end >> PLACE_BITS);
    let differing = (wanted ^ start).checked_shr(others).unwrap_or(0);
    (differing == 0).then_some(end & PLACE_MASK)
}

impl SystemTable {
    #[cfg(not(target_family = "wasm"))]
    pub(super) fn new(words: Vec<u32>, names: Box<str>) -> Self {
        Self { words, names }
    }

    /// A table from its parts as they were stored; `None` if their lengths do not fit. As with the prefix table, positions are
    /// checked by the lookups that follow them.
    pub(crate) fn load(words: Vec<u32>, names: Box<str>) -> Option<Self> {
        (words.is_empty() || Parts::of(&words).is_some()).then_some(Self { words, names })
    }

    /// The parts, for [`Self::load`].
    pub(crate) fn parts(&self) -> (&[u32], &str) {
        (&self.words, &self.names)
    }

    /// The system that announces an address.
    pub(crate) fn find(&self, address: IpAddr) -> Option<SystemInfo<'_>> {
        let parts = Parts::of(&self.words)?;
        let place = match address.to_canonical() {
            IpAddr::V4(v4) => parts.v4(v4.to_bits()),
            IpAddr::V6(v6) => parts.v6((v6.to_bits() >> 64) as u64),
        };
        parts.system(place?, &self.names)
    }
}
