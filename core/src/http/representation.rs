//! A representation that a gate serves itself, with its validators, and the conditional requests for it (RFC 9110 8.8
//! and 13).

use alloc::boxed::Box;
use alloc::format;

use twox_hash::XxHash3_64;

use crate::http::date;
use crate::request::Request;

/// A resource in the one form in which it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Representation {
    pub(crate) bytes: Box<[u8]>,
    /// A strong entity tag, with its quotes: the same on every machine that serves the same bytes.
    pub(crate) etag: Box<str>,
    /// When it was last modified, in seconds since the Unix epoch, where that is known.
    modified: Option<i64>,
}

/// The result of the preconditions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The representation is sent.
    Holds,
    /// The client has it: 304.
    NotModified,
    /// The client asked for another one: 412.
    Failed,
}

/// The ways to compare entity tags (RFC 9110 8.8.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

impl Representation {
    pub(crate) fn new(bytes: Box<[u8]>, modified: Option<i64>) -> Self {
        let etag = format!("\"{:016x}\"", XxHash3_64::oneshot(&bytes)).into();
        Self { bytes, etag, modified }
    }

    /// The `Last-Modified`, which is never later than the response (RFC 9110 8.8.2.1): clocks differ.
    pub(crate) fn last_modified(&self, now: i64) -> Option<i64> {
        self.modified.map(|modified| modified.min(now))
    }

    /// Evaluates the preconditions of a GET or HEAD, in the order of RFC 9110 13.2.2.
    pub(crate) fn condition(&self, request: &impl Request) -> Condition {
        // Of several lines nginx makes a 400, and Envoy one.
        let listed = |name: &str, comparison| {
            request.header(name).map(|tags| self.is_listed(tags.trim_ascii(), comparison))
        };
        let unmodified_since = |name: &str| {
            let (date, now) = (request.header(name)?, request.now());
            // A value that is not a date is ignored, and so is a date if ours is not known.
            Some(self.last_modified(now)? <= date::parse(date.trim_ascii(), now)?)
        };
        let holds =
            listed("if-match", Comparison::Strong).or_else(|| unmodified_since("if-unmodified-since"));
        if holds == Some(false) {
            return Condition::Failed;
        }
        let is_known =
            listed("if-none-match", Comparison::Weak).or_else(|| unmodified_since("if-modified-since"));
        if is_known == Some(true) { Condition::NotModified } else { Condition::Holds }
    }

    /// Returns true if a list of entity tags has ours; `*` is any.
    fn is_listed(&self, tags: &[u8], comparison: Comparison) -> bool {
        tags == b"*"
            || EntityTags::new(tags).any(|(is_weak, tag)| {
                let is_comparable = comparison == Comparison::Weak || !is_weak;
                is_comparable && tag == self.etag.as_bytes()
            })
    }
}

/// The entity tags of a list, each with whether it is weak, and with its quotes. It ends at the first syntax error.
pub(crate) struct EntityTags<'l> {
    rest: &'l [u8],
}

impl<'l> EntityTags<'l> {
    pub(crate) fn new(list: &'l [u8]) -> Self {
        Self { rest: list }
    }
}

impl<'l> Iterator for EntityTags<'l> {
    type Item = (bool, &'l [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','))?;
        let rest = self.rest.get(start..)?;
        let (is_weak, rest) = rest.strip_prefix(b"W/").map_or((false, rest), |strong| (true, strong));
        // A tag can hold commas, and no quotes.
        let inner = rest.strip_prefix(b"\"")?;
        let length = inner.iter().position(|byte| *byte == b'"')?;
        let (tag, rest) = rest.split_at_checked(length + 2)?;
        self.rest = rest;
        Some((is_weak, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::Asked;

    const TAG: &str = "\"2d06800538d394c2\"";
    const MODIFIED: i64 = 784_111_777;
    const THEN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const AFTER: &str = "Sunday, 06-Nov-94 08:49:38 GMT";

    /// An empty file; the hash of no bytes is known.
    fn empty(modified: Option<i64>) -> Representation {
        let empty = Representation::new(Box::default(), modified);
        assert_eq!(&*empty.etag, TAG);
        empty
    }

    #[test]
    fn preconditions_in_their_order() {
        use Condition::{Failed, Holds, NotModified};
        let weak = &*format!("W/{TAG}");
        let list = &*format!("\"a,b\", ,\tW/\"x\",{TAG}");
        for (headers, expected) in [
            (&[][..], Holds),
            (&[("if-none-match", TAG)], NotModified),
            (&[("if-none-match", weak)], NotModified),
            (&[("if-none-match", list)], NotModified),
            (&[("if-none-match", " * ")], NotModified),
            (&[("if-none-match", "\"other\"")], Holds),
            (&[("if-none-match", "")], Holds),
            (&[("if-none-match", "2d06800538d394c2")], Holds),
            (&[("if-none-match", "w/\"2d06800538d394c2\"")], Holds),
            (&[("if-none-match", "\"2d06800538d394c2")], Holds),
            (&[("if-none-match", "\"a\", *")], Holds),
            (&[("if-modified-since", THEN)], NotModified),
            (&[("if-modified-since", AFTER)], NotModified),
            (&[("if-modified-since", BEFORE)], Holds),
            (&[("if-modified-since", "yesterday")], Holds),
            // The date counts only where there is no tag.
            (&[("if-none-match", "\"other\""), ("if-modified-since", AFTER)], Holds),
            (&[("if-none-match", TAG), ("if-modified-since", BEFORE)], NotModified),
            (&[("if-match", TAG)], Holds),
            (&[("if-match", list)], Holds),
            (&[("if-match", "*")], Holds),
            (&[("if-match", weak)], Failed),
            (&[("if-match", "\"other\"")], Failed),
            (&[("if-unmodified-since", THEN)], Holds),
            (&[("if-unmodified-since", BEFORE)], Failed),
            (&[("if-unmodified-since", "yesterday")], Holds),
            (&[("if-match", TAG), ("if-unmodified-since", BEFORE)], Holds),
            (&[("if-match", TAG), ("if-none-match", TAG)], NotModified),
            (&[("if-match", "\"other\""), ("if-none-match", TAG)], Failed),
        ] {
            let request = Asked { headers, ..Asked::default() };
            assert_eq!(empty(Some(MODIFIED)).condition(&request), expected, "{headers:?}");
        }
    }

    #[test]
    fn without_a_known_date_dates_are_ignored() {
        for header in ["if-modified-since", "if-unmodified-since"] {
            for date in [THEN, BEFORE, AFTER] {
                let request = Asked { headers: &[(header, date)], ..Asked::default() };
                assert_eq!(empty(None).condition(&request), Condition::Holds);
            }
        }
    }

    #[test]
    fn no_date_is_in_the_future() {
        assert_eq!(empty(Some(MODIFIED)).last_modified(MODIFIED + 9), Some(MODIFIED));
        assert_eq!(empty(Some(MODIFIED)).last_modified(MODIFIED - 9), Some(MODIFIED - 9));
        assert_eq!(empty(None).last_modified(MODIFIED), None);
    }

    #[test]
    fn another_text_has_another_tag() {
        let other = Representation::new(b"User-agent: *\n".as_slice().into(), None);
        assert_ne!(&*other.etag, TAG);
    }
}
