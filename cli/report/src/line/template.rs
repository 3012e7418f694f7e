//! Formats that are texts with fields between them, as nginx and Envoy write them.

use memchr::memmem::Finder;

use super::builder::{Builder, Escape, Fault, Value};
use super::names::Meaning;
use super::record::Record;

/// A part of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A text that every line has.
    Text(Vec<u8>),
    /// A field, of which the report may have no use.
    Field(Option<Meaning>),
}

/// A format, ready to read lines.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The text at the start of each line.
    start: Vec<u8>,
    /// Each field, and the text up to which it goes. Only that of the last one may be empty.
    fields: Vec<(Option<Meaning>, Finder<'static>)>,
    /// True if lines may have more than the format, as those of nginx's `main` have more than `combined`.
    may_go_on: bool,
    escape: Escape,
}

/// Two fields have no text between them, and the first one has this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous(pub(crate) usize);

impl Template {
    /// Compiles a format.
    pub(crate) fn new(
        pieces: impl IntoIterator<Item = Piece>,
        escape: Escape,
        may_go_on: bool,
    ) -> Result<Self, Ambiguous> {
        let mut start = Vec::new();
        let mut fields: Vec<(Option<Meaning>, Vec<u8>)> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    fields.last_mut().map_or(&mut start, |(_, text)| text).extend_from_slice(&text);
                }
                Piece::Field(meaning) => {
                    if fields.last().is_some_and(|(_, text)| text.is_empty()) {
                        return Err(Ambiguous(fields.len()));
                    }
                    fields.push((meaning, Vec::new()));
                }
            }
        }
        let finder = |(meaning, text): (_, Vec<u8>)| (meaning, Finder::new(&text).into_owned());
        Ok(Self { start, fields: fields.into_iter().map(finder).collect(), may_go_on, escape })
    }

    /// The fields that it has.
    pub(crate) fn meanings(&self) -> impl Iterator<Item = Meaning> {
        self.fields.iter().filter_map(|(meaning, _)| *meaning)
    }

    /// Reads a line.
    pub(crate) fn read<'l>(&self, line: &'l [u8]) -> Result<Record<'l>, Fault> {
        let mut builder = Builder::new(self.escape);
        let mut rest = line.strip_prefix(&*self.start).ok_or(Fault::Unreadable)?;
        let last = self.fields.len().saturating_sub(1);
        for (at, (meaning, end)) in self.fields.iter().enumerate() {
            let text = end.needle();
            let (value, after) = if at == last && !self.may_go_on {
                (rest.strip_suffix(text).ok_or(Fault::Unreadable)?, &[][..])
            } else {
                let found = end.find(rest).ok_or(Fault::Unreadable)?;
                (&rest[..found], &rest[found + text.len()..])
            };
            if let Some(meaning) = meaning {
                builder.put(*meaning, Value::Text(value.into()));
            }
            rest = after;
        }
        builder.finish()
    }
}
