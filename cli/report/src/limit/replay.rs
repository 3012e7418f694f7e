//! The requests of a log in the order of their times, through each limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;
use std::num::NonZeroU64;

use crawlpike_core::ClientNetwork;

use super::counted::{Counted, Minute};
use super::{Limit, MOST};
use crate::tally::frequent::{Detail, Frequent};

/// A request that at least one limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Passage {
    /// In milliseconds since the Unix epoch.
    pub(crate) time: i64,
    /// The place in the order in which requests are read.
    pub(crate) number: u64,
    pub(crate) address: IpAddr,
    pub(crate) network: ClientNetwork,
    pub(crate) asn: Option<u32>,
    /// The place of the identity among all.
    pub(crate) identity: u8,
    /// The hash of its key for each limit that counts it.
    pub(crate) keys: [Option<NonZeroU64>; MOST],
}

/// The minute in which a network has most requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    minute: Minute,
    pub(crate) worst: Minute,
}

impl Detail for Peak {
    fn merge(&mut self, other: Self) {
        if other.worst.requests > self.worst.requests {
            *self = other;
        }
    }
}

/// Sorts requests by their times, and passes them through the limits.
///
/// Logs are not in order: servers log a request when it ends, and several logs are read one behind the other. So requests wait until
/// [`Self::WINDOW`] of them do; then the earliest one is passed on. If a still earlier one comes after that, it is late.
#[derive(Debug)]
pub(crate) struct Replay<'l> {
    limits: &'l [Limit],
    waiting: BinaryHeap<Reverse<Passage>>,
    read: u64,
    passed: Replayed,
}

/// The result.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// The requests of each limit.
    pub(crate) counted: Vec<Counted>,
    /// The networks with the most requests, each with its worst minute.
    pub(crate) peaks: Frequent<ClientNetwork, Peak>,
    /// Requests that are passed on after later ones.
    pub(crate) late: u64,
    last: i64,
}

impl<'l> Replay<'l> {
    /// The number of requests that wait for earlier ones.
    pub(crate) const WINDOW: usize = 1 << 19;

    pub(crate) fn new(limits: &'l [Limit]) -> Self {
        const NETWORKS: usize = 8_192;
        let passed = Replayed {
            counted: limits.iter().map(|_| Counted::default()).collect(),
            peaks: Frequent::new(NETWORKS),
            late: 0,
            last: i64::MIN,
        };
        Self { limits, waiting: BinaryHeap::new(), read: 0, passed }
    }

    /// Takes a request, in the order in which it is read.
    pub(crate) fn add(&mut self, passage: Passage) {
        if self.waiting.len() >= Self::WINDOW
            && let Some(Reverse(first)) = self.waiting.pop()
        {
            self.passed.pass(self.limits, &first);
        }
        self.waiting.push(Reverse(Passage { number: self.read, ..passage }));
        self.read += 1;
    }

    /// Passes on all that wait.
    pub(crate) fn finish(mut self) -> Replayed {
        while let Some(Reverse(first)) = self.waiting.pop() {
            self.passed.pass(self.limits, &first);
        }
        self.passed
    }
}

impl Replayed {
    fn pass(&mut self, limits: &[Limit], passage: &Passage) {
        self.late += u64::from(passage.time < self.last);
        self.last = self.last.max(passage.time);
        let minute = self.last.div_euclid(60_000);
        for ((limit, counted), key) in limits.iter().zip(&mut self.counted).zip(passage.keys) {
            if let Some(key) = key {
                counted.add(limit, key.get(), passage, minute);
            }
        }
        self.peaks.add_with(&passage.network, |peak| {
            peak.minute.add(minute, false);
            if peak.minute.requests > peak.worst.requests {
                peak.worst = peak.minute;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_sorted_as_far_as_the_window_goes() {
        let limits = ["key=address rate=1r/s".parse().unwrap()];
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let network = ClientNetwork::of(address, (24, 48));
        let key = NonZeroU64::new(1);
        let passage = |time| Passage {
            time,
            number: 0,
            address,
            network,
            asn: None,
            identity: 0,
            keys: [key, None, None, None],
        };
        let replayed = |times: &mut dyn Iterator<Item = i64>| {
            let mut replay = Replay::new(&limits);
            times.for_each(|time| replay.add(passage(time)));
            replay.finish()
        };
        let backwards = replayed(&mut (0..10).rev().map(|second| second * 1000));
        assert_eq!((backwards.late, backwards.counted[0].kinds[0].refused), (0, 0));
        let window = Replay::WINDOW as i64;
        let late = replayed(&mut (0..=window).map(|number| 1000 + number).chain([0, window]));
        assert_eq!(late.late, 1);
        assert_eq!(late.counted[0].kinds[0].requests as i64, window + 3);
    }

    #[test]
    fn requests_of_one_time_pass_as_they_were_read_and_no_more_wait_than_the_window_has() {
        let limits = ["key=address rate=1r/s burst=1".parse().unwrap()];
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        let network = ClientNetwork::of(address, (24, 48));
        let passage = |time, identity| Passage {
            time,
            number: 0,
            address,
            network,
            asn: None,
            identity,
            keys: [NonZeroU64::new(1), None, None, None],
        };
        let mut replay = Replay::new(&limits);
        // Each second time is read before the one that it follows. Of three requests of a time, the third is refused.
        let times = Replay::WINDOW as u64 / 2;
        for time in (0..times as i64).map(|number| (number ^ 1) * 10_000) {
            for identity in [2, 0, 1] {
                replay.add(passage(time, identity));
            }
            assert!(replay.waiting.len() <= Replay::WINDOW);
        }
        let replayed = replay.finish();
        let kinds = [0, 1, 2].map(|identity| &replayed.counted[0].kinds[identity]);
        assert_eq!(kinds.map(|kind| (kind.requests, kind.refused)), [(times, 0), (times, times), (times, 0)]);
        assert_eq!(replayed.late, 0);
    }
}
