//! The networks in which a signature has held lately.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};

use zerocopy::FromBytes;

use super::spending::Amount;

/// A network is in one place of one set, which its hash selects: 8,192 places of 16 bytes.
const SETS: usize = 1024;
const PLACES: usize = 8;

/// For how long a network is known after a signature held there, in seconds.
pub(super) const MEMORY: u32 = 24 * 60 * 60;

/// The known networks. If a set is full, the network is forgotten in which no signature has held for the longest time.
#[derive(FromBytes)]
#[repr(C)]
pub(super) struct Acquaintances {
    sets: [[Acquaintance; PLACES]; SETS],
}

/// A known network.
#[derive(FromBytes)]
#[repr(C)]
pub(super) struct Acquaintance {
    /// The hash, which differs for nearly all networks. 0: the place is empty.
    tag: AtomicU64,
    /// When a signature held last, in seconds since the Unix epoch.
    last: AtomicU32,
    spent: Amount,
}

impl Acquaintance {
    const fn nobody() -> Self {
        Self { tag: AtomicU64::new(0), last: AtomicU32::new(0), spent: Amount::nothing() }
    }

    /// The number of signatures that were examined in the second that is `now` and did not hold.
    pub(super) fn spent(&self, now: i64) -> u64 {
        self.spent.at(now)
    }

    pub(super) fn spend(&self, now: i64) {
        self.spent.add(now);
    }

    fn is(&self, hash: u64) -> bool {
        self.tag.load(Relaxed) == hash | 1
    }

    /// If the clock was ahead, the time can be in the future.
    fn is_known_at(&self, now: i64) -> bool {
        clock(now).abs_diff(self.last.load(Relaxed)) <= MEMORY
    }
}

impl Acquaintances {
    pub(super) const fn nobody() -> Self {
        Self { sets: [const { [const { Acquaintance::nobody() }; PLACES] }; SETS] }
    }

    /// The network with this hash, if it is known.
    pub(super) fn find(&self, hash: u64, now: i64) -> Option<&Acquaintance> {
        self.set(hash).iter().find(|known| known.is(hash) && known.is_known_at(now))
    }

    /// Notes that a signature held in the network with this hash.
    pub(super) fn note(&self, hash: u64, now: i64) {
        // Its own place, else an empty one, else the one whose last signature is oldest.
        let worth = |known: &&Acquaintance| match known.is(hash) {
            true => (0, 0),
            false => (1, known.last.load(Relaxed)),
        };
        if let Some(known) = self.set(hash).iter().min_by_key(worth) {
            known.tag.store(hash | 1, Relaxed);
            known.last.store(clock(now), Relaxed);
        }
    }

    fn set(&self, hash: u64) -> &[Acquaintance] {
        let number = usize::try_from((hash >> u32::BITS) % SETS as u64).unwrap_or_default();
        self.sets.get(number).map_or(&[], |set| set)
    }
}

fn clock(now: i64) -> u32 {
    u32::try_from(now).unwrap_or_default()
}
