//! The memory that pages hold while documents are made of them, and its bound.
//!
//! A page holds memory while it is collected, while it waits, while it is converted, and what is sent of it as long as the server
//! keeps that. All of it is claimed before it is allocated. What is claimed is given back when its owner is dropped, so a
//! client that leaves gives back what its page has.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use crawlpike_core::NetworkKey;

/// A conversion takes at most so many bytes for each byte of HTML: the tests of `crawlpike-document` hold the worst pages that are
/// known to that.
pub(crate) const CONVERSION_FACTOR: usize = 12;

/// The line in the log of a gate, at most once a minute, when pages go out as they are because other pages hold the memory.
pub const NO_ROOM: &str =
    "pages go out as they are (busy): other pages hold the memory for documents (document_memory)";

/// The least memory that a buffer or a conversion asks for.
pub(crate) const LEAST: usize = 4 << 10;

/// The number of parts into which networks fall.
const PARTS: usize = 256;

/// The memory that pages hold together: those of a worker, or of a process with several. A claim takes no lock, because it is two
/// numbers.
///
/// A network may hold as much as is free. So whoever fills all of it from one network leaves half, from two a third, and so on:
/// what is left is for others.
#[derive(Debug)]
pub struct Memory {
    held: AtomicUsize,
    /// The part of that by network. Networks that fall into one part share it.
    of_part: [AtomicUsize; PARTS],
    /// The part of that of all networks that conversions hold, which take no more than moments.
    converting: AtomicUsize,
    /// Held by the conversion that gets what others give back: none overtakes it.
    turn: Mutex<()>,
    /// The bytes that were given back since [`Memory::take_given_back`].
    given_back: AtomicUsize,
}

impl Memory {
    /// Memory of which nothing is held.
    pub const fn new() -> Self {
        Self {
            held: AtomicUsize::new(0),
            of_part: [const { AtomicUsize::new(0) }; PARTS],
            converting: AtomicUsize::new(0),
            turn: Mutex::new(()),
            given_back: AtomicUsize::new(0),
        }
    }

    /// The bytes that are held.
    pub fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// The bytes that were given back since the last call. An allocator may keep them from the system.
    pub fn take_given_back(&self) -> usize {
        self.given_back.swap(0, Relaxed)
    }

    /// An empty share for a page that a client of this network asks for, of at most `most` bytes for all pages together.
    pub fn share(&'static self, most: usize, network: NetworkKey) -> Share {
        let of_part = self.of_part.get(network.share_of(PARTS)).unwrap_or(&self.held);
        Share { memory: self, of_part, most, held: 0, converting: 0 }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory of one owner. It is given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    memory: &'static Memory,
    of_part: &'static AtomicUsize,
    most: usize,
    held: usize,
    /// The bytes that a conversion holds, until this is dropped.
    converting: usize,
}

impl Share {
    /// Claims more bytes; false if there would be more than all pages may hold, or than the client's network may, now or if it held so many
    /// beside them and nothing were being converted.
    #[must_use]
    pub(crate) fn claim(&mut self, bytes: usize, beside: usize) -> bool {
        let of_network = self.of_part.load(Relaxed);
        let converting = self.memory.converting.load(Relaxed);
        let with_more = |held: usize| {
            let free = self.most.checked_sub(held)?;
            let is_fair = of_network.checked_add(bytes)? <= free
                && of_network.saturating_sub(converting) + bytes.checked_add(beside)? <= free + converting;
            is_fair.then_some(held + bytes)
        };
        let is_granted = self.memory.held.fetch_update(Relaxed, Relaxed, with_more).is_ok();
        if is_granted {
            self.of_part.fetch_add(bytes, Relaxed);
            self.held += bytes;
        }
        is_granted
    }

    /// Claims the bytes for a conversion, which ends when this is dropped. `wait`, if the thread may, waits a moment: the claim is
    /// repeated as long as other conversions are under way, which take no more than moments.
    #[must_use]
    pub(crate) fn claim_for_conversion(&mut self, bytes: usize, wait: Option<fn()>) -> bool {
        let Memory { converting, turn, .. } = self.memory;
        let _turn = wait.map(|_| turn.lock().unwrap_or_else(PoisonError::into_inner));
        loop {
            let others = converting.load(Relaxed);
            if self.claim(bytes, 0) {
                converting.fetch_add(bytes, Relaxed);
                self.converting += bytes;
                return true;
            }
            match wait {
                Some(wait) if others > 0 => wait(),
                _ => return false,
            }
        }
    }

    /// An empty share of the same memory.
    pub(crate) const fn another(&self) -> Self {
        Self { held: 0, converting: 0, ..*self }
    }

    /// Another share, of so many bytes of this one.
    fn split(&mut self, bytes: usize) -> Self {
        let bytes = bytes.min(self.held);
        self.held -= bytes;
        Self { held: bytes, ..self.another() }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.held.fetch_sub(self.held, Relaxed);
        self.of_part.fetch_sub(self.held, Relaxed);
        self.memory.converting.fetch_sub(self.converting, Relaxed);
        self.memory.given_back.fetch_add(self.held, Relaxed);
    }
}

/// Bytes with their share of the memory.
#[derive(Debug)]
pub struct Held {
    bytes: Vec<u8>,
    share: Share,
}

/// The reason why bytes are not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// There would be more than the limit for one page.
    Page,
    /// There would be more than the limit for all pages.
    All,
}

impl Held {
    /// No bytes yet.
    pub(crate) const fn new(share: Share) -> Self {
        Self { bytes: Vec::new(), share }
    }

    /// Bytes that exist already, in memory that another owner has claimed.
    pub(crate) fn existing(mut bytes: Vec<u8>, of: &mut Share) -> Self {
        bytes.shrink_to_fit();
        let share = of.split(bytes.len());
        Self { bytes, share }
    }

    /// Adds bytes, up to `most` in all, if there is room for so many others for each of them. It adds all of them or none.
    pub(crate) fn push(&mut self, bytes: &[u8], most: usize, others: usize) -> Result<(), NoRoom> {
        let length = self.bytes.len().saturating_add(bytes.len());
        if length > most {
            return Err(NoRoom::Page);
        }
        let room = self.bytes.capacity();
        let wanted =
            if length > room { room.saturating_mul(2).min(most).max(length).max(LEAST) } else { room };
        if !self.share.claim(wanted - room, length.saturating_mul(others)) {
            return Err(NoRoom::All);
        }
        self.bytes.reserve_exact(wanted - self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The share that they have.
    pub(crate) fn share(&self) -> &Share {
        &self.share
    }
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed_is_never_more_than_the_limit_and_all_comes_back() {
        static MEMORY: Memory = Memory::new();
        let [one, other] =
            [[192, 0, 2, 1], [198, 51, 100, 1]].map(|address| NetworkKey::of(Some(address.into())));
        let mut first = Held::new(MEMORY.share(100_000, one));
        assert_eq!(first.push(&[1; 50_000], 60_000, 0), Ok(()));
        assert!((50_000..=60_000).contains(&MEMORY.held()));
        assert_eq!(first.push(&[1; 20_000], 60_000, 0), Err(NoRoom::Page));
        let mut second = Held::new(MEMORY.share(100_000, other));
        assert_eq!(second.push(&[2; 60_000], 60_000, 0), Err(NoRoom::All));
        assert_eq!(second.as_ref(), b"");
        assert_eq!(second.push(&[2; 30_000], 60_000, 0), Ok(()));
        assert_eq!((first.as_ref().len(), second.as_ref().len()), (50_000, 30_000));
        assert!(MEMORY.held() <= 100_000);
        drop(first);
        assert_eq!(second.push(&[2; 30_000], 60_000, 0), Ok(()));
        assert!(second.as_ref().iter().all(|byte| *byte == 2));
        assert_eq!(second.push(&[2], 90_000, 1), Err(NoRoom::All), "no room for as many others");
        drop(second);
        assert_eq!(MEMORY.held(), 0);
        assert!(MEMORY.take_given_back() >= 110_000);
        assert_eq!(MEMORY.take_given_back(), 0);
    }

    #[test]
    fn a_network_holds_at_most_what_is_free() {
        static MEMORY: Memory = Memory::new();
        let network = |number: u8| NetworkKey::of(Some([192, 0, number, 1].into()));
        let filled = |network| {
            let mut share = MEMORY.share(1_200, network);
            while share.claim(1, 0) {}
            share
        };
        let shares: Vec<Share> = (1..4).map(|number| filled(network(number))).collect();
        let held: Vec<usize> = shares.iter().map(|share| share.held).collect();
        assert_eq!(held, [600, 300, 150]);
        assert!(!MEMORY.share(1_200, network(1)).claim(1, 0), "another page of a network that has its share");
        assert!(MEMORY.share(1_200, network(4)).claim(100, 0));
        drop(shares);
        assert_eq!(MEMORY.held(), 0);
        assert!(MEMORY.share(1_200, network(1)).claim(1_200, 0));
    }

    #[test]
    fn a_claim_is_all_or_nothing_in_each_thread() {
        static MEMORY: Memory = Memory::new();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let mut share = MEMORY.share(25, NetworkKey::default());
                        if share.claim(10, 0) {
                            assert!(MEMORY.held() <= 25);
                        }
                        let _ = share.claim(10, 0);
                        drop(share.split(5));
                    }
                });
            }
        });
        assert_eq!(MEMORY.held(), 0);
        assert!(!MEMORY.share(25, NetworkKey::default()).claim(usize::MAX, 0));
    }

    #[test]
    fn conversions_that_may_wait_get_their_turn() {
        static MEMORY: Memory = Memory::new();
        const WAIT: fn() = || std::thread::sleep(std::time::Duration::from_millis(1));
        let converted = || {
            let mut share = MEMORY.share(25, NetworkKey::default());
            let is_granted = share.claim_for_conversion(10, Some(WAIT));
            WAIT();
            is_granted
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..16).map(|_| scope.spawn(converted)).collect();
            assert!(all.into_iter().all(|converted| converted.join().unwrap()));
        });
        assert_eq!((MEMORY.held(), MEMORY.converting.load(Relaxed)), (0, 0));
        // Nothing is under way that would give anything back.
        assert!(!MEMORY.share(25, NetworkKey::default()).claim_for_conversion(26, Some(WAIT)));
    }
}
