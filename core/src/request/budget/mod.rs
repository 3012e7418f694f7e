//! The number of signatures that turn out not to hold that a gate examines in a second.
//!
//! A signature that names a known key costs the gate much and its sender nothing. There are two budgets a second: one for
//! networks in which a signature has held lately, and one for all others. Each is shared among the networks that use it: the
//! more there were in the second before, and the less is left, the less a network may have spent to get more. So whoever sends
//! much is refused first, and a network that has spent nothing is examined until nothing at all is left. A signature that is
//! not examined proves nothing: neither who the client is, nor that it forged.

mod acquaintances;
mod first_seen;
mod spending;
#[cfg(test)]
mod tests;

use core::fmt;
use core::net::IpAddr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use zerocopy::FromBytes;

use crate::hash::mix;
use acquaintances::Acquaintances;
use first_seen::FirstSeen;
use spending::{SpentByAll, SpentByNetwork};

/// The most signatures in a second that do not hold, of all networks in which none has held lately; and of the others as
/// many. Both together take about 5 % of a core: one signature takes 80 µs of a slow core, and 210 µs in Wasm.
pub(crate) const MOST: u64 = if cfg!(target_family = "wasm") { 96 } else { 256 };

/// A network may spend as long as it has spent less than this part of what is left for all.
pub(crate) const PART: u64 = 8;

/// The most in a second of one network, if no other spends anything.
#[cfg(test)]
pub(crate) const ALONE: u64 = MOST.div_ceil(PART + 1);

/// A gate's budget for signatures that may not hold, and its memory of the networks in which some did.
///
/// All zero is a valid state: nothing is spent, and nobody is known. Several threads or processes can share one: it takes no
/// lock, and if they disturb each other, it is off by a few.
#[derive(FromBytes)]
#[repr(C)]
pub struct SignatureBudget {
    /// A random number, by which nobody can choose the networks and signatures that share a place. 0: there is none yet.
    key: AtomicU64,
    strangers: SpentByAll,
    acquaintances: SpentByAll,
    by_stranger: SpentByNetwork,
    known: Acquaintances,
    signatures: FirstSeen,
}

/// A signature that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holding {
    /// The hash of its octets.
    pub(crate) hash: u64,
    /// When it was created, in seconds since the Unix epoch.
    pub(crate) created: i64,
}

impl SignatureBudget {
    /// A budget of which nothing is spent.
    pub const fn new() -> Self {
        Self {
            key: AtomicU64::new(0),
            strangers: SpentByAll::nothing(),
            acquaintances: SpentByAll::nothing(),
            by_stranger: SpentByNetwork::nothing(),
            known: Acquaintances::nobody(),
            signatures: FirstSeen::nothing(),
        }
    }

    /// Takes a random number from the gate, unless there has been one before. Until then, hashes can be predicted.
    pub fn seed(&self, random: impl FnOnce() -> u64) {
        if self.key.load(Relaxed) == 0 {
            // Of two that come at the same time, the first one counts.
            let _ = self.key.compare_exchange(0, random() | 1, Relaxed, Relaxed);
        }
    }

    /// Returns true if a signature from this network may be examined now.
    pub(crate) fn allows(&self, network: NetworkKey, now: i64) -> bool {
        let (hash, now) = (self.hash(network.0), self.latest(now));
        let (own, all) = match self.known.find(hash, now) {
            Some(known) => (known.spent(now), &self.acquaintances),
            None => (self.by_stranger.at(hash, now), &self.strangers),
        };
        let left = MOST.saturating_sub(all.at(now));
        // The share of each, if there are as many as in the second before. The first signature of a network needs none.
        let share = MOST / all.networks_before(now).max(1);
        own * PART < left && own < share.max(1)
    }

    /// Notes that a signature from this network was examined and does not hold.
    pub(crate) fn note_bad(&self, network: NetworkKey, now: i64) {
        let (hash, now) = (self.hash(network.0), self.latest(now));
        match self.known.find(hash, now) {
            Some(known) => {
                self.acquaintances.add(known.spent(now) == 0, now);
                known.spend(now);
            }
            None => {
                self.strangers.add(self.by_stranger.at(hash, now) == 0, now);
                self.by_stranger.add(hash, now);
            }
        }
    }

    /// Notes that a signature from this network was examined and holds.
    ///
    /// Whoever saw it can send it again, from anywhere. So it makes its network known only if it certainly came for the first
    /// time; else it costs a network that is not known as much as a bad one.
    pub(crate) fn note_good(&self, network: NetworkKey, signature: Holding, now: i64) {
        let hash = self.hash(network.0);
        if self.signatures.is_first(self.hash(signature.hash), signature.created) {
            self.known.note(hash, now);
        } else if self.known.find(hash, now).is_none() {
            self.note_bad(network, now);
        }
    }

    /// The second that counts at `now`, by the clocks of all workers.
    fn latest(&self, now: i64) -> i64 {
        self.acquaintances.latest(self.strangers.latest(now))
    }

    fn hash(&self, number: u64) -> u64 {
        let key = self.key.load(Relaxed);
        mix(mix(number ^ key).wrapping_add(key))
    }
}

impl Default for SignatureBudget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SignatureBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureBudget").finish_non_exhaustive()
    }
}

/// The network of a client as budgets count it, whatever `network_bits` says: /24 in IPv4, /48 in IPv6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkKey(u64);

impl NetworkKey {
    /// All clients without an address are in one network.
    pub fn of(address: Option<IpAddr>) -> Self {
        Self(match address.map(|address| address.to_canonical()) {
            None => 0,
            Some(IpAddr::V4(v4)) => 1 << 48 | u64::from(v4.to_bits() >> 8),
            Some(IpAddr::V6(v6)) => 2 << 48 | (v6.to_bits() >> 80) as u64,
        })
    }

    /// The number of its share of something that has so many shares, from 0 on. Some networks have one share.
    pub fn share_of(self, shares: usize) -> usize {
        (mix(self.0) % shares.max(1) as u64) as usize
    }
}
