//! The hash of a number, where those who could make numbers collide gain nothing by it.

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the number.
pub(crate) const fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
