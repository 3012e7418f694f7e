//! From overlapping prefixes to intervals that don't overlap, each with its match set.

use alloc::vec::Vec;

use super::TableError;
use super::item::Item;
use super::key::Key;
use super::match_set::{Interner, NO_MATCHES};

/// From `start` to the start of the next interval, every address has the match set of this word.
#[derive(Clone, Copy)]
pub(super) struct Interval<K> {
    pub(super) start: K,
    pub(super) set: u32,
}

/// The intervals of sorted items. Before the first one there are no matches; neighbours differ in their sets.
pub(super) fn intervals<K: Key>(
    items: &[Item<K>],
    sets: &mut Interner,
    words: &mut Vec<u32>,
) -> Result<Vec<Interval<K>>, TableError> {
    let mut sweep = Sweep { intervals: Vec::with_capacity(items.len()), open: Vec::new() };
    for group in items.chunk_by(|a, b| a.start == b.start && a.prefix_len == b.prefix_len) {
        let Some(&Item { start, prefix_len, .. }) = group.first() else { continue };
        sweep.close_before(start);
        let set = sets.refine(words, sweep.innermost(), group)?;
        sweep.begin(start, set);
        sweep.open.push(Open { last: start.last(prefix_len), set });
    }
    while sweep.close() {}
    Ok(sweep.intervals)
}

/// A prefix that the sweep has entered and not yet left.
struct Open<K> {
    last: K,
    set: u32,
}

struct Sweep<K> {
    intervals: Vec<Interval<K>>,
    open: Vec<Open<K>>,
}

impl<K: Key> Sweep<K> {
    /// The set of the innermost open prefix.
    fn innermost(&self) -> u32 {
        self.open.last().map_or(NO_MATCHES, |open| open.set)
    }

    /// Leaves the prefixes that end before `start`.
    fn close_before(&mut self, start: K) {
        while self.open.last().is_some_and(|open| open.last < start) {
            self.close();
        }
    }

    /// Leaves the innermost open prefix, if any: after it, the set of the one around it holds again.
    fn close(&mut self) -> bool {
        let Some(closed) = self.open.pop() else { return false };
        if let Some(after) = closed.last.next() {
            self.begin(after, self.innermost());
        }
        true
    }

    /// From `start` on, `set` holds.
    fn begin(&mut self, start: K, set: u32) {
        self.intervals.pop_if(|last| last.start == start);
        if self.intervals.last().map_or(NO_MATCHES, |last| last.set) != set {
            self.intervals.push(Interval { start, set });
        }
    }
}
