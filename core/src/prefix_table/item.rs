//! Entries of one address family, sorted.

use alloc::vec;
use alloc::vec::Vec;

use ipnet::IpNet;

use super::key::Key;
use super::{Entry, Match, TableError};
use crate::feed::prefix::unmap;
use crate::ids::{FeedId, ValueId};

/// An entry of one address family.
#[derive(Clone, Copy)]
pub(super) struct Item<K> {
    pub(super) start: K,
    pub(super) feed: FeedId,
    pub(super) prefix_len: u8,
    value: ValueId,
}

impl<K> Item<K> {
    pub(super) fn to_match(&self) -> Match {
        Match { feed: self.feed, prefix_len: self.prefix_len, value: self.value }
    }
}

/// The items of IPv4 and those of IPv6.
type Families = (Vec<Item<u32>>, Vec<Item<u128>>);

/// The entries of each family, sorted by address, then length, then feed; the first of several that say the same.
pub(super) fn by_family(entries: Vec<Entry>) -> Result<Families, TableError> {
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
    Ok((sorted(v4)?, sorted(v6)?))
}

fn sorted<K: Key>(items: Vec<Item<K>>) -> Result<Vec<Item<K>>, TableError> {
    let order = |item: &Item<K>| item.start.order(item.prefix_len, item.feed);
    let (mut items, buckets) = dealt(items)?;
    let mut rest = items.as_mut_slice();
    for length in buckets {
        let (bucket, others) = rest.split_at_mut_checked(length).ok_or(TableError::Inconsistent)?;
        // The sort is stable, so the first of equal items stays the first.
        bucket.sort_by_key(order);
        rest = others;
    }
    items.dedup_by_key(|item| order(item));
    Ok(items)
}

/// The items by their leading bits, otherwise in their order, and how many have each value of them.
///
/// Sorting a million items all at once takes twice as long: what it compares is rarely in a near cache.
fn dealt<K: Key>(items: Vec<Item<K>>) -> Result<(Vec<Item<K>>, Vec<usize>), TableError> {
    const BITS: u32 = 16;
    if items.len() < 1 << BITS {
        let all = items.len();
        return Ok((items, vec![all]));
    }
    let bucket = |item: &Item<K>| item.start.leading(BITS) as usize;
    let mut lengths = vec![0; 1 << BITS];
    for item in &items {
        *lengths.get_mut(bucket(item)).ok_or(TableError::Inconsistent)? += 1;
    }
    let mut places: Vec<usize> = Vec::with_capacity(lengths.len());
    lengths.iter().fold(0, |place, length| {
        places.push(place);
        place + length
    });
    let mut dealt = items.clone();
    for item in items {
        let place = places.get_mut(bucket(&item)).ok_or(TableError::Inconsistent)?;
        *dealt.get_mut(*place).ok_or(TableError::Inconsistent)? = item;
        *place += 1;
    }
    Ok((dealt, lengths))
}
