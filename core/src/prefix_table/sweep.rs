//! From overlapping prefixes to intervals that don't overlap, each with its match set.

use alloc::vec;
use alloc::vec::Vec;

use ipnet::IpNet;

use super::key::Key;
use super::match_set::{Interner, NO_MATCHES};
use super::{Entry, Match, TableError};
use crate::prefix::unmap;

/// An entry of one address family.
#[derive(Clone, Copy)]
pub(super) struct Item<K> {
    start: K,
    pub(super) feed: u16,
    prefix_len: u8,
    value: u32,
}

impl<K> Item<K> {
    pub(super) fn to_match(&self) -> Match {
        Match { feed: self.feed, prefix_len: self.prefix_len, value: self.value }
    }
}

/// From `start` to the start of the next interval, every address has the match set of this word.
#[derive(Clone, Copy)]
pub(super) struct Interval<K> {
    pub(super) start: K,
    pub(super) set: u32,
}

/// The entries of each family, sorted by address, then length, then feed; the first of several that say the same.
pub(super) fn by_family(entries: Vec<Entry>) -> (Vec<Item<u32>>, Vec<Item<u128>>) {
    let count_v4 = entries.iter().filter(|entry| matches!(entry.prefix, IpNet::V4(_))).count();
    let mut v4 = Vec::with_capacity(count_v4);
    let mut v6 = Vec::with_capacity(entries.len() - count_v4);
    for Entry { prefix, feed, value } in entries {
        let net = unmap(prefix);
        let prefix_len = net.prefix_len();
        match net {
            IpNet::V4(net) => v4.push(Item { start: net.network().to_bits(), feed, prefix_len, value }),
            IpNet::V6(net) => v6.push(Item { start: net.network().to_bits(), feed, prefix_len, value }),
        }
    }
    (sorted(v4), sorted(v6))
}

fn sorted<K: Key>(items: Vec<Item<K>>) -> Vec<Item<K>> {
    let order = |item: &Item<K>| item.start.order(item.prefix_len, item.feed);
    let (mut items, buckets) = dealt(items);
    let mut rest = items.as_mut_slice();
    for length in buckets {
        let Some((bucket, others)) = rest.split_at_mut_checked(length) else { break };
        // The sort is stable, so the first of equal items stays the first.
        bucket.sort_by_key(order);
        rest = others;
    }
    items.dedup_by_key(|item| order(item));
    items
}

/// The items by their leading bits, otherwise in their order, and how many have each value of them.
///
/// Sorting a million items all at once takes twice as long: what it compares is rarely in a near cache.
fn dealt<K: Key>(items: Vec<Item<K>>) -> (Vec<Item<K>>, Vec<usize>) {
    const BITS: u32 = 16;
    if items.len() < 1 << BITS {
        let all = items.len();
        return (items, vec![all]);
    }
    let bucket = |item: &Item<K>| item.start.leading(BITS) as usize;
    let mut lengths = vec![0; 1 << BITS];
    for item in &items {
        if let Some(length) = lengths.get_mut(bucket(item)) {
            *length += 1;
        }
    }
    let mut places: Vec<usize> = Vec::with_capacity(lengths.len());
    lengths.iter().fold(0, |place, length| {
        places.push(place);
        place + length
    });
    let mut dealt = items.clone();
    for item in items {
        if let Some(place) = places.get_mut(bucket(&item))
            && let Some(slot) = dealt.get_mut(*place)
        {
            *slot = item;
            *place += 1;
        }
    }
    (dealt, lengths)
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
