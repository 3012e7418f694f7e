//! The values of attributes: places in the page, and copies of those that the page has with character references.

use super::Attribute;
use super::attribute::LONGEST_VALUE;

/// An attribute of an element, and where its value is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) attribute: Attribute,
    /// True if the value is a copy.
    is_copied: bool,
    pub(super) length: u16,
    start: u32,
}

impl Value {
    /// An attribute whose value comes.
    pub(super) fn empty(attribute: Attribute) -> Self {
        Self { attribute, is_copied: false, length: 0, start: 0 }
    }
}

/// The bytes of a page from one place to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// The bytes from the start of this place to the end of another.
    pub(super) fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// The bytes that values are places in: the page, and copies.
#[derive(Debug, Default)]
pub(super) struct Values<'p> {
    page: &'p str,
    copies: Vec<u8>,
}

impl<'p> Values<'p> {
    pub(super) fn of(page: &'p str) -> Self {
        Self { page, copies: Vec::new() }
    }

    /// The bytes of a value.
    pub(super) fn bytes(&self, value: Value) -> &[u8] {
        let from = if value.is_copied { &*self.copies } else { self.page.as_bytes() };
        let start = value.start as usize;
        from.get(start..start + usize::from(value.length)).unwrap_or_default()
    }

    /// The bytes of a value that is a place in the page.
    pub(super) fn in_page(&self, value: Value) -> Option<&'p [u8]> {
        let start = value.start as usize;
        if value.is_copied {
            None
        } else {
            self.page.as_bytes().get(start..start + usize::from(value.length))
        }
    }

    /// A value; none if it is not whole characters.
    pub(super) fn text(&self, value: Value) -> Option<&str> {
        if value.is_copied {
            return std::str::from_utf8(self.bytes(value)).ok();
        }
        let start = value.start as usize;
        self.page.get(start..start + usize::from(value.length))
    }

    /// Adds to the value that came last, as far as values are kept.
    pub(super) fn push(&mut self, value: &mut Value, more: &[u8]) {
        let more = more.get(..LONGEST_VALUE - usize::from(value.length)).unwrap_or(more);
        let end = value.start as usize + usize::from(value.length);
        match self.place_in_page(more) {
            Some(at) if value.length == 0 => value.start = number(at),
            Some(at) if !value.is_copied && at == end => {}
            _ => {
                if !value.is_copied {
                    let start = self.copies.len();
                    let before = self.page.as_bytes().get(value.start as usize..end).unwrap_or_default();
                    self.copies.extend_from_slice(before);
                    value.start = number(start);
                    value.is_copied = true;
                }
                self.copies.extend_from_slice(more);
            }
        }
        // At most LONGEST_VALUE.
        value.length += u16::try_from(more.len()).unwrap_or_default();
    }

    /// The place of bytes in the page; none if they are not part of it.
    fn place_in_page(&self, bytes: &[u8]) -> Option<usize> {
        let at = bytes.as_ptr().addr().checked_sub(self.page.as_ptr().addr())?;
        (at + bytes.len() <= self.page.len()).then_some(at)
    }

    /// Bytes as a place in the page; none if they are not part of it.
    pub(super) fn place(&self, bytes: &[u8]) -> Option<Place> {
        let start = self.place_in_page(bytes)?;
        Some(Place { start: number(start), end: number(start + bytes.len()) })
    }

    /// The text at a place in the page.
    pub(super) fn at(&self, place: Place) -> &'p str {
        self.page.get(place.start as usize..place.end as usize).unwrap_or_default()
    }

    /// Shortens the value that came last.
    pub(super) fn shorten(&mut self, value: &mut Value, length: usize) {
        value.length = value.length.min(u16::try_from(length).unwrap_or(u16::MAX));
        if value.is_copied {
            self.copies.truncate(value.start as usize + usize::from(value.length));
        }
    }

    /// The bytes of copies.
    pub(super) fn copied(&self) -> usize {
        self.copies.len()
    }

    /// Forgets the copies that came later.
    pub(super) fn forget(&mut self, copied: usize) {
        self.copies.truncate(copied);
    }
}

/// A place in a page, which the limit on its bytes bounds.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
