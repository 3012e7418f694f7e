//! Host patterns, found for a host among any number of them.

use alloc::boxed::Box;

use hashbrown::HashTable;

use crate::hash;
use crate::http::host::{HostPattern, RequestHost};

/// Finds the patterns that hold for a host, in a time that does not depend on how many there are.
#[derive(Clone, Debug)]
pub(crate) struct HostIndex<V> {
    exact: NameTable<V>,
    below: NameTable<V>,
}

impl<V> Default for HostIndex<V> {
    fn default() -> Self {
        Self { exact: NameTable::default(), below: NameTable::default() }
    }
}

impl<V: Copy> HostIndex<V> {
    /// Indexes patterns, each with a value; of two equal patterns the first counts.
    pub(crate) fn new<'p>(patterns: impl IntoIterator<Item = (&'p HostPattern, V)>) -> Self {
        let mut index = Self::default();
        for (pattern, value) in patterns {
            let table = if pattern.is_wildcard() { &mut index.below } else { &mut index.exact };
            pattern.forms().for_each(|form| table.insert(form, value));
        }
        index
    }

    /// The value of the exact pattern for this host, or else of the longest wildcard pattern.
    pub(crate) fn best(&self, host: RequestHost<'_>) -> Option<V> {
        self.exact(host).or_else(|| self.wildcards(host).next())
    }

    /// The value of the exact pattern for this host.
    pub(crate) fn exact(&self, host: RequestHost<'_>) -> Option<V> {
        self.exact.find(host)
    }

    /// The values of the wildcard patterns for this host, the longest pattern first.
    pub(crate) fn wildcards<'h>(&'h self, host: RequestHost<'h>) -> impl Iterator<Item = V> + 'h {
        let above = (!self.below.names.is_empty()).then(|| host.above());
        above.into_iter().flatten().filter_map(|name| self.below.find(name))
    }
}

/// Names in lower case, each with a value.
#[derive(Clone, Debug)]
struct NameTable<V> {
    names: HashTable<(Box<str>, V)>,
    /// The number of bytes of the longest name.
    longest: usize,
}

impl<V> Default for NameTable<V> {
    fn default() -> Self {
        Self { names: HashTable::new(), longest: 0 }
    }
}

impl<V: Copy> NameTable<V> {
    /// Does nothing where the name is there already.
    fn insert(&mut self, name: &str, value: V) {
        let hash = |(name, _): &(Box<str>, V)| hash_of(name.as_bytes());
        self.names
            .entry(hash_of(name.as_bytes()), |(known, _)| **known == *name, hash)
            .or_insert_with(|| (name.into(), value));
        self.longest = self.longest.max(name.len());
    }

    fn find(&self, name: RequestHost<'_>) -> Option<V> {
        // In UTF-8, another case can have fewer bytes, but not half of them. So a host with a thousand dots is not hashed a
        // thousand times.
        if name.as_bytes().len() > 2 * self.longest {
            return None;
        }
        let found = self.names.find(hash_of(name.as_bytes()), |(known, _)| name.is(known));
        found.map(|(_, value)| *value)
    }
}

/// A hash of a name in whatever case. Of a name in Unicode only ASCII counts: the case of other letters is for the
/// comparison that follows.
fn hash_of(name: &[u8]) -> u64 {
    if let Some(hash) = hash::of_folded_ascii(name) {
        return hash;
    }
    let ascii = name.iter().filter(|byte| byte.is_ascii());
    ascii.fold(1, |hash, byte| hash::mix(hash ^ u64::from(byte.to_ascii_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn an_index_gives_what_its_patterns_match() {
        let texts = ["b.example", "*.example", "*.b.example", "ä.example", "*.ä.example", "a.b.example"];
        let patterns = texts.map(|text| HostPattern::new(text).unwrap());
        let index = HostIndex::new(patterns.iter().zip(0..));
        let found = |host: &str| {
            let host = RequestHost::new(host.as_bytes());
            (index.exact(host), index.wildcards(host).collect::<Vec<_>>())
        };
        assert_eq!(found("A.B.example:1"), (Some(5), alloc::vec![2, 1]));
        assert_eq!(found("x.xn--4ca.example"), (None, alloc::vec![4, 1]));
        assert_eq!(found("Ä.example."), (Some(3), alloc::vec![1]));
        let best = |host: &str| index.best(RequestHost::new(host.as_bytes()));
        assert_eq!([best("A.B.example:1"), best("c.B.example"), best("example")], [Some(5), Some(2), None]);
        assert_eq!(found("example"), (None, alloc::vec![]));
        // The capital letter has half as many bytes more.
        let sharp = [HostPattern::new("ßßßßßßßßßßßßßßßß.example").unwrap()];
        let index = HostIndex::new(sharp.iter().zip(0..));
        assert_eq!(index.exact(RequestHost::new("ẞẞẞẞẞẞẞẞẞẞẞẞẞẞẞẞ.example".as_bytes())), Some(0));
        assert_eq!(found(""), (None, alloc::vec![]));
    }
}
