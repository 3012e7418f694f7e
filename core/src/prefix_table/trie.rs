//! From intervals to the nodes of [`super::node`].

use alloc::vec::Vec;

use super::key::Key;
use super::match_set::NO_MATCHES;
use super::node::{self, BITMAP_BITS, BITMAP_WORDS, MAX_STARTS, RANGES_BITS, Root};
use super::sweep::Interval;
use super::{MAX_WORDS, TableError};

/// From this many interval starts below a node, a direct node takes more bits at once than a bitmap.
const DENSE: usize = 64;

/// Appends the trie of one address family.
pub(super) fn build<K: Key>(intervals: &[Interval<K>], words: &mut Vec<u32>) -> Result<Root, TableError> {
    // Four words for each interval or more, so that most addresses need no node or one.
    let bits = intervals.len().checked_ilog2().map_or(0, |log| (log + 2).min(Root::MAX_BITS));
    let block = Block { first: NO_MATCHES, inner: intervals, position: 0 };
    let offset = direct(&block, bits, words)?;
    Ok(Root { offset: super::match_set::count(offset)?, bits })
}

/// Appends this many zeros and returns the position of the first.
pub(super) fn reserve(words: &mut Vec<u32>, count: usize) -> Result<usize, TableError> {
    let at = words.len();
    if count > MAX_WORDS - at.min(MAX_WORDS) {
        return Err(TableError::TooLarge);
    }
    words.resize(at + count, 0);
    Ok(at)
}

/// All addresses that begin with the same `position` bits.
struct Block<'a, K> {
    /// The match set of the first of them.
    first: u32,
    /// Where other sets begin, after the first address.
    inner: &'a [Interval<K>],
    position: u32,
}

impl<'a, K: Key> Block<'a, K> {
    /// Divides the block by the next `stride` bits, at most 32.
    fn runs(&self, stride: u32) -> Runs<'a, K> {
        Runs { set: self.first, rest: self.inner, position: self.position, stride, unsaid: Some(0) }
    }
}

/// Neighbouring cells of a block with one match set, or one cell with several.
struct Run<'a, K> {
    /// The first cell: the value of the bits by which the block is divided.
    cell: u64,
    /// The cell's content.
    block: Block<'a, K>,
}

/// The runs of a block in ascending order; the first begins at cell 0.
struct Runs<'a, K> {
    /// The set after all that was returned.
    set: u32,
    rest: &'a [Interval<K>],
    position: u32,
    stride: u32,
    /// The cell from which `set` holds, if no run says so yet.
    unsaid: Option<u64>,
}

impl<'a, K: Key> Iterator for Runs<'a, K> {
    type Item = Run<'a, K>;

    fn next(&mut self) -> Option<Self::Item> {
        let (position, stride, rest) = (self.position, self.stride, self.rest);
        let below = position + stride;
        let cell_of = |interval: &Interval<K>| interval.start.without(position).leading(stride);
        let next = rest.first();
        let next_cell = next.map(cell_of);
        if let Some(cell) = self.unsaid.take()
            && next_cell != Some(cell)
        {
            return Some(Run { cell, block: Block { first: self.set, inner: &[], position: below } });
        }
        let cell = next_cell?;
        let in_cell = rest.iter().take_while(|interval| cell_of(interval) == cell).count();
        let (mut inner, rest) = rest.split_at_checked(in_cell)?;
        let mut first = self.set;
        if let Some((begin, after)) = inner.split_first()
            && begin.start.without(below).is_zero()
        {
            (first, inner) = (begin.set, after);
        }
        self.set = inner.last().map_or(first, |last| last.set);
        self.rest = rest;
        self.unsaid = Some(cell + 1).filter(|after| !inner.is_empty() && *after < 1 << stride);
        Some(Run { cell, block: Block { first, inner, position: below } })
    }
}

/// The word for a block, after appending the nodes that it needs.
fn build_block<K: Key>(block: &Block<'_, K>, words: &mut Vec<u32>) -> Result<u32, TableError> {
    if block.inner.is_empty() {
        return Ok(block.first);
    }
    let ranges = block.runs(RANGES_BITS).take(MAX_STARTS + 2).count();
    if ranges <= MAX_STARTS + 1 && !bitmap_is_smaller(block, ranges) {
        build_ranges(block, ranges, words)
    } else if block.inner.len() < DENSE {
        build_bitmap(block, words)
    } else {
        let bits = block.inner.len().ilog2().min(node::MAX_SIZE as u32);
        let offset = direct(block, bits, words)?;
        node::word(node::DIRECT, bits as usize, offset)
    }
}

/// A bitmap node needs no nodes below it and fewer words than one of so many ranges.
fn bitmap_is_smaller<K: Key>(block: &Block<'_, K>, ranges: usize) -> bool {
    let mut cells = 0;
    let flat = block.runs(BITMAP_BITS).all(|run| {
        cells += 1;
        run.block.inner.is_empty()
    });
    flat && BITMAP_WORDS + cells <= 2 * ranges - 1
}

fn build_ranges<K: Key>(
    block: &Block<'_, K>,
    ranges: usize,
    words: &mut Vec<u32>,
) -> Result<u32, TableError> {
    let starts = ranges - 1;
    let offset = reserve(words, starts + ranges)?;
    for (index, run) in block.runs(RANGES_BITS).enumerate() {
        // The first range begins where the block begins.
        if let Some(before) = index.checked_sub(1) {
            put(words, offset + before, run.cell as u32);
        }
        let word = build_block(&run.block, words)?;
        put(words, offset + starts + index, word);
    }
    node::word(node::RANGES, starts, offset)
}

fn build_bitmap<K: Key>(block: &Block<'_, K>, words: &mut Vec<u32>) -> Result<u32, TableError> {
    let runs = block.runs(BITMAP_BITS).count();
    let offset = reserve(words, BITMAP_WORDS + runs)?;
    let mut run_starts = 0_u64;
    for (index, run) in block.runs(BITMAP_BITS).enumerate() {
        run_starts |= 1 << run.cell;
        let word = build_block(&run.block, words)?;
        put(words, offset + BITMAP_WORDS + index, word);
    }
    put(words, offset, run_starts as u32);
    put(words, offset + 1, (run_starts >> 32) as u32);
    node::word(node::BITMAP, 0, offset)
}

/// Appends one word for each value of the next `bits` and returns the position of the first.
fn direct<K: Key>(block: &Block<'_, K>, bits: u32, words: &mut Vec<u32>) -> Result<usize, TableError> {
    let offset = reserve(words, 1 << bits)?;
    let mut runs = block.runs(bits).peekable();
    while let Some(run) = runs.next() {
        let word = build_block(&run.block, words)?;
        let end = runs.peek().map_or(1 << bits, |next| next.cell);
        let cells = offset + run.cell as usize..offset + end as usize;
        words.get_mut(cells).unwrap_or_default().fill(word);
    }
    Ok(offset)
}

fn put(words: &mut [u32], at: usize, word: u32) {
    if let Some(place) = words.get_mut(at) {
        *place = word;
    }
}
