//! The number of signatures that turn out not to hold that a worker examines in a second.
//!
//! A signature that names a known key costs the worker much and its sender nothing. A client that sends many wrong ones uses up
//! its own share first, and clients that nobody knows cannot use up what is left for those who have signed well before. What is
//! not examined proves nothing: neither who the client is, nor that it forged.

use core::fmt;
use core::net::IpAddr;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use crate::hash::mix;

/// The most in a second of one client: of an IPv4 address, or an IPv6 network of /64.
pub(crate) const MOST_OF_A_CLIENT: u64 = 32;
/// The most in a second of all clients whose last signature did not hold, or who have sent none before.
pub(crate) const MOST_OF_STRANGERS: u64 = 64;
/// The most in a second of all clients.
pub(crate) const MOST: u64 = 128;

/// The number of clients that are distinguished.
const PLACES: usize = 256;

/// The rest of a worker's budget for signatures that may not hold. Several threads can share one: it takes no lock, and
/// if they disturb each other, it is off by a few.
pub struct SignatureBudget {
    all: Spent,
    /// By client; two that have the same place take it from each other.
    clients: [Spent; PLACES],
    /// The clients who signed well, each with its number; 0 is nobody's.
    known: [AtomicU64; PLACES],
}

impl SignatureBudget {
    /// A budget of which nothing is spent.
    pub const fn new() -> Self {
        Self {
            all: Spent::nothing(),
            clients: [const { Spent::nothing() }; PLACES],
            known: [const { AtomicU64::new(0) }; PLACES],
        }
    }

    /// Returns true if a signature of this client may be examined now.
    pub(crate) fn allows(&self, client: Client, now: i64) -> bool {
        let most = if self.knows(client) { MOST } else { MOST_OF_STRANGERS };
        let by_client = client.place(&self.clients).map_or(0, |place| place.at(client.tag(), now));
        by_client < MOST_OF_A_CLIENT && self.all.at(0, now) < most
    }

    /// Notes that a signature of this client was examined.
    pub(crate) fn note(&self, client: Client, now: i64, holds: bool) {
        if holds {
            if let Some(place) = client.place(&self.known) {
                place.store(client.number(), Relaxed);
            }
            return;
        }
        self.all.add(0, now);
        if let Some(place) = client.place(&self.clients) {
            place.add(client.tag(), now);
        }
    }

    fn knows(&self, client: Client) -> bool {
        client.place(&self.known).is_some_and(|place| place.load(Relaxed) == client.number())
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

/// The sender of a signature, as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client(u64);

impl Client {
    /// All without an address are one client.
    pub(crate) fn of(address: Option<IpAddr>) -> Self {
        Self(mix(match address.map(|address| address.to_canonical()) {
            None => 0,
            // No network of IPv6 has this number: those that begin with zeros are not for hosts.
            Some(IpAddr::V4(v4)) => 1 << u32::BITS | u64::from(v4.to_bits()),
            Some(IpAddr::V6(v6)) => (v6.to_bits() >> u64::BITS) as u64,
        }))
    }

    fn place<T>(self, places: &[T; PLACES]) -> Option<&T> {
        places.get(usize::try_from(self.0 % PLACES as u64).ok()?)
    }

    /// Differs for most clients that share a place.
    const fn tag(self) -> u64 {
        self.0 >> u32::BITS
    }

    /// Differs for all clients, and from an empty place.
    const fn number(self) -> u64 {
        self.0 | 1
    }
}

/// The amount that was spent in one second: 32 bits say by which client, 24 in which second, and 8 how much.
struct Spent(AtomicU64);

impl Spent {
    const AMOUNT_BITS: u32 = 8;
    const SECOND_BITS: u32 = 24;
    const MOST: u64 = (1 << Self::AMOUNT_BITS) - 1;

    const fn nothing() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The amount that `tag` has spent in the second that is `now`.
    fn at(&self, tag: u64, now: i64) -> u64 {
        let word = self.0.load(Relaxed);
        if word >> Self::AMOUNT_BITS == Self::whose(tag, now) { word & Self::MOST } else { 0 }
    }

    fn add(&self, tag: u64, now: i64) {
        let amount = (self.at(tag, now) + 1).min(Self::MOST);
        self.0.store(Self::whose(tag, now) << Self::AMOUNT_BITS | amount, Relaxed);
    }

    const fn whose(tag: u64, now: i64) -> u64 {
        let second = now.cast_unsigned() & ((1 << Self::SECOND_BITS) - 1);
        tag << Self::SECOND_BITS | second
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const NOW: i64 = 1_800_000_000;

    fn client(address: &str) -> Client {
        Client::of(Some(address.parse().unwrap()))
    }

    /// The number of wrong signatures of a client that are examined, of `sent` in one second.
    fn examined(budget: &SignatureBudget, client: Client, now: i64, sent: usize) -> u64 {
        let is_examined = |_: &usize| {
            let is_allowed = budget.allows(client, now);
            if is_allowed {
                budget.note(client, now, false);
            }
            is_allowed
        };
        (0..sent).filter(is_examined).count() as u64
    }

    #[test]
    fn a_client_spends_its_share_each_second() {
        let (budget, one) = (SignatureBudget::new(), client("192.0.2.1"));
        for now in [NOW, NOW + 1, NOW + 3600] {
            assert_eq!(examined(&budget, one, now, 1000), MOST_OF_A_CLIENT);
            // In the form of IPv6, it is the same client.
            assert_eq!(examined(&budget, client("::ffff:192.0.2.1"), now, 1000), 0);
            assert_eq!(
                examined(&budget, client("192.0.2.2"), now, 1000),
                MOST_OF_STRANGERS - MOST_OF_A_CLIENT
            );
        }
        assert_eq!(examined(&budget, client("2001:db8::1"), NOW + 9, 1000), MOST_OF_A_CLIENT);
        assert_eq!(examined(&budget, client("2001:db8::2:0:0:1"), NOW + 9, 1000), 0, "the same network");
    }

    #[test]
    fn strangers_leave_something_to_those_who_signed_well() {
        let (budget, known) = (SignatureBudget::new(), client("192.0.2.1"));
        budget.note(known, NOW, true);
        let strangers = || (0..=255).map(|host| client(&format!("198.51.100.{host}")));
        for now in [NOW, NOW + 1] {
            let spent: u64 = strangers().map(|stranger| examined(&budget, stranger, now, 2)).sum();
            assert_eq!(spent, MOST_OF_STRANGERS);
            assert_eq!(examined(&budget, known, now, 1000), MOST_OF_A_CLIENT);
        }
        // However many signed well, there is an end.
        let known = (1..=255).map(|host| client(&format!("203.0.113.{host}")));
        known.clone().for_each(|known| budget.note(known, NOW, true));
        let spent: u64 = known.map(|known| examined(&budget, known, NOW + 2, 1000)).sum();
        assert_eq!(spent, MOST);
    }

    #[test]
    fn signatures_that_hold_cost_nothing() {
        let budget = SignatureBudget::new();
        for number in 0..10_000 {
            let one = client(&format!("2001:db8:{:x}::1", number % 300));
            assert!(budget.allows(one, NOW), "{number}");
            budget.note(one, NOW, true);
        }
    }
}
