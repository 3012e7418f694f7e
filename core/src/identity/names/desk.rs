//! The lookups that may be under way at the same time, and the zones that do not answer.
//!
//! A client chooses which zone is asked for its address's name. One that does not answer keeps a place for as long as a
//! request waits. So the places are shared, as the budget for signatures is: the fewer are free, the fewer a network, a zone or
//! the domains of an agent may have to get one more. And a zone that has not answered is asked again only after a while, one
//! lookup at a time.

use alloc::vec::Vec;
use core::net::IpAddr;

use super::{NameLookup, NameLookupResult};
use crate::hash::mix;

/// The most lookups under way.
pub(super) const MOST_LOOKUPS: usize = 128;

/// The number of zones of which it is remembered that they did not answer.
const ZONES: usize = 1024;

/// For how long a zone is not asked when it fails, in seconds, and how often this doubles: up to a minute.
const FIRST_PAUSE: i64 = 4;
const MOST_DOUBLINGS: u8 = 4;

/// The number of failures, one after the other, from which on a zone is not asked for a while.
const FAILURES_OF_NETWORK: u8 = 1;
/// All clients that claim an agent have its domains in common, so one lost answer is not enough.
const FAILURES_OF_DOMAINS: u8 = 8;

/// The places for lookups, and the zones that have not answered.
#[derive(Debug)]
pub struct NameDesk {
    places: NamePlaces,
    /// The domains that are being asked for the addresses of a name, once for each lookup.
    domains: Vec<u64>,
    silent: Vec<Silent>,
    key: u64,
}

/// NamePlaces that are shared by network.
#[derive(Debug)]
pub struct NamePlaces {
    most: usize,
    taken: Vec<NameShares>,
}

/// The network, the zones and the domains of a lookup, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameShares {
    /// The client's /24 or /48: the zone that has the names of its addresses, or a part of that.
    network: u64,
    /// The /16 or /32: the zone above.
    wide: u64,
    /// The domains of the agent.
    domains: u64,
}

/// A zone that did not answer.
#[derive(Clone, Copy, Debug, Default)]
struct Silent {
    zone: u64,
    failures: u8,
    /// It is not asked before this time, in seconds since the Unix epoch.
    until: i64,
}

/// Which question of a lookup was the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStage {
    /// That for the name of the address.
    Name,
    /// That for the addresses of a name.
    Addresses,
}

impl NameShares {
    /// Those of a lookup.
    pub fn of(lookup: &NameLookup) -> Self {
        let (network, wide) = match lookup.address {
            IpAddr::V4(v4) => (u64::from(v4.to_bits() >> 8), u64::from(v4.to_bits() >> 16)),
            IpAddr::V6(v6) => ((v6.to_bits() >> 80) as u64, (v6.to_bits() >> 96) as u64),
        };
        let family = u64::from(lookup.address.is_ipv6());
        Self {
            network: network << 1 | family,
            wide: wide << 1 | family,
            domains: 1 << 61 | lookup.domains.hash() >> 3,
        }
    }
}

impl NamePlaces {
    /// NamePlaces for so many, all of which are free.
    pub const fn new(most: usize) -> Self {
        Self { most, taken: Vec::new() }
    }

    /// Takes a place. False if there is none for these shares.
    pub fn take(&mut self, shares: NameShares) -> bool {
        let free = self.free();
        let count = |is_same: fn(&NameShares, &NameShares) -> bool| {
            self.taken.iter().filter(|taken| is_same(taken, &shares)).count()
        };
        // At most a fifth of all for a network, and a half for the zone above it.
        let is_free = count(|one, other| one.network == other.network) * 4 < free
            && count(|one, other| one.wide == other.wide) < free;
        if is_free {
            self.taken.push(shares);
        }
        is_free
    }

    /// Gives a place back.
    pub fn give_back(&mut self, shares: NameShares) {
        if let Some(place) = self.taken.iter().position(|taken| *taken == shares) {
            self.taken.swap_remove(place);
        }
    }

    fn free(&self) -> usize {
        self.most.saturating_sub(self.taken.len())
    }
}

impl NameDesk {
    /// A desk at which nobody waits. `key` is a random number, with which zones are hashed.
    pub fn new(key: u64) -> Self {
        Self { places: NamePlaces::new(MOST_LOOKUPS), domains: Vec::new(), silent: Vec::new(), key }
    }

    /// Takes a place for a lookup.
    ///
    /// # Errors
    ///
    /// The result of the lookup, if it is not to be made.
    pub fn take(&mut self, shares: NameShares, now: i64) -> Result<(), NameLookupResult> {
        let is_asked = self.places.taken.iter().any(|taken| taken.network == shares.network);
        // Whoever claims the agent has the same domains. Only what is asked there counts.
        let asked = self.domains.iter().filter(|domains| **domains == shares.domains).count();
        if self.pauses(shares.network, FAILURES_OF_NETWORK, is_asked, now)
            || self.pauses(shares.domains, FAILURES_OF_DOMAINS, asked > 0, now)
        {
            return Err(NameLookupResult::BackedOff);
        }
        if asked < self.places.free() && self.places.take(shares) {
            Ok(())
        } else {
            Err(NameLookupResult::OverLimit)
        }
    }

    /// Notes that a lookup asks for the addresses of a name now.
    pub fn advance(&mut self, shares: NameShares) {
        self.domains.push(shares.domains);
    }

    /// Gives the place of a lookup back that came so far.
    pub fn give_back(&mut self, shares: NameShares, stage: NameStage) {
        self.places.give_back(shares);
        if stage == NameStage::Addresses
            && let Some(place) = self.domains.iter().position(|domains| *domains == shares.domains)
        {
            self.domains.swap_remove(place);
        }
    }

    /// Notes whether the zone answered that was asked last.
    pub fn note(&mut self, shares: NameShares, stage: NameStage, result: NameLookupResult, now: i64) {
        let has_answered = result != NameLookupResult::TimedOut;
        match stage {
            NameStage::Name => self.note_zone(shares.network, FAILURES_OF_NETWORK, has_answered, now),
            NameStage::Addresses => {
                self.note_zone(shares.network, FAILURES_OF_NETWORK, true, now);
                self.note_zone(shares.domains, FAILURES_OF_DOMAINS, has_answered, now);
            }
        }
    }

    /// Returns true if a zone has failed at least `failures` times one after the other, and its pause is not over, or it is being
    /// asked for the first time after it.
    fn pauses(&self, zone: u64, failures: u8, is_asked: bool, now: i64) -> bool {
        let silent = self.silent.get(self.place(zone)).filter(|silent| silent.zone == zone);
        silent.is_some_and(|silent| {
            // If the clock was ahead, the end can be farther away than any pause is long.
            let left = silent.until.saturating_sub(now);
            silent.failures >= failures && (is_asked || (1..=FIRST_PAUSE << MOST_DOUBLINGS).contains(&left))
        })
    }

    fn note_zone(&mut self, zone: u64, most_failures: u8, has_answered: bool, now: i64) {
        if self.silent.is_empty() {
            if has_answered {
                return;
            }
            self.silent.resize(ZONES, Silent::default());
        }
        let place = self.place(zone);
        let Some(silent) = self.silent.get_mut(place) else { return };
        let known = if silent.zone == zone { silent.failures } else { 0 };
        match (has_answered, known) {
            (true, 0) => {}
            (true, _) => *silent = Silent::default(),
            (false, known) => {
                let failures = known.saturating_add(1);
                let doublings = failures.saturating_sub(most_failures).min(MOST_DOUBLINGS);
                *silent = Silent { zone, failures, until: now.saturating_add(FIRST_PAUSE << doublings) };
            }
        }
    }

    fn place(&self, zone: u64) -> usize {
        usize::try_from(mix(zone ^ self.key) % ZONES as u64).unwrap_or_default()
    }
}
