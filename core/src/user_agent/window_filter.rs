//! A set of beginnings and of words, which rules out most places of a text at the cost of a multiplication and a bit test.

use super::words::Word;

/// The number of bytes of a beginning that count.
const WINDOW: usize = 4;

/// Beginnings and words in any ASCII case, by keys. It may contain more than was inserted, never less.
#[derive(Clone, Debug)]
pub(super) struct WindowFilter {
    bits: [u64; Self::WORDS],
}

impl WindowFilter {
    const WORDS: usize = 256;

    pub(super) const fn new() -> Self {
        Self { bits: [0; Self::WORDS] }
    }

    /// Adds the key of every text that begins with `beginning`.
    pub(super) const fn insert_beginning(&mut self, beginning: &[u8]) {
        match *beginning {
            [first, second, third, fourth, ..] => self.insert(key([first, second, third, fourth])),
            [first, second, third] => {
                let mut fourth = 0;
                self.insert(key([first, second, third, fourth]));
                while fourth < u8::MAX {
                    fourth += 1;
                    self.insert(key([first, second, third, fourth]));
                }
            }
            // Too much may follow: no place can be ruled out.
            _ => self.bits = [u64::MAX; Self::WORDS],
        }
    }

    #[expect(clippy::indexing_slicing, reason = "`place` bounds the index; `get_mut` is not const")]
    pub(super) const fn insert(&mut self, key: u64) {
        let (word, bit) = Self::place(key);
        self.bits[word] |= bit;
    }

    /// Returns true if one of the inserted texts may begin where `text` does.
    #[inline]
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        self.may_contain(key(text.first_chunk().copied().unwrap_or_else(|| padded(text))))
    }

    /// Returns true if the key may have been inserted.
    #[inline]
    pub(super) fn may_contain(&self, key: u64) -> bool {
        let (word, bit) = Self::place(key);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The place of the bit of a key.
    #[inline]
    const fn place(key: u64) -> (usize, u64) {
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
        ((hash >> 6) as usize % Self::WORDS, 1 << (hash % 64))
    }
}

/// The key of a word: its length and its first bytes.
#[inline]
pub(super) fn key_of_word(text: &[u8], word: Word) -> u64 {
    let first = text.get(word.start..word.start + WINDOW).and_then(<[u8]>::first_chunk);
    let window = first.copied().unwrap_or_else(|| padded(text.get(word.start..).unwrap_or_default()));
    // Bytes after a short word are shifted out.
    let beyond = WINDOW.saturating_sub(word.length) * 8;
    (word.length as u64) << 32 | key(window) << beyond & u64::from(u32::MAX)
}

/// The key of a beginning. Bit 5 is set in all bytes, which makes letters lower case.
#[inline]
const fn key(window: [u8; WINDOW]) -> u64 {
    (u32::from_le_bytes(window) | 0x2020_2020) as u64
}

/// The last few bytes of a text. So short a text is inserted with all that may follow it, zeros included.
#[cold]
fn padded(text: &[u8]) -> [u8; WINDOW] {
    let mut window = [0; WINDOW];
    window.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    window
}
