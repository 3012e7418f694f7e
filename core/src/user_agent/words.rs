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

/// A longest run of bytes for which [`continues_word`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it starts in the text.
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
    let mut is_in_word = false;
    let blocks = part.step_by(BLOCK).flat_map(move |base| {
        let block = Block::new(text, base, is_in_word, shortest);
        is_in_word = block.bits >> (BLOCK - 1) != 0;
        block
    });
    blocks.filter(move |word| word.length >= shortest)
}

/// The words that start in a block.
struct Block<'t> {
    text: &'t [u8],
    /// Where the block starts in the text.
    base: usize,
    /// The bytes of words.
    bits: u64,
    /// Where words start that have not been returned.
    starts: u64,
}

impl<'t> Block<'t> {
    /// The block that starts here. `is_in_word` says that a word may go on from the block before.
    fn new(text: &'t [u8], base: usize, is_in_word: bool, shortest: usize) -> Self {
        let rest = text.get(base..).unwrap_or_default();
        let bits = match rest.first_chunk() {
            Some(block) => mask(block),
            None => mask(&filled_up(rest)),
        };
        let mut starts = bits & !(bits << 1 | u64::from(is_in_word));
        // Leaves out short words, but for those at the end, which may go on in the next block.
        for length in 1..shortest.min(4) {
            starts &= bits >> length | u64::MAX << (BLOCK - length);
        }
        Self { text, base, bits, starts }
    }

    /// How many bytes of a word are beyond the block.
    #[cold]
    fn rest_of_word(&self) -> usize {
        let rest = self.text.get(self.base + BLOCK..).unwrap_or_default();
        rest.iter().take_while(|byte| continues_word(**byte)).count()
    }
}

impl Iterator for Block<'_> {
    type Item = Word;

    #[inline]
    fn next(&mut self) -> Option<Word> {
        if self.starts == 0 {
            return None;
        }
        let first = self.starts.trailing_zeros() as usize;
        self.starts &= self.starts - 1;
        let length = (self.bits >> first).trailing_ones() as usize;
        let beyond = if first + length == BLOCK { self.rest_of_word() } else { 0 };
        Some(Word { start: self.base + first, length: length + beyond })
    }
}

/// The last bytes of a text, and spaces.
fn filled_up(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    block
}

/// Bit `n` says whether byte `n` of the block continues a word. The loops are simple enough for the compiler to turn
/// them into vector instructions where the target has some.
#[inline(never)]
fn mask(block: &[u8; BLOCK]) -> u64 {
    let flags = block.map(|byte| u8::from(continues_word(byte)));
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        // Gathers the lowest bits of eight bytes in the highest byte of the product.
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}
