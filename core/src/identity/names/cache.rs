//! The results of lookups, in memory that several processes share, in which any of them may be killed at any time.
//!
//! As in the counters, there are no locks and no pointers. Two processes can write to one entry at the same time, so each
//! entry has a seal over all of it: an entry whose seal is wrong is empty.

use alloc::boxed::Box;
use core::fmt;
use core::net::IpAddr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use zerocopy::{FromBytes, FromZeros};

use super::{NameLookup, NameOutcome};
use crate::hash::mix;

/// An entry is in one place of one set, which its key selects.
pub(super) const SETS: usize = 512;
pub(super) const PLACES: usize = 8;

/// The shortest life of what is known, and the longest, in seconds: a record can have any life, or none.
pub(super) const SHORTEST: i64 = 60;
pub(super) const LONGEST: i64 = 60 * 60;
/// The longest life of the knowledge that nothing is confirmed: whoever operates an agent may just be about to add the record.
pub(super) const LONGEST_REFUTED: i64 = 5 * 60;

/// The number of bits of an entry's last word that the outcome takes.
const OUTCOME_BITS: u32 = 2;

/// The outcomes of lookups, by address and domains. All zero is a valid state: nothing is known.
///
/// Confirmed results are given up last, so that clients that merely claim an agent cannot drive out the real ones.
#[derive(FromBytes)]
#[repr(C)]
pub struct NameCache {
    sets: [[Entry; PLACES]; SETS],
}

impl fmt::Debug for NameCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameCache").finish_non_exhaustive()
    }
}

#[derive(FromBytes)]
#[repr(C)]
struct Entry {
    key: [AtomicU64; 3],
    value: AtomicU64,
    seal: AtomicU64,
}

/// An address and the domains that its name has to be in.
type Key = [u64; 3];

/// An outcome and when it ends, in seconds since the Unix epoch.
#[derive(Clone, Copy)]
struct Value {
    outcome: NameOutcome,
    until: i64,
}

impl Value {
    /// `None` for zero, too.
    fn from_word(word: u64) -> Option<Self> {
        let number = usize::try_from(word & ((1 << OUTCOME_BITS) - 1)).ok()?;
        let outcome = *NameOutcome::ALL.get(number.checked_sub(1)?)?;
        Some(Self { outcome, until: i64::try_from(word >> OUTCOME_BITS).ok()? })
    }

    fn word(self) -> u64 {
        let until = u64::try_from(self.until).unwrap_or_default();
        until << OUTCOME_BITS | (self.outcome as u64 + 1)
    }

    fn holds_at(self, now: i64) -> bool {
        // If the clock was ahead, the end can be farther away than any life is long.
        (now..=now.saturating_add(LONGEST)).contains(&self.until)
    }
}

fn seal(key: &Key, value: u64) -> u64 {
    key.iter().chain([&value]).fold(0, |seal, word| mix(seal.wrapping_add(1) ^ word))
}

impl Entry {
    fn read(&self) -> Option<(Key, Value)> {
        let key = [0, 1, 2].map(|at| self.key.get(at).map_or(0, |word: &AtomicU64| word.load(Relaxed)));
        let value = self.value.load(Relaxed);
        (self.seal.load(Relaxed) == seal(&key, value)).then_some((key, Value::from_word(value)?))
    }

    fn write(&self, key: &Key, value: Value) {
        let value = value.word();
        for (slot, word) in self.key.iter().zip(key) {
            slot.store(*word, Relaxed);
        }
        self.value.store(value, Relaxed);
        self.seal.store(seal(key, value), Relaxed);
    }
}

impl NameCache {
    /// Memory in which nothing is known, for the threads of one process.
    pub fn empty() -> Option<Box<Self>> {
        Self::new_box_zeroed().ok()
    }

    /// The known outcome at `now`, in seconds since the Unix epoch.
    pub fn get(&self, lookup: &NameLookup, now: i64) -> Option<NameOutcome> {
        let wanted = key(lookup);
        let mut found = self.set(&wanted).iter().filter_map(Entry::read);
        found.find(|(key, value)| *key == wanted && value.holds_at(now)).map(|(_, value)| value.outcome)
    }

    /// Notes what came of a lookup, and until when the records are valid from which it came.
    pub fn put(&self, lookup: &NameLookup, outcome: NameOutcome, valid_until: i64, now: i64) {
        let longest = match outcome {
            NameOutcome::Confirmed => LONGEST,
            NameOutcome::Refuted => LONGEST_REFUTED,
            NameOutcome::Unknown => SHORTEST,
            // Nothing came of it.
            NameOutcome::Unasked => return,
        };
        let life = valid_until.saturating_sub(now).clamp(SHORTEST, longest);
        let key = key(lookup);
        // Its own place, else an empty one, else the one whose end comes first.
        let worth = |entry: &&Entry| match entry.read() {
            Some((other, _)) if other == key => (0, 0),
            Some((_, value)) if value.holds_at(now) => {
                (if value.outcome == NameOutcome::Confirmed { 3 } else { 2 }, value.until)
            }
            _ => (1, 0),
        };
        if let Some(entry) = self.set(&key).iter().min_by_key(worth) {
            entry.write(&key, Value { outcome, until: now.saturating_add(life) });
        }
    }

    fn set(&self, key: &Key) -> &[Entry] {
        let number = usize::try_from(seal(key, 0) % SETS as u64).unwrap_or_default();
        self.sets.get(number).map_or(&[], |set| set)
    }
}

#[cfg(test)]
impl NameCache {
    /// All words of the entry that has what is known.
    pub(super) fn words_of(&self, lookup: &NameLookup) -> [&AtomicU64; 5] {
        let key = key(lookup);
        let is_wanted = |entry: &&Entry| entry.read().is_some_and(|(other, _)| other == key);
        let Entry { key: [first, second, third], value, seal } =
            self.set(&key).iter().find(is_wanted).unwrap();
        [first, second, third, value, seal]
    }
}

fn key(lookup: &NameLookup) -> Key {
    let address = match lookup.address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let bits = address.to_bits();
    [(bits >> 64) as u64, bits as u64, lookup.domains.hash()]
}
