//! The requests of clients, and what became of them.

use std::collections::BTreeMap;

use crate::situation::{Situation, Way};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// A publisher's situation, for edges that reach publishers straight.
    Publisher(Situation),
    /// An edge's situation, for publishers in none.
    Edge(Way),
}

/// The kind of a client that claims to be a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    /// The crawler itself.
    Genuine,
    /// An impostor from anywhere.
    Stranger,
    /// An impostor from an address that the crawler had before, or that a wrong list has.
    Neighbour,
}

/// The requests of a kind of client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All.
    pub all: u64,
    /// Those that were verified.
    pub verified: u64,
    /// Those that were denied, because they were condemned.
    pub denied: u64,
}

/// A share in percent.
#[expect(clippy::cast_precision_loss, reason = "a share is for people")]
pub fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}

/// The requests in a row, and when operators heard of it.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// By kind of client.
    pub counts: BTreeMap<Client, Count>,
    /// For each window of each publisher and each edge, the hours until the operator heard of it, sorted; `None`: never.
    heard: Vec<(Option<i64>, u64)>,
}

/// All rows, by the days that an operator takes to accept a right version.
#[derive(Clone, Debug, Default)]
pub struct Tally(pub BTreeMap<(Row, i64), Cell>);

impl Cell {
    /// Counts a client of `weight` edges.
    pub(crate) fn add(&mut self, client: Client, is_verified: bool, is_denied: bool, weight: u64) {
        let count = self.counts.entry(client).or_default();
        count.all += weight;
        count.verified += if is_verified { weight } else { 0 };
        count.denied += if is_denied { weight } else { 0 };
    }

    /// Notes when the operators of `weight` edges heard of a situation, in seconds after it began.
    pub(crate) fn hear(&mut self, after: Option<i64>, weight: u64) {
        self.heard.push((after, weight));
    }

    /// The requests of a kind of client.
    pub fn count(&self, client: Client) -> Count {
        self.counts.get(&client).copied().unwrap_or_default()
    }

    /// The share of operators who heard of the situation, in percent, and the median of the seconds until then.
    pub fn heard(&self) -> (f64, Option<i64>) {
        let mut times: Vec<(i64, u64)> =
            self.heard.iter().filter_map(|(after, weight)| Some(((*after)?, *weight))).collect();
        times.sort_unstable();
        let sum: u64 = times.iter().map(|(_, weight)| weight).sum();
        let all = self.heard.iter().map(|(_, weight)| weight).sum();
        let mut below = 0;
        let median = times.iter().find(|(_, weight)| {
            below += weight;
            2 * below >= sum
        });
        (percent(sum, all), median.map(|(after, _)| *after))
    }
}

impl Tally {
    /// Adds those of other edges.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, cell) in other.0 {
            let mine = self.0.entry(key).or_default();
            mine.heard.extend(cell.heard);
            for (client, count) in cell.counts {
                let sum = mine.counts.entry(client).or_default();
                *sum = Count {
                    all: sum.all + count.all,
                    verified: sum.verified + count.verified,
                    denied: sum.denied + count.denied,
                };
            }
        }
    }

    /// A row, whatever the operator.
    pub fn row(&self, row: Row) -> Cell {
        let mut all = Self::default();
        for ((_, _), cell) in self.0.iter().filter(|((of, _), _)| *of == row) {
            all.merge(Self([((row, 0), cell.clone())].into()));
        }
        all.0.remove(&(row, 0)).unwrap_or_default()
    }
}
