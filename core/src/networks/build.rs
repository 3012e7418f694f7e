//! From the prefixes of tables, which may overlap, to the flat table.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use hashbrown::HashMap;
use ipnet::IpNet;

use super::table::{END_BITS, END_MASK, LONG_REST, LONG_VALUE, PLACE_MASK, SystemTable};
use crate::feed::{AsKind, Feed, System};
use crate::prefix_table::TableError;

/// The greatest value that an entry has room for.
const MOST_SYSTEMS: u32 = (1 << 24) - 1;
/// The number of different first halves of IPv4 addresses.
const HALVES: usize = 1 << 16;

/// A prefix: its first address, aligned to the left, its length, and the place of its system.
#[derive(Clone, Copy, Debug)]
struct Item {
    start: u64,
    length: u8,
    place: u32,
}

impl Item {
    fn last(self) -> u64 {
        self.start | u64::MAX.checked_shr(self.length.into()).unwrap_or(0)
    }
}

/// The state that holds from an address on: 0 for no system, else its place plus one.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    value: u32,
}

/// Collects the entries of tables. Of the same prefix in two, the first counts; so it is with names.
#[derive(Default)]
pub(crate) struct SystemsBuilder {
    v4: Vec<Item>,
    v6: Vec<Item>,
    systems: Vec<System>,
    places: HashMap<u32, u32>,
}

impl SystemsBuilder {
    /// Adds a table. Of IPv6, prefixes of more than 64 bits are left out: no client's network is smaller.
    pub(crate) fn add(&mut self, table: &Feed) -> Result<(), TableError> {
        let places: Vec<u32> =
            table.systems.iter().map(|system| self.place(system)).collect::<Result<_, _>>()?;
        for (prefix, value) in table.entries.iter() {
            let place = usize::try_from(value).ok().and_then(|value| places.get(value)).copied();
            let (length, place) = (prefix.prefix_len(), place.ok_or(TableError::Inconsistent)?);
            match prefix {
                IpNet::V4(v4) => {
                    let start = u64::from(v4.network().to_bits()) << 32;
                    self.v4.push(Item { start, length, place });
                }
                IpNet::V6(v6) if length <= 64 => {
                    self.v6.push(Item { start: (v6.network().to_bits() >> 64) as u64, length, place });
                }
                IpNet::V6(_) => {}
            }
        }
        Ok(())
    }

    fn place(&mut self, system: &System) -> Result<u32, TableError> {
        let next = u32::try_from(self.systems.len()).ok().filter(|next| *next < MOST_SYSTEMS);
        let place = *self.places.entry(system.asn).or_insert(next.ok_or(TableError::TooLarge)?);
        if Some(place) == next {
            self.systems.push(system.clone());
        } else if let Some(known) = self.systems.get_mut(place as usize) {
            known.name = known.name.take().or_else(|| system.name.clone());
            known.kind = known.kind.or(system.kind);
        }
        Ok(place)
    }

    /// The table; one of nothing takes no memory.
    pub(crate) fn build(self) -> Result<SystemTable, TableError> {
        let Self { v4, v6, mut systems, .. } = self;
        if v4.is_empty() && v6.is_empty() {
            return Ok(SystemTable::default());
        }
        let (mut v4, mut v6) = (flat(v4), flat(v6));
        sort_by_use(&mut systems, [&mut v4, &mut v6]);
        let mut names = String::new();
        let words = words(&v4, &v6, &systems, &mut names)?;
        Ok(SystemTable::new(words, names.into()))
    }
}

/// Puts frequent systems first, whose values are then short, and leaves out those that have no entry.
fn sort_by_use(systems: &mut Vec<System>, entries: [&mut Vec<Entry>; 2]) {
    let mut uses: Vec<(u32, u32)> = (0..).take(systems.len()).map(|place| (0, place)).collect();
    let place_of = |entry: &Entry| entry.value.checked_sub(1).map(|place| place as usize);
    for place in entries.iter().flat_map(|entries| entries.iter()).filter_map(place_of) {
        if let Some((count, _)) = uses.get_mut(place) {
            *count += 1;
        }
    }
    uses.retain(|(count, _)| *count > 0);
    uses.sort_by_key(|(count, _)| Reverse(*count));
    let mut values = vec![0; systems.len()];
    for (value, (_, place)) in (1..).zip(&uses) {
        if let Some(new) = values.get_mut(*place as usize) {
            *new = value;
        }
    }
    for entry in entries.into_iter().flatten() {
        entry.value = place_of(entry).and_then(|place| values.get(place)).copied().unwrap_or(0);
    }
    *systems = uses.iter().filter_map(|(_, place)| systems.get(*place as usize).cloned()).collect();
}

/// Sorted, without overlaps.
fn flat(mut items: Vec<Item>) -> Vec<Entry> {
    // The sort is stable: of the same prefix, that of the first table counts.
    items.sort_by_key(|item| (item.start, item.length));
    items.dedup_by_key(|item| (item.start, item.length));
    let mut flat = Flat { done: Vec::with_capacity(items.len()), open: Vec::new() };
    for item in items {
        flat.close_before(item.start);
        flat.begin(item.start, item.place + 1);
        flat.open.push(item);
    }
    flat.close_before(u64::MAX);
    flat.done
}

struct Flat {
    done: Vec<Entry>,
    /// The prefixes that are not yet left, the innermost one last.
    open: Vec<Item>,
}

impl Flat {
    /// Leaves the prefixes that end before `start`: after each, the one around it counts, or nothing.
    fn close_before(&mut self, start: u64) {
        while let Some(closed) = self.open.pop_if(|open| open.last() < start) {
            let value = self.open.last().map_or(0, |around| around.place + 1);
            self.begin(closed.last() + 1, value);
        }
    }

    fn begin(&mut self, start: u64, value: u32) {
        self.done.pop_if(|last| last.start == start);
        if self.done.last().map_or(0, |last| last.value) != value {
            self.done.push(Entry { start, value });
        }
    }
}

/// The blocks, as bytes.
#[derive(Default)]
struct Blocks(Vec<u8>);

impl Blocks {
    /// Adds a block, whose first entry is at its beginning, and returns its mark. Of the rests of its addresses, `half` bytes may be
    /// enough, or twice as many.
    fn add(&mut self, block: &[Entry], rest: impl Fn(&Entry) -> u32, half: usize) -> Result<u32, TableError> {
        let is_long = block.iter().any(|entry| rest(entry) << (32 - half * 8) != 0);
        let (mark, shift, bytes) = if is_long { (LONG_REST, 0, half * 2) } else { (0, half * 8, half) };
        let is_long_value = block.iter().any(|entry| entry.value > u16::MAX.into());
        let (mark_of_value, bytes_of_value) = if is_long_value { (LONG_VALUE, 3) } else { (0, 2) };
        let at = self.place()?;
        block.iter().skip(1).for_each(|entry| self.push(rest(entry) >> shift, bytes));
        block.iter().for_each(|entry| self.push(entry.value, bytes_of_value));
        Ok(mark | mark_of_value | at)
    }

    fn push(&mut self, number: u32, bytes: usize) {
        self.0.extend(number.to_le_bytes().into_iter().take(bytes));
    }

    /// The place at which the next block begins.
    fn place(&self) -> Result<u32, TableError> {
        u32::try_from(self.0.len()).ok().filter(|at| *at <= PLACE_MASK).ok_or(TableError::TooLarge)
    }

    fn words(&self) -> impl Iterator<Item = u32> {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        // A number is read from two words.
        self.0.chunks(4).map(word).chain([0])
    }
}

/// The entries of each first half of IPv4, each from its beginning on; marks of the blocks.
fn blocks_v4(mut entries: &[Entry], blocks: &mut Blocks) -> Result<Vec<u32>, TableError> {
    let mut marks = Vec::new();
    if entries.is_empty() {
        return Ok(marks);
    }
    let (mut value, mut block) = (0, Vec::new());
    for half in 0..HALVES as u64 {
        block.clear();
        let (here, others) = entries.split_at(entries.partition_point(|entry| entry.start >> 48 <= half));
        entries = others;
        if here.first().is_none_or(|first| first.start > half << 48) {
            block.push(Entry { start: half << 48, value });
        }
        block.extend_from_slice(here);
        value = block.last().map_or(0, |last| last.value);
        marks.push(blocks.add(&block, |entry| (entry.start >> 32) as u32 & 0xffff, 1)?);
    }
    marks.push(blocks.place()?);
    Ok(marks)
}

/// Of IPv6, the first 32 bits of the blocks, and their marks.
fn blocks_v6(entries: &[Entry], blocks: &mut Blocks) -> Result<(Vec<u32>, Vec<u32>), TableError> {
    let (mut high, mut marks) = (Vec::new(), Vec::new());
    let (mut value, mut block) = (0, Vec::new());
    for here in entries.chunk_by(|entry, next| entry.start >> 32 == next.start >> 32) {
        block.clear();
        let Some(first) = here.first() else { continue };
        if first.start as u32 != 0 {
            block.push(Entry { start: first.start >> 32 << 32, value });
        }
        block.extend_from_slice(here);
        value = block.last().map_or(0, |last| last.value);
        high.push((first.start >> 32) as u32);
        marks.push(blocks.add(&block, |entry| entry.start as u32, 2)?);
    }
    if !marks.is_empty() {
        marks.push(blocks.place()?);
    }
    Ok((high, marks))
}

fn words(v4: &[Entry], v6: &[Entry], systems: &[System], names: &mut String) -> Result<Vec<u32>, TableError> {
    let mut blocks = Blocks::default();
    let marks_v4 = blocks_v4(v4, &mut blocks)?;
    let (high, marks_v6) = blocks_v6(v6, &mut blocks)?;
    let words_of_blocks = blocks.0.len().div_ceil(4) + 1;
    let counts = [marks_v4.len().saturating_sub(1), high.len(), words_of_blocks, systems.len()];
    let mut words: Vec<u32> = counts.iter().map(|count| *count as u32).collect();
    words.extend(marks_v4.into_iter().chain(high).chain(marks_v6).chain(blocks.words()));
    words.extend(systems.iter().map(|system| system.asn));
    words.extend(systems.iter().map(|System { name, kind, .. }| {
        // A name that has no room is left out.
        let name = name.as_deref().filter(|name| names.len() + name.len() <= END_MASK as usize);
        names.push_str(name.unwrap_or_default());
        let kind = kind.and_then(|kind| AsKind::ALL.iter().position(|known| *known == kind));
        kind.map_or(0, |kind| kind as u32 + 1) << END_BITS | names.len() as u32
    }));
    Ok(words)
}
