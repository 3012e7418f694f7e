//! Formats that are texts with fields between them, as nginx and Envoy write them.

use memchr::memmem::{Finder, FinderRev};

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
    /// A field in which a client can write what it likes, such as its user name.
    Free(Option<Meaning>),
}

/// A format, ready to read lines.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The text at the start of each line.
    start: Vec<u8>,
    runs: Vec<Run>,
    /// True if lines may have more than the format, as those of nginx's `main` have more than `combined`.
    may_go_on: bool,
    escape: Escape,
}

/// Fields up to a text that no value has. One of them may have the texts between the others: it has what these leave.
#[derive(Clone, Debug)]
struct Run {
    /// The fields before it, each with the text up to which it goes.
    before: Vec<(Option<Meaning>, Finder<'static>)>,
    free: Option<Meaning>,
    /// The fields behind it, the last one first, each with the text from which on it goes.
    behind: Vec<(Option<Meaning>, FinderRev<'static>)>,
    end: Finder<'static>,
}

/// Two fields have no text between them, and the first one has this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguous(pub(crate) usize);

/// A field, and the text behind it.
struct Field {
    meaning: Option<Meaning>,
    is_free: bool,
    text: Vec<u8>,
}

impl Template {
    /// Compiles a format.
    pub(crate) fn new(
        pieces: impl IntoIterator<Item = Piece>,
        escape: Escape,
        may_go_on: bool,
    ) -> Result<Self, Ambiguous> {
        let mut start = Vec::new();
        let mut fields: Vec<Field> = Vec::new();
        for piece in pieces {
            let is_free = matches!(piece, Piece::Free(_));
            match piece {
                Piece::Text(text) => {
                    fields.last_mut().map_or(&mut start, |field| &mut field.text).extend_from_slice(&text);
                }
                Piece::Field(meaning) | Piece::Free(meaning) => {
                    if fields.last().is_some_and(|field| field.text.is_empty()) {
                        return Err(Ambiguous(fields.len()));
                    }
                    fields.push(Field { meaning, is_free, text: Vec::new() });
                }
            }
        }
        // A server that escapes quotes writes one only where its format has it.
        let is_sure = |field: &Field| escape == Escape::None || field.text.contains(&b'"');
        let runs = fields.split_inclusive(is_sure).filter_map(Run::new).collect();
        Ok(Self { start, runs, may_go_on, escape })
    }

    /// The fields that it has.
    pub(crate) fn meanings(&self) -> impl Iterator<Item = Meaning> {
        self.runs.iter().flat_map(Run::meanings)
    }

    /// Reads a line.
    pub(crate) fn read<'l>(&self, line: &'l [u8]) -> Result<Record<'l>, Fault> {
        let mut builder = Builder::new(self.escape);
        let mut rest = line.strip_prefix(&*self.start).ok_or(Fault::Unreadable)?;
        let last = self.runs.len().saturating_sub(1);
        for (at, run) in self.runs.iter().enumerate() {
            let end = run.end.needle();
            let (values, after) = if at == last && !self.may_go_on {
                (rest.strip_suffix(end).ok_or(Fault::Unreadable)?, &[][..])
            } else {
                let found = run.end.find(rest).ok_or(Fault::Unreadable)?;
                (&rest[..found], &rest[found + end.len()..])
            };
            run.read(values, &mut builder).ok_or(Fault::Unreadable)?;
            rest = after;
        }
        builder.finish()
    }
}

impl Run {
    fn new(fields: &[Field]) -> Option<Self> {
        let last = fields.len().checked_sub(1)?;
        let free = fields.iter().position(|field| field.is_free).unwrap_or(last);
        let behind = fields[free..].windows(2).rev();
        Some(Self {
            before: fields[..free]
                .iter()
                .map(|field| (field.meaning, Finder::new(&field.text).into_owned()))
                .collect(),
            free: fields[free].meaning,
            behind: behind
                .map(|pair| (pair[1].meaning, FinderRev::new(&pair[0].text).into_owned()))
                .collect(),
            end: Finder::new(&fields[last].text).into_owned(),
        })
    }

    fn meanings(&self) -> impl Iterator<Item = Meaning> {
        let before = self.before.iter().map(|(meaning, _)| *meaning);
        before.chain([self.free]).chain(self.behind.iter().map(|(meaning, _)| *meaning)).flatten()
    }

    /// Takes the values of the fields; `None` if a text between them is missing.
    fn read<'l>(&self, mut rest: &'l [u8], builder: &mut Builder<'l>) -> Option<()> {
        let mut put = |meaning: Option<Meaning>, value: &'l [u8]| {
            if let Some(meaning) = meaning {
                builder.put(meaning, Value::Text(value.into()));
            }
        };
        for (meaning, end) in &self.before {
            let found = end.find(rest)?;
            put(*meaning, &rest[..found]);
            rest = &rest[found + end.needle().len()..];
        }
        for (meaning, start) in &self.behind {
            let found = start.rfind(rest)?;
            put(*meaning, &rest[found + start.needle().len()..]);
            rest = &rest[..found];
        }
        put(self.free, rest);
        Some(())
    }
}
