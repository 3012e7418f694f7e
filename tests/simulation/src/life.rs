//! The addresses of a publisher from day to day.

use std::collections::BTreeSet;
use std::ops::Range;

use fastrand::Rng;

use crate::file::Networks;
use crate::situation::Situation;

/// The share of prefixes, in tenths of a percent, that a usual change adds, and that it removes: the deciles of 427 changes of
/// the published lists of OpenAI, Google, Bing, DuckDuckGo, X, Pingdom and others, from 2021 to 2026.
const ADDED: [usize; 10] = [0, 1, 3, 7, 13, 21, 49, 54, 87, 108];
const REMOVED: [usize; 10] = [0, 0, 1, 2, 5, 14, 29, 48, 57, 92];

/// The mean number of days between two changes: that of OpenAI's lists, which change more often than those of other crawlers.
const DAYS_BETWEEN_CHANGES: usize = 10;

/// The networks of length 24 that a publisher may get.
const OWN: u32 = 4096;

/// The networks of a publisher, and those that it has not had yet.
pub(crate) struct Life {
    listed: BTreeSet<u32>,
    used: BTreeSet<u32>,
    fresh: Range<u32>,
    part: usize,
}

impl Life {
    /// The networks that a publisher begins with.
    pub(crate) fn new(number: u32, rng: &mut Rng) -> Self {
        let first = (20 << 16) + number * OWN;
        let count = rng.u32(8..120);
        let listed: BTreeSet<u32> = (first..first + count).collect();
        Self { used: listed.clone(), listed, fresh: first + count..first + OWN, part: 0 }
    }

    /// The networks that the publisher means to list, in order.
    pub(crate) fn list(&self) -> Networks {
        self.listed.iter().copied().collect()
    }

    /// The networks from which its crawler comes, in order.
    pub(crate) fn uses(&self) -> Networks {
        self.used.iter().copied().collect()
    }

    /// The random part of a situation, in percent of the list.
    pub(crate) fn part(&self) -> usize {
        self.part
    }

    /// A day passes, on which the publisher may be in its situation since some days.
    pub(crate) fn pass(&mut self, situation: Situation, since: Option<usize>, rng: &mut Rng) {
        // New networks are in use a day after they are listed.
        self.used.clone_from(&self.listed);
        let count = self.listed.len();
        if since == Some(0) {
            self.part = if situation == Situation::Moves { 100 } else { rng.usize(5..=95) };
        }
        match (situation, since) {
            (Situation::Moves | Situation::Renumbers, Some(0)) => {
                let part = (count * self.part).div_ceil(100);
                self.remove(part, rng);
                self.add(part);
                self.used.clone_from(&self.listed);
            }
            (Situation::MovesSlowly, Some(0..10)) => {
                self.remove(count.div_ceil(10), rng);
                self.add(count.div_ceil(10));
            }
            (Situation::Grows, Some(0)) => self.add(11 * count),
            (Situation::PublishesLate, Some(0..3)) => {
                self.used.extend(self.fresh.clone().take(count.div_ceil(10)));
            }
            (Situation::PublishesLate, Some(3)) => {
                self.add(count.div_ceil(10));
                self.used.clone_from(&self.listed);
            }
            _ if rng.usize(0..DAYS_BETWEEN_CHANGES) == 0 => {
                self.remove(count * REMOVED[rng.usize(0..10)] / 1000, rng);
                self.add((count * ADDED[rng.usize(0..10)] / 1000).max(1));
            }
            _ => {}
        }
        self.used.retain(|network| self.listed.contains(network) || self.fresh.contains(network));
    }

    fn add(&mut self, count: usize) {
        self.listed.extend(self.fresh.by_ref().take(count));
    }

    /// Removes networks, which do not come back.
    fn remove(&mut self, count: usize, rng: &mut Rng) {
        let all: Vec<u32> = self.listed.iter().copied().collect();
        for network in rng.choose_multiple(all, count) {
            self.listed.remove(&network);
        }
    }
}
