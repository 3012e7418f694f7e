//! CSV records of geofeeds: RFC 4180, and `#` starts a comment (RFC 8805 2.1). A line may also end with a carriage
//! return alone, as old spreadsheets write it.
//!
//! Most records contain no quotes: they are lines, split at commas without a copy. The others go through csv-core.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder, Terminator};
use memchr::memchr2;

use crate::source::lines::{Line, Lines};

/// One record, without its comment and line end. Slices of the source, so that they have a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    /// No field is quoted.
    Plain(&'a str),
    /// Some fields are quoted; may span several lines.
    Quoted(&'a str),
    /// A line that is too long.
    TooLong(&'a str),
    /// A line that opens a quote which is not closed, or after which the record is too long.
    Unclosed(&'a str),
}

/// One field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// The source from the start of the field on, with its quote.
    pub(crate) source: &'a str,
    /// The text, without white space around it.
    pub(crate) text: Cow<'a, str>,
}

impl<'a> Field<'a> {
    /// A field without quotes.
    pub(crate) fn plain(source: &'a str) -> Self {
        Self { source, text: Cow::Borrowed(source.trim()) }
    }
}

/// The records of a text, or of a part of one, without blank ones.
pub(crate) struct Records<'a> {
    lines: Lines<'a>,
    longest: usize,
}

impl<'a> Records<'a> {
    /// Records longer than `longest` bytes are not read.
    pub(crate) fn new(text: &'a str, longest: usize) -> Self {
        Self::of_part(Lines::new(text, true, false), longest)
    }

    /// Those of a part, which is the last one, or longer than `longest` and two more.
    pub(crate) fn of_part(lines: Lines<'a>, longest: usize) -> Self {
        Self { lines, longest }
    }

    /// The rest, for the next part.
    pub(crate) fn into_lines(self) -> Lines<'a> {
        self.lines
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let start = self.lines.rest();
            let line = match self.lines.next_within(self.longest)? {
                Line::Whole(line) => line,
                Line::TooLong(line) => return Some(Record::TooLong(line)),
            };
            let special = memchr2(b'#', b'"', line.as_bytes()).unwrap_or(line.len());
            let Some((content, from_special)) = line.split_at_checked(special) else { continue };
            if !from_special.starts_with('"') {
                if content.trim_ascii().is_empty() {
                    continue;
                }
                return Some(Record::Plain(content));
            }
            if self.lines.may_go_on() && start.len() <= self.longest.saturating_add(2) {
                self.lines.go_back_to(start);
                return None;
            }
            // Without its end the record could be all the rest: give up one line, not all of them.
            let length = quoted_length(start, self.longest);
            let Some((record, rest)) = length.and_then(|length| start.split_at_checked(length)) else {
                return Some(Record::Unclosed(line));
            };
            self.lines.go_back_to(rest);
            self.lines.skip();
            return Some(Record::Quoted(record));
        }
    }
}

/// The length of the record at the start of `text`, up to its line end or comment. `None` if it is over `longest`.
fn quoted_length(text: &str, longest: usize) -> Option<usize> {
    let (mut quoted, mut at_field_start) = (false, true);
    // One more for the line end of a record that is just short enough.
    let mut bytes = text.bytes().enumerate().take(longest.saturating_add(1)).peekable();
    while let Some((offset, byte)) = bytes.next() {
        match byte {
            // Two quotes in a quoted field stand for one.
            b'"' if quoted => quoted = bytes.next_if(|(_, next)| *next == b'"').is_some(),
            _ if quoted => {}
            b'"' if at_field_start => (quoted, at_field_start) = (true, false),
            b'#' | b'\n' | b'\r' => return Some(offset),
            _ => at_field_start = byte == b',',
        }
    }
    (!quoted && text.len() <= longest).then_some(text.len())
}

/// Takes quotes off. Kept from record to record, because csv-core builds its tables anew for each reader.
pub(crate) struct Unquoter {
    reader: Reader,
    text: Vec<u8>,
}

impl Unquoter {
    pub(crate) fn new() -> Self {
        // The records were taken apart already: a line end in one is text.
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Self { reader, text: Vec::new() }
    }

    /// The fields of a record with quotes; `None` if the record cannot be split.
    pub(crate) fn fields<'a>(&mut self, record: &'a str) -> Option<Vec<Field<'a>>> {
        self.reader.reset();
        // No field is longer than its record.
        self.text.resize(record.len(), 0);
        let (mut source, mut rest, mut length) = (record, record, 0);
        let mut fields = Vec::new();
        loop {
            let output = self.text.get_mut(length..)?;
            let (result, read, written) = self.reader.read_field(rest.as_bytes(), output);
            rest = rest.split_at_checked(read)?.1;
            length += written;
            match result {
                // The next call, with nothing to read, ends the field.
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::Field { record_end } => {
                    let field = core::str::from_utf8(self.text.get(..length)?).ok()?;
                    fields.push(Field { source, text: Cow::Owned(field.trim().into()) });
                    if record_end {
                        return Some(fields);
                    }
                    (source, length) = (rest, 0);
                }
                ReadFieldResult::OutputFull | ReadFieldResult::End => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Record<'_>> {
        Records::new(text, 100).collect()
    }

    #[test]
    fn geo_1_and_2_lines_and_comments() {
        // GEO-1, GEO-2
        assert_eq!(
            records("# \"a\r\n\r\n  \n a,b # c, \"d\n\n#\ne,\r\nf"),
            [Record::Plain(" a,b "), Record::Plain("e,"), Record::Plain("f")]
        );
        assert_eq!(records("a\r# b\rc\r\rd\r\ne"), ["a", "c", "d", "e"].map(Record::Plain));
        assert_eq!(records(""), []);
    }

    #[test]
    fn geo_3_quoted_fields() {
        // GEO-3
        assert_eq!(
            records("\"a\",\"b # \"\"c\"\",\nd\",e # f\n\"g\"\r\nh\n"),
            [Record::Quoted("\"a\",\"b # \"\"c\"\",\nd\",e "), Record::Quoted("\"g\""), Record::Plain("h")]
        );
        assert_eq!(
            records("\"a\r\",b\r\"c\"\rd"),
            [Record::Quoted("\"a\r\",b"), Record::Quoted("\"c\""), Record::Plain("d")]
        );
        assert_eq!(records("\"a\",b\"c\nd"), [Record::Quoted("\"a\",b\"c"), Record::Plain("d")]);
        let record = "\"a\", \"x\" ,\"b # \"\"c\"\",\nd\",,\"e\" ";
        let mut unquoter = Unquoter::new();
        let fields = unquoter.fields(record).unwrap();
        let texts: Vec<&str> = fields.iter().map(|field| &*field.text).collect();
        // A quote counts only where the field starts with it.
        assert_eq!(texts, ["a", "\"x\"", "b # \"c\",\nd", "", "e"]);
        assert!(fields[2].source.starts_with("\"b #") && fields[4].source.starts_with("\"e\""));
        assert_eq!(unquoter.fields("\"\"").unwrap().len(), 1);
        assert_eq!(unquoter.fields("\"a\",").unwrap().len(), 2);
    }

    #[test]
    fn geo_3_a_quote_that_is_not_closed_costs_one_line() {
        // GEO-3
        assert_eq!(records("\"a,b\nc,d\n"), [Record::Unclosed("\"a,b"), Record::Plain("c,d")],);
        let long = alloc::format!("\"a\n{}\nb\"\nc", "x".repeat(99));
        assert_eq!(records(&long).len(), 4);
        assert_eq!(records(&long)[0], Record::Unclosed("\"a"));
        let just_short_enough = alloc::format!("\"{}\"", "x".repeat(98));
        assert_eq!(records(&alloc::format!("{just_short_enough}\na")).len(), 2);
        assert_eq!(records(&just_short_enough), [Record::Quoted(&just_short_enough)]);
        assert_eq!(records(&"x".repeat(101)), [Record::TooLong(&"x".repeat(101))]);
        assert_eq!(records(&"x".repeat(100)), [Record::Plain(&"x".repeat(100))]);
    }
}
