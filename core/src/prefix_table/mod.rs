//! The union of all feeds: one lookup says, for each feed, what it says of an address.
//!
//! A set of *matches* is stored once, however many addresses share it. Above the sets stands, for each address
//! family, a trie whose leaves point to them, so that the time of a lookup does not depend on the number of feeds:
//!
//! ```text
//! address ──► root: one word for each value of the leading bits (0 to 18 of them, more for larger tables)
//!               │  a word is a match set, or a node for the addresses that begin with those bits:
//!               ├─ bitmap   64 cells for the next 6 bits; one word for each run of equal cells
//!               ├─ ranges   up to 9 ranges of the next 32 or 16 bits; their starts, then their words
//!               └─ direct   one word for each value of the next bits, where prefixes are dense
//!             ──► match set: &[Match], longest prefix first
//! ```
//!
//! Everything lies in one array of 32-bit words and refers to other words by their position in it, so that the
//! array can be written to a file and used where it was read ([`PrefixTable::as_words`],
//! [`PrefixTable::from_words`]). A node's bitmap or starts and its words are neighbours: a lookup in a table of a
//! million IPv4 prefixes touches a root that fits the second-level cache, then mostly one cache line of a node, then
//! the match set.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;

use ipnet::IpNet;
use zerocopy::{FromBytes, Immutable, KnownLayout};

use self::node::Root;
use crate::ids::{FeedId, ValueId};

mod item;
mod key;
mod match_set;
mod node;
mod sweep;
mod trie;
mod words;

pub(crate) use words::TableWords;

#[cfg(test)]
mod tests;

/// One prefix of one feed with what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The addresses; host bits are ignored, an IPv4-mapped IPv6 prefix means the IPv4 one.
    pub prefix: IpNet,
    /// The feed that says it.
    pub feed: FeedId,
    /// The feed's value for the prefix.
    pub value: ValueId,
}

/// The statement of one feed about an address: its most specific entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Match {
    /// The value of the entry.
    pub value: ValueId,
    /// The feed of the entry.
    pub feed: FeedId,
    /// The length of the entry's prefix: at most 32 for an IPv4 address, 128 for an IPv6 address.
    pub prefix_len: u8,
}

/// The reason why a table cannot be built or loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The table would take more than [`PrefixTable::MAX_WORDS`].
    TooLarge,
    /// Too many prefixes lie within those of too many other feeds: see [`match_set::MOST_STEPS`].
    TooNested,
    /// A part refers to another that is not there, or is not at the place that was made for it: a bug.
    Inconsistent,
    /// The words don't begin like a table of this version, written on a machine of this byte order.
    Format,
    /// There are more or fewer words than the table had when it was written.
    Length,
    /// A root lies outside the words.
    Root,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "the prefix table would exceed {MAX_WORDS} words"),
            Self::TooNested => f.write_str("too many prefixes lie within prefixes of too many other feeds"),
            Self::Inconsistent => {
                f.write_str("the prefix table could not be built because of a bug in Crawlpike")
            }
            Self::Format => f.write_str("not a prefix table of this version and byte order"),
            Self::Length => f.write_str("the prefix table is cut short or has bytes added"),
            Self::Root => f.write_str("the prefix table is damaged: its root lies outside"),
        }
    }
}

impl core::error::Error for TableError {}

/// Words that a table may have: positions in it are 26 bits wide.
const MAX_WORDS: usize = 1 << 26;

/// Zeros after the last node, so that a node's starts can be read in one piece of fixed size.
const PADDING: usize = node::MAX_STARTS;

/// The first words of a table, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    words: u32,
    prefixes_v4: u32,
    prefixes_v6: u32,
    v4: Root,
    v6: Root,
}

impl Header {
    /// Not its own mirror image, so that the other byte order is seen; the last digit is the format's version.
    const MAGIC: u32 = 0x4357_5401;
    const WORDS: usize = 8;

    fn to_words(self) -> [u32; Self::WORDS] {
        let Self { words, prefixes_v4, prefixes_v6, v4, v6 } = self;
        [Self::MAGIC, words, prefixes_v4, prefixes_v6, v4.offset, v4.bits, v6.offset, v6.bits]
    }

    fn from_words(from: &[u32]) -> Result<Self, TableError> {
        match from.first_chunk() {
            Some(&[Self::MAGIC, words, prefixes_v4, prefixes_v6, v4_offset, v4_bits, v6_offset, v6_bits]) => {
                let v4 = Root { offset: v4_offset, bits: v4_bits };
                let v6 = Root { offset: v6_offset, bits: v6_bits };
                Ok(Self { words, prefixes_v4, prefixes_v6, v4, v6 })
            }
            _ => Err(TableError::Format),
        }
    }
}

/// A read-only map from addresses to what each feed says of them.
///
/// `W` holds the words: a vector, or a part of a larger buffer.
///
/// ```
/// use crawlpike_core::internals::{Entry, FeedId, Match, PrefixTable, ValueId};
///
/// let [small, large] = [0, 1].map(FeedId::new);
/// let [whole, half, around] = [10, 11, 20].map(ValueId::new);
/// let entry = |prefix: &str, feed, value| Entry { prefix: prefix.parse().unwrap(), feed, value };
/// let table = PrefixTable::build(vec![
///     entry("192.0.2.0/24", small, whole),
///     entry("192.0.2.128/25", small, half),
///     entry("192.0.0.0/16", large, around),
/// ])?;
/// let in_small = Match { feed: small, prefix_len: 25, value: half };
/// let in_large = Match { feed: large, prefix_len: 16, value: around };
/// assert_eq!(table.lookup("192.0.2.200".parse().unwrap()), Some(&[in_small, in_large][..]));
/// assert_eq!(table.lookup("2001:db8::1".parse().unwrap()), Some(&[][..]));
///
/// let loaded = PrefixTable::from_words(table.as_words())?;
/// assert_eq!(loaded.lookup("::ffff:192.0.3.1".parse().unwrap()), Some(&[in_large][..]));
/// # Ok::<(), crawlpike_core::internals::TableError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixTable<W = Vec<u32>> {
    words: W,
    header: Header,
}

impl PrefixTable {
    /// The most 32-bit words that a table may take: 256 MiB, enough for about 15 million prefixes.
    pub const MAX_WORDS: usize = MAX_WORDS;

    /// Builds the table from entries in any order.
    ///
    /// Of entries with the same prefix and feed, the first counts (JAFAR-18). An IPv6 prefix shorter than `/96` that
    /// contains the IPv4-mapped addresses (`::/0`) covers no IPv4 address.
    ///
    /// # Errors
    ///
    /// [`TableError::TooLarge`]; each place where prefixes of different feeds overlap adds to the size.
    pub fn build(entries: Vec<Entry>) -> Result<Self, TableError> {
        let (v4, v6) = item::by_family(entries)?;
        let mut words = vec![0; Header::WORDS];
        let mut sets = match_set::Interner::default();
        let intervals_v4 = sweep::intervals(&v4, &mut sets, &mut words)?;
        let intervals_v6 = sweep::intervals(&v6, &mut sets, &mut words)?;
        let header = Header {
            prefixes_v4: match_set::count(v4.len())?,
            prefixes_v6: match_set::count(v6.len())?,
            v4: trie::build(&intervals_v4, &mut words)?,
            v6: trie::build(&intervals_v6, &mut words)?,
            words: match_set::count(trie::reserve(&mut words, PADDING)? + PADDING)?,
        };
        *words.first_chunk_mut().ok_or(TableError::Inconsistent)? = header.to_words();
        words.shrink_to_fit();
        Ok(Self { words, header })
    }

    /// The whole table, for [`PrefixTable::from_words`], without a copy.
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }
}

impl<W: AsRef<[u32]>> PrefixTable<W> {
    /// A table from what [`PrefixTable::as_words`] gave, in the byte order of this machine.
    ///
    /// The header is checked here: format, version, byte order, number of words, roots. It takes the same
    /// time for every table. Positions inside are checked when a lookup follows them (the processor does that while
    /// it waits for the memory), and a lookup takes a bounded number of steps whatever the words say. So words that
    /// were altered give an error here, or no answer or a wrong one later, but no panic and no endless loop; a checksum
    /// of the whole, which the compiled ruleset has, is what excludes wrong answers. Feeds and values in a [`Match`] are
    /// not checked: look them up with `get`.
    ///
    /// # Errors
    ///
    /// [`TableError::Format`], [`TableError::Length`] or [`TableError::Root`].
    pub fn from_words(words: W) -> Result<Self, TableError> {
        let slice = words.as_ref();
        let header = Header::from_words(slice)?;
        if slice.len() > MAX_WORDS || usize::try_from(header.words) != Ok(slice.len()) {
            return Err(TableError::Length);
        }
        if !header.v4.fits(slice) || !header.v6.fits(slice) {
            return Err(TableError::Root);
        }
        Ok(Self { words, header })
    }

    /// For each feed that covers the address, its most specific entry (JAFAR-13, GEO-11): longest prefix first, then
    /// the lower feed. Empty when no feed covers it; `None` when the words are damaged, so that nothing is known.
    ///
    /// An IPv4-mapped IPv6 address is the IPv4 address.
    #[inline]
    pub fn lookup(&self, address: IpAddr) -> Option<&[Match]> {
        self.lookup_from(self.first_word(address)?, address)
    }

    /// The first word on the way to an address. A large table is in a far cache: while this word comes from there, the
    /// processor can do something else.
    #[inline]
    pub(crate) fn first_word(&self, address: IpAddr) -> Option<u32> {
        let words = self.words.as_ref();
        match address.to_canonical() {
            IpAddr::V4(v4) => node::at_root(words, self.header.v4, v4.to_bits()),
            IpAddr::V6(v6) => node::at_root(words, self.header.v6, v6.to_bits()),
        }
    }

    /// [`Self::lookup`], from the first word on.
    pub(crate) fn lookup_from(&self, first_word: u32, address: IpAddr) -> Option<&[Match]> {
        let words = self.words.as_ref();
        let set = match address.to_canonical() {
            IpAddr::V4(v4) => node::find(words, self.header.v4, first_word, v4.to_bits()),
            IpAddr::V6(v6) => node::find(words, self.header.v6, first_word, v6.to_bits()),
        };
        match_set::read(words, set?)
    }

    /// The number of entries from which the table was built; the same prefix in two feeds counts twice.
    pub fn len(&self) -> usize {
        self.len_v4() + self.len_v6()
    }

    /// The number of entries of IPv4.
    pub fn len_v4(&self) -> usize {
        self.header.prefixes_v4 as usize
    }

    /// The number of entries of IPv6.
    pub fn len_v6(&self) -> usize {
        self.header.prefixes_v6 as usize
    }

    /// Returns true if the table covers no address.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory that the table takes, in bytes, match sets included.
    pub fn bytes(&self) -> usize {
        size_of_val(self.as_words())
    }

    /// The whole table, for [`PrefixTable::from_words`].
    pub fn as_words(&self) -> &[u32] {
        self.words.as_ref()
    }
}
