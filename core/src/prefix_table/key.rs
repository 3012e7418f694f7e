//! Addresses as integers whose leading bits are taken off on the way down the trie.

use crate::ids::FeedId;

/// The most leading bits that a root takes: 1 MiB of words.
pub(super) const MAX_ROOT_BITS: u32 = 18;

/// An address, or what remains of it, left-aligned.
pub(super) trait Key: Copy + Ord {
    /// The key by which entries are sorted: the first address, then the length, then the feed.
    type Order: Ord;

    /// The order of an entry that begins at this address.
    fn order(self, prefix_len: u8, feed: FeedId) -> Self::Order;

    /// The number of leading bits that the root takes, for a number of intervals with this logarithm.
    fn root_bits(log_intervals: u32) -> u32;

    /// The first 32 bits.
    fn top(self) -> u32;

    /// Without the first `bits`, of which there may be more than an address has; zeros come in at the end.
    fn without(self, bits: u32) -> Self;

    /// The same for at most 32 bits, faster: lookups need no more at a time.
    fn without_few(self, bits: u32) -> Self;

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
    // One integer, because comparing it needs no branches, which would be wrongly predicted half of the time.
    type Order = u64;

    #[inline]
    fn order(self, prefix_len: u8, feed: FeedId) -> u64 {
        u64::from(self) << 24 | u64::from(prefix_len) << 16 | u64::from(feed.number())
    }

    /// 256 KiB serve tables of about a thousand up to 16 thousand intervals. Of the most bits, a bitmap node below has a
    /// bit for each /24.
    fn root_bits(log_intervals: u32) -> u32 {
        let small = (log_intervals + 6).min(16);
        small.max(log_intervals + 2).min(MAX_ROOT_BITS)
    }

    #[inline]
    fn top(self) -> u32 {
        self
    }

    #[inline]
    fn without(self, bits: u32) -> Self {
        self.checked_shl(bits).unwrap_or(0)
    }

    #[inline]
    fn without_few(self, bits: u32) -> Self {
        u64::from(self).wrapping_shl(bits) as Self
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
    type Order = (u128, u32);

    #[inline]
    fn order(self, prefix_len: u8, feed: FeedId) -> (u128, u32) {
        (self, u32::from(prefix_len) << 16 | u32::from(feed.number()))
    }

    /// Few values of the first bits are in use, so a larger root would be mostly empty. With 16 bits, and 32 in a node
    /// of ranges, what remains of the /64 of a small feed is what one direct node can take.
    fn root_bits(log_intervals: u32) -> u32 {
        const TINY: u32 = 6;
        if log_intervals < TINY { log_intervals + 6 } else { 16 }
    }

    #[inline]
    fn top(self) -> u32 {
        (self >> 96) as u32
    }

    #[inline]
    fn without(self, bits: u32) -> Self {
        self.checked_shl(bits).unwrap_or(0)
    }

    #[inline]
    fn without_few(self, bits: u32) -> Self {
        // A shift of 128 bits by up to 127 is longer: it has a case of its own from 64 on.
        let (high, low) = ((self >> 64) as u64, self as u64);
        let carried = (low >> 1).wrapping_shr(63 - (bits & 63));
        Self::from(high.wrapping_shl(bits) | carried) << 64 | Self::from(low.wrapping_shl(bits))
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
