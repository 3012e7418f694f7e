//! Counters in memory that several processes share, in which any of them may be killed at any time.
//!
//! There are no locks to be left locked and no pointers to be left dangling: only atomic integers, which are valid
//! when all are zero. Whoever is the first to need a series claims a free slot for it, writes the labels there and
//! then publishes their hash. Who is killed in between leaves a slot that nobody uses. Two who need the same series at
//! once may make two slots of it, which [`Counters::page`] adds up: the totals are always exact.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use twox_hash::XxHash3_64;
use zerocopy::FromBytes;

use super::{Event, FeedNews, Labels, Page, Recent, Series, SeriesGroup};
use crate::ruleset::data::Ruleset;

/// The state of a slot that is free, and of one whose labels are being written; any other is the hash of its labels.
const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// The number of bytes of a text in one atomic.
const WORD: usize = size_of::<u64>();

/// The counters of a gate. All zero is a valid state: nothing was counted yet.
#[derive(FromBytes)]
#[repr(C)]
pub struct Counters {
    /// By [`Event::place`].
    events: [AtomicU64; Event::COUNT],
    feed_news: FeedNews,
    verified: Slots<{ SeriesGroup::VerifiedAtSite.bound() }, LONG>,
    claimed: Slots<{ SeriesGroup::ClaimedAtSite.bound() }, LONG>,
    agents: Slots<{ SeriesGroup::Agent.bound() }, SHORT>,
    sites: Slots<{ SeriesGroup::Site.bound() }, LONG>,
    totals: Slots<{ SeriesGroup::Total.bound() }, SHORT>,
}

/// The place of the counter of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    group: SeriesGroup,
    index: usize,
}

/// The slots that a worker needed last.
pub type RecentSlots = Recent<Slot>;

/// The size says more than millions of zeros would.
impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counters").finish_non_exhaustive()
    }
}

/// Words of a text with the name of a site, and of one without.
const LONG: usize = Labels::LONGEST.div_ceil(WORD);
const SHORT: usize = Labels::LONGEST_WITHOUT_SITE.div_ceil(WORD);

/// The slots of one group of series, each with room for a text of `W` words: [`Labels::joined`].
#[derive(FromBytes)]
#[repr(C)]
struct Slots<const N: usize, const W: usize> {
    states: [AtomicU64; N],
    counts: [AtomicU64; N],
    lengths: [AtomicU64; N],
    texts: [[AtomicU64; W]; N],
}

impl<const N: usize, const W: usize> Slots<N, W> {
    fn group(&self) -> Group<'_> {
        let Self { states, counts, lengths, texts } = self;
        Group { states, counts, lengths, texts: texts.as_flattened(), words: W }
    }
}

/// The slots of one group of series.
#[derive(Clone, Copy)]
struct Group<'c> {
    states: &'c [AtomicU64],
    counts: &'c [AtomicU64],
    lengths: &'c [AtomicU64],
    texts: &'c [AtomicU64],
    /// The number of words for which a text has room.
    words: usize,
}

impl<'c> Group<'c> {
    /// The slot of the labels, made where there is none; `None` where all are taken.
    fn slot(self, labels: &str) -> Option<usize> {
        if labels.len() > self.words * WORD {
            return None;
        }
        let hash = XxHash3_64::oneshot(labels.as_bytes()).max(TAKEN + 1);
        let size = self.states.len();
        let start = usize::try_from(hash % (size as u64)).ok()?;
        let mut slots = (start..size).chain(0..start).filter_map(|at| Some((at, self.states.get(at)?)));
        let found = slots.find(|(at, state)| {
            // Only what is free is written to: looking is much cheaper.
            let known = match state.load(Acquire) {
                FREE => match state.compare_exchange(FREE, TAKEN, Acquire, Acquire) {
                    Ok(_) => {
                        self.write(*at, labels);
                        // Whoever sees the hash sees the labels, too.
                        state.store(hash, Release);
                        return true;
                    }
                    Err(known) => known,
                },
                known => known,
            };
            known == hash && self.is(*at, labels)
        });
        found.map(|(at, _)| at)
    }

    /// The labels and the count of each slot that is in use.
    fn counts(self) -> impl Iterator<Item = (String, u64)> {
        let slots = self.states.iter().zip(self.counts).enumerate();
        let used = slots.filter(|(_, (state, _))| state.load(Acquire) > TAKEN);
        used.map(move |(at, (_, count))| (self.read(at), count.load(Relaxed)))
    }

    fn write(self, at: usize, labels: &str) {
        if let (Some(text), Some(length)) = (self.text(at), self.lengths.get(at)) {
            text.iter().zip(words(labels)).for_each(|(word, chunk)| word.store(chunk, Relaxed));
            length.store(labels.len() as u64, Relaxed);
        }
    }

    fn is(self, at: usize, labels: &str) -> bool {
        let (Some(text), Some(length)) = (self.text(at), self.lengths.get(at)) else { return false };
        length.load(Relaxed) == labels.len() as u64
            && text.iter().zip(words(labels)).all(|(word, chunk)| word.load(Relaxed) == chunk)
    }

    fn read(self, at: usize) -> String {
        let text = self.text(at).unwrap_or_default();
        let mut bytes: Vec<u8> = text.iter().flat_map(|word| word.load(Relaxed).to_ne_bytes()).collect();
        let length = self.lengths.get(at).map(|length| length.load(Relaxed));
        // Only damaged memory has a length beyond the text.
        bytes.truncate(length.and_then(|length| usize::try_from(length).ok()).unwrap_or(bytes.len()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn text(self, at: usize) -> Option<&'c [AtomicU64]> {
        let start = at.checked_mul(self.words)?;
        self.texts.get(start..start.checked_add(self.words)?)
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

impl Counters {
    /// Counts a request. `recent` belongs to `ruleset`, which made the decision that the series is of.
    pub fn count_request(&self, series: Series, ruleset: &Ruleset, recent: &RecentSlots) {
        let found = recent.place(series, || Ok::<_, Infallible>(self.slot(series, ruleset)));
        if let Ok(Some(count)) = found.map(|slot| self.count(slot?)) {
            count.fetch_add(1, Relaxed);
        }
    }

    /// Adds to the counter of an event. Returns true if it was zero.
    pub fn add(&self, event: Event, added: u64) -> bool {
        self.events.get(event.place()).is_some_and(|count| count.fetch_add(added, Relaxed) == 0)
    }

    /// The last report about each feed.
    pub fn feed_news(&self) -> &FeedNews {
        &self.feed_news
    }

    /// The counts of this moment beside what the ruleset says of itself.
    pub fn page<'r>(&self, ruleset: &'r Ruleset, loaded: i64, now: i64) -> Page<'r> {
        let mut requests: BTreeMap<String, u64> = BTreeMap::new();
        for (labels, count) in self.groups().into_iter().flat_map(Group::counts) {
            let sum = requests.entry(labels).or_default();
            *sum = sum.saturating_add(count);
        }
        let events = Event::all().zip(&self.events);
        let events = events.map(|(event, count)| (event, count.load(Relaxed))).collect();
        Page { ruleset, loaded, now, requests, events }
    }

    /// The slot of a series, or of the first coarser one for which there is room.
    fn slot(&self, series: Series, ruleset: &Ruleset) -> Option<Slot> {
        let coarser = core::iter::successors(Some(series), |series| series.coarser());
        coarser.into_iter().find_map(|series| {
            let group = series.group();
            let index = self.group(group).slot(&series.labels(ruleset).joined())?;
            Some(Slot { group, index })
        })
    }

    fn count(&self, slot: Slot) -> Option<&AtomicU64> {
        self.group(slot.group).counts.get(slot.index)
    }

    fn group(&self, group: SeriesGroup) -> Group<'_> {
        match group {
            SeriesGroup::VerifiedAtSite => self.verified.group(),
            SeriesGroup::ClaimedAtSite => self.claimed.group(),
            SeriesGroup::Agent => self.agents.group(),
            SeriesGroup::Site => self.sites.group(),
            SeriesGroup::Total => self.totals.group(),
        }
    }

    fn groups(&self) -> [Group<'_>; 5] {
        SeriesGroup::ALL.map(|group| self.group(group))
    }
}

#[cfg(test)]
mod tests {
    use zerocopy::FromZeros;

    use super::*;

    #[test]
    fn a_slot_that_its_maker_never_finished_costs_no_count() {
        const LABELS: &str = "allow\nfalse\nallowed\ngeneric\n\nexample.com";
        let slots = Slots::<4, 8>::new_box_zeroed().unwrap();
        let group = slots.group();
        let first = group.slot(LABELS).unwrap();
        // As if the process had been killed before it published the labels.
        slots.states[first].store(TAKEN, Relaxed);
        let second = group.slot(LABELS).unwrap();
        assert_ne!(first, second);
        assert_eq!(group.slot(LABELS), Some(second));
        slots.counts[second].fetch_add(5, Relaxed);
        assert_eq!(group.counts().collect::<Vec<_>>(), [(LABELS.into(), 5)]);
        // Two who needed it at once made two.
        slots.states[first].store(slots.states[second].load(Relaxed), Relaxed);
        slots.counts[first].fetch_add(2, Relaxed);
        assert_eq!(group.counts().map(|(_, count)| count).sum::<u64>(), 7);
    }

    #[test]
    fn full_slots_give_none_and_no_text_is_cut() {
        let slots = Slots::<4, 1>::new_box_zeroed().unwrap();
        let group = slots.group();
        assert_eq!(group.slot("nine byte"), None);
        let places: Vec<_> = ["a", "b", "c", "d", "e"].map(|text| group.slot(text)).into();
        assert_eq!(places.iter().flatten().collect::<alloc::collections::BTreeSet<_>>().len(), 4);
        assert_eq!((places[4], group.slot("a")), (None, places[0]));
        assert_eq!(group.counts().map(|(text, _)| text).collect::<String>().len(), 4);
    }
}
