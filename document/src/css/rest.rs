//! The reader of sheets: what stands before braces, and the blocks between them.

use std::borrow::Cow;

use memchr::{memchr, memchr3, memmem, memrchr2};

use super::declarations::{after_address, after_comment, begins_address};

/// The same without comments.
fn without_comments(prelude: &[u8]) -> Cow<'_, [u8]> {
    let (mut text, mut rest) = (Vec::new(), prelude);
    while let Some((before, from)) = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b'"' | b'\'' | b'\\'))
        .and_then(|at| rest.split_at_checked(at))
    {
        text.extend_from_slice(before);
        rest = match from {
            [b'/', after @ ..] if after.starts_with(b"*") => after_comment(after),
            [quote @ (b'"' | b'\''), after @ ..] => after_string(after, *quote),
            [b'\\', b'/' | b'"' | b'\'' | b'\\', after @ ..] | [_, after @ ..] => after,
            [] => &[],
        };
        let read = from.get(..from.len() - rest.len()).unwrap_or(from);
        text.extend_from_slice(if read.starts_with(b"/*") { b"" } else { read });
    }
    text.extend_from_slice(rest);
    text.into()
}

/// The same without the marks of comments in HTML around a sheet.
pub(super) fn without_marks(mut prelude: &[u8]) -> &[u8] {
    // The tokenizer keeps the first two signs of a sheet.
    const MARKS: [&[u8]; 3] = [b"<!--", b"-->", b"--"];
    while let Some(rest) = MARKS.iter().find_map(|mark| prelude.strip_prefix(*mark)) {
        prelude = rest.trim_ascii_start();
    }
    prelude
}

/// The block of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'t> {
    pub(super) text: &'t [u8],
    /// It has blocks in it.
    pub(super) has_others: bool,
}

/// The part of a sheet that is not read.
#[derive(Debug)]
pub(super) struct Rest<'t> {
    text: &'t [u8],
    /// The bytes that are left where the next string or escape begins, and where the next comment does, if they are known.
    quoted: usize,
    comment: usize,
    /// The text that was read last has a comment.
    has_comment: bool,
}

impl<'t> Rest<'t> {
    pub(super) fn of(text: &'t [u8]) -> Self {
        Self { text, quoted: usize::MAX, comment: usize::MAX, has_comment: false }
    }

    /// Reads what stands before the next brace or semicolon, without comments, and that byte; nothing at the end.
    pub(super) fn prelude(&mut self) -> Option<(Cow<'t, [u8]>, Option<u8>)> {
        if self.text.is_empty() {
            return None;
        }
        let (prelude, end) = self.until([b'{', b'}', b';']);
        Some((if self.has_comment { without_comments(prelude) } else { prelude.into() }, end))
    }

    /// Reads the text before one of some bytes that are in no comment and no string, and that byte.
    fn until(&mut self, ends: [u8; 3]) -> (&'t [u8], Option<u8>) {
        let [first, second, third] = ends;
        self.has_comment = false;
        let text = self.text;
        let mut rest = text;
        // The next end counts, unless something before it can hide it.
        let mut next = memchr3(first, second, third, rest);
        while let Some(end) = next {
            let hiding = self.quoted.max(self.comment);
            let after = if hiding <= rest.len() - end { None } else { self.after_hiding(rest, end) };
            if let Some(after) = after {
                let passed = rest.len() - after.len();
                next = end.checked_sub(passed).or_else(|| memchr3(first, second, third, after));
                rest = after;
                continue;
            }
            let at = text.len() - rest.len() + end;
            let (before, from) = text.split_at_checked(at).unwrap_or((text, &[]));
            let (byte, after) = from.split_first().map_or((None, from), |(byte, after)| (Some(*byte), after));
            self.text = after;
            return (before, byte);
        }
        self.text = &[];
        (text, None)
    }

    /// The text after the first comment, string or escape that begins before an end; `None` if none does.
    fn after_hiding<'r>(&mut self, rest: &'r [u8], end: usize) -> Option<&'r [u8]> {
        let left = |at: Option<usize>| at.map_or(0, |at| rest.len() - at);
        if self.quoted > rest.len() {
            self.quoted = left(memchr3(b'"', b'\'', b'\\', rest));
        }
        if self.comment > rest.len() {
            self.comment = left(memmem::find(rest, b"/*"));
        }
        let at = rest.len() - self.quoted.max(self.comment);
        let (before, from) = rest.split_at_checked(at).filter(|_| at < end)?;
        if is_in_address(before, from) {
            return Some(after_address(from));
        }
        let (begin, after) = from.split_first()?;
        Some(match begin {
            b'/' => {
                self.has_comment = true;
                after_comment(after)
            }
            b'\\' => after.get(1..).unwrap_or_default(),
            quote => after_string(after, *quote),
        })
    }

    /// Reads the rest of a statement from a semicolon in an address.
    pub(super) fn statement(&mut self) {
        self.text = memchr(b')', self.text).and_then(|at| self.text.get(at + 1..)).unwrap_or_default();
        self.until([b';', b'}', b';']);
    }

    /// Reads what is in a block whose first brace is read, and its end.
    pub(super) fn block(&mut self) -> Block<'t> {
        let (text, mut depth, mut has_others) = (self.text, 1_usize, false);
        while depth > 0 {
            match self.until([b'{', b'}', b'}']).1 {
                Some(b'{') => {
                    depth += 1;
                    has_others = true;
                }
                Some(_) => depth -= 1,
                // The end of the sheet ends all blocks.
                None => return Block { text, has_others },
            }
        }
        let length = (text.len() - self.text.len()).saturating_sub(1);
        Block { text: text.get(..length).unwrap_or_default(), has_others }
    }
}

/// Returns true if an address without quotes goes from one text on into the next.
fn is_in_address(before: &[u8], from: &[u8]) -> bool {
    let open = memrchr2(b'(', b')', before).and_then(|at| before.split_at_checked(at));
    open.is_some_and(|(before, inside)| match inside.split_first() {
        Some((b'(', inside)) if inside.trim_ascii().is_empty() => begins_address(before, from),
        Some((b'(', inside)) => begins_address(before, inside),
        _ => false,
    })
}

/// The text after a string whose first quote is read. A line end ends it, too.
fn after_string(text: &[u8], quote: u8) -> &[u8] {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match *byte {
            b'\\' => rest = after.get(1..).unwrap_or_default(),
            b'\n' => return rest,
            other if other == quote => return rest,
            _ => {}
        }
    }
    rest
}
