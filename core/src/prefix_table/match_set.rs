//! Sets of matches, each stored once.
//!
//! The word of a set holds the position of its first match and, as its size, the number of matches. From
//! [`COUNTED`] matches on, the number does not fit and stands in a word before the first match instead. The word 0
//! is the set of no matches.

use alloc::vec::Vec;

use hashbrown::HashTable;
use zerocopy::{FromBytes, IntoBytes};

use super::item::Item;
use super::{MAX_WORDS, Match, TableError, node};
use crate::hash;
use crate::ids::FeedId;

/// The size of a set whose number of matches is stored with it.
const COUNTED: usize = node::MAX_SIZE;

/// Words of a match.
const MATCH_WORDS: usize = size_of::<Match>() / size_of::<u32>();

/// The largest number of matches that are looked at while a table is built: for each prefix, those of the feeds that
/// cover it. Building takes a second or so for that many. Usual feeds need a few for each prefix.
pub(super) const MOST_STEPS: usize = 1 << 28;

/// The set of no matches.
pub(super) const NO_MATCHES: u32 = 0;

/// The matches of a set; `None` when the words are damaged.
#[inline]
pub(super) fn read(words: &[u32], set: u32) -> Option<&[Match]> {
    let mut matches = words.get(node::offset(set)..)?;
    let mut count = node::size(set);
    if count == COUNTED {
        let (first, rest) = matches.split_first()?;
        (count, matches) = (usize::try_from(*first).ok()?, rest);
    }
    let matches = matches.get(..count.checked_mul(MATCH_WORDS)?)?;
    <[Match]>::ref_from_bytes(matches.as_bytes()).ok()
}

/// A number of words or entries as the header holds it.
pub(super) fn count(number: usize) -> Result<u32, TableError> {
    u32::try_from(number).map_err(|_| TableError::TooLarge)
}

/// Finds the sets that were already stored.
#[derive(Default)]
pub(super) struct Interner {
    stored: HashTable<Stored>,
    /// The set in question, kept for its memory.
    wanted: Vec<Match>,
    /// The number of matches that were looked at.
    steps: usize,
}

/// A set that was stored. With its hash, so that neither other sets nor a growing table need to read it.
struct Stored {
    hash: u32,
    word: u32,
}

impl Interner {
    /// The word of the set that holds inside a prefix with these items, one for each feed and in their order, where
    /// `outside` holds around it.
    pub(super) fn refine<K>(
        &mut self,
        words: &mut Vec<u32>,
        outside: u32,
        items: &[Item<K>],
    ) -> Result<u32, TableError> {
        self.wanted.clear();
        self.wanted.extend(items.iter().map(Item::to_match));
        let overruled = |feed: FeedId| items.binary_search_by_key(&feed, |item| item.feed).is_ok();
        let outside = read(words, outside).ok_or(TableError::Inconsistent)?;
        self.steps = self.steps.saturating_add(outside.len() + items.len());
        if self.steps > MOST_STEPS {
            return Err(TableError::TooNested);
        }
        self.wanted.extend(outside.iter().filter(|outer| !overruled(outer.feed)));
        self.intern(words)
    }

    /// The word of the wanted set.
    fn intern(&mut self, words: &mut Vec<u32>) -> Result<u32, TableError> {
        let wanted = self.wanted.as_slice();
        let hash = hash_of(wanted);
        let is_wanted = |stored: &Stored| stored.hash == hash && read(words, stored.word) == Some(wanted);
        if let Some(stored) = self.stored.find(spread(hash), is_wanted) {
            return Ok(stored.word);
        }
        let count_word = usize::from(wanted.len() >= COUNTED);
        if words.len() + count_word + wanted.len() * MATCH_WORDS > MAX_WORDS {
            return Err(TableError::TooLarge);
        }
        let word = node::word(node::SET, wanted.len().min(COUNTED), words.len())?;
        if count_word > 0 {
            words.push(count(wanted.len())?);
        }
        for Match { value, feed, prefix_len } in wanted {
            let [feed_first, feed_second] = feed.number().to_ne_bytes();
            words.extend([value.number(), u32::from_ne_bytes([feed_first, feed_second, *prefix_len, 0])]);
        }
        self.stored.insert_unique(spread(hash), Stored { hash, word }, |stored| spread(stored.hash));
        Ok(word)
    }
}

fn hash_of(set: &[Match]) -> u32 {
    let folded = set.iter().fold(0, |hash, Match { value, feed, prefix_len }| {
        let bits = u64::from(value.number()) << 32 | u64::from(feed.number()) << 8 | u64::from(*prefix_len);
        // Zero has the hash zero, whatever comes after it.
        hash::mix((hash ^ bits).wrapping_add(1))
    });
    (folded >> 32) as u32
}

/// The place of a hash in the table, which looks at the highest bits and at the lowest.
fn spread(hash: u32) -> u64 {
    hash::mix(hash.into())
}
