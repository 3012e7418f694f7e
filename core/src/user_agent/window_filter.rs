//! A set of three-byte windows, to skip nearly all places of a text at the cost of a multiplication and a bit test.

/// How many bytes a window has.
pub(super) const WINDOW: usize = 3;

/// Windows without regard to ASCII case. It may contain more than was inserted, never less.
#[derive(Clone, Debug)]
pub(super) struct WindowFilter {
    bits: [u64; Self::WORDS],
}

impl WindowFilter {
    const WORDS: usize = 256;

    pub(super) const fn new() -> Self {
        Self { bits: [0; Self::WORDS] }
    }

    #[expect(clippy::indexing_slicing, reason = "`place` masks the index; `get_mut` is not const")]
    pub(super) const fn insert(&mut self, window: [u8; WINDOW]) {
        let (word, bit) = Self::place(window);
        self.bits[word] |= bit;
    }

    /// From now on it contains every window.
    pub(super) const fn insert_all(&mut self) {
        self.bits = [u64::MAX; Self::WORDS];
    }

    #[inline]
    pub(super) fn contains(&self, window: &[u8]) -> bool {
        let &[first, second, third] = window else { return false };
        let (word, bit) = Self::place([first, second, third]);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Where the window's bit is. Bit 5 is set in all bytes, which makes letters lower case.
    #[inline]
    const fn place([first, second, third]: [u8; WINDOW]) -> (usize, u64) {
        let key = u32::from_be_bytes([0, first, second, third]) | 0x0020_2020;
        let hash = key.wrapping_mul(0x9e37_79b1) >> 18;
        ((hash >> 6) as usize % Self::WORDS, 1 << (hash % 64))
    }
}
