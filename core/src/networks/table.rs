//! From an address to its autonomous system.
//!
//! Prefixes are laid out flat and sorted, each with the system that counts from its start on as long as the leading bits are
//! the same. So a gap costs nothing, and what is left of a prefix after one within it is one more entry. An entry of IPv4
//! takes 6 bytes, since those with the same first 16 bits are found by an index; one of IPv6 takes 12.
//!
//! ```text
//! words 0, 1   numbers of entries of IPv4 and of IPv6
//! if IPv4      65,537 positions: where the entries of each first half begin
//!              second halves of their starts, two to a word
//!              their bits and systems: the number of leading bits in 8 bits, the place of the system in 24
//! then IPv6    the first 32 bits of starts, the next 32 bits, bits and systems
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::net::IpAddr;

use serde::{Deserialize, Serialize};

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

/// The systems that prefixes belong to. Those of a table of prefixes without names have none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Systems {
    /// By their places. The name of each ends at an offset in `names`, where that of the next one begins.
    pub(super) list: Vec<(u32, u32, Option<AsKind>)>,
    pub(super) names: Box<str>,
}

impl Systems {
    fn get(&self, place: usize) -> Option<SystemInfo<'_>> {
        let (asn, end, kind) = *self.list.get(place)?;
        let before = place.checked_sub(1).and_then(|before| self.list.get(before));
        let start = before.map_or(0, |(_, end, _)| *end);
        let name = self.names.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?;
        Some(SystemInfo { asn, name: Some(name).filter(|name| !name.is_empty()), kind })
    }

    /// Returns true if each name is a part of the text.
    fn is_sound(&self) -> bool {
        (0..self.list.len()).all(|place| self.get(place).is_some())
    }
}

/// Which system announces an address.
#[derive(Debug, Default)]
pub(crate) struct SystemTable {
    words: Vec<u32>,
    systems: Systems,
}

/// The parts of the words.
struct Parts<'t> {
    index: &'t [u32],
    lows: &'t [u32],
    ends_v4: &'t [u32],
    high: &'t [u32],
    low: &'t [u32],
    ends_v6: &'t [u32],
}

impl<'t> Parts<'t> {
    fn of(words: &'t [u32]) -> Option<Self> {
        let (&[v4, v6], rest) = words.split_first_chunk()?;
        let (v4, v6) = (usize::try_from(v4).ok()?, usize::try_from(v6).ok()?);
        let (index, rest) = rest.split_at_checked(if v4 == 0 { 0 } else { HALVES + 1 })?;
        let (lows, rest) = rest.split_at_checked(v4.div_ceil(2))?;
        let (ends_v4, rest) = rest.split_at_checked(v4)?;
        let (high, rest) = rest.split_at_checked(v6)?;
        let (low, rest) = rest.split_at_checked(v6)?;
        let (ends_v6, rest) = rest.split_at_checked(v6)?;
        rest.is_empty().then_some(Self { index, lows, ends_v4, high, low, ends_v6 })
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

    /// Returns true if what a lookup relies on holds: order, and places of systems that are there.
    fn is_sound(&self, systems: usize) -> bool {
        let entries = u32::try_from(self.ends_v4.len()).ok();
        let is_indexed = self.index.is_empty()
            || self.index.is_sorted()
                && self.index.first() == Some(&0)
                && self.index.last().copied() == entries;
        let is_ordered = (1..self.high.len()).all(|place| self.start_v6(place - 1) < self.start_v6(place));
        let halves = self.index.iter().zip(self.index.iter().skip(1));
        let are_ordered = halves.into_iter().all(|(from, to)| {
            let places = *from as usize + 1..*to as usize;
            places.into_iter().all(|place| self.low_of(place - 1) < self.low_of(place))
        });
        let mut ends = self.ends_v4.iter().chain(self.ends_v6);
        is_indexed && is_ordered && are_ordered && ends.all(|end| (end & PLACE_MASK) < systems as u32)
    }
}

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
    pub(super) fn new(words: Vec<u32>, systems: Systems) -> Self {
        Self { words, systems }
    }

    /// A table from its parts as they were stored; `None` if they do not fit each other.
    pub(crate) fn load(words: Vec<u32>, systems: Systems) -> Option<Self> {
        let is_sound = words.is_empty()
            || Parts::of(&words).is_some_and(|parts| parts.is_sound(systems.list.len()))
                && systems.is_sound();
        is_sound.then_some(Self { words, systems })
    }

    /// The parts, for [`Self::load`].
    pub(crate) fn parts(&self) -> (&[u32], &Systems) {
        (&self.words, &self.systems)
    }

    /// The system that announces an address.
    pub(crate) fn find(&self, address: IpAddr) -> Option<SystemInfo<'_>> {
        let parts = Parts::of(&self.words)?;
        let place = match address.to_canonical() {
            IpAddr::V4(v4) => parts.v4(v4.to_bits()),
            IpAddr::V6(v6) => parts.v6((v6.to_bits() >> 64) as u64),
        };
        self.systems.get(usize::try_from(place?).ok()?)
    }
}
