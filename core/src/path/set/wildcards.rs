//! Patterns with `*`, found by a gram that each of them needs.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{NONE, offset};
use crate::path::normal_form::NormalOctets;
use crate::path::pattern::PathPattern;
use crate::sort::{sort_and_dedup, sort_by_key};

/// The patterns with `*`, by falling precedence.
#[derive(Clone, Debug, Default)]
pub(super) struct Wildcards {
    patterns: Box<[(u32, PathPattern)]>,
    grams: Option<GramIndex>,
}

impl Wildcards {
    /// Up to this many, trying them all is faster than looking for grams.
    const FEW: usize = 8;

    pub(super) fn new(patterns: Vec<(u32, PathPattern)>) -> Self {
        let grams = (patterns.len() > Self::FEW).then(|| GramIndex::new(&patterns));
        Self { patterns: patterns.into(), grams }
    }

    /// The least index of a pattern that matches, or `best` if that is less.
    pub(super) fn first_before(&self, best: u32, octets: impl NormalOctets) -> u32 {
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
    /// A bit for each fraction of a bucket that has entries.
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
    /// The number of fractions of a bucket as a power of two. Entries keep a third of the buckets from being empty, and only
    /// a twentieth of their fractions.
    const FRACTION_BITS: u32 = 3;

    fn new(patterns: &[(u32, PathPattern)]) -> Self {
        // Twice as many buckets as patterns keep most of them empty.
        let bits = (patterns.len().ilog2() + 2).clamp(6, Self::MOST_BITS);
        let mut frequency = vec![0_u32; 1 << bits];
        for (_, pattern) in patterns {
            for gram in needed_grams(pattern).into_iter().flatten() {
                if let Some(count) = frequency.get_mut(bucket(gram, bits)) {
                    *count += 1;
                }
            }
        }
        let rarity = |gram: &u32| frequency.get(bucket(*gram, bits)).copied();
        let mut entries: Vec<(u32, u32)> = patterns
            .iter()
            .zip(0..)
            .flat_map(|((_, pattern), place)| {
                let rarest = move |grams: Vec<u32>| grams.into_iter().min_by_key(rarity);
                needed_grams(pattern).into_iter().filter_map(rarest).map(move |gram| (gram, place))
            })
            .collect();
        sort_by_key(&mut entries, |(gram, _)| bucket(*gram, bits));
        let starts =
            (0..=1 << bits).map(|at| offset(entries.partition_point(|(gram, _)| bucket(*gram, bits) < at)));
        let mut occupied = vec![0_u64; (1 << (bits + Self::FRACTION_BITS)) / 64];
        for (gram, _) in &entries {
            let fraction = bucket(*gram, bits + Self::FRACTION_BITS);
            if let Some(word) = occupied.get_mut(fraction / 64) {
                *word |= 1 << (fraction % 64);
            }
        }
        let mut masks: Vec<u32> =
            entries.iter().map(|(gram, _)| NONE >> (gram.leading_zeros() & !7)).collect();
        sort_and_dedup(&mut masks);
        Self {
            masks: masks.into(),
            bits,
            occupied: occupied.into(),
            starts: starts.collect(),
            entries: entries.into(),
        }
    }

    fn first_before(&self, best: u32, patterns: &[(u32, PathPattern)], octets: impl NormalOctets) -> u32 {
        let mut search = Search { grams: self, patterns, best, tried: None };
        for mask in &self.masks {
            let mut last_four = 0_u32;
            for octet in octets.clone() {
                last_four = last_four << 8 | u32::from(octet);
                if self.may_have(last_four & mask) {
                    search.take(last_four & mask, &octets);
                }
            }
        }
        search.best
    }

    /// Returns true if the gram may be that of an entry. Nearly all grams of a path are none.
    #[inline]
    fn may_have(&self, gram: u32) -> bool {
        let fraction = bucket(gram, self.bits + Self::FRACTION_BITS);
        self.occupied.get(fraction / 64).is_some_and(|word| word >> (fraction % 64) & 1 != 0)
    }

    fn bucket(&self, bucket: usize) -> &[(u32, u32)] {
        match self.starts.get(bucket..bucket + 2) {
            Some([start, end]) => self.entries.get(*start as usize..*end as usize).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// A search for the first pattern that matches a path.
struct Search<'g> {
    grams: &'g GramIndex,
    patterns: &'g [(u32, PathPattern)],
    /// The least index that was found.
    best: u32,
    /// The buckets that were tried. Most paths hold no gram, and need no room for them.
    tried: Option<[u64; GramIndex::WORDS]>,
}

impl Search<'_> {
    /// Tries the patterns of a gram that the path holds.
    #[inline(never)]
    fn take(&mut self, gram: u32, octets: &impl NormalOctets) {
        let bucket = bucket(gram, self.grams.bits);
        let (place, bit) = (bucket / 64, 1 << (bucket % 64));
        let is_tried = |tried: &[u64; GramIndex::WORDS]| tried.get(place).is_some_and(|word| word & bit != 0);
        let entries = self.grams.bucket(bucket);
        if self.tried.as_ref().is_some_and(is_tried) || !entries.iter().any(|(other, _)| *other == gram) {
            return;
        }
        // The whole bucket is tried, so that one bit says that none of it need be tried again.
        if let Some(word) = self.tried.get_or_insert([0; GramIndex::WORDS]).get_mut(place) {
            *word |= bit;
        }
        let candidates = entries.iter().filter_map(|(_, place)| self.patterns.get(*place as usize));
        let mut stronger = candidates.take_while(|(index, _)| *index < self.best);
        if let Some((index, _)) = stronger.find(|(_, pattern)| pattern.matches_octets(octets.clone())) {
            self.best = *index;
        }
    }
}

/// Multiplicative hashing: the high bits of a product with a number near 2³² / φ.
fn bucket(gram: u32, bits: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize
}

/// Lists of grams: what a pattern matches holds all of one list, at least.
///
/// Mostly that is one list, of the literals that every matching path holds. A literal that differs in the query gives two,
/// which serve if the others are too short to differ.
///
/// Octets are never zero in normal form, so a short gram can't be taken for a longer one.
fn needed_grams(pattern: &PathPattern) -> Vec<Vec<u32>> {
    let certain = || pattern.literals();
    let longest = |literals: &mut dyn Iterator<Item = &[u8]>| literals.map(<[u8]>::len).max().unwrap_or(0);
    let certain_length = longest(&mut certain());
    let either = pattern.alternatives().max_by_key(|pair| longest(&mut pair.iter().copied()).min(GRAM));
    match either {
        Some(pair) if certain_length < longest(&mut pair.iter().copied()).min(GRAM) => {
            pair.map(|literal| grams(literal, literal.len()).collect()).into()
        }
        _ => vec![certain().flat_map(|literal| grams(literal, certain_length)).collect()],
    }
}

/// The largest number of octets of a gram.
const GRAM: usize = 4;

/// All windows of a literal, of four octets or as many as `longest`.
fn grams(literal: &[u8], longest: usize) -> impl Iterator<Item = u32> {
    let windows = literal.windows(longest.clamp(1, GRAM));
    windows.map(|window| window.iter().fold(0, |gram, octet| gram << 8 | u32::from(*octet)))
}
