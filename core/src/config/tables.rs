//! The tables of autonomous systems.

use alloc::string::String;

use crate::config::FeedConfig;
use crate::feed::guard::{Guard, Limits, Widest};
use crate::feed::{FeedBounds, FeedFormat, TableFormat};
use crate::json::typed::{UpTo, json_object};
use crate::json::units::{Percent, Seconds};
use crate::source::position::Placed;

json_object! {
    /// A table of autonomous systems: which prefixes each has, what it is called, and what kind it is.
    pub struct NetworkConfig {
        /// The name by which logs and metrics refer to the table.
        pub name: Placed<String> = required,
        /// The format of the file.
        pub format: TableFormat = required,
        /// The file, relative to the configuration document; also compressed by gzip, alone or in a tar archive.
        pub source: Placed<String> = required,
        /// The URL at which it is published, for `crawlpike update`.
        pub url: Option<String> = { None },
        /// The age at which the table is reported as stale; it stays in use. Left out: any age.
        pub max_age: Option<Seconds> = { None },
        /// The changes that a new version may make before it is held and the last good one stays in force; `off`: anything.
        pub guard: Guard = { NetworkConfig::guard() },
        /// The limits on the cost of reading the file.
        pub limits: FeedBounds = { FeedBounds::default() },
    }
}

impl NetworkConfig {
    /// A table may change more than a list of an agent's ranges, since it verifies nobody.
    fn guard() -> Guard {
        let widest = Widest { v4: UpTo(1), v6: UpTo(1) };
        Guard(Some(Limits { replace: Percent(90), widest, ..Limits::default() }))
    }

    /// The same as a feed, which a table is for everything but its content.
    pub(super) fn to_feed(&self) -> Option<FeedConfig> {
        let Self { name, format, source, url, max_age, guard, limits } = self.clone();
        let format = FeedFormat::Table(format);
        Some(FeedConfig {
            format,
            authority: Default::default(),
            shape: None,
            name,
            source,
            url,
            max_age,
            guard,
            limits,
        })
    }
}
