//! Path patterns as in `robots.txt`: RFC 9309, 2.2.3 (`*` and `$`).
//!
//! A pattern matches a path that begins with it. `*` stands for any octets, none included; `$` at the very end of the
//! pattern stands for the end of the path, anywhere else for itself. The path includes the query, so `/*.php$` does not match
//! `/a.php?x`. Both are compared octet by octet in one [normal form](crate::path::normal_form).
//!
//! # Cost
//!
//! A pattern is compiled once into its literal parts and their Knuth-Morris-Pratt tables. Leftmost matches of the parts
//! suffice, since a later match never leaves more room for the rest; so each octet of the path in normal form is read once,
//! and a match takes at most two steps an octet, however many `*` the pattern has; four, where a part differs in the query.
//! In a path that is its own normal form, a search for the rarest octet of a part goes ahead. It takes one step an octet,
//! and mostly saves the others. Nothing is allocated.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::path::normal_form::{NormalOctets, Octets, Watched};
use crate::path::request::{PathOctets, RequestPath};

mod literal;

use self::literal::Part;

/// The reason why a text is not a path pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// There is nothing.
    Empty,
    /// Paths begin with `/`, so a pattern that begins otherwise (and not with `*`) cannot match any.
    Start,
}

impl core::fmt::Display for PatternError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Empty => "the path is empty",
            Self::Start => "a path must start with `/` or `*`",
        })
    }
}

impl core::error::Error for PatternError {}

/// A compiled path pattern.
///
/// ```
/// use crawlpike_core::internals::{PathPattern, RequestPath};
///
/// let pattern = PathPattern::new(b"/fish*.php$")?;
/// assert!(pattern.matches(RequestPath::new(b"/fishheads/catfish.php")));
/// assert!(!pattern.matches(RequestPath::new(b"/fish.php?id=1")));
/// # Ok::<(), crawlpike_core::internals::PatternError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathPattern {
    /// The beginning of the path, in normal form.
    prefix: Box<[u8]>,
    /// The text after each `*` that matters.
    parts: Box<[Part]>,
    /// True if the path ends where the pattern does.
    anchored: bool,
    /// True if any of `parts` differs in the query.
    differs_in_query: bool,
    length: u32,
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
        let mut literals = body.split(|byte| *byte == b'*');
        let first = literals.next().unwrap_or_default();
        let prefix: Box<[u8]> = Octets::new(first).collect();
        let mut is_after_query = first.contains(&b'?');
        let mut octets = prefix.len();
        let mut stars = 0;
        let mut parts = Vec::new();
        // A `*` at the end adds nothing to a prefix, and takes the meaning from a `$`.
        let mut is_open = false;
        for literal in literals {
            stars += 1;
            is_open = literal.is_empty();
            if is_open {
                continue;
            }
            let part = Part::new(literal, is_after_query);
            octets += part.literal.octets.len();
            parts.push(part);
            is_after_query |= literal.contains(&b'?');
        }
        let length = octets + stars + usize::from(anchored);
        Ok(Self {
            prefix,
            differs_in_query: parts.iter().any(|part: &Part| part.in_query.is_some()),
            parts: parts.into(),
            anchored: anchored && !is_open,
            // No text is that long.
            length: u32::try_from(length).unwrap_or(u32::MAX),
        })
    }

    /// The specificity of the pattern: its octets in normal form, `*` and `$` counted as one each (RFC 9309, 2.2.2).
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The text with which every matching path begins.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Returns true if the pattern is a plain prefix: neither a `*` nor a `$` that matters.
    pub fn is_prefix(&self) -> bool {
        self.parts.is_empty() && !self.anchored
    }

    /// Returns true if a path that is longer than the pattern cannot match, however it goes on.
    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// The literals that every matching path holds.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &[u8]> {
        let parts = self.parts.iter().filter(|part| part.in_query.is_none());
        core::iter::once(&*self.prefix).chain(parts.map(|part| &*part.literal.octets))
    }

    /// The literals of which every matching path holds one or the other: as it is before the query, and in it.
    pub(crate) fn alternatives(&self) -> impl Iterator<Item = [&[u8]; 2]> {
        self.parts.iter().filter_map(|part| {
            let in_query = part.in_query.as_ref()?;
            Some([&*part.literal.octets, &*in_query.octets])
        })
    }

    /// Returns true if a `*` matters.
    pub(crate) fn has_wildcard(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns true if the pattern matches the path, in time in proportion to the path and without allocation.
    pub fn matches(&self, path: RequestPath<'_>) -> bool {
        match path.octets() {
            PathOctets::Plain(octets) => self.matches_octets(octets),
            PathOctets::Encoded(octets) => self.matches_octets(octets),
        }
    }

    /// As [`Self::matches`], for octets in normal form from the start of a path.
    pub(crate) fn matches_octets(&self, mut octets: impl NormalOctets) -> bool {
        if self.differs_in_query {
            return self.matches_watching(octets);
        }
        if !octets.skip_literal(&self.prefix) {
            return false;
        }
        if self.parts.is_empty() {
            return !self.anchored || octets.next().is_none();
        }
        self.each_part(|part, is_last| part.find(&mut octets, is_last))
    }

    #[cold]
    fn matches_watching(&self, octets: impl NormalOctets) -> bool {
        let mut octets = Watched::new(octets);
        octets.skip_literal(&self.prefix)
            && self.each_part(|part, is_last| part.find_watching(&mut octets, is_last))
    }

    /// Returns true if each part is found in turn; the last one of an anchored pattern at the end.
    fn each_part(&self, mut find: impl FnMut(&Part, bool) -> bool) -> bool {
        let Some((last, parts)) = self.parts.split_last() else { return true };
        parts.iter().all(|part| find(part, false)) && find(last, self.anchored)
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
mod tests;
