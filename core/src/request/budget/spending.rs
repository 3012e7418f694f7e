//! The spending of the current second.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use zerocopy::FromBytes;

use crate::hash::mix;

/// The amount that all spent in one second, and the number of networks that did. 32 bits say in which second, 16 the amount, and 8
/// each the number then and in the second before.
#[derive(FromBytes)]
#[repr(C)]
pub(super) struct SpentByAll(AtomicU64);

impl SpentByAll {
    pub(super) const fn nothing() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The second that others count in, if they are ahead: the clocks of workers differ a little.
    pub(super) fn latest(&self, now: i64) -> i64 {
        const MOST_AHEAD: u32 = 2;
        let ahead = ((self.0.load(Relaxed) >> 32) as u32).wrapping_sub(now.cast_unsigned() as u32);
        if ahead <= MOST_AHEAD { now.wrapping_add(i64::from(ahead)) } else { now }
    }

    /// The amount in the second that is `now`.
    pub(super) fn at(&self, now: i64) -> u64 {
        self.read(now).amount
    }

    /// The number of networks that spent something in the second before, as far as it fits.
    pub(super) fn networks_before(&self, now: i64) -> u64 {
        self.read(now).networks_before
    }

    /// Spends one. `is_first` says that the network had spent nothing in this second.
    pub(super) fn add(&self, is_first: bool, now: i64) {
        let Counts { amount, networks, networks_before } = self.read(now);
        let amount = (amount + 1).min(u64::from(u16::MAX));
        let networks = (networks + u64::from(is_first)).min(u64::from(u8::MAX));
        self.0.store(second(now) << 32 | amount << 16 | networks << 8 | networks_before, Relaxed);
    }

    fn read(&self, now: i64) -> Counts {
        let word = self.0.load(Relaxed);
        let networks = word >> 8 & u64::from(u8::MAX);
        if word >> 32 == second(now) {
            let amount = word >> 16 & u64::from(u16::MAX);
            Counts { amount, networks, networks_before: word & u64::from(u8::MAX) }
        } else {
            let is_second_before = word >> 32 == second(now.wrapping_sub(1));
            Counts { amount: 0, networks: 0, networks_before: if is_second_before { networks } else { 0 } }
        }
    }
}

struct Counts {
    amount: u64,
    networks: u64,
    networks_before: u64,
}

const fn second(now: i64) -> u64 {
    now.cast_unsigned() & u32::MAX as u64
}

/// The number of places in a row.
const PLACES: usize = 4096;

/// The amounts that networks spent in one second. Each has a place in two rows, which change with each second, so that two that
/// share both do not do so for long. The lower of the two amounts counts.
#[derive(FromBytes)]
#[repr(C)]
pub(super) struct SpentByNetwork {
    rows: [[Amount; PLACES]; 2],
}

impl SpentByNetwork {
    pub(super) const fn nothing() -> Self {
        Self { rows: [const { [const { Amount::nothing() }; PLACES] }; 2] }
    }

    /// The amount that the network with this hash spent in the second that is `now`.
    pub(super) fn at(&self, hash: u64, now: i64) -> u64 {
        self.places(hash, now).map(|place| place.at(now)).min().unwrap_or_default()
    }

    pub(super) fn add(&self, hash: u64, now: i64) {
        self.places(hash, now).for_each(|place| place.add(now));
    }

    fn places(&self, hash: u64, now: i64) -> impl Iterator<Item = &Amount> {
        let hash = mix(hash ^ second(now));
        let parts = [hash, hash >> u32::BITS].into_iter();
        self.rows.iter().zip(parts).filter_map(|(row, part)| {
            let place = usize::try_from(part % PLACES as u64).ok()?;
            row.get(place)
        })
    }
}

/// An amount of one second: 24 bits say in which, and 8 how much.
#[derive(FromBytes)]
#[repr(C)]
pub(super) struct Amount(AtomicU32);

impl Amount {
    pub(super) const fn nothing() -> Self {
        Self(AtomicU32::new(0))
    }

    const BITS: u32 = u8::BITS;

    pub(super) fn at(&self, now: i64) -> u64 {
        let word = self.0.load(Relaxed);
        if word >> Self::BITS == Self::second(now) { u64::from(word & u32::from(u8::MAX)) } else { 0 }
    }

    pub(super) fn add(&self, now: i64) {
        let amount = u8::try_from(self.at(now) + 1).unwrap_or(u8::MAX);
        self.0.store(Self::second(now) << Self::BITS | u32::from(amount), Relaxed);
    }

    const fn second(now: i64) -> u32 {
        now.cast_unsigned() as u32 & (u32::MAX >> Self::BITS)
    }
}
