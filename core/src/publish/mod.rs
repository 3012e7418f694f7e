//! Feeds for publishers: from lists of prefixes to conforming files, and to the configurations of other servers.
//!
//! The readers are those of the gates, so what is published is what they read. Loading calls nothing of this module.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use ipnet::IpNet;

use crate::feed::{FeedFormat, FeedValue, Shape};
use crate::source::diagnostic::{Diagnostic, Severity};

mod aggregate;
mod read;
mod write;

/// The subject of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// IP ranges of automated clients, with services.
    Jafar,
    /// Places of IP ranges.
    Geofeed,
}

/// The way to read a list.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name of the file in diagnostics.
    pub name: &'a str,
    /// The content.
    pub bytes: &'a [u8],
    /// The paths of the prefixes, if it is JSON of another shape.
    pub shape: Option<&'a Shape>,
    /// The meaning of prefixes for which the list does not state it: a service, or a place as `country,region,city`.
    pub meaning: Option<&'a str>,
}

/// The content of a feed: prefixes in their order, each with what the feed says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    kind: Kind,
    entries: BTreeMap<IpNet, FeedValue>,
}

impl Content {
    /// No prefixes yet.
    pub fn new(kind: Kind) -> Self {
        Self { kind, entries: BTreeMap::new() }
    }

    /// Adds the prefixes of a list: JSON of any shape that the gates read, CSV (`prefix,service`, or a geofeed), or plain
    /// text as for the format `cidr`.
    ///
    /// # Errors
    ///
    /// The entries that cannot be read. A publisher must know of each entry that would be lost.
    pub fn add(&mut self, source: &Source<'_>) -> Result<(), Vec<Diagnostic>> {
        let read = read::read(self.kind, source)?;
        let mut problems = Vec::new();
        for (prefix, value) in read {
            match (self.entries.get_mut(&prefix), value) {
                (Some(FeedValue::Range { services }), FeedValue::Range { services: more }) => {
                    *services = united(services, &more);
                }
                (None, FeedValue::Range { services }) => {
                    self.entries.insert(prefix, FeedValue::Range { services: united(&services, &[]) });
                }
                (None, place) => _ = self.entries.insert(prefix, place),
                (Some(known), place) if *known == place => {}
                (Some(_), _) => {
                    let message = format!("{prefix} has another place in another file; keep one");
                    problems.push(Diagnostic::error(source.name, message));
                }
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// The number of prefixes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is no prefix.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The fewest prefixes that say the same of each address.
    pub fn aggregate(&mut self) {
        aggregate::aggregate(&mut self.entries);
    }

    /// The findings of [`crate::lint`] if a text is not a feed that conforms to its specification.
    pub fn check(&self, name: &str, text: &str) -> Vec<Diagnostic> {
        let format = match self.kind {
            Kind::Jafar => FeedFormat::Jafar,
            Kind::Geofeed => FeedFormat::Geofeed,
        };
        let found =
            crate::lint::feed(format, None, crate::lint::FeedStrictness::Strict, name, text.as_bytes());
        found.into_iter().filter(|one| one.severity == Severity::Error).collect()
    }
}

fn united(services: &[Box<str>], more: &[Box<str>]) -> Box<[Box<str>]> {
    let mut all: Vec<_> = services.iter().chain(more).cloned().collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// The name of a value: its services, or its country; empty if it has none.
fn label(value: &FeedValue) -> String {
    match value {
        FeedValue::Range { services } => services.join(","),
        FeedValue::Place { country, .. } => country.iter().flatten().copied().map(char::from).collect(),
    }
}

#[cfg(test)]
mod tests;
