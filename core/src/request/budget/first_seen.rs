//! Which signatures certainly come for the first time.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use zerocopy::FromBytes;

/// The number of places.
const PLACES: usize = 16 * 1024;

/// For each place, the latest time at which a signature was created that had it, in seconds since the Unix epoch. A signature
/// has two places. If one of them has only earlier times, it was never here: however many others came, what they leave behind
/// can make a new signature look old, but never an old one new.
#[derive(FromBytes)]
#[repr(C)]
pub(super) struct FirstSeen {
    latest: [AtomicU32; PLACES],
}

impl FirstSeen {
    pub(super) const fn nothing() -> Self {
        Self { latest: [const { AtomicU32::new(0) }; PLACES] }
    }

    /// Notes a signature. Returns true if it certainly was not noted before.
    pub(super) fn is_first(&self, hash: u64, created: i64) -> bool {
        // Zero is older than each time that counts. All that is later than the words can say is one time.
        let created = u32::try_from(created.max(0)).unwrap_or(u32::MAX);
        let places = [hash, hash >> u32::BITS].into_iter().filter_map(|part| {
            let place = usize::try_from(part % PLACES as u64).ok()?;
            self.latest.get(place)
        });
        // Both places have to learn of it.
        places.filter(|latest| latest.fetch_max(created, Relaxed) < created).count() > 0
    }
}
