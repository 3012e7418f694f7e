//! The most frequent of any number of values, in a table of fixed size.

use std::borrow::Borrow;
use std::hash::Hash;

use hashbrown::HashMap;

/// The data that is kept of a value beside the number of its requests.
pub(crate) trait Detail: Default {
    /// Adds the data of another table about the same value.
    fn merge(&mut self, other: Self);
}

impl Detail for () {
    fn merge(&mut self, (): Self) {}
}

/// Counts values. As long as there are at most `capacity` different ones, all counts are exact. Else rare values are
/// forgotten (Misra and Gries): each count is at most [`Self::missing`] too low, which is at most the number of all
/// requests, divided by half the capacity. So no value with more requests than that is missing.
#[derive(Clone, Debug)]
pub(crate) struct Frequent<K, D = ()> {
    counts: HashMap<K, (u64, D)>,
    capacity: usize,
    missing: u64,
}

impl<K: Hash + Eq + Ord + Clone, D: Detail> Frequent<K, D> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { counts: HashMap::new(), capacity, missing: 0 }
    }

    /// By how much counts may be too low.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// Counts a request, and changes the detail of its value.
    pub(crate) fn add_with<Q>(&mut self, value: &Q, change: impl FnOnce(&mut D))
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some((count, detail)) = self.counts.get_mut(value) {
            *count += 1;
            change(detail);
            return;
        }
        if self.counts.len() >= self.capacity {
            self.forget();
        }
        let mut detail = D::default();
        change(&mut detail);
        self.counts.insert(value.to_owned(), (1, detail));
    }

    /// Counts a request.
    pub(crate) fn add<Q>(&mut self, value: &Q)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.add_with(value, |_| {});
    }

    /// Makes room: takes the median of all counts from each, and forgets values that have none left.
    fn forget(&mut self) {
        let mut counts: Vec<u64> = self.counts.values().map(|(count, _)| *count).collect();
        let middle = counts.len() / 2;
        let Some((_, median, _)) = (middle < counts.len()).then(|| counts.select_nth_unstable(middle)) else {
            return;
        };
        let median = *median;
        self.missing += median;
        self.counts.retain(|_, (count, _)| {
            *count = count.saturating_sub(median);
            *count > 0
        });
    }

    /// Adds what another table counted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.missing += other.missing;
        for (value, (count, detail)) in other.counts {
            let (sum, merged) = self.counts.entry(value).or_default();
            *sum += count;
            merged.merge(detail);
        }
        while self.counts.len() > self.capacity {
            self.forget();
        }
    }

    /// The values with their counts, the most frequent first; of equal counts, in the order of the values.
    pub(crate) fn into_sorted(self) -> Vec<(K, u64, D)> {
        let mut sorted: Vec<_> =
            self.counts.into_iter().map(|(value, (count, detail))| (value, count, detail)).collect();
        sorted.sort_unstable_by(|(value, count, _), (other, others, _)| {
            others.cmp(count).then(value.cmp(other))
        });
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of numbers of which small ones are more frequent.
    fn draws(count: u64, seed: u64) -> impl Iterator<Item = u64> {
        let mut state = seed;
        (0..count).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let random = state >> 33;
            random % (1 + random / 7 % 3_000)
        })
    }

    #[test]
    fn few_values_are_counted_exactly() {
        let mut table: Frequent<u64> = Frequent::new(100);
        (0..10_000).for_each(|number: u64| table.add(&(number % 100)));
        assert_eq!(table.missing(), 0);
        let sorted = table.into_sorted();
        assert!(
            sorted.iter().map(|(value, count, ())| (*value, *count)).eq((0..100).map(|value| (value, 100)))
        );
    }

    #[test]
    fn many_values_keep_the_stated_bound_also_when_tables_are_merged() {
        const CAPACITY: usize = 64;
        const TABLES: u64 = 3;
        const DRAWS: u64 = 50_000;
        let mut exact: HashMap<u64, u64> = HashMap::new();
        let mut merged: Frequent<u64> = Frequent::new(CAPACITY);
        for seed in 0..TABLES {
            let mut table: Frequent<u64> = Frequent::new(CAPACITY);
            for value in draws(DRAWS, seed) {
                *exact.entry(value).or_default() += 1;
                table.add(&value);
                assert!(table.counts.len() <= CAPACITY);
            }
            merged.merge(table);
        }
        let missing = merged.missing();
        assert!(0 < missing && missing <= TABLES * DRAWS / (CAPACITY as u64 / 2), "{missing}");
        let found: HashMap<u64, u64> =
            merged.into_sorted().into_iter().map(|(value, count, ())| (value, count)).collect();
        for (value, count) in exact {
            let lower = found.get(&value).copied().unwrap_or_default();
            assert!(lower <= count && count <= lower + missing, "{value}: {lower} {count} {missing}");
        }
    }
}
