//! JSON values with their place in the document, and the reader that reports what is wrong with them.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::slices::{self, SyntaxError};
use crate::source::diagnostic::Diagnostics;
use crate::source::position::{Locator, Position};
use crate::source::text::{self, Expected};

/// A JSON value and its place in the document.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    raw: &'a RawValue,
    /// The path to the value, such as `sites[0].hosts[1]`; empty for the document.
    path: String,
}

/// A member of an object.
pub(super) struct Member<'a> {
    /// The key as it stands in the document, with its quotes.
    raw_key: &'a RawValue,
    pub(super) key: String,
    pub(super) value: Node<'a>,
}

impl<'a> Node<'a> {
    /// The whole document.
    ///
    /// Reports an error and gives `None` if the bytes are not one JSON value in UTF-8.
    pub(crate) fn document(bytes: &'a [u8], reader: &mut Reader<'a, '_>) -> Option<Self> {
        let expected = Expected { what: "JSON", requirement: None };
        let text = text::read(bytes, expected, reader.diagnostics)?;
        match slices::document(text) {
            Ok(raw) => Some(Self { raw, path: String::new() }),
            Err(SyntaxError { offset, message }) => {
                let position = reader.locator.position(offset);
                reader.diagnostics.error(position, None, message);
                None
            }
        }
    }

    /// The members of an object in their order; reports an error if the value is not an object, and for each key that
    /// is not text or is a duplicate.
    pub(super) fn members(&self, reader: &mut Reader<'a, '_>) -> Option<Vec<Member<'a>>> {
        let RawMembers(raw_members) = self.parse(reader, "an object")?;
        let mut seen = BTreeSet::new();
        let mut members = Vec::with_capacity(raw_members.len());
        for (raw_key, raw) in raw_members {
            let Ok(key) = serde_json::from_str::<String>(raw_key.get()) else {
                reader.error_at(raw_key.get(), || format!("expected a key, found {}", kind(raw_key.get())));
                continue;
            };
            let path =
                if self.path.is_empty() { shown(&key) } else { format!("{}.{}", self.path, shown(&key)) };
            if !seen.insert(key.clone()) {
                reader.error_at(raw_key.get(), || format!("duplicate key `{path}`"));
                continue;
            }
            members.push(Member { raw_key, key, value: Self { raw, path } });
        }
        Some(members)
    }

    /// The elements of an array; reports an error if the value is something else.
    pub(super) fn elements(
        &self,
        reader: &mut Reader<'a, '_>,
    ) -> Option<impl Iterator<Item = Self> + use<'a>> {
        let raws: Vec<&'a RawValue> = self.parse(reader, "an array")?;
        let path = self.path.clone();
        let element = move |(index, raw)| Self { raw, path: format!("{path}[{index}]") };
        Some(raws.into_iter().enumerate().map(element))
    }

    /// The value as serde reads it; reports an error if it is not what is expected.
    pub(crate) fn parse<T: Deserialize<'a>>(
        &self,
        reader: &mut Reader<'_, '_>,
        expected: impl fmt::Display,
    ) -> Option<T> {
        self.parse_if(reader, expected, |_| true)
    }

    /// As [`Self::parse`], for a value that also has to be valid.
    pub(super) fn parse_if<T: Deserialize<'a>>(
        &self,
        reader: &mut Reader<'_, '_>,
        expected: impl fmt::Display,
        is_valid: impl FnOnce(&T) -> bool,
    ) -> Option<T> {
        let parsed = serde_json::from_str(self.raw.get()).ok().filter(is_valid);
        if parsed.is_none() {
            self.report_other(reader, &expected);
        }
        parsed
    }

    #[inline(never)]
    fn report_other(&self, reader: &mut Reader<'_, '_>, expected: &dyn fmt::Display) {
        self.report(reader, format_args!("expected {expected}, found {}", kind(self.raw.get())));
    }

    /// Reports an error about this value, with its path before the message.
    pub(crate) fn report(&self, reader: &mut Reader<'_, '_>, message: impl fmt::Display) {
        self.report_dyn(reader, &message);
    }

    #[inline(never)]
    fn report_dyn(&self, reader: &mut Reader<'_, '_>, message: &dyn fmt::Display) {
        reader.error_at(self.raw.get(), || match &*self.path {
            "" => message.to_string(),
            path => format!("`{path}`: {message}"),
        });
    }

    /// Returns true if the value is a string.
    pub(crate) fn is_string(&self) -> bool {
        self.raw.get().starts_with('"')
    }

    /// Returns true if the value is an object.
    pub(crate) fn is_object(&self) -> bool {
        self.raw.get().starts_with('{')
    }

    /// The value's position in the document.
    pub(crate) fn position(&self, reader: &mut Reader<'_, '_>) -> Option<Position> {
        reader.locator.position_of(self.raw.get().as_bytes())
    }
}

impl Member<'_> {
    /// Reports an error about the key. `message` is given the path to the member.
    pub(super) fn report_key(&self, reader: &mut Reader<'_, '_>, message: impl FnOnce(&str) -> String) {
        reader.error_at(self.raw_key.get(), || message(&self.value.path));
    }
}

/// The context of reading a document: positions in it, and the diagnostics to report to.
#[derive(Debug)]
pub(crate) struct Reader<'a, 'd> {
    locator: Locator<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a, 'd> Reader<'a, 'd> {
    /// A reader of `document` that reports to `diagnostics`.
    pub(crate) fn new(document: &'a [u8], diagnostics: &'d mut Diagnostics) -> Self {
        Self { locator: Locator::new(document), diagnostics }
    }

    /// Reports an error at `text`, a part of the document. The message is made only if it is kept: a document can have a
    /// million errors.
    fn error_at(&mut self, text: &str, message: impl FnOnce() -> String) {
        let message = if self.diagnostics.keeps_errors() { message() } else { String::new() };
        let position = self.locator.position_of(text.as_bytes());
        self.diagnostics.error(position, None, message);
    }
}

struct RawMembers<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// A key as paths show it: cut after 64 characters, because each value below the key has its path.
fn shown(key: &str) -> String {
    const LONGEST: usize = 64;
    match key.char_indices().nth(LONGEST) {
        Some((end, _)) => key.get(..end).into_iter().chain(Some("…")).collect(),
        None => key.into(),
    }
}

/// The kind of a value, for messages.
fn kind(raw: &str) -> String {
    const LONGEST_NUMBER: usize = 24;
    let kind = match raw.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        // JSON's syntax allows it, but no text has it.
        Some(b'"') if serde_json::from_str::<String>(raw).is_err() => {
            "a string with half of a surrogate pair, such as `\\ud800`"
        }
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ if raw.len() <= LONGEST_NUMBER => return format!("the number {raw}"),
        _ => "a number",
    };
    kind.into()
}
