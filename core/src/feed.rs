//! What a feed says, whatever its format: prefixes, each with one value.

use alloc::boxed::Box;
use alloc::vec::Vec;

use ipnet::IpNet;

use crate::json::json_words;

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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
        /// Free text.
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
