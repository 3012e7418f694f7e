//! Positions in a document, of slices that may be copies of parts of it.

use alloc::vec::Vec;

use super::thin::Cut;
use crate::source::pages::{PAGE, Source};
use crate::source::position::{Locator, Position};

/// The number of times that a position before the last ones is looked for. Each time takes as long as reading the
/// document.
const MOST_RETURNS: u32 = 100;

/// Turns slices into positions.
pub(super) enum Places<'a> {
    /// Of the document itself.
    Whole(Locator<'a>),
    /// Of copies of its parts.
    Parts(Parts<'a>),
}

impl Places<'_> {
    /// The position of a slice.
    pub(super) fn position_of(&mut self, slice: &[u8]) -> Option<Position> {
        match self {
            Self::Whole(locator) => locator.position_of(slice),
            Self::Parts(parts) => {
                let offset = parts.offset_of(slice)?;
                parts.position(offset)
            }
        }
    }
}

/// Copies of parts of a document, and what was counted of it.
pub(super) struct Parts<'a> {
    source: Source<'a>,
    /// The thinned document, as a range of memory.
    document: (usize, usize),
    cuts: Vec<Cut>,
    /// The group that is read, and the offset of its first byte in the source.
    group: Option<((usize, usize), u64)>,
    /// The ends of the last two calls.
    last: [Counted; 2],
    returns: u32,
    page: Vec<u8>,
    page_at: u64,
}

/// A position and its offset.
#[derive(Clone, Copy)]
struct Counted {
    offset: u64,
    position: Position,
    /// True if the byte before ends a line that a line feed would end, too.
    after_return: bool,
}

impl Counted {
    const START: Self = Self { offset: 0, position: Position::START, after_return: false };

    fn count(&mut self, byte: u8) {
        let Position { line, column } = &mut self.position;
        match byte {
            b'\n' if self.after_return => {}
            b'\n' | b'\r' => {
                *line = line.saturating_add(1);
                *column = 1;
            }
            // The bytes that continue a character.
            0x80..=0xBF => {}
            _ => *column = column.saturating_add(1),
        }
        self.after_return = byte == b'\r';
        self.offset += 1;
    }
}

fn memory(slice: &[u8]) -> (usize, usize) {
    let start = slice.as_ptr() as usize;
    (start, start + slice.len())
}

impl<'a> Parts<'a> {
    pub(super) fn new(source: Source<'a>, document: &str, cuts: Vec<Cut>) -> Self {
        Self {
            source,
            document: memory(document.as_bytes()),
            cuts,
            group: None,
            last: [Counted::START; 2],
            returns: 0,
            page: Vec::new(),
            page_at: 0,
        }
    }

    /// The source, and what is left out of the array that ends a slice of the document.
    pub(super) fn cut_after(&self, array: &[u8]) -> Option<(Source<'a>, Cut)> {
        let (_, end) = memory(array);
        // The bracket is the last byte.
        let at = end.checked_sub(1)?.checked_sub(self.document.0)?;
        let cut = self.cuts.iter().find(|cut| cut.at == at)?;
        (end <= self.document.1).then_some((self.source, *cut))
    }

    /// Says which items are read from now on, with a bracket before them, or none.
    pub(super) fn read_group(&mut self, group: Option<(&[u8], u64)>) {
        self.group = group.map(|(group, at)| (memory(group), at));
    }

    fn offset_of(&self, slice: &[u8]) -> Option<u64> {
        let (start, _) = memory(slice);
        if let Some(((from, to), at)) = self.group
            && (from..=to).contains(&start)
        {
            return Some((at + (start - from) as u64).saturating_sub(1));
        }
        let (from, to) = self.document;
        (from..=to).contains(&start).then(|| self.offset(start - from))
    }

    /// The offset in the source of one in the thinned document.
    pub(super) fn offset(&self, thinned: usize) -> u64 {
        let before = self.cuts.iter().take_while(|cut| cut.at <= thinned);
        // The comma before the first item is left out, too.
        before.map(|cut| cut.to - cut.from + 1).sum::<u64>() + thinned as u64
    }

    /// The position of an offset in the source.
    pub(super) fn position(&mut self, offset: u64) -> Option<Position> {
        let [older, newer] = self.last;
        let mut counted = match [newer, older].into_iter().find(|counted| counted.offset <= offset) {
            Some(counted) => counted,
            None if self.returns < MOST_RETURNS => {
                self.returns += 1;
                Counted::START
            }
            None => return None,
        };
        while counted.offset < offset {
            counted.count(self.byte(counted.offset)?);
        }
        // Of a CRLF, only the first byte ends the line.
        self.last = [newer, counted];
        Some(counted.position)
    }

    fn byte(&mut self, offset: u64) -> Option<u8> {
        let in_page = |at: u64| offset.checked_sub(at).and_then(|place| usize::try_from(place).ok());
        if in_page(self.page_at).is_none_or(|place| place >= self.page.len()) {
            self.page.clear();
            self.source.append(offset, PAGE, &mut self.page).ok()?;
            self.page_at = offset;
        }
        self.page.get(in_page(self.page_at)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_counted_from_its_start_only_so_often() {
        let text = "12345678\n".repeat(10);
        let mut parts = Parts::new(Source::Bytes(text.as_bytes()), "", Vec::new());
        let mut position = |offset| parts.position(offset).map(|found| (found.line, found.column));
        for _ in 0..MOST_RETURNS {
            assert_eq!([50, 60].map(&mut position), [Some((6, 6)), Some((7, 7))]);
            assert_eq!(position(10), Some((2, 2)));
        }
        assert_eq!([50, 60, 10].map(position), [Some((6, 6)), Some((7, 7)), None]);
    }
}
