//! The requests that a limit counts, and those that it refuses.

use crawlpike_core::{ClientNetwork, Identity};

use super::Limit;
use super::bucket::Buckets;
use super::replay::Passage;
use crate::tally::distinct::Distinct;
use crate::tally::frequent::Frequent;
use crate::tally::timeline::Timeline;
use crate::tally::{COLUMNS, DENIED};

/// The requests of clients of one identity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kind {
    pub(crate) requests: u64,
    pub(crate) refused: u64,
    pub(crate) addresses: Distinct,
    /// The addresses of which a request is refused.
    pub(crate) refused_addresses: Distinct,
}

/// A minute, in minutes since the Unix epoch, and its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Minute {
    pub(crate) number: i64,
    pub(crate) requests: u64,
    pub(crate) refused: u64,
}

impl Minute {
    /// Counts a request, the times of which never go back.
    pub(crate) fn add(&mut self, number: i64, is_refused: bool) {
        if self.number != number {
            *self = Self { number, ..Self::default() };
        }
        self.requests += 1;
        self.refused += u64::from(is_refused);
    }
}

/// The requests that a limit counts.
#[derive(Debug)]
pub(crate) struct Counted {
    buckets: Buckets,
    /// By identity, in their order.
    pub(crate) kinds: [Kind; Identity::ALL.len()],
    pub(crate) refused_addresses: Distinct,
    /// The refused requests by network and by autonomous system.
    pub(crate) networks: Frequent<ClientNetwork>,
    pub(crate) systems: Frequent<u32>,
    /// The requests by identity, and in the last column the refused ones.
    pub(crate) timeline: Timeline<COLUMNS>,
    minute: Minute,
    /// The minute in which most requests are refused.
    pub(crate) worst: Minute,
}

impl Default for Counted {
    fn default() -> Self {
        Self {
            buckets: Buckets::default(),
            kinds: Default::default(),
            refused_addresses: Distinct::default(),
            networks: Frequent::new(Self::NETWORKS),
            systems: Frequent::new(Self::SYSTEMS),
            timeline: Timeline::new(),
            minute: Minute::default(),
            worst: Minute::default(),
        }
    }
}

impl Counted {
    const NETWORKS: usize = 8_192;
    const SYSTEMS: usize = 1_024;

    /// Requests that pass because there are too many keys at once.
    pub(crate) fn untracked(&self) -> u64 {
        self.buckets.untracked
    }

    /// Counts a request with a key of the limit. `minute` never goes back.
    pub(super) fn add(&mut self, limit: &Limit, key: u64, passage: &Passage, minute: i64) {
        let is_refused = !self.buckets.admits(limit, key, passage.time);
        let identity = usize::from(passage.identity);
        if let Some(kind) = self.kinds.get_mut(identity) {
            kind.requests += 1;
            kind.addresses.add(passage.address);
            if is_refused {
                kind.refused += 1;
                kind.refused_addresses.add(passage.address);
            }
        }
        if is_refused {
            self.refused_addresses.add(passage.address);
            self.networks.add(&passage.network);
            passage.asn.iter().for_each(|asn| self.systems.add(asn));
        }
        let columns = [identity].into_iter().chain(is_refused.then_some(DENIED));
        self.timeline.add(passage.time.div_euclid(1000), columns);
        self.minute.add(minute, is_refused);
        if self.minute.refused > self.worst.refused {
            self.worst = self.minute;
        }
    }
}
