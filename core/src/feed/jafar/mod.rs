//! JSON IP ranges of automated clients (draft-illyes-aipref-jafar), as specified and as deployed.
//!
//! No JSON tree is built. One pass over the document checks its syntax and finds the members of the top-level object;
//! the version is looked at before anything else is; then the entries are read one at a time, each a slice of the
//! source, so that what is wrong with one has a position. A source that is not in memory as a whole is [thinned](thin) first.
//!
//! Deployed files that are read, too (JAFAR-20): Google's, without version and token and with a time without zone;
//! `syncToken`; AWS's `ip_prefix`, `ipv6_prefix`, `ipv6_prefixes` and `createDate`, and its prefixes that are there once
//! for each service; a bare array of CIDR strings; bare addresses; the shapes in [`deployed`]; and any other one, if a
//! [`Shape`] says where its prefixes are.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::feed::build::FeedBuilder;
use crate::json::slices::{self, Members, SyntaxError};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::pages::{Source, Unmarked};
use crate::source::parts::unreadable;
use crate::source::position::{Locator, Position};
use crate::source::quoted::Quoted;
use crate::source::text::{self, Expected};

mod deployed;
mod document;
mod entries;
mod page;
mod places;
mod shape;
mod thin;
mod time;
mod unknown;

pub use shape::Shape;

use places::{Parts, Places};
use thin::{ThinError, Thinned};

const BAD_NAME: &str = "a key contains an invalid Unicode escape";

/// Reads the document into `builder`; `None` after an error.
pub(crate) fn read<S: Strictness>(
    source: Source<'_>,
    expected: Expected,
    shape: Option<&Shape>,
    builder: &mut FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<()> {
    let is_page = shape.is_some_and(|shape| shape.is_page);
    match source {
        Source::Pages(pages) if !is_page => {
            let pages = Unmarked::new(pages).map_err(|error| unreadable(&error, diagnostics)).ok()?;
            read_thinned(Source::Pages(&pages), expected, shape, builder, diagnostics)
        }
        _ => read_whole(source, expected, shape, builder, diagnostics),
    }
}

fn read_whole<S: Strictness>(
    source: Source<'_>,
    expected: Expected,
    shape: Option<&Shape>,
    builder: &mut FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<()> {
    let mut room = Vec::new();
    let bytes = source.whole(&mut room).map_err(|error| unreadable(&error, diagnostics)).ok()?;
    let page = shape.filter(|shape| shape.is_page);
    let text = match page {
        Some(_) => text::decode(bytes, expected, diagnostics),
        None => text::read(bytes, expected, diagnostics),
    }?;
    if text.len() < bytes.len() {
        let message = "the file starts with a byte order mark, which RFC 8259 forbids in JSON";
        diagnostics.lint_error(None, expected.requirement, message);
    }
    let without_tags = page.map(|_| page::without_tags(text));
    let json = without_tags.as_deref().unwrap_or(text);
    let places = Places::Whole(Locator::new(json.as_bytes()));
    let mut reader = Reader { places, builder, diagnostics, service: None, is_found: false };
    match page {
        Some(shape) => reader.page(json, shape),
        None => {
            reader.nesting(json)?;
            reader.json(json, shape)
        }
    }
}

/// Reads a document that is not in memory as a whole.
fn read_thinned<S: Strictness>(
    source: Source<'_>,
    expected: Expected,
    shape: Option<&Shape>,
    builder: &mut FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<()> {
    let mut start = Vec::new();
    source.append(0, 1024, &mut start).map_err(|error| unreadable(&error, diagnostics)).ok()?;
    let lossy = String::from_utf8_lossy(&start);
    if !text::is_text(&start, expected, diagnostics) || !text::is_no_page(&lossy, expected, diagnostics) {
        return None;
    }
    let most = builder.bounds.nesting;
    let Thinned { text, cuts } = match thin::thin(source, most) {
        Ok(thinned) => thinned,
        Err(error) => {
            let mut parts = Parts::new(source, "", Vec::new());
            match error {
                ThinError::Unreadable(error) => unreadable(&error, diagnostics),
                ThinError::Nested(offset) => {
                    diagnostics.error(parts.position(offset), "JAFAR-1", too_deep(most));
                }
                ThinError::Encoding(bytes, error) => {
                    // In the thinned document; the lines before it are those of the source, or fewer.
                    let position = Locator::new(&bytes).position(error.valid_up_to());
                    text::report_encoding(&bytes, &error, position, expected, diagnostics);
                }
            }
            return None;
        }
    };
    let places = Places::Parts(Parts::new(source, &text, cuts));
    let mut reader = Reader { places, builder, diagnostics, service: None, is_found: false };
    reader.json(&text, shape)
}

fn too_deep(most: usize) -> String {
    format!("arrays and objects are nested more than {most} levels deep")
}

/// Returns true if a document has keys that only the specified format has. A document without them has a shape that
/// publishers deployed before there was a specification.
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
    places: Places<'a>,
    builder: &'d mut FeedBuilder,
    diagnostics: &'d mut Diagnostics<S>,
    /// The service of entries that name none: the key of an object round them.
    service: Option<String>,
    /// True if the paths of a shape lead to anything.
    is_found: bool,
}

impl<S: Strictness> Reader<'_, '_, S> {
    fn json(&mut self, json: &str, shape: Option<&Shape>) -> Option<()> {
        let document = match slices::document(json) {
            Ok(document) => document,
            Err(error) => return self.not_json(json, &error),
        };
        match (shape.and_then(|shape| shape.paths.as_ref()), document.get().as_bytes().first()) {
            (Some(paths), _) => self.at_paths(document, paths),
            (None, Some(b'{')) => self.object(document),
            (None, Some(b'[')) => self.plain_array(document),
            _ => self.refuse(document, "JAFAR-1", "expected a JSON object"),
        }
    }

    fn not_json(&mut self, json: &str, error: &SyntaxError) -> Option<()> {
        let position = self.places.position_of(json.as_bytes().get(error.offset..).unwrap_or_default());
        self.diagnostics.error(position, "JAFAR-1", &error.message);
        None
    }

    fn nesting(&mut self, json: &str) -> Option<()> {
        let most = self.builder.bounds.nesting;
        let Some(offset) = slices::nested_deeper_than(json, most) else { return Some(()) };
        let position = self.places.position_of(json.as_bytes().get(offset..).unwrap_or_default());
        self.diagnostics.error(position, "JAFAR-1", too_deep(most));
        None
    }

    /// Calls `step` with each item of an array, those included that are not in memory yet, until it returns `None`; `None`
    /// then, after an error, and for a value that is not an array.
    fn each_item(
        &mut self,
        array: &RawValue,
        step: &mut dyn FnMut(&mut Self, &RawValue) -> Option<()>,
    ) -> Option<()> {
        slices::each_element(array, &mut |item| step(self, item))?;
        let Places::Parts(parts) = &self.places else { return Some(()) };
        let Some((source, cut)) = parts.cut_after(array.get().as_bytes()) else { return Some(()) };
        let mut read = |group: Vec<u8>, at: u64| self.group(&group, at, step).ok_or(None);
        match thin::each_group(source, cut, &mut read, Some) {
            Ok(()) => Some(()),
            Err(error) => {
                if let Some(error) = error {
                    unreadable(&error, self.diagnostics);
                }
                None
            }
        }
    }

    /// Items that were left out of the document.
    fn group(
        &mut self,
        bytes: &[u8],
        at: u64,
        step: &mut dyn FnMut(&mut Self, &RawValue) -> Option<()>,
    ) -> Option<()> {
        if let Places::Parts(parts) = &mut self.places {
            parts.read_group(Some((bytes, at)));
        }
        let json = match core::str::from_utf8(bytes) {
            Ok(json) => json,
            Err(error) => {
                let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
                let position = self.places.position_of(rest);
                let expected = Expected { what: "JSON", requirement: Some("JAFAR-1") };
                text::report_encoding(bytes, &error, position, expected, self.diagnostics);
                return None;
            }
        };
        let mut is_empty = true;
        let document = match slices::document(json) {
            Ok(document) => document,
            Err(error) => return self.not_json(json, &error),
        };
        slices::each_element(document, &mut |item| {
            is_empty = false;
            step(self, item)
        })?;
        if is_empty {
            // The bracket in front stands for the comma.
            return self.not_json(json, &SyntaxError::needless_comma(0));
        }
        if let Places::Parts(parts) = &mut self.places {
            parts.read_group(None);
        }
        Some(())
    }

    fn at(&mut self, raw: &RawValue) -> Option<Position> {
        self.places.position_of(raw.get().as_bytes())
    }

    /// The whole feed is unusable.
    fn refuse(&mut self, raw: &RawValue, requirement: &'static str, message: &str) -> Option<()> {
        let position = self.at(raw);
        self.diagnostics.error(position, requirement, message);
        None
    }

    /// One entry is ignored.
    #[expect(clippy::unnecessary_wraps, reason = "what a step of each_item returns: go on")]
    fn lose(&mut self, raw: &RawValue, requirement: &'static str, message: &str) -> Option<()> {
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
