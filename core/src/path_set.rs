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
//! 2n steps for each pattern that is tried. None is tried twice, so 2n(w + 1) is the bound for the worst file and path;
//! with grams that tell the patterns apart it is a small multiple of n. Nothing is allocated by a match.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use crate::path_pattern::{NormalOctets, PathOctets, PathPattern, RequestPath};

/// "No pattern", greater than every index.
const NONE: u32 = u32::MAX;

/// Path patterns in order of precedence.
///
/// ```
/// use crawlward_core::path_pattern::{PathPattern, RequestPath};
/// use crawlward_core::path_set::PathSet;
///
/// let order: Vec<_> = ["/shop/*/old", "/shop/", "/"].map(|text| PathPattern::new(text.as_bytes())).into();
/// let order = order.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let set = PathSet::new(&order);
/// assert_eq!(set.first_match(RequestPath::new(b"/shop/a/old?x")), Some(0));
/// assert_eq!(set.first_match(RequestPath::new(b"/shop/a")), Some(1));
/// # Ok::<(), crawlward_core::path_pattern::PatternError>(())
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
                // A pattern that is there twice would be tried twice, and only its first place matters.
                if seen.insert(pattern) {
                    wildcards.push((index, pattern.clone()));
                }
            } else {
                keys.push(Key { octets: pattern.prefix(), exact: pattern.is_anchored(), index });
            }
        }
        keys.sort_unstable_by(|a, b| a.octets.cmp(b.octets));
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

/// A pattern without `*`, while the trie is built.
struct Key<'p> {
    octets: &'p [u8],
    exact: bool,
    index: u32,
}

/// The patterns without `*`, as a radix tree whose nodes lie in one array, the children of a node side by side.
#[derive(Clone, Debug, Default)]
struct Trie {
    nodes: Box<[Node]>,
    /// The first octet of the label of each node, apart so that a search for a child stays within a cache line or two.
    first: Box<[u8]>,
    labels: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its part of `labels`, empty for the root alone.
    label_start: u32,
    label_end: u32,
    children_start: u32,
    children_end: u32,
    /// The first pattern that is a prefix and ends here.
    prefix: u32,
    /// The first pattern that ends here and wants the path to end, too.
    exact: u32,
}

impl Trie {
    /// Builds the trie breadth first from sorted keys; a stack would be as deep as a hostile file wants.
    fn new(keys: &[Key<'_>]) -> Self {
        let (mut nodes, mut first, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        // For each node, the keys below it and how many of their octets lie above it; the root has an empty label.
        let mut pending = vec![(keys, 0)];
        while let Some((below, above)) = pending.get(nodes.len()).copied() {
            let depth = if nodes.is_empty() { 0 } else { common_prefix(below) };
            let label = below.first().and_then(|key| key.octets.get(above..depth)).unwrap_or_default();
            let label_start = offset(labels.len());
            labels.extend_from_slice(label);
            first.push(label.first().copied().unwrap_or_default());
            let (ends, mut deeper) = below.split_at(below.partition_point(|key| key.octets.len() == depth));
            let least = |exact: bool| {
                ends.iter().filter(|key| key.exact == exact).map(|key| key.index).min().unwrap_or(NONE)
            };
            let children_start = offset(pending.len());
            while let Some(octet) = deeper.first().and_then(|key| key.octets.get(depth)) {
                let same = deeper.partition_point(|key| key.octets.get(depth) == Some(octet));
                let (child, others) = deeper.split_at(same);
                pending.push((child, depth));
                deeper = others;
            }
            nodes.push(Node {
                label_start,
                label_end: offset(labels.len()),
                children_start,
                children_end: offset(pending.len()),
                prefix: least(false),
                exact: least(true),
            });
        }
        Self { nodes: nodes.into(), first: first.into(), labels: labels.into() }
    }

    fn first_match(&self, mut octets: impl NormalOctets) -> u32 {
        let mut best = NONE;
        let mut node = self.nodes.first();
        while let Some(here) = node {
            best = best.min(here.prefix);
            let Some(octet) = octets.next() else {
                return best.min(here.exact);
            };
            let children = here.children_start as usize..here.children_end as usize;
            let found = self.first.get(children).unwrap_or_default().binary_search(&octet);
            node = found.ok().and_then(|child| self.nodes.get(here.children_start as usize + child));
            let label = node.map(|node| node.label_start as usize + 1..node.label_end as usize);
            let label = label.and_then(|label| self.labels.get(label)).unwrap_or_default();
            if !octets.skip_literal(label) {
                return best;
            }
        }
        best
    }
}

fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(NONE)
}

/// How many octets all of the sorted keys begin with.
fn common_prefix(keys: &[Key<'_>]) -> usize {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else {
        return 0;
    };
    first.octets.iter().zip(last.octets).take_while(|(a, b)| a == b).count()
}

/// The patterns with `*`, by falling precedence.
#[derive(Clone, Debug, Default)]
struct Wildcards {
    patterns: Box<[(u32, PathPattern)]>,
    grams: Option<GramIndex>,
}

impl Wildcards {
    /// Up to this many, trying them all is faster than looking for grams.
    const FEW: usize = 8;

    fn new(patterns: Vec<(u32, PathPattern)>) -> Self {
        let grams = (patterns.len() > Self::FEW).then(|| GramIndex::new(&patterns));
        Self { patterns: patterns.into(), grams }
    }

    /// The least index of a pattern that matches, or `best` if that is less.
    fn first_before(&self, best: u32, octets: impl NormalOctets) -> u32 {
        // Often the trie has found something stronger than every wildcard.
        if self.patterns.first().is_none_or(|(index, _)| *index >= best) {
            return best;
        }
        match &self.grams {
            Some(grams) => grams.first_before(best, &self.patterns, octets),
            None => {
                let mut stronger = self.patterns.iter().take_while(|(index, _)| *index < best);
                let first = stronger.find(|(_, pattern)| pattern.matches_octets(octets.clone()));
                first.map_or(best, |(index, _)| *index)
            }
        }
    }
}

/// Finds the patterns that a path may match, by a gram that each of them holds.
#[derive(Clone, Debug)]
struct GramIndex {
    /// Which lengths of grams occur, as a mask over the last four octets read.
    masks: Box<[u32]>,
    /// The number of buckets as a power of two.
    bits: u32,
    /// A bit for each bucket that has entries.
    occupied: Box<[u64]>,
    /// For each bucket, where its entries begin.
    starts: Box<[u32]>,
    /// Grams and the place of their pattern, by bucket and then by precedence.
    entries: Box<[(u32, u32)]>,
}

impl GramIndex {
    /// At most 8,192 buckets: a bit for each is kept on the stack.
    const MOST_BITS: u32 = 13;
    const WORDS: usize = 1 << (Self::MOST_BITS - 6);

    fn new(patterns: &[(u32, PathPattern)]) -> Self {
        // Twice as many buckets as patterns keep most of them empty.
        let bits = (patterns.len().ilog2() + 2).clamp(6, Self::MOST_BITS);
        let bucket = |gram: u32| bucket(gram, bits);
        let mut frequency = vec![0_u32; 1 << bits];
        for (_, pattern) in patterns {
            for gram in grams(pattern) {
                if let Some(count) = frequency.get_mut(bucket(gram)) {
                    *count += 1;
                }
            }
        }
        let rarity = |gram: &u32| frequency.get(bucket(*gram)).copied();
        let mut entries: Vec<(u32, u32)> = patterns
            .iter()
            .zip(0..)
            .filter_map(|((_, pattern), place)| Some((grams(pattern).min_by_key(rarity)?, place)))
            .collect();
        entries.sort_by_key(|(gram, _)| bucket(*gram));
        let starts =
            (0..=1 << bits).map(|at| offset(entries.partition_point(|(gram, _)| bucket(*gram) < at)));
        let mut occupied = vec![0_u64; (1 << bits) / 64];
        for (gram, _) in &entries {
            let bucket = bucket(*gram);
            if let Some(word) = occupied.get_mut(bucket / 64) {
                *word |= 1 << (bucket % 64);
            }
        }
        let mut masks: Vec<u32> =
            entries.iter().map(|(gram, _)| NONE >> (gram.leading_zeros() & !7)).collect();
        masks.sort_unstable();
        masks.dedup();
        Self {
            masks: masks.into(),
            bits,
            occupied: occupied.into(),
            starts: starts.collect(),
            entries: entries.into(),
        }
    }

    fn first_before(&self, mut best: u32, patterns: &[(u32, PathPattern)], octets: impl NormalOctets) -> u32 {
        // The buckets that have entries of which none was tried yet.
        let mut untried = [0_u64; Self::WORDS];
        untried.iter_mut().zip(&self.occupied).for_each(|(word, occupied)| *word = *occupied);
        let mut last_four = 0_u32;
        for octet in octets.clone() {
            last_four = last_four << 8 | u32::from(octet);
            for mask in &self.masks {
                let gram = last_four & mask;
                let bucket = bucket(gram, self.bits);
                let Some(word) = untried.get_mut(bucket / 64) else { continue };
                if *word & 1 << (bucket % 64) == 0 {
                    continue;
                }
                let entries = self.bucket(bucket);
                if !entries.iter().any(|(other, _)| *other == gram) {
                    continue;
                }
                // The whole bucket is tried, so that one bit tells that none of it need be tried again.
                *word &= !(1 << (bucket % 64));
                let candidates = entries.iter().filter_map(|(_, place)| patterns.get(*place as usize));
                let mut stronger = candidates.take_while(|(index, _)| *index < best);
                if let Some((index, _)) = stronger.find(|(_, pattern)| pattern.matches_octets(octets.clone()))
                {
                    best = *index;
                }
            }
        }
        best
    }

    fn bucket(&self, bucket: usize) -> &[(u32, u32)] {
        match self.starts.get(bucket..bucket + 2) {
            Some([start, end]) => self.entries.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Multiplicative hashing: the high bits of a product with a number near 2³² / φ.
fn bucket(gram: u32, bits: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize
}

/// The grams of a pattern: all windows of four octets, or of as many as its longest literal has.
///
/// Octets are never zero in normal form, so a short gram can't be taken for a longer one.
fn grams(pattern: &PathPattern) -> impl Iterator<Item = u32> {
    let longest = pattern.literals().map(<[u8]>::len).max().unwrap_or_default();
    let windows = pattern.literals().flat_map(move |literal| literal.windows(longest.clamp(1, 4)));
    windows.map(|window| window.iter().fold(0, |gram, octet| gram << 8 | u32::from(*octet)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_pattern::steps;
    use alloc::format;
    use alloc::string::String;

    fn patterns(texts: &[String]) -> Vec<PathPattern> {
        texts.iter().map(|text| PathPattern::new(text.as_bytes()).unwrap()).collect()
    }

    /// Every pattern tried in turn: what a set must agree with.
    fn first_of(patterns: &[PathPattern], path: &str) -> Option<u32> {
        let first = patterns.iter().position(|pattern| pattern.matches(RequestPath::new(path.as_bytes())));
        first.map(|index| u32::try_from(index).unwrap())
    }

    #[test]
    fn an_empty_set_matches_nothing() {
        assert_eq!(PathSet::new(&[]).first_match(RequestPath::new(b"/")), None);
        assert_eq!(PathSet::default().first_match(RequestPath::new(b"/")), None);
    }

    #[test]
    fn a_set_finds_what_its_patterns_match_in_order() {
        // ROB-2, ROB-3: with few wildcards (all tried) and with many (found by their grams).
        let texts: Vec<String> =
            ["/$", "/a$", "/a", "/ab/c", "/ab", "*x$", "/*", "/a*b", "/*/c", "/ab%2Fc", "/abc"]
                .map(String::from)
                .into();
        let more = |count: usize| (0..count).map(|n| format!("/*{n}/*zz{n}$")).collect::<Vec<_>>();
        for fillers in [0, 20, 3000] {
            let mut texts = [more(fillers), texts.clone()].concat();
            for _ in 0..2 {
                let patterns = patterns(&texts);
                let set = PathSet::new(&patterns);
                for path in [
                    "",
                    "/",
                    "/a",
                    "/ab",
                    "/ab/c",
                    "/ab/cd",
                    "/abc",
                    "/ab%2fc",
                    "/x",
                    "/yx?",
                    "/b/c",
                    "b",
                    "/7/zz7",
                    "/12/12/zz12",
                    "/19/zz1",
                    "/zz7/7",
                    "/\u{E9}7/zz7",
                    "/%37/zz7",
                ] {
                    assert_eq!(
                        set.first_match(RequestPath::new(path.as_bytes())),
                        first_of(&patterns, path),
                        "{path} {fillers}"
                    );
                }
                texts.reverse();
            }
        }
    }

    #[test]
    fn auto_18_a_set_takes_steps_for_the_patterns_that_may_match() {
        // AUTO-18, ROB-5: 10,000 wildcard rules, counted, not timed.
        let texts: Vec<String> = (0..10_000).map(|n| format!("/*/section-{n:05}/*.html$")).collect();
        let set = PathSet::new(&patterns(&texts));
        let path = "/shop/section-01234/very/long/name/of/a/page.htm";
        let (steps, found) = steps::of(|| set.first_match(RequestPath::new(path.as_bytes())));
        assert_eq!(found, None);
        assert!(steps <= 10 * path.len(), "{steps}");
        // A path made of grams of all the rules: each rule is tried at most once.
        let path: String = (0..500).map(|n| format!("/section-{n:05}")).collect();
        let (steps, _) = steps::of(|| set.first_match(RequestPath::new(path.as_bytes())));
        assert!(steps <= 2 * path.len() * 1000, "{steps}");
    }

    #[test]
    fn auto_18_hostile_sets_stay_within_the_bound() {
        // AUTO-18: rules that share their grams, and a path full of them: 2n steps for each rule, and no more.
        let texts: Vec<String> = (1..200).map(|n| format!("/{}b", "*a".repeat(n))).collect();
        let set = PathSet::new(&patterns(&texts));
        let path = format!("/{}", "a".repeat(8000));
        let (steps, found) = steps::of(|| set.first_match(RequestPath::new(path.as_bytes())));
        assert_eq!(found, None);
        assert!(steps <= 2 * path.len() * texts.len(), "{steps}");
        // A pattern that is repeated is tried once.
        let same = PathSet::new(&patterns(&alloc::vec![String::from("/*aa*aab"); 1000]));
        let (steps, _) = steps::of(|| same.first_match(RequestPath::new(path.as_bytes())));
        assert!(steps <= 2 * path.len(), "{steps}");
        // A trie as deep as its file is long is built and walked without recursion.
        let texts: Vec<String> = (0..1400).map(|n| format!("/{}", "a".repeat(n))).collect();
        let set = PathSet::new(patterns(&texts).iter().rev());
        assert_eq!(set.first_match(RequestPath::new(path.as_bytes())), Some(0));
        assert_eq!(set.first_match(RequestPath::new(b"/aaab")), Some(1396));
    }
}
