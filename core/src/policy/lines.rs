//! The lines of a policy file: what `robots.txt` (RFC 9309, 2.2) and `automation-preferences.txt` have in common.
//!
//! Both are text with one `name: value` a line. A line ends with LF, CR or CRLF, `#` starts a comment, a byte order
//! mark in front is skipped. Every other byte, NUL and broken UTF-8 included, is ordinary here; what a format refuses,
//! it refuses itself.
//!
//! Reading is linear in the file whatever the bytes are, positions included: see [`Line::words`] for lists.

use crate::path::spelling::has_dot_segment;
use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::Position;
use crate::source::quoted::QuotedBytes;
use crate::source::suggestion;

/// The part of `text` that counts when only `limit` bytes do: its whole lines, and whether anything was cut off.
///
/// A line cut in two would be another rule (`Disallow: /`), so the line that crosses the limit does not count at all.
///
/// ```
/// use crawlpike_core::internals::policy::whole_lines_within;
///
/// assert_eq!(whole_lines_within(b"Allow: /a\nDisallow: /b\n", 15), (&b"Allow: /a\n"[..], true));
/// assert_eq!(whole_lines_within(b"Allow: /a\nDisallow: /b\n", 23), (&b"Allow: /a\nDisallow: /b\n"[..], false));
/// ```
pub fn whole_lines_within(text: &[u8], limit: usize) -> (&[u8], bool) {
    // The byte after the limit is looked at, too: a terminator there means that the limit falls between two lines.
    let Some(within) = text.get(..=limit) else {
        return (text, false);
    };
    let end = within.iter().rposition(|byte| is_terminator(*byte)).map_or(0, |last| (last + 1).min(limit));
    (text.get(..end).unwrap_or_default(), true)
}

fn is_terminator(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// White space inside a line: SP and HTAB, as in both grammars.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_blank(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last + 1);
    text.get(start..end).unwrap_or_default()
}

/// The lines of a policy file, in order.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: u32,
}

impl<'a> Lines<'a> {
    /// Starts at the first line of `text`, behind its byte order mark if it has one.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        let text = without_byte_order_mark(text);
        Self { rest: (!text.is_empty()).then_some(text), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.rest?;
        self.number = self.number.saturating_add(1);
        let end = rest.iter().position(|byte| is_terminator(*byte));
        let (text, rest) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or_default();
        let after = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
        self.rest = (!after.is_empty()).then_some(after);
        let content = text.iter().position(|byte| *byte == b'#').and_then(|hash| text.get(..hash));
        Some(Line { number: self.number, content: content.unwrap_or(text), comment: content.is_some() })
    }
}

/// One line, without its terminator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Its number, from 1.
    pub number: u32,
    /// The text before a comment.
    content: &'a [u8],
    comment: bool,
}

impl<'a> Line<'a> {
    /// The text before a comment, trimmed.
    pub(crate) fn content(&self) -> &'a [u8] {
        trim(self.content)
    }

    /// Nothing but white space, and no comment either.
    pub(crate) fn is_blank(&self) -> bool {
        !self.comment && self.is_empty()
    }

    /// Nothing but white space and perhaps a comment.
    pub(crate) fn is_empty(&self) -> bool {
        self.content.iter().all(|byte| is_blank(*byte))
    }

    /// Its length in bytes, the comment not counted.
    pub(crate) fn len(&self) -> usize {
        self.content.len()
    }

    /// The two sides of the first colon, trimmed: `name: value`. `None` for a line without a colon.
    pub(crate) fn directive(&self) -> Option<Directive<'a>> {
        let colon = self.content.iter().position(|byte| *byte == b':')?;
        let (name, value) = self.content.split_at_checked(colon)?;
        Some(Directive { name: trim(name), value: trim(value.get(1..)?) })
    }

    /// `name value`: exactly two words, the colon between them forgotten.
    pub(crate) fn two_words(&self) -> Option<Directive<'a>> {
        let mut words = self.content.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty());
        let (name, value) = (words.next()?, words.next()?);
        words.next().is_none().then_some(Directive { name, value })
    }

    /// The position of `part`, which is a slice of this line; of the line's first character when it is not.
    pub(crate) fn position(&self, part: &[u8]) -> Position {
        let offset = (part.as_ptr() as usize).saturating_sub(self.content.as_ptr() as usize);
        let before = self.content.get(..offset).unwrap_or_default();
        Position { line: self.number, column: characters(before).saturating_add(1) }
    }

    /// The position of the first character which is not white space.
    pub(crate) fn start(&self) -> Position {
        self.position(trim(self.content))
    }

    /// The values of a comma-separated list in this line, trimmed, each with its position.
    ///
    /// `value` is a slice of this line and `separates` says at which commas it is split, being given what follows the
    /// comma. Columns are counted along the way, so a list of a million bad values costs no more than one.
    pub(crate) fn words<F: Fn(&[u8]) -> bool>(&self, value: &'a [u8], separates: F) -> Words<'a, F> {
        Words { rest: Some(value), position: self.position(value), separates }
    }
}

/// One `name: value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Directive<'a> {
    /// The name, as written; names are compared without regard to case.
    pub name: &'a [u8],
    /// The value, possibly empty.
    pub value: &'a [u8],
}

/// The values of a list: see [`Line::words`].
#[derive(Clone, Debug)]
pub(crate) struct Words<'a, F> {
    rest: Option<&'a [u8]>,
    position: Position,
    separates: F,
}

impl<'a, F: Fn(&[u8]) -> bool> Iterator for Words<'a, F> {
    type Item = (&'a [u8], Position);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        let is_end = |index: usize| {
            rest.get(index) == Some(&b',') && (self.separates)(rest.get(index + 1..).unwrap_or_default())
        };
        let end = (0..rest.len()).find(|index| is_end(*index)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end).unwrap_or_default();
        self.rest = after.get(1..);
        let blanks = word.iter().take_while(|byte| is_blank(**byte)).count();
        let mut position = self.position;
        position.column = position.column.saturating_add(u32::try_from(blanks).unwrap_or(u32::MAX));
        self.position.column = self.position.column.saturating_add(characters(word)).saturating_add(1);
        Some((trim(word), position))
    }
}

fn characters(text: &[u8]) -> u32 {
    let continuation = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
    u32::try_from(text.iter().filter(|byte| !continuation(byte)).count()).unwrap_or(u32::MAX)
}

/// Reports a path pattern that no request should match.
pub(crate) fn lint_path<S: Strictness>(
    pattern: &[u8],
    position: impl Into<Option<Position>>,
    requirement: &'static str,
    diagnostics: &mut Diagnostics<S>,
) {
    if diagnostics.is_lint() && has_dot_segment(pattern) {
        diagnostics.lint_warning(
            position,
            requirement,
            format_args!(
                "{} has no effect: clients resolve `.` and `..` segments before they send a path",
                QuotedBytes(pattern)
            ),
        );
    }
}

/// The known name that was probably meant.
pub(crate) fn nearest<'k>(name: &[u8], known: &[&'k str]) -> Option<&'k str> {
    suggestion::nearest(core::str::from_utf8(name).ok()?, known.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn contents(text: &[u8]) -> Vec<(u32, &[u8])> {
        Lines::new(text).map(|line| (line.number, line.content)).collect()
    }

    #[test]
    fn rob_5_every_line_end_counts_once() {
        // ROB-5: BOM, CR, CRLF, LF and NUL bytes.
        let text = b"\xEF\xBB\xBFa\rb\r\nc\nd\0d\n\re#x\n";
        assert_eq!(
            contents(text),
            vec![(1, &b"a"[..]), (2, b"b"), (3, b"c"), (4, b"d\0d"), (5, b""), (6, b"e")]
        );
        assert_eq!(contents(b""), vec![]);
        assert_eq!(contents(b"\xEF\xBB\xBF"), vec![]);
        assert_eq!(contents(b"a\r"), vec![(1, &b"a"[..])]);
        // Part of a byte order mark, which is not a character; and a character that begins like one.
        assert_eq!(contents(b"\xEF\xBBa"), vec![(1, &b"a"[..])]);
        assert_eq!(contents(b"\xEFa"), vec![(1, &b"a"[..])]);
        assert_eq!(contents("\u{FEFE}a".as_bytes()), vec![(1, "\u{FEFE}a".as_bytes())]);
        assert_eq!(contents(b"\n"), vec![(1, &b""[..])]);
    }

    #[test]
    fn auto_2_comments_are_told_from_blank_lines() {
        // AUTO-2 and AUTO-10: a comment line is empty, but not blank.
        let flags: Vec<_> =
            Lines::new(b" \t\n # x\na # y\n\n").map(|line| (line.is_blank(), line.is_empty())).collect();
        assert_eq!(flags, vec![(true, true), (false, true), (false, false), (true, true)]);
    }

    #[test]
    fn auto_3_a_directive_has_a_name_a_value_and_positions() {
        let line = Lines::new("\t Żółw \t:  ä: b ,c\t# d".as_bytes()).next().unwrap();
        let directive = line.directive().unwrap();
        assert_eq!(directive, Directive { name: "Żółw".as_bytes(), value: "ä: b ,c".as_bytes() });
        assert_eq!(line.position(directive.name), Position { line: 1, column: 3 });
        assert_eq!(line.position(directive.value), Position { line: 1, column: 12 });
        assert_eq!(line.start(), Position { line: 1, column: 3 });
        let words: Vec<_> = line.words(directive.value, |_| true).collect();
        assert_eq!(
            words,
            vec![
                ("ä: b".as_bytes(), Position { line: 1, column: 12 }),
                (&b"c"[..], Position { line: 1, column: 18 })
            ]
        );
        assert_eq!(Lines::new(b"no colon").next().unwrap().directive(), None);
        assert_eq!(
            Lines::new(b": x").next().unwrap().directive(),
            Some(Directive { name: b"", value: b"x" })
        );
    }

    #[test]
    fn two_words_are_two() {
        let words = |text: &'static str| Lines::new(text.as_bytes()).next().unwrap().two_words();
        assert_eq!(words(" allow\t /a  # b"), Some(Directive { name: b"allow", value: b"/a" }));
        assert_eq!(words("allow /a b"), None);
        assert_eq!(words("allow "), None);
    }

    #[test]
    fn rob_5_a_limit_falls_between_lines() {
        let text = b"ab\ncd\r\nef";
        for (limit, expected) in [(0, 0), (1, 0), (2, 2), (3, 3), (5, 5), (6, 6), (7, 7), (8, 7)] {
            let (within, cut) = whole_lines_within(text, limit);
            assert_eq!((within.len(), cut), (expected, true), "{limit}");
        }
        assert_eq!(whole_lines_within(text, 9), (&text[..], false));
        assert_eq!(whole_lines_within(&[b'x'; 100], 99), (&b""[..], true));
    }
}
