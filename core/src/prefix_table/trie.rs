//! From intervals to the nodes of [`super::node`].

use alloc::vec::Vec;

use super::key::Key;
use super::match_set::NO_MATCHES;
use super::node::{
    self, BITMAP_BITS, BITMAP_WORDS, MAX_DIRECT_BITS, MAX_STARTS, RANGES_BITS, Root, SHORT_RANGES_BITS,
};
use super::sweep::Interval;
use super::{MAX_WORDS, TableError};

/// The generosity of direct nodes: they may have 2 to the power of this words for each run in them.
///
/// Small tables fit the caches anyhow, and there a wrongly predicted step costs more than a word of memory; large
/// ones wait for memory.
fn spread(log_intervals: u32) -> u32 {
    16_u32.saturating_sub(log_intervals).clamp(1, 5)
}

/// Appends the trie of one address family.
pub(super) fn build<K: Key>(intervals: &[Interval<K>], words: &mut Vec<u32>) -> Result<Root, TableError> {
    let (bits, spread) =
        intervals.len().checked_ilog2().map_or((0, 0), |log| (K::root_bits(log), spread(log)));
    let block = Block { first: NO_MATCHES, inner: intervals, position: 0 };
    let offset = Builder { words, spread }.direct(&block, bits)?;
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
    /// The places at which other sets begin, after the first address.
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

/// The number of runs by the next `stride` bits, if a node of ranges can hold them.
fn few_runs<K: Key>(block: &Block<'_, K>, stride: u32) -> Option<usize> {
    let runs = block.runs(stride).take(MAX_STARTS + 2).count();
    (runs <= MAX_STARTS + 1).then_some(runs)
}

/// A bitmap node needs no nodes below it and fewer words than one of so many ranges.
fn bitmap_is_smaller<K: Key>(block: &Block<'_, K>, ranges: usize) -> bool {
    let mut runs = 0;
    let flat = block.runs(BITMAP_BITS).all(|run| {
        runs += 1;
        run.block.inner.is_empty()
    });
    flat && BITMAP_WORDS + runs < 2 * ranges
}

/// Appends nodes.
struct Builder<'w> {
    words: &'w mut Vec<u32>,
    /// See [`spread`].
    spread: u32,
}

impl Builder<'_> {
    /// The word for a block, after appending the nodes that it needs.
    fn block<K: Key>(&mut self, block: &Block<'_, K>) -> Result<u32, TableError> {
        if block.inner.is_empty() {
            return Ok(block.first);
        }
        if let Some(ranges) = few_runs(block, RANGES_BITS) {
            return if bitmap_is_smaller(block, ranges) {
                self.bitmap(block)
            } else {
                self.ranges(block, RANGES_BITS, ranges)
            };
        }
        if let Some(ranges) = few_runs(block, SHORT_RANGES_BITS) {
            return self.ranges(block, SHORT_RANGES_BITS, ranges);
        }
        if let Some(bits) = self.direct_bits(block) {
            let offset = self.direct(block, bits)?;
            return node::word(node::DIRECT, bits as usize - 1, offset);
        }
        self.bitmap(block)
    }

    /// The number of bits that a direct node should take: as many as leave it well filled, if that is more than a
    /// bitmap takes.
    fn direct_bits<K: Key>(&self, block: &Block<'_, K>) -> Option<u32> {
        let most = (block.inner.len().ilog2() + self.spread).min(MAX_DIRECT_BITS);
        let runs = |bits| {
            block.runs(bits).fold((0, true), |(n, flat), run| (n + 1, flat && run.block.inner.is_empty()))
        };
        let mut bits =
            (BITMAP_BITS + 1..=most).rev().find(|bits| runs(*bits).0 << self.spread >= 1 << bits)?;
        // If fewer bits distinguish the cells, too, more would only make them larger.
        while bits > BITMAP_BITS && runs(bits - 1).1 {
            bits -= 1;
        }
        Some(bits)
    }

    fn ranges<K: Key>(
        &mut self,
        block: &Block<'_, K>,
        stride: u32,
        ranges: usize,
    ) -> Result<u32, TableError> {
        let starts = ranges - 1;
        let offset = reserve(self.words, starts + ranges)?;
        for (index, run) in block.runs(stride).enumerate() {
            // The first range begins where the block begins.
            if let Some(before) = index.checked_sub(1) {
                self.put(offset + before, run.cell as u32)?;
            }
            let word = self.block(&run.block)?;
            self.put(offset + starts + index, word)?;
        }
        node::word(node::RANGES, node::ranges_size(starts, stride), offset)
    }

    fn bitmap<K: Key>(&mut self, block: &Block<'_, K>) -> Result<u32, TableError> {
        let runs = block.runs(BITMAP_BITS).count();
        let offset = reserve(self.words, BITMAP_WORDS + runs)?;
        let mut run_starts = 0_u64;
        for (index, run) in block.runs(BITMAP_BITS).enumerate() {
            run_starts |= 1 << run.cell;
            let word = self.block(&run.block)?;
            self.put(offset + BITMAP_WORDS + index, word)?;
        }
        self.put(offset, run_starts as u32)?;
        self.put(offset + 1, (run_starts >> 32) as u32)?;
        node::word(node::BITMAP, 0, offset)
    }

    /// Appends one word for each value of the next `bits` and returns the position of the first.
    fn direct<K: Key>(&mut self, block: &Block<'_, K>, bits: u32) -> Result<usize, TableError> {
        let offset = reserve(self.words, 1 << bits)?;
        let mut runs = block.runs(bits).peekable();
        while let Some(run) = runs.next() {
            let word = self.block(&run.block)?;
            let end = runs.peek().map_or(1 << bits, |next| next.cell);
            let cells = offset + run.cell as usize..offset + end as usize;
            self.words.get_mut(cells).ok_or(TableError::Inconsistent)?.fill(word);
        }
        Ok(offset)
    }

    fn put(&mut self, at: usize, word: u32) -> Result<(), TableError> {
        *self.words.get_mut(at).ok_or(TableError::Inconsistent)? = word;
        Ok(())
    }
}
