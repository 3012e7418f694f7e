//! Places in a text: line and column.

use core::ops::{Deref, Range};

use serde::Serialize;

use crate::source::byte_order_mark::without_byte_order_mark;

/// A place in a text: line and column, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// That of the first character.
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// A value and its place, for checks and explanations that come after reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<T, P = Option<Position>> {
    /// The value.
    pub value: T,
    /// Its place; `None` for a default.
    pub position: P,
}

impl<T> Placed<T> {
    /// A value that the source does not give.
    pub(crate) const fn default(value: T) -> Self {
        Self { value, position: None }
    }
}

impl<T, P> Deref for Placed<T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Turns byte offsets of one text into positions.
///
/// Each call costs no more than the distance from the last one, so that offsets that rise, or nearly so, are found in
/// linear time over all calls, even where the text is one line of many megabytes.
#[derive(Clone, Debug)]
pub struct Locator<'a> {
    text: &'a [u8],
    /// The position of the first byte.
    start: Position,
    /// The end of the last call, as an offset and as a position.
    offset: usize,
    position: Position,
}

impl<'a> Locator<'a> {
    /// Starts at the first byte of `text`, behind its byte order mark if it has one.
    pub fn new(text: &'a [u8]) -> Self {
        Self::starting_at(without_byte_order_mark(text), Position::START)
    }

    /// For a part of a text, whose first byte is at `start`.
    pub(crate) fn starting_at(text: &'a [u8], start: Position) -> Self {
        Self { text, start, offset: 0, position: start }
    }

    /// The position of the byte at `offset`; past the end, that of the end.
    pub fn position(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let forward = offset >= self.offset;
        let range = if forward { self.offset..offset } else { offset..self.offset };
        let lines = count(self.line_ends(range.clone()));
        let Position { line, column } = self.position;
        let line = if forward { line.saturating_add(lines) } else { line.saturating_sub(lines) };
        let column = if lines == 0 {
            let characters = characters(self.text.get(range).unwrap_or_default());
            if forward { column.saturating_add(characters) } else { column.saturating_sub(characters) }
        } else {
            let line_end = self.line_ends(0..offset).next_back();
            let (start, before) = line_end.map_or((0, self.start.column), |end| (end + 1, 1));
            characters(self.text.get(start..offset).unwrap_or_default()).saturating_add(before)
        };
        self.position = Position { line, column };
        self.offset = offset;
        self.position
    }

    /// The offsets in a range at which a line ends, with LF, CRLF or CR.
    fn line_ends(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        let start = range.start;
        let bytes = self.text.get(range).unwrap_or_default().iter().enumerate();
        bytes.map(move |(at, byte)| (start + at, *byte)).filter_map(|(at, byte)| match byte {
            b'\n' => Some(at),
            b'\r' => (self.text.get(at + 1) != Some(&b'\n')).then_some(at),
            _ => None,
        })
    }

    /// The position of `part`, a slice of this very text; `None` when it lies elsewhere in memory.
    pub fn position_of(&mut self, part: &[u8]) -> Option<Position> {
        let offset = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (offset <= self.text.len()).then(|| self.position(offset))
    }
}

fn characters(utf8: &[u8]) -> u32 {
    count(utf8.iter().filter(|byte| !is_utf8_continuation(**byte)))
}

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

fn is_utf8_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "a\nżółw x\n\nend";
        let mut locator = Locator::new(text.as_bytes());
        let at = |locator: &mut Locator<'_>, needle: &str| locator.position(text.find(needle).unwrap());
        assert_eq!(at(&mut locator, "a"), Position { line: 1, column: 1 });
        assert_eq!(at(&mut locator, "x"), Position { line: 2, column: 6 });
        assert_eq!(at(&mut locator, "end"), Position { line: 4, column: 1 });
        // Going back is allowed, only slower.
        assert_eq!(at(&mut locator, "ż"), Position { line: 2, column: 1 });
        assert_eq!(locator.position(10_000), Position { line: 4, column: 4 });
    }

    #[test]
    fn slices_of_the_text_are_located_and_others_are_not() {
        let text = alloc::vec![b'\n'; 8];
        let mut locator = Locator::new(&text);
        assert_eq!(locator.position_of(&text[3..4]), Some(Position { line: 4, column: 1 }));
        assert_eq!(Locator::new(&text[..2]).position_of(&text[5..]), None);
    }

    #[test]
    fn positions_do_not_depend_on_the_way_there() {
        let text = "ż2\n\n34567\n8ó\r\n\r9".as_bytes();
        for from in 0..=text.len() {
            for to in 0..=text.len() {
                let mut locator = Locator::new(text);
                locator.position(from);
                assert_eq!(locator.position(to), Locator::new(text).position(to), "{from} to {to}");
            }
        }
        assert_eq!(Locator::new(text).position(8), Position { line: 3, column: 4 });
    }

    #[test]
    fn a_part_goes_on_where_the_part_before_it_ended() {
        let text = "ż2\n\n34567\n8ó\r\n\r9";
        for (middle, _) in text.char_indices().filter(|(at, _)| !text.as_bytes()[..*at].ends_with(b"\r")) {
            let start = Locator::new(text.as_bytes()).position(middle);
            for from in middle..=text.len() {
                for to in middle..=text.len() {
                    let mut part = Locator::starting_at(&text.as_bytes()[middle..], start);
                    part.position(from - middle);
                    let whole = Locator::new(text.as_bytes()).position(to);
                    assert_eq!(part.position(to - middle), whole, "{middle} {from} {to}");
                }
            }
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_character_of_the_first_line() {
        let text = "\u{feff}ab\nc".as_bytes();
        assert_eq!(Locator::new(text).position(1), Position { line: 1, column: 2 });
        assert_eq!(Locator::new(text).position_of(&text[4..]), Some(Position { line: 1, column: 2 }));
        assert_eq!(Locator::new(text).position_of(&text[6..]), Some(Position { line: 2, column: 1 }));
    }

    #[test]
    fn a_line_ends_with_lf_crlf_or_cr() {
        let text = b"a\rb\r\nc\n\rd\r";
        let at = |offset| {
            let Position { line, column } = Locator::new(text).position(offset);
            (line, column)
        };
        assert_eq!([0, 2, 5, 8, 10].map(at), [(1, 1), (2, 1), (3, 1), (5, 1), (6, 1)]);
    }
}
