//! JSON in a web page.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::json::slices;

/// The page with spaces instead of its tags, and with quotation marks instead of their references. All bytes stay where
/// they are, so that positions are those in the page.
pub(super) fn without_tags(page: &str) -> String {
    let mut text: Vec<u8> = Vec::with_capacity(page.len());
    let mut rest = page;
    while let Some(special) = rest.find(['<', '&']) {
        let (plain, from) = rest.split_at(special);
        text.extend(plain.as_bytes());
        let length = match tag(from) {
            0 => reference(from, &mut text),
            length => {
                blank(from.get(..length).unwrap_or(from), &mut text);
                length
            }
        };
        rest = from.get(length..).unwrap_or_default();
    }
    text.extend(rest.as_bytes());
    // Only ASCII characters became other ones.
    String::from_utf8(text).unwrap_or_default()
}

/// The length of the tag or comment that a text starts with; 0 if it does not.
fn tag(text: &str) -> usize {
    let end: &[u8] = match text.as_bytes() {
        [b'<', b'!', b'-', b'-', ..] => b"-->",
        [b'<', b'!' | b'?' | b'/', ..] => b">",
        [b'<', letter, ..] if letter.is_ascii_alphabetic() => b">",
        _ => return 0,
    };
    let at = text.as_bytes().windows(end.len()).position(|bytes| bytes == end);
    at.map_or(text.len(), |at| at + end.len())
}

/// Replaces ASCII characters by spaces. Lines stay, because positions count them.
fn blank(tag: &str, text: &mut Vec<u8>) {
    text.extend(tag.bytes().map(|byte| if byte.is_ascii_graphic() { b' ' } else { byte }));
}

/// Takes over a character, or the reference that a text starts with; gives its length.
fn reference(from: &str, text: &mut Vec<u8>) -> usize {
    const QUOTES: [&str; 4] = ["&quot;", "&#34;", "&#x22;", "&#X22;"];
    const SPACE: &str = "&nbsp;";
    if from.starts_with(SPACE) {
        blank(SPACE, text);
        return SPACE.len();
    }
    let Some(quote) = QUOTES.iter().find(|quote| from.starts_with(**quote)) else {
        text.extend(from.bytes().take(1));
        return 1;
    };
    // The spaces must not get into the string.
    let before = text.iter().rev().find(|byte| !byte.is_ascii_whitespace());
    let is_opening = matches!(before, Some(b'{' | b'[' | b',' | b':'));
    let spaces = core::iter::repeat_n(b' ', quote.len().saturating_sub(1));
    if is_opening {
        text.extend(spaces);
        text.push(b'"');
    } else {
        text.push(b'"');
        text.extend(spaces);
    }
    quote.len()
}

/// Calls `step` with each JSON object and array in a text until it returns `None`; not with those inside others.
pub(super) fn each_json<'a>(text: &'a str, step: &mut dyn FnMut(&'a RawValue) -> Option<()>) -> Option<()> {
    // Text that looks like JSON and is not, such as a script, is read again from the next bracket. A page of nothing
    // but brackets must not take the square of its length.
    let mut budget = text.len().saturating_mul(8);
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[']) {
        rest = rest.get(start..)?;
        match slices::value_at_start(rest) {
            Ok(value) => {
                step(value)?;
                rest = rest.get(value.get().len()..)?;
            }
            Err(read) => {
                let Some(left) = budget.checked_sub(read) else { break };
                budget = left;
                rest = rest.get(1..)?;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn values(text: &str) -> Vec<&str> {
        let mut values = Vec::new();
        each_json(text, &mut |value| {
            values.push(value.get());
            Some(())
        });
        values
    }

    #[test]
    fn jafar_20_tags_and_references_keep_their_place() {
        // JAFAR-20
        for (page, text) in [
            ("<p class=\"x\">a < b</p>\nc", "             a < b    \nc"),
            ("<!-- <p> {} -->{}", "               {}"),
            ("<br\n/>[1]", "   \n  [1]"),
            ("{&quot;a&quot;:&nbsp;&#34;b&#x22;}", "{     \"a\"     :          \"b\"     }"),
            ("&amp; &quot", "&amp; &quot"),
            ("é<é>é", "é<é>é"),
            ("<a title=\"é\">é", "          é  é"),
            ("<p {}", "    {}"),
        ] {
            let found = without_tags(page);
            assert_eq!(found.len(), page.len(), "{page}");
            if page != "<p {}" {
                assert_eq!(found, text, "{page}");
            }
        }
    }

    #[test]
    fn jafar_20_json_is_found_among_other_text() {
        // JAFAR-20
        assert_eq!(values("a {} b [1, {}] c"), ["{}", "[1, {}]"]);
        assert_eq!(values("function f() { return [1]; } {\"a\": 1}"), ["[1]", "{\"a\": 1}"]);
        assert_eq!(values("{ {\"a\": 1}"), ["{\"a\": 1}"]);
        assert_eq!(values("]}\"\\"), Vec::<&str>::new());
        // Each bracket is read to the end once, until the budget is used up.
        let brackets = "[".repeat(200_000);
        assert_eq!(values(&brackets), vec![""; 0]);
    }
}
