//! What a feed says, whatever its format: prefixes, each with one value; and how one is read.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use hashbrown::hash_map::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostics, Position, Strictness};
use crate::prefix::unmap;
use crate::source_text::Expected;
use crate::typed_json::{json_object, json_words};
use crate::{cidr, geofeed, jafar, source_text};

json_words! {
    /// How a feed is written.
    pub enum FeedFormat {
        /// JSON IP ranges of automated clients, as specified and as deployed.
        Jafar = "jafar",
        /// Self-published geolocation CSV (RFC 8805).
        Geofeed = "geofeed",
        /// One prefix or bare address a line, `#` comments.
        Cidr = "cidr",
    }
}

/// What an entry says about its prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FeedValue {
    /// The prefix belongs to the feed's publisher.
    Range {
        /// The publisher's name for the bot or product in this prefix, case-sensitive (JAFAR 2.3).
        service: Option<Box<str>>,
    },
    /// Where the prefix is used (RFC 8805 2.1.1). All `None`: explicitly nowhere.
    Place {
        /// ISO 3166-1 alpha-2, upper case.
        country: Option<[u8; 2]>,
        /// ISO 3166-2, upper case, such as `US-CA`.
        region: Option<Box<str>>,
        /// Free text without control characters.
        city: Option<Box<str>>,
    },
}

/// A feed that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// Each prefix once, IPv4-mapped ones as IPv4, in the order of the source, with an index into `values`.
    pub entries: Vec<(IpNet, u32)>,
    /// The distinct values.
    pub values: Vec<FeedValue>,
    /// When the publisher made this version, in seconds since the Unix epoch.
    pub created: Option<i64>,
    /// The publisher's remarks.
    pub notes: Option<Box<str>>,
}

json_object! {
    /// What one feed may cost. A feed over `bytes`, `entries` or `nesting` is unusable; a line over `line` is lost.
    pub struct FeedBounds {
        /// The size of the source in bytes; default 256 MiB.
        pub bytes: usize = { FeedBounds::default().bytes },
        /// The number of distinct prefixes; default 4 million, four times the IPv4 routes of the whole Internet.
        pub entries: usize = { FeedBounds::default().entries },
        /// The length of a line in bytes, or of a CSV record that spans several; default 64 KiB.
        pub line: usize = { FeedBounds::default().line },
        /// How deep JSON arrays and objects may be nested; default 64. The format itself needs 3.
        pub nesting: usize = { FeedBounds::default().nesting },
    }
}

impl Copy for FeedBounds {}

impl Default for FeedBounds {
    fn default() -> Self {
        Self { bytes: 256 << 20, entries: 4_000_000, line: 64 << 10, nesting: 64 }
    }
}

/// How to read a feed. Whether leniently or strictly is said by [`Diagnostics::strictness`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'a> {
    /// What the feed may cost.
    pub bounds: FeedBounds,
    /// The prefixes for which the publisher may speak (RFC 8805 3.2); entries outside are ignored. Empty: all.
    pub authority: &'a [IpNet],
}

/// Reads a feed.
///
/// `None` when it is unusable; then `diagnostics` has an error that says why. Entries that can't be used are left out,
/// each with a diagnostic; a feed that has entries but not one readable is unusable, because taking it for an empty
/// one would turn every client of its publisher into an impostor.
///
/// ```
/// use crawlward_core::diagnostic::{Diagnostics, Strictness};
/// use crawlward_core::feed::{self, FeedFormat, ReadOptions};
///
/// let mut diagnostics = Diagnostics::new("partners.txt", Strictness::Load);
/// let source = b"192.0.2.0/24\n192.0.2.300\n";
/// let feed = feed::read(FeedFormat::Cidr, source, &ReadOptions::default(), &mut diagnostics);
/// assert_eq!(feed.map(|feed| feed.entries.len()), Some(1));
/// assert_eq!(
///     diagnostics.items()[0].to_string(),
///     r#"partners.txt:2:1: warning: "192.0.2.300": not an IP address"#
/// );
/// ```
pub fn read(
    format: FeedFormat,
    bytes: &[u8],
    options: &ReadOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Feed> {
    let expected = match format {
        FeedFormat::Jafar => Expected { what: "JSON", requirement: Some("JAFAR-1") },
        FeedFormat::Geofeed => Expected { what: "CSV", requirement: Some("GEO-1") },
        FeedFormat::Cidr => Expected { what: "a list of prefixes", requirement: None },
    };
    let most = options.bounds.bytes;
    if bytes.len() > most {
        let message = format!("{} bytes, over the bound of {most}", bytes.len());
        diagnostics.error(None, expected.requirement, message);
        return None;
    }
    let text = source_text::read(bytes, expected, diagnostics)?;
    let builder = FeedBuilder::new(options, text);
    let builder = match format {
        FeedFormat::Jafar => jafar::read(text, builder, diagnostics),
        FeedFormat::Geofeed => geofeed::read(text, builder, diagnostics),
        FeedFormat::Cidr => cidr::read(text, builder, diagnostics),
    }?;
    builder.finish(expected, diagnostics)
}

/// What became of a prefix that a reader handed to [`FeedBuilder::add`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is in the feed now.
    New,
    /// It was in the feed already, with this value.
    Duplicate(u32),
    /// It lies outside the publisher's authority; that was reported.
    Outside,
}

/// Collects the entries of one feed: each prefix once, each value once.
pub(crate) struct FeedBuilder {
    pub(crate) bounds: FeedBounds,
    pub(crate) feed: Feed,
    /// Disjoint and sorted.
    authority: Option<Vec<IpNet>>,
    /// Indices into the entries, by prefix: a quarter of the memory that a second copy of the prefixes would take, and
    /// the table is what the cache holds while a feed is read.
    indices: HashTable<u32>,
    hasher: DefaultHashBuilder,
    id_of_value: HashMap<FeedValue, u32>,
    unreadable: usize,
    some_readable: bool,
}

impl FeedBuilder {
    fn new(options: &ReadOptions<'_>, source: &str) -> Self {
        // All prefixes have a slash; bare addresses make the collections grow.
        let slashes = source.bytes().filter(|byte| *byte == b'/').count();
        let expected = slashes.min(options.bounds.entries);
        let authority: Vec<IpNet> = options.authority.iter().copied().map(unmap).collect();
        let mut authority = IpNet::aggregate(&authority);
        authority.sort_unstable();
        Self {
            bounds: options.bounds,
            feed: Feed { entries: Vec::with_capacity(expected), ..Feed::default() },
            authority: (!options.authority.is_empty()).then_some(authority),
            indices: HashTable::with_capacity(expected),
            hasher: DefaultHashBuilder::default(),
            id_of_value: HashMap::new(),
            unreadable: 0,
            some_readable: false,
        }
    }

    /// The index of a value in [`Feed::values`], where it is put unless it is there.
    pub(crate) fn value(&mut self, value: FeedValue) -> u32 {
        let next = u32::try_from(self.feed.values.len()).unwrap_or(u32::MAX);
        match self.id_of_value.entry(value) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.feed.values.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    /// Adds an entry unless the prefix is there already (the first one counts) or foreign. `None` after the error that
    /// the feed has too many entries.
    pub(crate) fn add(
        &mut self,
        prefix: IpNet,
        value: u32,
        position: impl FnOnce() -> Option<Position>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Added> {
        let prefix = unmap(prefix);
        self.some_readable = true;
        if !self.has_authority(prefix) {
            let message = format!("{prefix} is outside the prefixes of `authority`: ignored");
            diagnostics.warning(position(), "GEO-15", message);
            return Some(Added::Outside);
        }
        let Self { feed: Feed { entries, .. }, indices, hasher, bounds, .. } = self;
        let at = |index: &u32| entries.get(*index as usize);
        let hash = hasher.hash_one(prefix);
        if let Some((_, first)) =
            indices.find(hash, |index| at(index).is_some_and(|known| known.0 == prefix)).and_then(at)
        {
            return Some(Added::Duplicate(*first));
        }
        let Some(index) = u32::try_from(entries.len()).ok().filter(|_| entries.len() < bounds.entries) else {
            let message = format!("over {} entries: the feed is refused", bounds.entries);
            diagnostics.error(position(), None, message);
            return None;
        };
        indices.insert_unique(hash, index, |index| at(index).map_or(0, |known| hasher.hash_one(known.0)));
        entries.push((prefix, value));
        Some(Added::New)
    }

    fn has_authority(&self, prefix: IpNet) -> bool {
        let Some(authority) = &self.authority else { return true };
        let after = authority.partition_point(|allowed| *allowed <= prefix);
        after.checked_sub(1).and_then(|index| authority.get(index)).is_some_and(|own| own.contains(&prefix))
    }

    /// Counts an entry that could not be read.
    pub(crate) fn unreadable(&mut self) {
        self.unreadable += 1;
    }

    fn finish(mut self, expected: Expected, diagnostics: &mut Diagnostics) -> Option<Feed> {
        // In lint every bad entry is an error already.
        if self.unreadable > 0 && !self.some_readable && diagnostics.strictness() == Strictness::Load {
            let message =
                format!("none of the {} entries can be used: is this the right file?", self.unreadable);
            diagnostics.error(None, expected.requirement, message);
            return None;
        }
        // Comments have slashes, too.
        self.feed.entries.shrink_to_fit();
        Some(self.feed)
    }
}
