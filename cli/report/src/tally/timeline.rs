//! Requests over time.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Sums by time, in intervals that become wider as the log becomes longer.
#[derive(Clone, Debug)]
pub(crate) struct Timeline<const N: usize> {
    /// The length of an interval in seconds.
    width: i64,
    /// The sums of each interval, by its start.
    sums: BTreeMap<i64, [u64; N]>,
}

impl<const N: usize> Timeline<N> {
    /// The widths, each a multiple of the one before. Wider ones are twice as wide as the one before.
    const WIDTHS: [i64; 9] = [60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800];
    const MOST: usize = 1_024;

    pub(crate) fn new() -> Self {
        Self { width: Self::WIDTHS[0], sums: BTreeMap::new() }
    }

    /// Adds one to each of these columns.
    pub(crate) fn add(&mut self, time: i64, columns: impl IntoIterator<Item = usize>) {
        let sums = self.sums.entry(start(time, self.width)).or_insert([0; N]);
        columns.into_iter().for_each(|column| sums[column] += 1);
        self.bound(Self::MOST);
    }

    pub(crate) fn merge(&mut self, mut other: Self) {
        let width = self.width.max(other.width);
        self.widen(width);
        other.widen(width);
        for (start, sums) in other.sums {
            add_all(self.sums.entry(start).or_insert([0; N]), &sums);
        }
        self.bound(Self::MOST);
    }

    /// The width, and each interval from the first to the last with its sums, at most `most` of them.
    pub(crate) fn into_intervals(mut self, most: usize) -> (i64, Vec<(i64, [u64; N])>) {
        let span = |sums: &BTreeMap<i64, _>| {
            sums.keys().next_back().zip(sums.keys().next()).map(|(last, first)| last - first)
        };
        while span(&self.sums)
            .is_some_and(|span| usize::try_from(span / self.width).is_ok_and(|count| count >= most))
        {
            self.widen(Self::next(self.width));
        }
        let (Some(first), Some(last)) =
            (self.sums.keys().next().copied(), self.sums.keys().next_back().copied())
        else {
            return (self.width, Vec::new());
        };
        let intervals = (0..=(last - first) / self.width).map(|number| {
            let start = first + number * self.width;
            (start, self.sums.get(&start).copied().unwrap_or([0; N]))
        });
        (self.width, intervals.collect())
    }

    /// Takes away the sums that are far from nearly all others: one line with a wrong date would make these one interval. `weigh`
    /// counts the requests of sums.
    pub(crate) fn cut_off(&mut self, weigh: impl Fn(&[u64; N]) -> u64) -> [u64; N] {
        const FAR: i64 = 30 * 86_400;
        let mut groups: Vec<(RangeInclusive<i64>, u64)> = Vec::new();
        for (start, sums) in &self.sums {
            let weight = weigh(sums);
            match groups.last_mut() {
                Some((range, sum)) if start - range.end() < FAR => {
                    *range = *range.start()..=*start;
                    *sum += weight;
                }
                _ => groups.push((*start..=*start, weight)),
            }
        }
        let all: u64 = groups.iter().map(|(_, sum)| sum).sum();
        let mut left_out = [0; N];
        if let Some((range, _)) = groups.into_iter().find(|(_, sum)| sum * 100 >= all * 99) {
            self.sums.retain(|start, sums| {
                let is_near = range.contains(start);
                if !is_near {
                    add_all(&mut left_out, sums);
                }
                is_near
            });
        }
        left_out
    }

    fn bound(&mut self, most: usize) {
        while self.sums.len() > most {
            self.widen(Self::next(self.width));
        }
    }

    fn next(width: i64) -> i64 {
        Self::WIDTHS.into_iter().find(|wider| *wider > width).unwrap_or(width * 2)
    }

    fn widen(&mut self, width: i64) {
        if width == self.width {
            return;
        }
        self.width = width;
        for (time, sums) in std::mem::take(&mut self.sums) {
            add_all(self.sums.entry(start(time, width)).or_insert([0; N]), &sums);
        }
    }
}

fn start(time: i64, width: i64) -> i64 {
    time - time.rem_euclid(width)
}

fn add_all<const N: usize>(sums: &mut [u64; N], others: &[u64; N]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_widen_and_lose_nothing() {
        let times = |count: i64, step: i64| (0..count).map(move |number| 1_795_331_112 + number * step);
        for (count, step) in [(10, 1), (5_000, 60), (5_000, 3_599), (3_000, 86_400), (3, 86_400 * 365)] {
            let mut halves = [Timeline::<2>::new(), Timeline::new()];
            for (number, time) in times(count, step).enumerate() {
                halves[number % 2].add(time, [number % 2]);
            }
            let [mut one, other] = halves;
            one.merge(other);
            let (width, intervals) = one.into_intervals(200);
            assert!(intervals.len() <= 200, "{} of {width}", intervals.len());
            let sum: u64 = intervals.iter().flat_map(|(_, sums)| sums).sum();
            assert_eq!(sum, u64::try_from(count).unwrap());
            assert!(intervals.windows(2).all(|pair| pair[1].0 - pair[0].0 == width));
        }
        assert_eq!(Timeline::<1>::new().into_intervals(10).1, []);
    }

    #[test]
    fn a_wrong_date_does_not_hide_the_others() {
        const DAY: i64 = 86_400;
        let intervals = |minutes: i64, others: &[i64]| {
            let mut timeline = Timeline::<1>::new();
            let times = (0..minutes).map(|minute| 20_000 * DAY + minute * 60);
            times.chain(others.iter().copied()).for_each(|time| timeline.add(time, [0]));
            let [left_out] = timeline.cut_off(|[requests]| *requests);
            let (width, intervals) = timeline.into_intervals(200);
            let sum: u64 = intervals.iter().map(|(_, [sum])| sum).sum();
            assert_eq!(sum + left_out, minutes as u64 + others.len() as u64);
            (width, intervals.len(), left_out)
        };
        assert_eq!(intervals(199, &[9_000 * DAY]), (60, 199, 1));
        assert_eq!(intervals(1_000, &[9_000 * DAY, 9_001 * DAY, 50_000 * DAY]), (300, 200, 3));
        // A few requests a day before are as they should be, and so are many at any time.
        assert_eq!(intervals(199, &[19_999 * DAY]).2, 0);
        assert_eq!(intervals(199, &[9_000 * DAY; 3]).2, 0);
    }
}
