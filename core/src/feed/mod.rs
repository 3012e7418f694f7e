//! Feeds: IP prefixes, each with a value. The result is the same for every format.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::typed::{FromJson, Node, Reader, read_word, schema_of_words};

mod build;
pub(crate) mod change;
pub(crate) mod cidr;
pub(crate) mod csv;
pub(crate) mod earlier;
pub(crate) mod entries;
mod extent;
pub(crate) mod geofeed;
pub(crate) mod guard;
mod jafar;
#[cfg(test)]
mod paged_tests;
pub(crate) mod prefix;
mod read;
pub(crate) mod special;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod versions;

pub use entries::Entries;
pub use jafar::Shape;
pub(crate) use read::is_of_a_deployed_shape;
pub use read::{FeedBounds, ReadOptions, read};
pub(crate) use table::System;
pub use table::{AsKind, TableBuilder, TableFormat, TableReader};

/// The format in which a feed is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FeedFormat {
    /// JSON IP ranges of automated clients, as specified and as deployed.
    Jafar,
    /// Self-published geolocation CSV (RFC 8805).
    Geofeed,
    /// One prefix or bare address a line, `#` comments.
    Cidr,
    /// A table of autonomous systems, which `networks` lists and not `feeds`.
    Table(TableFormat),
}

impl FeedFormat {
    /// The formats of the entries of `feeds`.
    const LISTED: [Self; 3] = [Self::Jafar, Self::Geofeed, Self::Cidr];

    /// The word, as it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Jafar => "jafar",
            Self::Geofeed => "geofeed",
            Self::Cidr => "cidr",
            Self::Table(format) => format.as_str(),
        }
    }

    /// Returns true if it says whose prefixes are.
    pub(crate) fn is_of_ranges(self) -> bool {
        matches!(self, Self::Jafar | Self::Cidr)
    }
}

impl fmt::Display for FeedFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromJson for FeedFormat {
    fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
        let word = read_word(node, reader, &Self::LISTED.map(Self::as_str))?;
        Self::LISTED.into_iter().find(|format| format.as_str() == word)
    }

    fn to_json(&self) -> Value {
        Value::from(self.as_str())
    }

    fn schema() -> Value {
        schema_of_words(&Self::LISTED.map(Self::as_str))
    }
}

/// The statement of an entry about its prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FeedValue {
    /// The prefix belongs to the feed's publisher.
    Range {
        /// The publisher's names for the bots or products in this prefix, case-sensitive, in the order of the feed
        /// (JAFAR 2.3).
        services: Box<[Box<str>]>,
    },
    /// The location of the prefix (RFC 8805 2.1.1). All `None`: explicitly no location.
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
    /// Each prefix once, IPv4-mapped ones as IPv4, with an index into `values`.
    pub entries: Entries,
    /// The distinct values; in a table of autonomous systems, none.
    pub values: Vec<FeedValue>,
    /// The autonomous systems of a table, which the entries of one number.
    pub systems: Vec<System>,
    /// When the publisher made this version, in seconds since the Unix epoch.
    pub created: Option<i64>,
    /// The publisher's remarks.
    pub notes: Option<Box<str>>,
    /// The number of entries that could not be read completely; 0 in a geofeed. They may stand for any address, so a feed
    /// with such entries condemns nobody.
    pub unreadable: usize,
    /// The number of entries that were left out because their prefixes are special-purpose. No client on the Internet has
    /// such an address to itself, so the feed condemns as before.
    pub special: usize,
}

impl Feed {
    /// Returns true if it says nothing. A table may have names alone.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.systems.is_empty()
    }
}
