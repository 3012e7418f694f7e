//! The normal form in which paths and patterns are compared: RFC 9309, 2.2.2, and RFC 3986, 6.2.2.
//!
//! * A percent-encoded unreserved character is decoded: `%7E` is `~`, `%62` is `b`.
//! * So are `%2A` and `%24`, by which a pattern says a literal `*` and `$` (RFC 9309, 2.2.3).
//! * In the query, so are the general delimiters that delimit nothing there: `%3A`, `%2F`, `%3F`, `%40`, `%5B` and `%5D`
//!   (RFC 3986, 3.4). The table of RFC 9309, 2.2.2, has `?baz=https://foo.bar` equal `?baz=https%3A%2F%2Ffoo.bar`.
//! * Every other percent-encoding keeps its meaning and gets upper-case digits: in a path, `%2f` is `%2F` but never `/`.
//! * What cannot stand in a URI (controls, space, `"<>\^{|}` and the grave accent, all octets above ASCII) is
//!   percent-encoded, so that `/ツ` is `/%E3%83%84`.
//! * A percent sign without two hexadecimal digits stands for itself.
//!
//! Case counts. Neither `//` nor `/../` is resolved here: see [`spelling`](crate::path::spelling).

use memchr::memchr;

use crate::octets::is_in_table;
#[cfg(test)]
use crate::path::pattern::steps;

/// Returns true if an octet stands for itself in normal form, wherever it is: all but `%` that do not have to be
/// encoded.
///
/// Comparisons without a branch or a table, which the compiler makes for many octets at once.
#[inline]
pub(super) const fn is_plain(byte: u8) -> bool {
    let is_angle = byte | 2 == b'>';
    let is_backslash_or_caret = byte | 2 == b'^';
    let is_above = (byte >= b'{') & (byte != b'~');
    !((byte <= b' ')
        | (byte == b'"')
        | (byte == b'%')
        | is_angle
        | is_backslash_or_caret
        | (byte == b'`')
        | is_above)
}

/// Returns true if all octets are plain. Looked up, because a reader stops at the first that is not.
pub(super) fn are_plain(octets: &[u8]) -> bool {
    octets.iter().all(|byte| is_known_plain(*byte))
}

fn is_known_plain(byte: u8) -> bool {
    is_in_table!(byte, each => is_plain(each))
}

/// Octets in normal form, read from the front.
pub(crate) trait NormalOctets: Iterator<Item = u8> + Clone {
    /// Reads as many octets as the literal has, or up to the first that differs; says whether none does.
    fn skip_literal(&mut self, literal: &[u8]) -> bool {
        literal.iter().all(|expected| self.next() == Some(*expected))
    }

    /// Reads up to `before` octets before the first `octet` that has so many before it; false where there is none. Octets that
    /// have to be normalised are not skipped.
    #[inline]
    fn skip_to(&mut self, _octet: u8, _before: usize) -> bool {
        true
    }

    /// The octets that are left, if they don't have to be normalised.
    #[inline]
    fn rest(&self) -> Option<&[u8]> {
        None
    }
}

/// A path that is its own normal form.
#[derive(Clone)]
pub(crate) struct Plain<'a>(pub(super) &'a [u8]);

impl Iterator for Plain<'_> {
    type Item = u8;

    #[inline]
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}

impl NormalOctets for Plain<'_> {
    #[inline]
    fn skip_literal(&mut self, literal: &[u8]) -> bool {
        match self.0.strip_prefix(literal) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    #[inline]
    fn skip_to(&mut self, octet: u8, before: usize) -> bool {
        let ahead = self.0.get(before..).unwrap_or_default();
        let found = memchr(octet, ahead);
        #[cfg(test)]
        steps::add(found.map_or(ahead.len(), |at| at + 1));
        let rest = found.and_then(|at| self.0.get(at..));
        self.0 = rest.unwrap_or_default();
        rest.is_some()
    }

    #[inline]
    fn rest(&self) -> Option<&[u8]> {
        Some(self.0)
    }
}

/// The octets of a path in normal form, found while reading: up to three for one of the path.
#[derive(Clone, Debug)]
pub(crate) struct Octets<'a> {
    rest: core::slice::Iter<'a, u8>,
    /// The digits of a percent-encoding whose sign was already given.
    digits: [Option<u8>; 2],
    is_in_query: bool,
}

impl NormalOctets for Octets<'_> {}

impl<'a> Octets<'a> {
    /// Reads a path with its query, from its start.
    pub(crate) fn new(raw: &'a [u8]) -> Self {
        Self { rest: raw.iter(), digits: [None; 2], is_in_query: false }
    }

    /// Reads a part of a query.
    pub(super) fn in_query(raw: &'a [u8]) -> Self {
        Self { is_in_query: true, ..Self::new(raw) }
    }

    fn encode(&mut self, byte: u8) -> u8 {
        const DIGITS: [u8; 16] = *b"0123456789ABCDEF";
        self.digits = [byte >> 4, byte & 0xF].map(|digit| DIGITS.get(usize::from(digit)).copied());
        b'%'
    }

    fn after_percent(&mut self) -> u8 {
        let digit = |index: usize| char::from(*self.rest.as_slice().get(index)?).to_digit(16);
        let Some(value) = digit(0).zip(digit(1)).and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
        else {
            return b'%';
        };
        self.rest.nth(1);
        if self.is_decoded(value) { value } else { self.encode(value) }
    }

    /// Returns true if the percent-encoding of this character is another spelling of the character itself.
    fn is_decoded(&self, byte: u8) -> bool {
        let is_data = self.is_in_query && matches!(byte, b':' | b'/' | b'?' | b'@' | b'[' | b']');
        is_data || byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'*' | b'$')
    }
}

impl Iterator for Octets<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if let Some(digit) = self.digits[0] {
            self.digits = [self.digits[1], None];
            return Some(digit);
        }
        match *self.rest.next()? {
            b'%' => Some(self.after_percent()),
            byte if !is_known_plain(byte) => Some(self.encode(byte)),
            byte => {
                self.is_in_query |= byte == b'?';
                Some(byte)
            }
        }
    }
}

/// Notes when the query begins.
#[derive(Clone)]
pub(super) struct Watched<O> {
    octets: O,
    pub(super) is_in_query: bool,
}

impl<O: NormalOctets> Watched<O> {
    pub(super) fn new(octets: O) -> Self {
        Self { octets, is_in_query: false }
    }

    /// Reads up to the query; false where there is none.
    pub(super) fn skip_to_query(&mut self) -> bool {
        self.is_in_query || self.any(|octet| octet == b'?')
    }
}

impl<O: NormalOctets> Iterator for Watched<O> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let octet = self.octets.next();
        self.is_in_query |= octet == Some(b'?');
        octet
    }
}

impl<O: NormalOctets> NormalOctets for Watched<O> {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn normal(raw: &[u8]) -> String {
        String::from_utf8(Octets::new(raw).collect()).unwrap()
    }

    #[test]
    fn rob_3_each_octet_has_one_spelling() {
        // ROB-3
        assert_eq!(normal(b"/\0\x1f \x7f\xff%"), "/%00%1F%20%7F%FF%");
        assert_eq!(normal(b"%41%4%zz%2a%e9%%"), "A%4%zz*%E9%%");
        assert_eq!(
            normal(b"/%3a%2f%40%5b%5D%3f?%3a%2f%40%5b%5D%3f?%23%26%3d%3B%2b"),
            "/%3A%2F%40%5B%5D%3F?:/@[]??%23%26%3D%3B%2B"
        );
        let plain: String = (0..=0x7F_u8).filter(|byte| is_plain(*byte)).map(char::from).collect();
        assert_eq!(
            plain,
            "!#$&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz~"
        );
        assert!((0x80..=0xFF).all(|byte| !is_plain(byte)));
        assert!(
            (0..=0xFF_u8).all(|byte| byte == b'%' || is_plain(byte) == (Octets::new(&[byte]).count() == 1))
        );
    }
}
