//! The words of a text, found 64 bytes at a time without a branch for each byte.

use core::ops::Range;

use crate::octets::filled_up;

/// Bytes that a mask covers.
const BLOCK: usize = 64;

/// Most parts that have to be read are shorter: to cover them takes half as long.
const HALF: usize = BLOCK / 2;

/// Returns true if a word goes on with this byte. A byte of 0x80 and above counts as a letter, since in a User-Agent it
/// is part of one (UTF-8, Latin-1).
pub(super) const fn continues_word(byte: u8) -> bool {
    // No table and no branch: the compiler turns these comparisons into vector instructions.
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'-')
        | (byte == b'_')
        | (byte >= 0x80)
}

/// A longest run of bytes for which [`continues_word`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The start in the text.
    pub(super) start: usize,
    pub(super) length: usize,
}

impl Word {
    pub(super) fn end(self) -> usize {
        self.start + self.length
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start..self.end()
    }
}

/// The words in a part of the text that have at least so many bytes, from first to last. A word ends where the part does.
#[inline]
pub(super) fn words(text: &[u8], part: Range<usize>, shortest: usize) -> impl Iterator<Item = Word> {
    let text = text.get(..part.end).unwrap_or_default();
    Words { text, block: part.start, next_block: part.start, bits: 0, starts: 0, shortest }
}

/// An iterator over words.
struct Words<'t> {
    text: &'t [u8],
    /// The starts of the current block in the text, and of the next one.
    block: usize,
    next_block: usize,
    /// The bytes of words in the block.
    bits: u64,
    /// The starts of words in it that have not been returned.
    starts: u64,
    shortest: usize,
}

impl Words<'_> {
    /// Goes on to the next block, if there is one. No word goes on from the block before.
    #[inline(always)]
    fn advance(&mut self) -> Option<()> {
        self.block = self.next_block;
        let rest = self.text.get(self.block..).filter(|rest| !rest.is_empty())?;
        self.next_block += BLOCK;
        self.bits = match (rest.first_chunk(), self.text.last_chunk(), self.text.last_chunk()) {
            (Some(block), ..) => mask::<BLOCK>(block),
            (None, Some(last), _) if rest.len() <= HALF => mask::<HALF>(last) >> (HALF - rest.len()),
            (None, _, Some(last)) => mask::<BLOCK>(last) >> (BLOCK - rest.len()),
            _ => mask::<BLOCK>(&filled_up(rest, b' ')),
        };
        self.starts = self.bits & !(self.bits << 1);
        // Leaves out words of one or two bytes, but for those at the end, which may go on in the next block.
        if self.shortest > 2 {
            let beyond = 1 << (BLOCK - 1);
            let goes_on = self.bits >> 1 | beyond;
            self.starts &= goes_on & (goes_on >> 1 | beyond);
        }
        Some(())
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    // A loop over words keeps its state in registers where this is inlined.
    #[inline(always)]
    fn next(&mut self) -> Option<Word> {
        loop {
            while self.starts == 0 {
                self.advance()?;
            }
            let first = self.starts.trailing_zeros() as usize;
            self.starts &= self.starts - 1;
            let mut length = (self.bits >> first).trailing_ones() as usize;
            if first + length == BLOCK {
                // The next block starts with this word, which may go on there, or where this word ends.
                self.next_block = self.block + first;
                if first > 0 {
                    continue;
                }
                length += rest_of_word(self.text, self.block + BLOCK);
                self.next_block += length;
            }
            if length >= self.shortest {
                return Some(Word { start: self.block + first, length });
            }
        }
    }
}

/// The number of bytes of a word beyond the block before this place.
// Not a method: an iterator to which nothing refers stays in registers.
#[cold]
fn rest_of_word(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    rest.iter().take_while(|byte| continues_word(**byte)).count()
}

/// Bit `n` says whether byte `n` of the block continues a word. The loops are simple enough for the compiler to turn
/// them into vector instructions where the target has some.
#[inline(never)]
fn mask<const SIZE: usize>(block: &[u8; SIZE]) -> u64 {
    let flags = block.map(|byte| u8::from(continues_word(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        // Gathers the lowest bits of eight bytes in the highest byte of the product.
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}
