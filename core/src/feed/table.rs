//! Tables of autonomous systems: which prefixes each announces, what it is called, and what kind it is.
//!
//! Reading one takes what the core lacks: archives, compression, databases. So a host lends it a [`TableReader`], which
//! gives a [`TableBuilder`] what it finds. In Wasm there is none: tables come with the compiled ruleset.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use ipnet::IpNet;

use crate::feed::build::FeedBuilder;
use crate::feed::entries::MOST_VALUES;
use crate::feed::{Feed, ReadOptions};
use crate::json::typed::json_words;
use crate::source::diagnostic::{Diagnostics, Load, Strictness};
use crate::source::pages::Source;
use crate::source::position::Position;
use crate::source::text::Expected;

json_words! {
    /// The format of a table of autonomous systems.
    pub enum TableFormat {
        /// JSON or CSV of ipverse: `as-ip-blocks` has prefixes, `as-metadata` names and kinds.
        Ipverse = "ipverse",
        /// Tab-separated values of iptoasn.com.
        Iptoasn = "iptoasn",
        /// The binary format of MaxMind and DB-IP.
        Mmdb = "mmdb",
    }
}

json_words! {
    /// The kind of an autonomous system, by its publisher's judgement.
    pub enum AsKind {
        /// It connects people.
        Isp = "isp",
        /// Hosting, cloud or content.
        Hosting = "hosting",
        /// An enterprise.
        Business = "business",
        /// Teaching or research.
        Education = "education",
        /// Public administration.
        Government = "government",
    }
}

/// An autonomous system of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    /// Its number.
    pub asn: u32,
    /// Its name: printable, without quotes and backslashes.
    pub name: Option<Box<str>>,
    /// Its kind.
    pub kind: Option<AsKind>,
}

/// Reads the bytes of a table. The error is the reason why it cannot be used.
pub type TableReader = fn(TableFormat, &[u8], &mut TableBuilder) -> Result<(), String>;

/// Takes what a [`TableReader`] finds.
pub struct TableBuilder {
    feed: FeedBuilder,
    /// Places in the systems of the feed, by number.
    places: HashMap<u32, u32>,
    diagnostics: Diagnostics<Load>,
}

impl TableBuilder {
    /// The most bytes that a table may have, unpacked.
    pub fn most_bytes(&self) -> usize {
        self.feed.bounds.bytes
    }

    /// Adds a prefix of an autonomous system. Numbers that no network has (RFC 7607, RFC 7300) stand for none: the prefix is
    /// left out. Of the same prefix, the first counts.
    ///
    /// # Errors
    ///
    /// There are too many prefixes.
    pub fn prefix(&mut self, prefix: IpNet, asn: u32) -> Result<(), String> {
        let Some(place) = self.place(asn) else { return Ok(()) };
        let added = self.feed.add(prefix, place, &mut || None, &mut self.diagnostics);
        added.map(drop).ok_or_else(|| format!("it has more than {} prefixes", self.feed.bounds.entries))
    }

    /// Adds what an autonomous system is called and what it is for. What was said first counts.
    pub fn system(&mut self, asn: u32, name: Option<&str>, kind: Option<AsKind>) {
        self.feed.some_readable = true;
        let place = self.place(asn).and_then(|place| usize::try_from(place).ok());
        let Some(system) = place.and_then(|place| self.feed.feed.systems.get_mut(place)) else { return };
        system.name = system.name.take().or_else(|| name.and_then(printable));
        system.kind = system.kind.or(kind);
    }

    /// Notes that a line, or an entry, cannot be read.
    pub fn unreadable(&mut self, line: Option<u32>, why: impl Into<String>) {
        self.feed.unreadable();
        self.diagnostics.lost(line.map(|line| Position { line, column: 1 }), None, why.into());
    }

    /// The place of a system among those of the feed; `None` if the number is reserved.
    fn place(&mut self, asn: u32) -> Option<u32> {
        const RESERVED: [u32; 3] = [0, 65_535, u32::MAX];
        let systems = &mut self.feed.feed.systems;
        match self.places.entry(asn) {
            Entry::Occupied(known) => Some(*known.get()),
            Entry::Vacant(_) if RESERVED.contains(&asn) => None,
            Entry::Vacant(new) => {
                let place = u32::try_from(systems.len()).ok().filter(|place| *place < MOST_VALUES)?;
                systems.push(System { asn, name: None, kind: None });
                Some(*new.insert(place))
            }
        }
    }
}

/// A name as headers, logs and JSON can hold it: without control characters, quotes and backslashes, and not too long.
fn printable(name: &str) -> Option<Box<str>> {
    const LONGEST: usize = 128;
    let plain = |character: char| match character {
        '"' | '\\' => '\'',
        _ if character.is_control() => ' ',
        _ => character,
    };
    let name: String = name.trim().chars().take(LONGEST).map(plain).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.into())
}

/// Reads a table with the reader that the host has; `None` after an error.
pub(super) fn read<S: Strictness>(
    format: TableFormat,
    source: Source<'_>,
    options: &ReadOptions<'_>,
    expected: Expected,
    builder: FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<Feed> {
    let own = Diagnostics::new("", Load);
    let mut builder = TableBuilder { feed: builder, places: HashMap::new(), diagnostics: own };
    let mut room = Vec::new();
    let read = match options.tables {
        Some(reader) => source.whole(&mut room).and_then(|bytes| reader(format, bytes, &mut builder)),
        None => Err(NO_READER.into()),
    };
    let TableBuilder { feed, diagnostics: own, .. } = builder;
    diagnostics.absorb(own);
    match read {
        Ok(()) => feed.finish(expected, diagnostics),
        Err(why) => {
            diagnostics.error(None, None, why);
            None
        }
    }
}

/// The reason why a host without a reader refuses a table.
pub(crate) const NO_READER: &str = "tables of autonomous systems cannot be read here: give the ruleset that `crawlpike compile` or \
                         `crawlpike envoy` writes";
