//! Thousands of path patterns at once: which is the first, in a given order of precedence, that matches a path?
//!
//! Patterns without `*` are in a compressed trie: one walk down the path meets every one that matches. Patterns with
//! `*` are found by a *gram*: up to four octets in a row which every matching path must hold, chosen so that few
//! patterns share it. One pass over the path looks each of its grams up, and only patterns whose gram is there are
//! tried.
//!
//! # Cost
//!
//! For a path of n octets and a set with w different patterns that hold a `*`, at most n steps in the trie, and at most
//! 3n steps for each pattern that is tried. None is tried twice, so 3n(w + 1) is the bound for the worst file and path;
//! with grams that tell the patterns apart it is a small multiple of n. A pattern that differs in the query counts four times.
//! Nothing is allocated by a match.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::path::normal_form::NormalOctets;
use crate::path::pattern::PathPattern;
use crate::path::request::{PathOctets, RequestPath};
use crate::sort::sort_by_key;

mod trie;
mod wildcards;

use self::trie::{Key, Trie};
use self::wildcards::Wildcards;

/// "No pattern", greater than every index.
const NONE: u32 = u32::MAX;

/// A place in a list that is built from the text of one file, which has fewer bytes than that.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

/// Path patterns in order of precedence.
///
/// ```
/// use crawlpike_core::internals::{PathPattern, RequestPath};
/// use crawlpike_core::internals::PathSet;
///
/// let order: Vec<_> = ["/shop/*/old", "/shop/", "/"].map(|text| PathPattern::new(text.as_bytes())).into();
/// let order = order.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let set = PathSet::new(&order);
/// assert_eq!(set.first_match(RequestPath::new(b"/shop/a/old?x")), Some(0));
/// assert_eq!(set.first_match(RequestPath::new(b"/shop/a")), Some(1));
/// # Ok::<(), crawlpike_core::internals::PatternError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PathSet {
    trie: Trie,
    wildcards: Wildcards,
}

impl PathSet {
    /// Compiles the patterns, the one that takes precedence first.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p PathPattern>) -> Self {
        let mut keys = Vec::new();
        let mut wildcards = Vec::new();
        let mut seen = BTreeSet::new();
        for (index, pattern) in (0..NONE).zip(patterns) {
            if pattern.has_wildcard() {
                // A pattern that occurs twice would be tried twice, and only its first place matters.
                if seen.insert(pattern) {
                    wildcards.push((index, pattern.clone()));
                }
            } else {
                keys.push(Key { octets: pattern.prefix(), exact: pattern.is_anchored(), index });
            }
        }
        sort_by_key(&mut keys, |key| key.octets);
        Self { trie: Trie::new(&keys), wildcards: Wildcards::new(wildcards) }
    }

    /// The index of the first pattern, in order of precedence, that matches.
    pub fn first_match(&self, path: RequestPath<'_>) -> Option<u32> {
        let first = match path.octets() {
            PathOctets::Plain(octets) => self.first_in(octets),
            PathOctets::Encoded(octets) => self.first_in(octets),
        };
        (first != NONE).then_some(first)
    }

    fn first_in(&self, octets: impl NormalOctets) -> u32 {
        let literal = self.trie.first_match(octets.clone());
        self.wildcards.first_before(literal, octets)
    }
}

#[cfg(test)]
mod tests;
