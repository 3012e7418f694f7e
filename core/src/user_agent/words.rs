//! The words of a text, found 64 bytes at a time without a branch for each byte.

use core::ops::Range;

/// Bytes that a mask covers.
const BLOCK: usize = 64;

/// Whether a word goes on with this byte. A byte of 0x80 and above counts as a letter, since in a User-Agent it is
/// part of one (UTF-8, Latin-1).
pub(super) const fn continues_word(byte: u8) -> bool {
    // No table and no branch: the compiler turns these comparisons into vector instructions.
    ((byte | 0x20).wrapping_sub(b'a') < 26)
        | (byte.wrapping_sub(b'0') < 10)
        | (byte == b'-')
        | (byte == b'_')
        | (byte >= 0x80)
}

/// Every longest run of bytes for which [`continues_word`] holds, from first to last.
pub(super) fn words(text: &[u8]) -> Words<'_> {
    Words { rest: text, base: 0, next_base: 0, bits: 0 }
}

/// See [`words`].
pub(super) struct Words<'t> {
    /// What no mask has been made of yet.
    rest: &'t [u8],
    /// Where the block of `bits` begins in the text, and where the next block does.
    base: usize,
    next_base: usize,
    /// The bytes of words in the block, without the words that have been returned.
    bits: u64,
}

impl Words<'_> {
    /// Makes the mask of the next block.
    #[inline]
    fn advance(&mut self) -> Option<()> {
        self.base = self.next_base;
        if let Some((block, rest)) = self.rest.split_first_chunk() {
            self.bits = mask(block);
            self.rest = rest;
            self.next_base += BLOCK;
            return Some(());
        }
        if self.rest.is_empty() {
            return None;
        }
        let mut block = [b' '; BLOCK];
        block.get_mut(..self.rest.len())?.copy_from_slice(self.rest);
        self.bits = mask(&block);
        self.next_base += self.rest.len();
        self.rest = &[];
        Some(())
    }

    /// Removes the run that begins at the lowest bit that is set, and returns its length.
    #[inline]
    fn take_run(&mut self, first: u32) -> usize {
        let run = (self.bits >> first).trailing_ones();
        // The sum carries through the run and clears it.
        self.bits &= self.bits.wrapping_add(1 << first);
        run as usize
    }
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        while self.bits == 0 {
            self.advance()?;
        }
        let first = self.bits.trailing_zeros();
        let start = self.base + first as usize;
        let mut end = start + self.take_run(first);
        // A word at the end of its block may go on in the next ones.
        while end == self.base + BLOCK && self.advance().is_some() && self.bits & 1 != 0 {
            end += self.take_run(0);
        }
        Some(start..end)
    }
}

/// Bit `n` says whether byte `n` of the block continues a word. The loops are simple enough for the compiler to turn
/// them into vector instructions where the target has some.
#[inline]
fn mask(block: &[u8; BLOCK]) -> u64 {
    let flags = block.map(|byte| u8::from(continues_word(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        // Gathers the lowest bits of eight bytes in the highest byte of the product.
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}
