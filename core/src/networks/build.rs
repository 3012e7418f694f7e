//! From the prefixes of tables, which may overlap, to the flat table.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;
use ipnet::IpNet;

use super::table::{END_BITS, END_MASK, HALVES, PLACE_BITS, SystemTable};
use crate::feed::{AsKind, Feed, System};
use crate::prefix_table::TableError;

/// A prefix, or what is left of one: its first address, aligned to the left, its length, and the place of its system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    start: u64,
    length: u8,
    place: u32,
}

impl Item {
    /// The last address of the prefix that it is, or is left of.
    fn last(self) -> u64 {
        self.start | u64::MAX.checked_shr(self.length.into()).unwrap_or(0)
    }

    /// The prefix of twice the size that two of the same system make up.
    fn united_with(self, next: Self) -> Option<Self> {
        let length = self.length.checked_sub(1)?;
        let half = 1_u64.checked_shl(63 - u32::from(length))?;
        let is_first = self.start & (half | (half - 1)) == 0;
        let fits = is_first && next.start == self.start | half && next.length == self.length;
        (fits && next.place == self.place).then_some(Self { length, ..self })
    }
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
        let next = u32::try_from(self.systems.len()).ok().filter(|next| *next < 1 << PLACE_BITS);
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
    pub(crate) fn build(self) -> SystemTable {
        let Self { v4, v6, mut systems, .. } = self;
        if v4.is_empty() && v6.is_empty() {
            return SystemTable::default();
        }
        let (mut v4, mut v6) = (by_halves(&flat(v4)), flat(v6));
        keep_used(&mut systems, [&mut v4, &mut v6]);
        let mut names = String::new();
        let words = words(&v4, &v6, &systems, &mut names);
        SystemTable::new(words, names.into())
    }
}

/// Leaves out the systems that have no prefix.
fn keep_used(systems: &mut Vec<System>, items: [&mut Vec<Item>; 2]) {
    let mut places: Vec<Option<u32>> = vec![None; systems.len()];
    let mut next = 0;
    let mut kept = Vec::new();
    for item in items.into_iter().flatten() {
        let Some(place) = places.get_mut(item.place as usize) else { continue };
        item.place = *place.get_or_insert_with(|| {
            kept.extend(systems.get(item.place as usize).cloned());
            next += 1;
            next - 1
        });
    }
    *systems = kept;
}

/// Sorted, without overlaps: each holds from its start on, up to the next one or to the end of its prefix.
fn flat(mut items: Vec<Item>) -> Vec<Item> {
    // The sort is stable: of the same prefix, that of the first table counts.
    items.sort_by_key(|item| (item.start, item.length));
    items.dedup_by_key(|item| (item.start, item.length));
    let mut flat = Flat { done: Vec::with_capacity(items.len()), open: Vec::new() };
    for item in items {
        flat.close_before(item.start);
        if flat.open.last().is_none_or(|around| around.place != item.place) {
            flat.begin(item);
            flat.open.push(item);
        }
    }
    flat.close_before(u64::MAX);
    flat.done.shrink_to_fit();
    flat.done
}

struct Flat {
    done: Vec<Item>,
    /// The prefixes that are not yet left, the innermost one last.
    open: Vec<Item>,
}

impl Flat {
    /// Leaves the prefixes that end before `start`: after each, what is left of the one around it counts.
    fn close_before(&mut self, start: u64) {
        while let Some(closed) = self.open.pop_if(|open| open.last() < start) {
            if let Some(around) = self.open.last().filter(|around| around.last() > closed.last()) {
                self.begin(Item { start: closed.last() + 1, ..*around });
            }
        }
    }

    fn begin(&mut self, mut item: Item) {
        self.done.pop_if(|last| last.start == item.start);
        while let Some(united) = self.done.last().and_then(|last| last.united_with(item)) {
            self.done.pop();
            item = united;
        }
        self.done.push(item);
    }
}

/// Entries of IPv4, cut where the first half of the address changes.
fn by_halves(items: &[Item]) -> Vec<Item> {
    const HALF: u64 = 1 << 48;
    let mut cut = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let next = items.get(place + 1).map_or(u64::MAX, |next| next.start.saturating_sub(1));
        let last = item.last().min(next);
        cut.push(*item);
        let mut start = (item.start | (HALF - 1)).checked_add(1);
        while let Some(begin) = start.filter(|begin| *begin <= last) {
            cut.push(Item { start: begin, ..*item });
            start = begin.checked_add(HALF);
        }
    }
    cut
}

fn words(v4: &[Item], v6: &[Item], systems: &[System], names: &mut String) -> Vec<u32> {
    let mut words = vec![v4.len() as u32, v6.len() as u32, systems.len() as u32];
    if !v4.is_empty() {
        let half = |item: &Item| (item.start >> 48) as usize;
        let (mut next, mut items) = (0, v4.iter().peekable());
        for wanted in 0..=HALVES {
            words.push(next);
            while items.next_if(|item| half(item) == wanted).is_some() {
                next += 1;
            }
        }
        let low = |item: &Item| (item.start >> 32) as u32 & 0xffff;
        words.extend(v4.chunks(2).map(|pair| pair.iter().rev().fold(0, |word, item| word << 16 | low(item))));
        words.extend(v4.iter().map(|item| end(item.length.saturating_sub(16), item.place)));
    }
    words.extend(v6.iter().map(|item| (item.start >> 32) as u32));
    words.extend(v6.iter().map(|item| item.start as u32));
    words.extend(v6.iter().map(|item| end(item.length, item.place)));
    words.extend(systems.iter().map(|system| system.asn));
    words.extend(systems.iter().map(|System { name, kind, .. }| {
        // A name that has no room is left out.
        let name = name.as_deref().filter(|name| names.len() + name.len() <= END_MASK as usize);
        names.push_str(name.unwrap_or_default());
        let kind = kind.and_then(|kind| AsKind::ALL.iter().position(|known| *known == kind));
        kind.map_or(0, |kind| kind as u32 + 1) << END_BITS | names.len() as u32
    }));
    words
}

fn end(length: u8, place: u32) -> u32 {
    u32::from(length) << PLACE_BITS | place
}
