//! From an address to its autonomous system.
//!
//! Prefixes are laid out flat and sorted: at each address where the system changes there is an entry, which holds up to the
//! next one. Entries whose addresses begin with the same 16 bits (of IPv6, with the same 32 bits) are a block, and the first of them
//! is at its beginning. A block has first the rest of each other address, in half of its bytes if that is enough, then the values, in
//! two bytes or in three: 0 for no system, else the place of the system plus one. Frequent systems come first. So an entry of IPv4
//! takes 3 bytes as a rule, and one of IPv6 takes 4.
//!
//! ```text
//! words 0 to 3 numbers of blocks of IPv4 (65,536 or none) and of IPv6, of words of all blocks, and of systems
//! if IPv4      65,537 marks: where the block of each first half begins, in bytes, and in the upper two bits its shape
//! then IPv6    the first 32 bits of the addresses of each block; marks, one more than blocks, if there are any
//! then         the blocks, and an empty word
//! then         the numbers of the systems; where their names end, in 29 bits, and above these their kinds
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::feed::AsKind;

/// The mark of a block whose addresses have all bytes of their second half.
pub(super) const LONG_REST: u32 = 1 << 31;
/// The mark of a block whose values have three bytes.
pub(super) const LONG_VALUE: u32 = 1 << 30;
/// The bytes of all blocks are fewer.
pub(super) const PLACE_MASK: u32 = LONG_VALUE - 1;

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
    marks_v4: &'t [u32],
    high: &'t [u32],
    marks_v6: &'t [u32],
    blocks: &'t [u32],
    asns: &'t [u32],
    ends_of_names: &'t [u32],
}

impl<'t> Parts<'t> {
    fn of(words: &'t [u32]) -> Option<Self> {
        let (counts, rest) = words.split_first_chunk()?;
        let [v4, v6, blocks, systems] = counts.map(|count| count as usize);
        let marks = |blocks| if blocks == 0 { 0 } else { blocks + 1 };
        let (marks_v4, rest) = rest.split_at_checked(marks(v4))?;
        let (high, rest) = rest.split_at_checked(v6)?;
        let (marks_v6, rest) = rest.split_at_checked(marks(v6))?;
        let (blocks, rest) = rest.split_at_checked(blocks)?;
        let (asns, ends_of_names) = rest.split_at_checked(systems)?;
        let is_whole = ends_of_names.len() == systems;
        is_whole.then_some(Self { marks_v4, high, marks_v6, blocks, asns, ends_of_names })
    }

    /// A number of up to four bytes of the blocks.
    fn number(&self, at: usize, bytes: usize) -> Option<u64> {
        let &[first, second] = self.blocks.get(at / 4..)?.first_chunk()?;
        let bits = u64::from(second) << 32 | u64::from(first);
        Some(bits >> (at % 4 * 8) & ((1 << (bytes * 8)) - 1))
    }

    /// The value that counts at an address, by the rest of it: twice as many bytes as `half`.
    fn value(&self, marks: &[u32], block: usize, rest: u32, half: usize) -> Option<u64> {
        let &[mark, next] = marks.get(block..)?.first_chunk()?;
        let at = (mark & PLACE_MASK) as usize;
        let (rest, bytes) = if mark & LONG_REST == 0 { (rest >> (half * 8), half) } else { (rest, half * 2) };
        let bytes_of_value = if mark & LONG_VALUE == 0 { 2 } else { 3 };
        let length = ((next & PLACE_MASK) as usize).checked_sub(at)?;
        let rests = length.checked_sub(bytes_of_value)? / (bytes + bytes_of_value);
        let place = last_up_to(rests, rest.into(), |place| self.number(at + place * bytes, bytes));
        let place = place.map_or(0, |place| place + 1);
        self.number(at + rests * bytes + place * bytes_of_value, bytes_of_value)
    }

    fn v4(&self, bits: u32) -> Option<u64> {
        self.value(self.marks_v4, (bits >> 16) as usize, bits & 0xffff, 1)
    }

    fn v6(&self, bits: u64) -> Option<u64> {
        let (high, low) = ((bits >> 32) as u32, bits as u32);
        let start = |place| self.high.get(place).copied().map(u64::from);
        let block = last_up_to(self.high.len(), high.into(), start)?;
        // Behind the addresses of a block, its last entry holds.
        let low = if self.high.get(block) == Some(&high) { low } else { u32::MAX };
        self.value(self.marks_v6, block, low, 2)
    }

    /// The system at a place.
    fn system<'n>(&self, place: usize, names: &'n str) -> Option<SystemInfo<'n>> {
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

/// The place of the last of `count` sorted numbers that is `wanted` or less.
fn last_up_to(count: usize, wanted: u64, number: impl Fn(usize) -> Option<u64>) -> Option<usize> {
    let (mut from, mut end) = (0, count);
    while from < end {
        let middle = from + (end - from) / 2;
        if number(middle)? <= wanted {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    from.checked_sub(1)
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
        let value = match address.to_canonical() {
            IpAddr::V4(v4) => parts.v4(v4.to_bits()),
            IpAddr::V6(v6) => parts.v6((v6.to_bits() >> 64) as u64),
        };
        parts.system(usize::try_from(value?).ok()?.checked_sub(1)?, &self.names)
    }
}
