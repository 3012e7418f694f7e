//! The lines of a text that is read part by part. A line ends with LF, CRLF or CR.

use memchr::memchr2;

/// A line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a str),
    /// It is longer than it may be; this is what the part has of it.
    TooLong(&'a str),
}

/// The lines of a part.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    rest: &'a str,
    /// True if the text ends with the part.
    is_last: bool,
    /// True if the next part begins inside a line that is skipped.
    is_inside: bool,
}

impl<'a> Lines<'a> {
    /// If the part begins inside a line that is skipped, so is the rest of that line.
    pub(crate) fn new(text: &'a str, is_last: bool, is_inside: bool) -> Self {
        let mut lines = Self { rest: text, is_last, is_inside: false };
        if is_inside {
            lines.skip();
        }
        lines
    }

    /// The rest that was not taken yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns true if the next part begins inside a line that is skipped.
    pub(crate) fn is_inside(&self) -> bool {
        self.is_inside
    }

    /// Returns true if there is another part.
    pub(crate) fn may_go_on(&self) -> bool {
        !self.is_last
    }

    /// Goes on at an earlier or later place.
    pub(crate) fn go_back_to(&mut self, rest: &'a str) {
        self.rest = rest;
    }

    /// The next line. `None` at the end of the part, and if the line goes on in the next part and may be short enough.
    pub(crate) fn next_within(&mut self, longest: usize) -> Option<Line<'a>> {
        if self.rest.is_empty() || self.is_inside {
            return None;
        }
        let start = self.rest;
        match self.take() {
            Some(line) if line.len() <= longest => Some(Line::Whole(line)),
            Some(line) => Some(Line::TooLong(line)),
            None if start.len() <= longest.saturating_add(1) => None,
            None => {
                self.skip();
                Some(Line::TooLong(start))
            }
        }
    }

    /// Skips a line, or what the part has of it.
    pub(crate) fn skip(&mut self) {
        self.is_inside = self.take().is_none();
        if self.is_inside {
            // An end of a line stays for the next part, which shows whether it is half of one.
            let text = self.rest.strip_suffix(['\n', '\r']).unwrap_or(self.rest);
            self.rest = self.rest.get(text.len()..).unwrap_or_default();
        }
    }

    /// The line at the start, whose end is taken, too. `None` if it goes on in the next part.
    fn take(&mut self) -> Option<&'a str> {
        let end = memchr2(b'\n', b'\r', self.rest.as_bytes());
        // A line feed may follow in the next part.
        if !self.is_last && end.is_none_or(|end| end + 1 >= self.rest.len()) {
            return None;
        }
        let (line, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest.strip_prefix("\r\n").or(rest.strip_prefix(['\n', '\r'])).unwrap_or(rest);
        Some(line)
    }
}
