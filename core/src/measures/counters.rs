//! Counters in memory that several processes share, in which any of them may be killed at any time.
//!
//! There are no locks to be left locked and no pointers to be left dangling: only atomic integers, which are valid
//! when all are zero. Whoever is the first to need a series claims a free slot for it, writes the labels there and
//! then publishes their hash. Who is killed in between leaves a slot that nobody uses. Two who need the same series at
//! once may make two slots of it, which [`Counters::page`] adds up: the totals are always exact.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::array;
use core::cell::Cell;
use core::fmt;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use twox_hash::XxHash3_64;
use zerocopy::FromZeros;

use super::{Labels, MAX_OTHERS, MAX_SERIES, Page, ReloadResult, Series};
use crate::ruleset::Ruleset;

/// The state of a slot that is free, and of one whose labels are being written; any other is the hash of its labels.
const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// How many slots of the series with names are looked at for one: where so many are taken in a row, nearly all are.
const PROBES: usize = 64;

/// How many bytes of a text are in one atomic.
const WORD: usize = size_of::<u64>();

/// What a gate counts. All zero is a valid state: nothing was counted yet.
#[derive(FromZeros)]
#[repr(C)]
pub struct Counters {
    errors: AtomicU64,
    /// In the order of [`ReloadResult::ALL`].
    reloads: [AtomicU64; ReloadResult::ALL.len()],
    named: Slots<MAX_SERIES>,
    others: Slots<MAX_OTHERS>,
}

/// The size says more than millions of zeros would.
impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

#[derive(FromZeros)]
#[repr(C)]
struct Slots<const N: usize> {
    states: [AtomicU64; N],
    counts: [AtomicU64; N],
    texts: [Text; N],
}

/// [`Labels::joined`] of a series.
#[derive(FromZeros)]
#[repr(C)]
struct Text {
    length: AtomicU64,
    words: [AtomicU64; Labels::LONGEST / WORD],
}

impl Text {
    fn write(&self, text: &str) {
        for (word, chunk) in self.words.iter().zip(words(text)) {
            word.store(chunk, Relaxed);
        }
        self.length.store(text.len() as u64, Relaxed);
    }

    fn is(&self, text: &str) -> bool {
        self.length.load(Relaxed) == text.len() as u64
            && self.words.iter().zip(words(text)).all(|(word, chunk)| word.load(Relaxed) == chunk)
    }

    fn read(&self) -> String {
        let mut bytes: Vec<u8> =
            self.words.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect();
        bytes.truncate(usize::try_from(self.length.load(Relaxed)).unwrap_or(0));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The bytes of a text, as many to a word as it holds, the last one filled up with zeros.
fn words(text: &str) -> impl Iterator<Item = u64> {
    text.as_bytes().chunks(WORD).map(|chunk| {
        let mut word = [0; WORD];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        u64::from_ne_bytes(word)
    })
}

impl<const N: usize> Slots<N> {
    /// The slot of the labels, made where there is none; `None` where all that are looked at are taken.
    fn slot(&self, text: &str, probes: usize) -> Option<usize> {
        let hash = XxHash3_64::oneshot(text.as_bytes()).max(TAKEN + 1);
        let start = usize::try_from(hash % N as u64).unwrap_or(0);
        let places = (start..N).chain(0..start).take(probes);
        let mut slots = places.filter_map(|at| Some((at, self.states.get(at)?, self.texts.get(at)?)));
        let found =
            slots.find(|(_, state, known)| match state.compare_exchange(FREE, TAKEN, Acquire, Acquire) {
                Ok(_) => {
                    known.write(text);
                    // Whoever sees the hash sees the labels, too.
                    state.store(hash, Release);
                    true
                }
                Err(state) => state == hash && known.is(text),
            });
        found.map(|(at, ..)| at)
    }

    fn counts(&self) -> impl Iterator<Item = (String, u64)> {
        let slots = self.states.iter().zip(&self.texts).zip(&self.counts);
        let used = slots.filter(|((state, _), _)| state.load(Acquire) > TAKEN);
        used.map(|((_, text), count)| (text.read(), count.load(Relaxed)))
    }
}

impl Counters {
    /// Counts a request. `recent` belongs to `ruleset`, which made the decision that the series is of.
    pub fn count_request(&self, series: Series, ruleset: &Ruleset, recent: &RecentSlots) {
        let slot = recent.slot(series.key(), || self.slot(series, ruleset));
        let (named, others) = (&self.named.counts, &self.others.counts);
        let count = named.get(slot).or_else(|| others.get(slot.checked_sub(MAX_SERIES)?));
        if let Some(count) = count {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Counts an internal error.
    pub fn count_error(&self) {
        self.errors.fetch_add(1, Relaxed);
    }

    /// Counts what became of a new ruleset.
    pub fn count_reload(&self, result: ReloadResult) {
        if let Some(count) = self.reloads.get(result as usize) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// The counts of this moment beside what the ruleset says of itself.
    pub fn page<'r>(&self, ruleset: &'r Ruleset, loaded: i64, now: i64) -> Page<'r> {
        let mut requests: BTreeMap<String, u64> = BTreeMap::new();
        for (labels, count) in self.named.counts().chain(self.others.counts()) {
            let sum = requests.entry(labels).or_default();
            *sum = sum.saturating_add(count);
        }
        let results = ReloadResult::ALL.iter().copied().zip(&self.reloads);
        let reloads = results.map(|(result, count)| (result, count.load(Relaxed))).collect();
        Page { ruleset, loaded, now, requests, errors: self.errors.load(Relaxed), reloads }
    }

    /// The place of a series among those with names, or behind them among the others.
    fn slot(&self, series: Series, ruleset: &Ruleset) -> Option<usize> {
        let named = self.named.slot(&series.labels(ruleset).joined(), PROBES);
        let other = || self.others.slot(&series.in_others().labels(ruleset).joined(), MAX_OTHERS);
        named.or_else(|| other().map(|at| MAX_SERIES + at))
    }
}

/// Where one process found the slots that it needed last, for one ruleset: so a request costs one addition.
pub struct RecentSlots(Box<[Cell<(u64, usize)>; 1 << RecentSlots::BITS]>);

impl RecentSlots {
    const BITS: u32 = 10;
    /// Longer than any key.
    const NO_KEY: u64 = u64::MAX;

    /// The slot that was found for this key, or is found now.
    fn slot(&self, key: u64, find: impl FnOnce() -> Option<usize>) -> usize {
        // Fibonacci hashing: the highest bits of the product depend on all bits of the key.
        let place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Self::BITS);
        let Some(entry) = usize::try_from(place).ok().and_then(|place| self.0.get(place)) else {
            return usize::MAX;
        };
        let (known, slot) = entry.get();
        if known == key {
            return slot;
        }
        let slot = find().unwrap_or(usize::MAX);
        entry.set((key, slot));
        slot
    }
}

impl Default for RecentSlots {
    fn default() -> Self {
        Self(Box::new(array::from_fn(|_| Cell::new((Self::NO_KEY, 0)))))
    }
}

impl fmt::Debug for RecentSlots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentSlots").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_its_maker_never_finished_costs_no_count() {
        const LABELS: &str = "allow\nallowed\ngeneric\n\nexample.com";
        let slots = Slots::<4>::new_box_zeroed().unwrap();
        let first = slots.slot(LABELS, 4).unwrap();
        // As if the process had been killed before it published the labels.
        slots.states[first].store(TAKEN, Relaxed);
        let second = slots.slot(LABELS, 4).unwrap();
        assert_ne!(first, second);
        assert_eq!(slots.slot(LABELS, 4), Some(second));
        slots.counts[second].fetch_add(5, Relaxed);
        assert_eq!(slots.counts().collect::<Vec<_>>(), [(LABELS.into(), 5)]);
        // Two who needed it at once made two.
        slots.states[first].store(slots.states[second].load(Relaxed), Relaxed);
        slots.counts[first].fetch_add(2, Relaxed);
        assert_eq!(slots.counts().map(|(_, count)| count).sum::<u64>(), 7);
    }

    #[test]
    fn full_slots_give_none() {
        let slots = Slots::<4>::new_box_zeroed().unwrap();
        let places: Vec<_> = ["a", "b", "c", "d", "e"].map(|text| slots.slot(text, 4)).into();
        assert_eq!(places.iter().flatten().collect::<alloc::collections::BTreeSet<_>>().len(), 4);
        assert_eq!((places[4], slots.slot("a", 4)), (None, places[0]));
    }
}
