//! JSON IP ranges of automated clients (draft-illyes-aipref-jafar), as specified and as deployed.
//!
//! No JSON tree is built. One pass over the document checks its syntax and finds the members of the top-level object;
//! the version is looked at before anything else is; then the entries are read one at a time, each a slice of the
//! source, so that what is wrong with one has a position.
//!
//! Deployed files that are read, too (JAFAR-20): Google's, without version and token and with a time without zone;
//! `syncToken`; AWS's `ip_prefix`, `ipv6_prefix`, `ipv6_prefixes` and `createDate`, and its prefixes that are there once
//! for each service; a bare array of CIDR strings; bare addresses; the shapes in [`deployed`]; and any other one, if a
//! [`Shape`] says where its prefixes are.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use serde_json::value::RawValue;

use crate::feed::build::FeedBuilder;
use crate::json::slices::{self, Members};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::{Locator, Position};
use crate::source::quoted::Quoted;

mod deployed;
mod document;
mod entries;
mod page;
mod shape;
mod time;
mod unknown;

pub use shape::Shape;

const BAD_NAME: &str = "a key contains an invalid Unicode escape";

/// Reads the document into `builder`; `None` after an error.
pub(crate) fn read<S: Strictness>(
    source: &str,
    shape: Option<&Shape>,
    builder: FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<FeedBuilder> {
    let page = shape.filter(|shape| shape.is_page).map(|_| page::without_tags(source));
    let json = page.as_deref().unwrap_or(source);
    let mut reader = Reader {
        locator: Locator::new(json.as_bytes()),
        builder,
        diagnostics,
        service: None,
        is_found: false,
    };
    match shape {
        Some(shape) if shape.is_page => reader.page(json, shape),
        shape => reader.json(json, shape),
    }?;
    Some(reader.builder)
}

/// Whether a document has keys that only the specified format has. A document without them has a shape that publishers
/// deployed before there was a specification.
pub(crate) fn claims_the_specified_format(json: &str) -> bool {
    let Ok(document) = slices::document(json) else {
        return true;
    };
    if document.get().starts_with('[') {
        return false;
    }
    let members = slices::members(document, &["formatVersion", "synctoken"]);
    members.is_none_or(|Members { values: [version, token], .. }| version.is_some() || token.is_some())
}

struct Reader<'a, 'd, S> {
    locator: Locator<'a>,
    builder: FeedBuilder,
    diagnostics: &'d mut Diagnostics<S>,
    /// The service of entries that name none: the key of an object round them.
    service: Option<Cow<'a, str>>,
    /// Whether the paths of a shape lead to anything.
    is_found: bool,
}

impl<'a, S: Strictness> Reader<'a, '_, S> {
    fn json(&mut self, json: &'a str, shape: Option<&Shape>) -> Option<()> {
        self.nesting(json)?;
        let document = match slices::document(json) {
            Ok(document) => document,
            Err(error) => {
                let position = self.locator.position(error.offset);
                self.diagnostics.error(position, "JAFAR-1", error.message);
                return None;
            }
        };
        match (shape.and_then(|shape| shape.paths.as_ref()), document.get().as_bytes().first()) {
            (Some(paths), _) => self.at_paths(document, paths),
            (None, Some(b'{')) => self.object(document),
            (None, Some(b'[')) => self.plain_array(document),
            _ => self.refuse(document, "JAFAR-1", "expected a JSON object"),
        }
    }

    fn nesting(&mut self, json: &'a str) -> Option<()> {
        let most = self.builder.bounds.nesting;
        let Some(offset) = slices::nested_deeper_than(json, most) else { return Some(()) };
        let position = self.locator.position_of(json.as_bytes().get(offset..).unwrap_or_default());
        let message = format!("arrays and objects are nested more than {most} levels deep");
        self.diagnostics.error(position, "JAFAR-1", message);
        None
    }

    fn at(&mut self, raw: &'a RawValue) -> Option<Position> {
        self.locator.position_of(raw.get().as_bytes())
    }

    /// The whole feed is unusable.
    fn refuse(&mut self, raw: &'a RawValue, requirement: &'static str, message: &str) -> Option<()> {
        let position = self.at(raw);
        self.diagnostics.error(position, requirement, message);
        None
    }

    /// One entry is ignored.
    #[expect(clippy::unnecessary_wraps, reason = "what a step of each_element returns: go on")]
    fn lose(&mut self, raw: &'a RawValue, requirement: &'static str, message: &str) -> Option<()> {
        let position = self.at(raw);
        self.builder.unreadable();
        self.diagnostics.lost(position, requirement, message);
        Some(())
    }
}

fn hint(misspelt: Option<&str>) -> String {
    match misspelt {
        Some(name) => format!("; keys are case-sensitive, and the file has {}", Quoted(name)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
