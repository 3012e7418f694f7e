//! Collecting the entries of one feed: each prefix once, each value once.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use ipnet::IpNet;

use crate::feed::entries::{Entries, MOST_VALUES, Place};
use crate::feed::extent::Coverage;
use crate::feed::prefix::unmap;
use crate::feed::special;
use crate::feed::{Feed, FeedBounds, FeedFormat, FeedValue, ReadOptions};
use crate::sort::sort_by_key;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::Position;
use crate::source::text::Expected;

/// The most services of a prefix. In Amazon's list, four are the most.
const MOST_SERVICES: usize = 32;

/// The result of [`FeedBuilder::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The entry was added.
    New,
    /// The feed already has the prefix.
    Duplicate(Duplicate),
    /// The publisher cannot claim the prefix, which was reported.
    Refused,
}

/// An entry whose prefix occurred again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Duplicate {
    place: Place,
    /// Its value.
    pub(crate) value: u32,
}

/// Collects the entries of one feed.
pub(crate) struct FeedBuilder {
    pub(crate) bounds: FeedBounds,
    pub(crate) feed: Feed,
    format: FeedFormat,
    authority: Option<Coverage>,
    /// True if special-purpose prefixes are left out. Locations verify nobody, whatever their prefixes are.
    is_published: bool,
    /// Places of the entries, by prefix: much less memory than a second copy of the prefixes would take, and the table is
    /// what the cache holds while a feed is read.
    places: HashTable<Place>,
    hasher: DefaultHashBuilder,
    /// Indices into the values.
    id_of_value: HashTable<u32>,
    id_of_service: HashMap<Box<str>, u32>,
    /// Further values of entries, in the order of the source, with the places of the entries.
    more_values: Vec<(Place, u32)>,
    pub(super) some_readable: bool,
}

impl FeedBuilder {
    /// `expected` is a guess at the number of entries.
    pub(super) fn new(format: FeedFormat, options: &ReadOptions<'_>, expected: usize) -> Self {
        let expected = expected.min(options.bounds.entries);
        let authority = options.authority.iter().copied().map(unmap);
        Self {
            bounds: options.bounds,
            feed: Feed { entries: Entries::with_capacity(expected), ..Feed::default() },
            format,
            is_published: options.is_published && format.is_of_ranges(),
            authority: (!options.authority.is_empty()).then(|| Coverage::of_prefixes(authority)),
            places: HashTable::with_capacity(expected),
            hasher: DefaultHashBuilder::default(),
            id_of_value: HashTable::new(),
            id_of_service: HashMap::new(),
            more_values: Vec::new(),
            some_readable: false,
        }
    }

    /// The index of a value in [`Feed::values`], to which the value is added if it is new. `None` if there are more values
    /// than an index can count.
    pub(crate) fn value(&mut self, value: FeedValue) -> Option<u32> {
        let Self { feed: Feed { values, .. }, id_of_value, hasher, .. } = self;
        let at = |id: &u32| usize::try_from(*id).ok().and_then(|id| values.get(id));
        let hash = hasher.hash_one(&value);
        if let Some(known) = id_of_value.find(hash, |id| at(id) == Some(&value)) {
            return Some(*known);
        }
        let next = u32::try_from(values.len()).ok().filter(|next| *next < MOST_VALUES)?;
        // Each index is that of a value, so the default is never used.
        id_of_value.insert_unique(hash, next, |id| at(id).map_or(0, |known| hasher.hash_one(known)));
        values.push(value);
        Some(next)
    }

    /// The index of the value of a range with one service, or without a service. `None` as for [`Self::value`].
    pub(crate) fn range(&mut self, service: Option<&str>) -> Option<u32> {
        let Some(service) = service else {
            return self.value(FeedValue::Range { services: Box::default() });
        };
        if let Some(known) = self.id_of_service.get(service) {
            return Some(*known);
        }
        let services = vec![service.into()].into_boxed_slice();
        let id = self.value(FeedValue::Range { services })?;
        self.id_of_service.insert(service.into(), id);
        Some(id)
    }

    /// Adds an entry, unless the prefix is outside the authority or a duplicate; the caller can give a duplicate
    /// [another value](Self::add_value). `None` after the error that the feed has too many entries.
    pub(crate) fn add<S: Strictness>(
        &mut self,
        prefix: IpNet,
        value: u32,
        position: &mut dyn FnMut() -> Option<Position>,
        diagnostics: &mut Diagnostics<S>,
    ) -> Option<Added> {
        let prefix = unmap(prefix);
        self.some_readable = true;
        if self.authority.as_ref().is_some_and(|authority| !authority.covers(prefix)) {
            let message = format!("{prefix} is outside `authority`; the entry is ignored");
            diagnostics.warning(position(), "GEO-15", message);
            return Some(Added::Refused);
        }
        if self.is_published
            && let Some(purpose) = special::not_to_be_published(&prefix)
        {
            self.feed.special = self.feed.special.saturating_add(1);
            let message =
                format!("{prefix} is special-purpose ({purpose}); in a feed with a `url` it verifies nobody");
            diagnostics.warning(position(), None, message);
            return Some(Added::Refused);
        }
        let Self { feed: Feed { entries, .. }, places, hasher, .. } = self;
        let hash = hasher.hash_one(prefix);
        let known = places.find(hash, |place| entries.get(*place).is_some_and(|known| known.0 == prefix));
        if let Some((place, (_, first))) = known.and_then(|place| Some((*place, entries.get(*place)?))) {
            return Some(Added::Duplicate(Duplicate { place, value: first }));
        }
        let place = self.may_grow().then(|| self.feed.entries.push(prefix, value)).flatten();
        let Some(place) = place else {
            self.refuse_more(position(), diagnostics);
            return None;
        };
        let Self { feed: Feed { entries, .. }, places, hasher, .. } = self;
        // Each place is that of an entry, so the default is never used.
        let hash_of = |place: &Place| entries.get(*place).map_or(0, |known| hasher.hash_one(known.0));
        if places.len() < places.capacity() {
            places.insert_unique(hash, place, hash_of);
            return Some(Added::New);
        }
        // The table doubles, beside the old one if that were there. It has nothing that the entries do not have.
        *places = HashTable::new();
        places.reserve(entries.len(), hash_of);
        for place in entries.places() {
            places.insert_unique(hash_of(&place), place, hash_of);
        }
        Some(Added::New)
    }

    /// Adds a value to an existing entry. `None` after the error that the feed has too many entries.
    pub(crate) fn add_value<S: Strictness>(
        &mut self,
        duplicate: Duplicate,
        value: u32,
        position: &mut dyn FnMut() -> Option<Position>,
        diagnostics: &mut Diagnostics<S>,
    ) -> Option<()> {
        if !self.may_grow() {
            self.refuse_more(position(), diagnostics);
            return None;
        }
        self.more_values.push((duplicate.place, value));
        Some(())
    }

    /// Returns true if the feed may have more entries.
    fn may_grow(&self) -> bool {
        self.feed.entries.len().saturating_add(self.more_values.len()) < self.bounds.entries
    }

    fn refuse_more<S: Strictness>(&self, position: Option<Position>, diagnostics: &mut Diagnostics<S>) {
        let message = format_args!("more than {} entries; the feed is refused", self.bounds.entries);
        diagnostics.error(position, None, message);
    }

    /// Counts an entry that could not be read completely.
    pub(crate) fn unreadable(&mut self) {
        self.feed.unreadable = self.feed.unreadable.saturating_add(1);
    }

    pub(super) fn finish<S: Strictness>(
        mut self,
        expected: Expected,
        diagnostics: &mut Diagnostics<S>,
    ) -> Option<Feed> {
        // In strict lint every bad entry is an error already.
        if self.feed.unreadable > 0 && !self.some_readable && diagnostics.loses_leniently() {
            let message = format_args!(
                "cannot read any of the {} entries; check that this is the right file",
                self.feed.unreadable
            );
            diagnostics.error(None, expected.requirement, message);
            return None;
        }
        self.merge_values(diagnostics);
        // Locations and autonomous systems condemn nobody, so these feeds need not be complete.
        if !self.format.is_of_ranges() {
            self.feed.unreadable = 0;
        }
        // Sorting takes no more memory then.
        self.places = HashTable::new();
        self.feed.entries.sort();
        Some(self.feed)
    }

    /// Merges the services of entries with the same prefix (JAFAR-18).
    fn merge_values<S: Strictness>(&mut self, diagnostics: &mut Diagnostics<S>) {
        let mut more = core::mem::take(&mut self.more_values);
        // Within an entry they stay in the order of the source.
        sort_by_key(&mut more, |(place, _)| place.0);
        for group in more.chunk_by(|(place, _), (next, _)| place == next) {
            let place = group.first().map(|(place, _)| *place);
            let entry = place.and_then(|place| Some((place, self.feed.entries.get(place)?)));
            let Some((place, (prefix, first))) = entry else {
                self.unreadable();
                continue;
            };
            let added = group.iter().map(|(_, value)| *value);
            let mut seen = BTreeSet::new();
            let values = core::iter::once(first).chain(added);
            let distinct = values.filter(|value| seen.insert(*value));
            let mut services: Vec<Box<str>> =
                distinct.flat_map(|value| self.services_of(value)).cloned().collect();
            if services.len() > MOST_SERVICES {
                let message =
                    format!("{prefix} has {} services; only the first {MOST_SERVICES} count", services.len());
                diagnostics.lost(None, "JAFAR-18", message);
                self.unreadable();
                services.truncate(MOST_SERVICES);
            }
            let services = services.into();
            let merged = self.value(FeedValue::Range { services });
            if merged.and_then(|merged| self.feed.entries.set_value(place, merged)).is_none() {
                self.unreadable();
            }
        }
    }

    fn services_of(&self, value: u32) -> &[Box<str>] {
        match usize::try_from(value).ok().and_then(|value| self.feed.values.get(value)) {
            Some(FeedValue::Range { services }) => services,
            Some(FeedValue::Place { .. }) | None => &[],
        }
    }
}
