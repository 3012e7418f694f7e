//! From the bytes that a publisher sent to text: a wrong encoding or a web page gets a message that names it.

use alloc::format;
use core::str::Utf8Error;

use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::{Locator, Position};

/// The expected content of the bytes, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// The format that the reader reads, such as `JSON`.
    pub(crate) what: &'static str,
    /// The requirement that asks for UTF-8.
    pub(crate) requirement: Option<&'static str>,
}

/// The bytes as text without byte order mark. `None` after an error that says what the bytes are instead: another encoding,
/// or a web page.
pub(crate) fn read<'a, S: Strictness>(
    bytes: &'a [u8],
    expected: Expected,
    diagnostics: &mut Diagnostics<S>,
) -> Option<&'a str> {
    let text = decode(bytes, expected, diagnostics)?;
    is_no_page(text, expected, diagnostics).then_some(text)
}

/// Returns true if a text does not begin as a web page; an error says if it does.
pub(crate) fn is_no_page<S: Strictness>(
    text: &str,
    expected: Expected,
    diagnostics: &mut Diagnostics<S>,
) -> bool {
    let is_page = text.trim_ascii_start().starts_with('<');
    if is_page {
        let message = format!(
            "this is HTML, not {}: the server sent a web page, such as an error or a login; check the URL",
            expected.what
        );
        diagnostics.error(None, expected.requirement, message);
    }
    !is_page
}

/// As [`read`], but for a web page as well.
pub(crate) fn decode<'a, S: Strictness>(
    bytes: &'a [u8],
    expected: Expected,
    diagnostics: &mut Diagnostics<S>,
) -> Option<&'a str> {
    let bytes = without_byte_order_mark(bytes);
    if !is_text(bytes, expected, diagnostics) {
        return None;
    }
    match core::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let position = Locator::new(bytes).position(error.valid_up_to());
            report_encoding(bytes, &error, position, expected, diagnostics);
            None
        }
    }
}

/// Reports bytes that are not UTF-8.
pub(crate) fn report_encoding<S: Strictness>(
    bytes: &[u8],
    error: &Utf8Error,
    position: impl Into<Option<Position>>,
    expected: Expected,
    diagnostics: &mut Diagnostics<S>,
) {
    let Expected { what, requirement } = expected;
    let rest = bytes.get(error.valid_up_to()..).unwrap_or_default();
    let message = match error.error_len() {
        None => format!("the {what} ends inside a character: was it cut off?"),
        Some(_) => {
            let encoding = likely_encoding(rest);
            format!("not UTF-8 from here on; it looks like {encoding}: save the {what} as UTF-8")
        }
    };
    diagnostics.error(position, requirement, message);
}

/// Returns true if the bytes begin as a web page does. One without any rule must not be taken for a policy, since it
/// would allow everything: see [`report_page`].
pub(crate) fn is_page(bytes: &[u8]) -> bool {
    const PAGES: [&[u8]; 2] = [b"<!doctype html", b"<html"];
    let start = without_byte_order_mark(bytes).trim_ascii_start();
    let is_start =
        |page: &&[u8]| start.get(..page.len()).is_some_and(|start| start.eq_ignore_ascii_case(page));
    PAGES.iter().any(is_start)
}

/// Reports a web page in the place of a policy.
pub(crate) fn report_page<S: Strictness>(expected: Expected, diagnostics: &mut Diagnostics<S>) {
    let Expected { what, requirement } = expected;
    diagnostics.error(None, requirement, format_args!("this is HTML, not {what}: it has no rules"));
}

/// Returns true if the bytes are not in another encoding than UTF-8, or compressed; an error says in which. What is not
/// UTF-8 in them is not looked for.
pub(crate) fn is_text<S: Strictness>(
    bytes: &[u8],
    expected: Expected,
    diagnostics: &mut Diagnostics<S>,
) -> bool {
    let Expected { what, requirement } = expected;
    let found = not_text(bytes);
    if let Some(found) = found {
        diagnostics.error(None, requirement, format!("this is {found}, not {what} in UTF-8: convert it"));
    }
    found.is_none()
}

/// Formats that their first bytes show. UTF-16 without a mark shows as every other byte being zero,
/// because each of our formats starts with an ASCII character.
fn not_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => Some("UTF-32"),
        [0xFF, 0xFE, ..] | [1..=0xFF, 0, 1..=0xFF, 0, ..] => Some("UTF-16 (little-endian)"),
        [0xFE, 0xFF, ..] | [0, 1..=0xFF, 0, 1..=0xFF, ..] => Some("UTF-16 (big-endian)"),
        [0x1F, 0x8B, ..] => Some("gzip-compressed"),
        _ => None,
    }
}

/// Distinguishes the two encodings in which feeds that are not UTF-8 are usually written. Western text seldom uses the
/// bytes 0x81 to 0x9F; Japanese text in Shift-JIS consists mostly of pairs that start with them.
fn likely_encoding(rest: &[u8]) -> &'static str {
    const SAMPLE: usize = 4096;
    let mut bytes = rest.iter().take(SAMPLE);
    let mut japanese = false;
    while let Some(byte) = bytes.next() {
        match byte {
            0x81..=0x9F | 0xE0..=0xFC => match bytes.next() {
                Some(0x40..=0x7E | 0x80..=0xFC) => japanese |= *byte < 0xA0,
                Some(_) => return "ISO-8859-1 (Latin-1) or Windows-1252",
                None => break,
            },
            0x80 | 0xA0 | 0xFD.. => return "ISO-8859-1 (Latin-1) or Windows-1252",
            _ => {}
        }
    }
    if japanese { "Shift-JIS" } else { "ISO-8859-1 (Latin-1) or Windows-1252" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::diagnostic::Load;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn message(bytes: &[u8]) -> String {
        let mut diagnostics = Diagnostics::new("f", Load);
        let expected = Expected { what: "CSV", requirement: Some("GEO-1") };
        assert_eq!(read(bytes, expected, &mut diagnostics), None);
        diagnostics.items()[0].to_string()
    }

    #[test]
    fn geo_1_other_encodings_are_named() {
        // GEO-1, JAFAR-1
        let line = "192.0.2.0/24,JP,JP-13,Tokyo,\n";
        let utf16 =
            |to_bytes: fn(u16) -> [u8; 2]| line.encode_utf16().flat_map(to_bytes).collect::<Vec<u8>>();
        let (little, big) = (utf16(u16::to_le_bytes), utf16(u16::to_be_bytes));
        assert_eq!(
            message(&little),
            "f: error: this is UTF-16 (little-endian), not CSV in UTF-8: convert it [GEO-1]"
        );
        assert!(message(&[&[0xFF, 0xFE], &*little].concat()).contains("UTF-16 (little-endian)"));
        assert!(message(&big).contains("UTF-16 (big-endian)"));
        assert!(message(&[&[0xFE, 0xFF], &*big].concat()).contains("UTF-16 (big-endian)"));
        assert!(message(&[0xFF, 0xFE, 0, 0, b'1', 0, 0, 0]).contains("UTF-32"));
        assert!(message(&[0x1F, 0x8B, 8]).contains("gzip"));
        // 東京 in Shift-JIS, Zürich and São Paulo in Latin-1.
        assert_eq!(
            message(b"# \n192.0.2.0/24,JP,JP-13,\x93\x8c\x8b\x9e,\n"),
            "f:2:23: error: not UTF-8 from here on; it looks like Shift-JIS: save the CSV as UTF-8 [GEO-1]"
        );
        assert!(message(b"192.0.2.0/24,CH,CH-ZH,Z\xfcrich,\n").contains("Latin-1"));
        assert!(message(b"192.0.2.0/24,BR,BR-SP,S\xe3o Paulo,\n").contains("Latin-1"));
        assert!(message(b"192.0.2.0/24,BR,BR-SP,S\xc3").contains("cut off"));
    }

    #[test]
    fn a_web_page_is_called_one() {
        // JAFAR-1, GEO-1
        for page in ["<!DOCTYPE html><html>", "\n  <html>404</html>", "\u{feff}<html>"] {
            assert!(message(page.as_bytes()).contains("this is HTML, not CSV: "), "{page}");
        }
    }
}
