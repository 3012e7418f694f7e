//! Sorts lists of every type with one sort of numbers.
//!
//! A sort of the standard library is compiled anew for each type that it sorts, which takes 5 KB of the Wasm filter each
//! time. Here only the places of the items are sorted, by a comparison behind a pointer. That makes comparing slower, so
//! the prefix table, which has millions of entries, sorts by itself.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem;

/// Sorts a list by a key of each item. Items with equal keys keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts a list by a comparison. Equal items keep their order.
pub(crate) fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let by_places = |a: usize, b: usize| match (list.get(a), list.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    };
    let order = sorted_places(list.len(), &by_places);
    arrange(list, order);
}

/// Sorts a list and leaves one of each set of equal items.
pub(crate) fn sort_and_dedup<T: Ord>(list: &mut Vec<T>) {
    sort_by(list, T::cmp);
    list.dedup();
}

/// The set of these items. One by one: `collect` would sort them first.
pub(crate) fn set_of<T: Ord>(items: impl Iterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// The map of these items; of equal keys the last counts. One by one: `collect` would sort them first.
pub(crate) fn map_of<K: Ord, V>(items: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(items);
    map
}

/// The places of the items of a sorted list, by where they were before.
#[inline(never)]
fn sorted_places(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|a, b| compare(*a, *b));
    places
}

/// Moves to each place the item from the place that `from` has for it. `from` is a permutation.
fn arrange<T>(list: &mut [T], mut from: Vec<usize>) {
    for start in 0..list.len() {
        let mut to = start;
        // Follows one cycle of the permutation; a place that is done has itself.
        while let Some(next) = from.get_mut(to).map(|place| mem::replace(place, to)) {
            if next == start {
                break;
            }
            list.swap(to, next);
            to = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec;

    #[test]
    fn lists_are_sorted_as_the_standard_library_sorts_them() {
        let mut random = 1_u64;
        for length in (0..40).chain([1000]) {
            let mut list: Vec<(u64, String)> = (0..length)
                .map(|place: u64| {
                    random = crate::hash::mix(random);
                    (random % (length / 2 + 1), place.to_string())
                })
                .collect();
            let mut expected = list.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_key(&mut list, |item| item.0);
            assert_eq!(list, expected);
        }
    }

    #[test]
    fn equal_items_are_left_once() {
        let mut list = vec!["b", "a", "b", "c", "a"];
        sort_and_dedup(&mut list);
        assert_eq!(list, ["a", "b", "c"]);
    }
}
