//! Path patterns as in `robots.txt`: RFC 9309, 2.2.2 (what equals what) and 2.2.3 (`*` and `$`).
//!
//! A pattern matches a path that begins with it. `*` stands for any octets, none included; `$` at the very end of the
//! pattern stands for the end of the path, anywhere else for itself. The path includes the query.
//!
//! # What equals what
//!
//! Both sides are compared octet by octet in one normal form (RFC 3986, 6.2.2):
//!
//! * a percent-encoded unreserved character is decoded: `%7E` is `~`, `%62` is `b`;
//! * so are `%2A` and `%24`, by which a pattern says a literal `*` and `$` (RFC 9309, 2.2.3);
//! * every other percent-encoding keeps its meaning and gets upper-case digits: `%2f` is `%2F` but never `/`;
//! * what can't stand in a URI (controls, space, `"<>\^{|}` and the grave accent, all octets above ASCII) is
//!   percent-encoded, so that `/ツ` is `/%E3%83%84`;
//! * a percent sign without two hexadecimal digits stands for itself.
//!
//! Case counts. Nothing else is changed: neither `//` nor `/../` are resolved.
//!
//! # Cost
//!
//! A pattern is compiled once into its literal parts and their Knuth-Morris-Pratt tables. Leftmost matches of the parts
//! suffice, since a later match never leaves more room for the rest; so each octet of the path in normal form is read once,
//! and a match takes at most two steps an octet, however many `*` the pattern has. Nothing is allocated.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// The path and query of a request, ready to be compared with any number of patterns.
#[derive(Clone, Copy, Debug)]
pub struct RequestPath<'a> {
    raw: &'a [u8],
    normal: bool,
}

impl<'a> RequestPath<'a> {
    /// The request target as received (`/a?b=c`); the empty one is `/`.
    pub fn new(raw: &'a [u8]) -> Self {
        let raw = if raw.is_empty() { b"/" } else { raw };
        // Almost every path is in normal form already, and compares faster when that is known.
        Self { raw, normal: raw.iter().all(|byte| class(*byte) == Class::Plain) }
    }

    /// The octets of the normal form.
    pub(crate) fn octets(self) -> PathOctets<'a> {
        if self.normal {
            PathOctets::Plain(Plain(self.raw))
        } else {
            PathOctets::Encoded(Octets::new(self.raw))
        }
    }

    /// Whether this path is `other` in normal form.
    pub fn is(self, other: &[u8]) -> bool {
        Octets::new(self.raw).eq(other.iter().copied())
    }

    /// Whether the part of a request target before its query is `other` in normal form.
    pub(crate) fn is_before_query(target: &[u8], other: &[u8]) -> bool {
        Octets::new(target).take_while(|octet| *octet != b'?').eq(other.iter().copied())
    }
}

/// The two ways to read a [`RequestPath`], apart so that loops are compiled for each.
pub(crate) enum PathOctets<'a> {
    /// The path is its own normal form.
    Plain(Plain<'a>),
    /// The path is normalised while it is read.
    Encoded(Octets<'a>),
}

/// Octets in normal form, read from the front.
pub(crate) trait NormalOctets: Iterator<Item = u8> + Clone {
    /// Reads as many octets as the literal has, or up to the first that differs; says whether none does.
    fn skip_literal(&mut self, literal: &[u8]) -> bool {
        literal.iter().all(|expected| self.next() == Some(*expected))
    }
}

impl NormalOctets for Octets<'_> {}

/// A path that is its own normal form.
#[derive(Clone)]
pub(crate) struct Plain<'a>(&'a [u8]);

impl Iterator for Plain<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}

impl NormalOctets for Plain<'_> {
    fn skip_literal(&mut self, literal: &[u8]) -> bool {
        let rest = self.0.strip_prefix(literal);
        self.0 = rest.unwrap_or_default();
        rest.is_some()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Unreserved and reserved characters of RFC 3986, which stand for themselves.
    Plain,
    Percent,
    /// Must be percent-encoded.
    Other,
}

fn class(byte: u8) -> Class {
    // Looked up: every octet of every request path is classified once.
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler, which would refuse a bad index")]
    const CLASSES: [Class; 256] = {
        let mut classes = [Class::Plain; 256];
        let mut byte = 0;
        while byte < classes.len() {
            classes[byte] = class_of(byte as u8);
            byte += 1;
        }
        classes
    };
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

const fn class_of(byte: u8) -> Class {
    match byte {
        b'%' => Class::Percent,
        0..=b' ' | b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x7F.. => Class::Other,
        _ => Class::Plain,
    }
}

/// Whether the percent-encoding of this character is another spelling of the character itself.
const fn is_decoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'*' | b'$')
}

/// The octets of a path in normal form, found while reading: up to three for one of the path.
#[derive(Clone, Debug)]
pub struct Octets<'a> {
    rest: core::slice::Iter<'a, u8>,
    /// The digits of a percent-encoding whose sign was already given.
    digits: [Option<u8>; 2],
}

impl<'a> Octets<'a> {
    /// Reads `raw`.
    pub fn new(raw: &'a [u8]) -> Self {
        Self { rest: raw.iter(), digits: [None; 2] }
    }

    fn encode(&mut self, byte: u8) -> u8 {
        self.digits = [byte >> 4, byte & 0xF]
            .map(|digit| char::from_digit(u32::from(digit), 16))
            .map(|digit| digit.map(|digit| digit.to_ascii_uppercase() as u8));
        b'%'
    }

    fn after_percent(&mut self) -> u8 {
        let digit = |index: usize| char::from(*self.rest.as_slice().get(index)?).to_digit(16);
        let Some(value) = digit(0).zip(digit(1)).and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
        else {
            return b'%';
        };
        self.rest.nth(1);
        if is_decoded(value) { value } else { self.encode(value) }
    }
}

impl Iterator for Octets<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if let Some(digit) = self.digits[0] {
            self.digits = [self.digits[1], None];
            return Some(digit);
        }
        let byte = *self.rest.next()?;
        Some(match class(byte) {
            Class::Plain => byte,
            Class::Percent => self.after_percent(),
            Class::Other => self.encode(byte),
        })
    }
}

/// Why a text is no path pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// There is nothing.
    Empty,
    /// Paths begin with `/`, so a pattern that begins otherwise (and not with `*`) can't match any.
    Start,
}

impl core::fmt::Display for PatternError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Empty => "the path pattern is empty",
            Self::Start => "a path pattern begins with / or *; this one matches no path",
        })
    }
}

impl core::error::Error for PatternError {}

/// A compiled path pattern.
///
/// ```
/// use crawlward_core::path_pattern::{PathPattern, RequestPath};
///
/// let pattern = PathPattern::new(b"/fish*.php$")?;
/// assert!(pattern.matches(RequestPath::new(b"/fishheads/catfish.php")));
/// assert!(!pattern.matches(RequestPath::new(b"/fish.php?id=1")));
/// # Ok::<(), crawlward_core::path_pattern::PatternError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathPattern {
    /// What the path begins with, in normal form.
    prefix: Box<[u8]>,
    /// What follows after each `*` that matters, in normal form.
    parts: Box<[Part]>,
    /// Whether the path ends where the pattern does.
    anchored: bool,
    length: u32,
}

/// A literal between two `*`, or after the last one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    literal: Box<[u8]>,
    /// For each position, how much of the literal is still matched when the octet after it differs.
    failure: Box<[u32]>,
}

impl PathPattern {
    /// Compiles the text of a pattern.
    ///
    /// # Errors
    ///
    /// An empty pattern and one that matches no path at all.
    pub fn new(text: &[u8]) -> Result<Self, PatternError> {
        match text.first() {
            None => return Err(PatternError::Empty),
            Some(b'/' | b'*') => {}
            Some(_) => return Err(PatternError::Start),
        }
        let (body, anchored) = text.strip_suffix(b"$").map_or((text, false), |body| (body, true));
        let mut literals =
            body.split(|byte| *byte == b'*').map(|raw| Octets::new(raw).collect::<Box<[u8]>>());
        let prefix = literals.next().unwrap_or_default();
        let stars = body.iter().filter(|byte| **byte == b'*').count();
        let mut literals: Vec<Box<[u8]>> = literals.collect();
        let octets = literals.iter().map(|literal| literal.len()).sum::<usize>() + prefix.len();
        let length = u32::try_from(octets + stars + usize::from(anchored)).unwrap_or(u32::MAX);
        // A `*` at the end adds nothing to a prefix, and takes the meaning from a `$`.
        let open = literals.last().is_some_and(|last| last.is_empty());
        literals.retain(|literal| !literal.is_empty());
        let parts = literals.into_iter().map(Part::new).collect();
        Ok(Self { prefix, parts, anchored: anchored && !open, length })
    }

    /// How specific the pattern is: its octets in normal form, `*` and `$` counted as one each (RFC 9309, 2.2.2).
    pub fn length(&self) -> u32 {
        self.length
    }

    /// What every matching path begins with.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Whether the pattern is a plain prefix: neither a `*` nor a `$` that matters.
    pub fn is_prefix(&self) -> bool {
        self.parts.is_empty() && !self.anchored
    }

    /// Whether a path that is longer than the pattern can't match, however it goes on.
    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// The literals between the `*`.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &[u8]> {
        core::iter::once(&*self.prefix).chain(self.parts.iter().map(|part| &*part.literal))
    }

    /// Whether a `*` matters.
    pub(crate) fn has_wildcard(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether the pattern matches the path, in at most two steps an octet and without allocation.
    pub fn matches(&self, path: RequestPath<'_>) -> bool {
        match path.octets() {
            PathOctets::Plain(octets) => self.matches_octets(octets),
            PathOctets::Encoded(octets) => self.matches_octets(octets),
        }
    }

    /// As [`Self::matches`], for octets in normal form.
    pub(crate) fn matches_octets(&self, mut octets: impl NormalOctets) -> bool {
        if !octets.skip_literal(&self.prefix) {
            return false;
        }
        let Some((last, parts)) = self.parts.split_last() else {
            return !self.anchored || octets.next().is_none();
        };
        parts.iter().all(|part| part.find(&mut octets))
            && if self.anchored { last.ends(&mut octets) } else { last.find(&mut octets) }
    }
}

impl Part {
    fn new(literal: Box<[u8]>) -> Self {
        let mut part = Self { failure: Box::default(), literal };
        let mut failure = Vec::with_capacity(part.literal.len());
        let mut matched = 0;
        for (index, octet) in part.literal.iter().enumerate() {
            if index > 0 {
                // `failure` is complete up to `index`, and `matched` is smaller.
                matched = advance(&part.literal, &failure, matched, *octet);
            }
            failure.push(matched);
        }
        part.failure = failure.into();
        part
    }

    /// Reads up to the end of the leftmost match.
    fn find(&self, octets: impl Iterator<Item = u8>) -> bool {
        let mut matched = 0;
        for octet in octets {
            matched = advance(&self.literal, &self.failure, matched, octet);
            if matched as usize == self.literal.len() {
                return true;
            }
        }
        false
    }

    /// Reads to the end, and says whether the literal ends there.
    fn ends(&self, octets: impl Iterator<Item = u8>) -> bool {
        let matched = octets.fold(0, |matched, octet| advance(&self.literal, &self.failure, matched, octet));
        matched as usize == self.literal.len()
    }
}

/// One step of Knuth-Morris-Pratt: how much of `literal` ends with `octet` when `matched` of it ended before.
///
/// `matched` rises by at most one a call and falls with every turn of the loop, so that n calls take at most 2n turns.
fn advance(literal: &[u8], failure: &[u32], mut matched: u32, octet: u8) -> u32 {
    loop {
        #[cfg(test)]
        steps::count();
        if literal.get(matched as usize) == Some(&octet) {
            return matched + 1;
        }
        match (matched as usize).checked_sub(1).and_then(|last| failure.get(last)) {
            Some(shorter) => matched = *shorter,
            None => return 0,
        }
    }
}

/// Counts the steps of matching, so that tests state bounds without a clock.
#[cfg(test)]
pub(crate) mod steps {
    use core::cell::Cell;

    std::thread_local! { static STEPS: Cell<usize> = const { Cell::new(0) }; }

    pub(crate) fn count() {
        add(1);
    }

    pub(crate) fn add(steps: usize) {
        STEPS.set(STEPS.get() + steps);
    }

    /// The steps that `work` takes, and its result.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (usize, T) {
        STEPS.set(0);
        let result = work();
        (STEPS.get(), result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec;

    fn matches(pattern: &str, path: &str) -> bool {
        PathPattern::new(pattern.as_bytes()).unwrap().matches(RequestPath::new(path.as_bytes()))
    }

    fn normal(raw: &[u8]) -> String {
        String::from_utf8(Octets::new(raw).collect()).unwrap()
    }

    #[test]
    fn rob_3_stars_and_dollars() {
        // ROB-3: the patterns are those of RFC 9309, 5.2 and 2.2.3, and what operators write.
        for (pattern, yes, no) in [
            ("/", &["/", "/a", "/?q", ""][..], &["*", "a"][..]),
            ("*", &["/", "/a", "x"], &[]),
            ("/$", &["/", ""], &["/a", "//", "/?"]),
            (
                "/fish",
                &["/fish", "/fish.html", "/fish/x", "/fishes?id=1"],
                &["/Fish", "/catfish", "/?fish", "/fis"],
            ),
            ("/fish*", &["/fish", "/fishes"], &["/Fish"]),
            ("/fish/", &["/fish/", "/fish/a", "/fish/?x"], &["/fish", "/fish.html"]),
            ("/*.php", &["/x.php", "/.php", "/a/b.php?x", "/a.php/", "/a?x=.php"], &["/", "/x.PHP", "/php"]),
            ("/*.php$", &["/x.php", "/.php.php"], &["/x.php?y", "/x.php/", "/x.php5"]),
            ("/fish*.php", &["/fish.php", "/fishheads/cat.php?a"], &["/Fish.PHP", "/fis.php"]),
            ("/a*b*c$", &["/abc", "/axbxcxc", "/abcbc"], &["/ab", "/abcd", "/acb"]),
            ("/a**b", &["/ab", "/axb"], &["/a"]),
            ("/a*$", &["/a", "/ab"], &["/"]),
            ("/a$b", &["/a$b", "/a%24bc"], &["/a"]),
            ("/a$$", &["/a$"], &["/a", "/a$$"]),
            ("/a?b=*&c", &["/a?b=1&c=2"], &["/a?c&b=1"]),
            ("*/x$", &["/x", "/y/x"], &["/x/"]),
        ] {
            for path in yes {
                assert!(matches(pattern, path), "{pattern} {path}");
            }
            for path in no {
                assert!(!matches(pattern, path), "{pattern} {path}");
            }
        }
    }

    #[test]
    fn rob_3_both_sides_are_compared_in_normal_form() {
        // ROB-3: RFC 9309, 2.2.2 and 2.2.3.
        for (pattern, path) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
            ("/foo/bar/\u{30C4}", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%E3%83%84", "/foo/bar/\u{30C4}"),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
            ("/~joe", "/%7ejoe"),
            ("/a%3cd.html", "/a%3Cd.html"),
            ("/a<d.html", "/a%3cd.html"),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-%2a.html"),
            ("/path/foo-%24", "/path/foo-$"),
            ("/a b", "/a%20b"),
            ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"),
            ("/%%41", "/%A"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("/a%2fb", "/a/b"),
            ("/a/b", "/a%2Fb"),
            ("/a%3Fb", "/a?b"),
            ("/file-%2A.html", "/file-x.html"),
            ("/foo-%24", "/foo-"),
            ("/%2541", "/A"),
            ("/%2541", "/%41"),
            ("/a", "/A"),
            ("/%C3%A9", "/%E9"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
        assert_eq!(normal(b"/\0\x1f \x7f\xff%"), "/%00%1F%20%7F%FF%");
        assert_eq!(normal(b"%41%4%zz%2a%e9%%"), "A%4%zz*%E9%%");
        assert!(RequestPath::new(b"/%72obots.txt").is(b"/robots.txt"));
    }

    #[test]
    fn rob_2_length_is_that_of_the_normal_form() {
        // ROB-2
        for (pattern, length) in
            [("/", 1), ("/*.php$", 7), ("/%7Ea", 3), ("/\u{E9}", 7), ("/a**", 4), ("/a%2a*", 4)]
        {
            assert_eq!(PathPattern::new(pattern.as_bytes()).unwrap().length(), length, "{pattern}");
        }
        for (pattern, error) in
            [("", PatternError::Empty), ("a", PatternError::Start), ("$", PatternError::Start)]
        {
            assert_eq!(PathPattern::new(pattern.as_bytes()), Err(error));
        }
    }

    #[test]
    fn auto_18_hostile_patterns_take_two_steps_an_octet() {
        // AUTO-18, ROB-3: counted, not timed. Each of these makes a backtracking matcher superlinear.
        const PATH: usize = 64 * 1024;
        let path = [b"/".to_vec(), vec![b'a'; PATH]].concat();
        let half = "a".repeat(500);
        for pattern in [
            "/".to_string() + &"*a".repeat(1000) + "b",
            "/".to_string() + &"*a".repeat(1000) + "b$",
            "/".to_string() + &"*a".repeat(1000) + "$",
            alloc::format!("/*{half}b*{half}b"),
            alloc::format!("/*{half}b{half}$"),
            "*".repeat(PATH) + "b",
            "/*aab*ab".to_string(),
        ] {
            let pattern = PathPattern::new(pattern.as_bytes()).unwrap();
            let (steps, _) = steps::of(|| pattern.matches(RequestPath::new(&path)));
            assert!(steps <= 2 * path.len(), "{steps}");
        }
    }
}
