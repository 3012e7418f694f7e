//! A set of four-byte windows, which rules out most places of a text at the cost of a multiplication and a bit test.

/// How many bytes a window has.
const WINDOW: usize = 4;

/// Windows in any ASCII case. It may contain more than was inserted, never less.
#[derive(Clone, Debug)]
pub(super) struct WindowFilter {
    bits: [u64; Self::WORDS],
}

impl WindowFilter {
    const WORDS: usize = 256;

    pub(super) const fn new() -> Self {
        Self { bits: [0; Self::WORDS] }
    }

    /// Adds every window that a text which begins with `beginning` can begin with.
    pub(super) const fn insert_beginning(&mut self, beginning: &[u8]) {
        match *beginning {
            [first, second, third, fourth, ..] => self.insert([first, second, third, fourth]),
            [first, second, third] => {
                let mut fourth = 0;
                self.insert([first, second, third, fourth]);
                while fourth < u8::MAX {
                    fourth += 1;
                    self.insert([first, second, third, fourth]);
                }
            }
            // Too much may follow: no place can be ruled out.
            _ => self.bits = [u64::MAX; Self::WORDS],
        }
    }

    #[expect(clippy::indexing_slicing, reason = "`place` bounds the index; `get_mut` is not const")]
    const fn insert(&mut self, window: [u8; WINDOW]) {
        let (word, bit) = Self::place(window);
        self.bits[word] |= bit;
    }

    /// Whether one of the inserted texts may begin where `text` does.
    #[inline]
    pub(super) fn may_begin(&self, text: &[u8]) -> bool {
        let window = text.first_chunk().copied().unwrap_or_else(|| padded(text));
        let (word, bit) = Self::place(window);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Where the window's bit is. Bit 5 is set in all bytes, which makes letters lower case.
    #[inline]
    const fn place(window: [u8; WINDOW]) -> (usize, u64) {
        let key = u32::from_le_bytes(window) | 0x2020_2020;
        let hash = key.wrapping_mul(0x9e37_79b1) >> 18;
        ((hash >> 6) as usize % Self::WORDS, 1 << (hash % 64))
    }
}

/// The last few bytes of a text as a window. So short a text is inserted with all that may follow it, zeros included.
#[cold]
fn padded(text: &[u8]) -> [u8; WINDOW] {
    let mut window = [0; WINDOW];
    window.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    window
}
