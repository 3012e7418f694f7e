//! Feeds: IP prefixes, each with a value. The result is the same for every format.

use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::json::typed::json_words;

mod build;
pub(crate) mod change;
pub(crate) mod cidr;
pub(crate) mod csv;
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
pub(crate) mod versions;

pub use entries::Entries;
pub use jafar::Shape;
pub(crate) use read::is_of_a_deployed_shape;
pub use read::{FeedBounds, ReadOptions, read};

json_words! {
    /// The format in which a feed is written.
    pub enum FeedFormat {
        /// JSON IP ranges of automated clients, as specified and as deployed.
        Jafar = "jafar",
        /// Self-published geolocation CSV (RFC 8805).
        Geofeed = "geofeed",
        /// One prefix or bare address a line, `#` comments.
        Cidr = "cidr",
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
    /// The distinct values.
    pub values: Vec<FeedValue>,
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
