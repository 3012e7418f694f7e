//! The bytes of a page, as the tokenizer asks for them.

use std::convert::Infallible;

use html5gum::Reader;

/// The part of a page that has not been read.
#[derive(Debug)]
pub(super) struct Input<'p>(&'p [u8]);

impl<'p> Input<'p> {
    pub(super) fn new(page: &'p str) -> Self {
        Self(page.as_bytes())
    }

    fn take(&mut self, count: usize) -> &'p [u8] {
        let (taken, rest) = self.0.split_at_checked(count).unwrap_or((self.0, &[]));
        self.0 = rest;
        taken
    }
}

/// The bytes that end a run of characters in scripts and styles, which go on for long.
const ENDS_OF_RAW: &[u8] = b"<\0\r";

impl Reader for Input<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        Ok(self.take(1).first().copied())
    }

    #[inline(always)]
    fn try_read_string(&mut self, wanted: &[u8], is_case_sensitive: bool) -> Result<bool, Infallible> {
        let next = self.0.get(..wanted.len()).unwrap_or_default();
        let is_next = next == wanted || !is_case_sensitive && next.eq_ignore_ascii_case(wanted);
        if is_next {
            self.take(wanted.len());
        }
        Ok(is_next)
    }

    #[inline(always)]
    fn read_until<'b>(&'b mut self, ends: &[u8], _: &'b mut [u8; 4]) -> Result<Option<&'b [u8]>, Infallible> {
        let first = if ends == ENDS_OF_RAW {
            memchr::memchr3(b'<', 0, b'\r', self.0)
        } else {
            find_any(self.0, ends)
        };
        // The end itself, if it is next.
        let count = first.map_or(self.0.len(), |at| at.max(1));
        Ok(Some(self.take(count)).filter(|taken| !taken.is_empty()))
    }
}

/// The position of the first of some bytes.
///
/// Values and the text between two tags are too short for a call of memchr, and long enough to look at eight bytes at a
/// time. Names, which are shorter and which more bytes can end, are not.
#[inline(always)]
fn find_any(text: &[u8], wanted: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    const MOST_ENDS_OF_VALUES: usize = 5;
    let is_wanted = |byte: &u8| wanted.contains(byte);
    if wanted.len() > MOST_ENDS_OF_VALUES {
        return text.iter().position(is_wanted);
    }
    // The end of a value or of a text, which is read by itself.
    if text.first().is_some_and(is_wanted) {
        return Some(0);
    }
    let (words, rest) = text.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The high bit of each byte that is wanted; also of some behind the first of them.
        let found = wanted.iter().fold(0, |found, wanted| {
            let differing = word ^ (ONES * u64::from(*wanted));
            found | differing.wrapping_sub(ONES) & !differing
        }) & HIGH_BITS;
        if found != 0 {
            return Some(8 * number + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(is_wanted)?;
    Some(8 * words.len() + at)
}

#[cfg(test)]
mod tests {
    use super::find_any;

    #[test]
    fn the_first_of_the_wanted_bytes_is_found() {
        // Bytes that differ from a wanted one by a single bit, or follow it.
        let bytes = [b'<', b'=', b'>', b'&', b'\'', 0, 1, b'\r', 0x0c, 0x80, 0xbc, 0xff];
        for seed in 0..20_000_usize {
            let byte = |place: usize| bytes[(seed * 31 + place * place * (seed % 97 + 1)) / 7 % bytes.len()];
            let text: Vec<u8> = (0..seed % 29).map(byte).collect();
            for wanted in [&b"<\0\r"[..], b"\"&\0\r", b"\t\n >/\0\r", b""] {
                let expected = text.iter().position(|byte| wanted.contains(byte));
                assert_eq!(find_any(&text, wanted), expected, "{wanted:?} in {text:?}");
            }
        }
    }
}
