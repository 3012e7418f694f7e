//! The meaning of a word of the trie, and the way down.
//!
//! A word is `kind` (2 bits), `size` (4 bits) and `offset` (26 bits: the position of another word). `size` is
//!
//! - of a match set: see [`super::match_set`];
//! - of a bitmap node: 0;
//! - of a node of ranges: the number of starts less one, and [`MAX_STARTS`] more where it takes half of the bits;
//! - of a direct node: the number of bits that it takes, less one.

use super::key::{Key, MAX_ROOT_BITS};
use super::{MAX_WORDS, TableError};

pub(super) const SET: u32 = 0;
pub(super) const BITMAP: u32 = 1;
pub(super) const RANGES: u32 = 2;
pub(super) const DIRECT: u32 = 3;

/// Bits of an address that a bitmap node takes: it has a bit for each value of them.
pub(super) const BITMAP_BITS: u32 = 6;

/// Words of a bitmap node before those of its runs.
pub(super) const BITMAP_WORDS: usize = 2;

/// Bits of an address that a node of ranges takes; of IPv4, whatever remains.
pub(super) const RANGES_BITS: u32 = 32;

/// Starts of a node of ranges: few enough to compare with all of them, which needs no branch to predict.
pub(super) const MAX_STARTS: usize = 8;

/// Bits that a node of ranges takes where it would have too many of them with [`RANGES_BITS`].
pub(super) const SHORT_RANGES_BITS: u32 = RANGES_BITS / 2;

/// The most bits that a direct node takes.
pub(super) const MAX_DIRECT_BITS: u32 = 16;

/// The greatest `size` that a word can hold.
pub(super) const MAX_SIZE: usize = 15;

const SIZE_SHIFT: u32 = 26;
const KIND_SHIFT: u32 = 30;
const OFFSET_MASK: u32 = (1 << SIZE_SHIFT) - 1;

/// More levels than a table of ours has: each takes 6 bits or more, but the last.
const MAX_LEVELS: usize = 24;

/// The beginning of the trie of an address family: a direct node with its own limit for the bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) offset: u32,
    pub(super) bits: u32,
}

impl Root {
    /// All words of the root are among these.
    pub(super) fn fits(self, words: &[u32]) -> bool {
        self.bits <= MAX_ROOT_BITS && (self.offset as usize).saturating_add(1 << self.bits) <= words.len()
    }
}

/// A word that refers to `offset`.
pub(super) fn word(kind: u32, size: usize, offset: usize) -> Result<u32, TableError> {
    if offset >= MAX_WORDS || size > MAX_SIZE {
        return Err(TableError::TooLarge);
    }
    Ok(kind << KIND_SHIFT | (size as u32) << SIZE_SHIFT | offset as u32)
}

/// The size in the word of a node of ranges.
pub(super) fn ranges_size(starts: usize, stride: u32) -> usize {
    starts - 1 + if stride == RANGES_BITS { 0 } else { MAX_STARTS }
}

/// The position that a word refers to.
#[inline]
pub(super) fn offset(word: u32) -> usize {
    (word & OFFSET_MASK) as usize
}

/// The size of the thing that a word refers to.
#[inline]
pub(super) fn size(word: u32) -> usize {
    (word >> SIZE_SHIFT) as usize & MAX_SIZE
}

/// The word of the root for an address.
#[inline]
pub(super) fn at_root<K: Key>(words: &[u32], root: Root, address: K) -> Option<u32> {
    words.get(root.offset as usize + address.leading(root.bits) as usize).copied()
}

/// The word of the match set of an address, from that of the root on; `None` when the words are damaged.
#[inline]
pub(super) fn find<K: Key>(words: &[u32], root: Root, mut word: u32, address: K) -> Option<u32> {
    let mut rest = address.without_few(root.bits);
    for _ in 0..MAX_LEVELS {
        let node = words.get(offset(word)..)?;
        match word >> KIND_SHIFT {
            SET => return Some(word),
            BITMAP => {
                let [low, high, ..] = *node else { return None };
                // A bit is set where a run begins, so the runs that begin at this cell or before it are counted.
                // The first cell's bit is always set.
                let cell = rest.leading(BITMAP_BITS) as u32;
                let run_starts = u64::from(high) << 32 | u64::from(low);
                let runs = (run_starts << (63 - cell)).count_ones() as usize;
                word = *node.get(BITMAP_WORDS - 1 + runs)?;
                rest = rest.without_few(BITMAP_BITS);
            }
            RANGES => {
                let starts = size(word) % MAX_STARTS + 1;
                let stride = RANGES_BITS >> (size(word) / MAX_STARTS);
                let candidates: &[u32; MAX_STARTS] = node.first_chunk()?;
                let here = rest.leading(stride) as u32;
                // A bit for each start after the address. Words behind the starts are read, too; the bit set for
                // the first of them hides theirs.
                let later =
                    candidates.iter().rev().fold(0, |bits, start| bits << 1 | u32::from(*start > here));
                let range = (later | 1 << starts).trailing_zeros() as usize;
                word = *node.get(starts + range)?;
                rest = rest.without_few(stride);
            }
            _ => {
                let bits = size(word) as u32 + 1;
                word = *node.get(rest.leading(bits) as usize)?;
                rest = rest.without_few(bits);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_its_bounds_and_nothing_beyond() {
        assert_eq!(word(1, MAX_SIZE, MAX_WORDS - 1).map(offset), Ok(MAX_WORDS - 1));
        assert_eq!(word(1, MAX_SIZE, MAX_WORDS), Err(TableError::TooLarge));
        assert_eq!(word(1, MAX_SIZE + 1, 0), Err(TableError::TooLarge));
    }
}
