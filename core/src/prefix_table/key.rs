//! Addresses as integers whose leading bits are taken off on the way down the trie.

/// An address, or what remains of it, left-aligned.
pub(super) trait Key: Copy + Ord {
    /// The first 32 bits.
    fn top(self) -> u32;

    /// Without the first `bits`, of which there may be more than an address has; zeros come in at the end.
    fn without(self, bits: u32) -> Self;

    /// No bit is set.
    fn is_zero(self) -> bool;

    /// The last address of the prefix of this length that begins here.
    fn last(self, prefix_len: u8) -> Self;

    /// The next address; none after the family's last.
    fn next(self) -> Option<Self>;

    /// The value of the first `bits`, at most 32.
    fn leading(self, bits: u32) -> u64 {
        (u64::from(self.top()) << bits) >> 32
    }
}

impl Key for u32 {
    #[inline]
    fn top(self) -> u32 {
        self
    }

    #[inline]
    fn without(self, bits: u32) -> Self {
        self.checked_shl(bits).unwrap_or(0)
    }

    fn is_zero(self) -> bool {
        self == 0
    }

    fn last(self, prefix_len: u8) -> Self {
        self | Self::MAX.checked_shr(prefix_len.into()).unwrap_or(0)
    }

    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl Key for u128 {
    #[inline]
    fn top(self) -> u32 {
        (self >> 96) as u32
    }

    #[inline]
    fn without(self, bits: u32) -> Self {
        self.checked_shl(bits).unwrap_or(0)
    }

    fn is_zero(self) -> bool {
        self == 0
    }

    fn last(self, prefix_len: u8) -> Self {
        self | Self::MAX.checked_shr(prefix_len.into()).unwrap_or(0)
    }

    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
}
