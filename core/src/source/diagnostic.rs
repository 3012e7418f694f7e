//! Errors and warnings about a source (configuration, feed, policy): where, how bad, and what to do about it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::marker::PhantomData;

use serde::Serialize;

use crate::sort::sort_by_key;
use crate::source::cause::Cause;
use crate::source::position::Position;

/// The severity of a [`Diagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; nothing or only one entry is lost.
    Warning,
    /// The source can't be used (or, in lint, breaks its specification).
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that is wrong, shown as `file:line:column: error: message [JAFAR-11]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// True if the source is still usable.
    pub severity: Severity,
    /// The source, as the configuration names it.
    pub file: String,
    /// The place in the source, if it is about one place.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// The requirement that it stands for, such as `JAFAR-11`.
    pub requirement: Option<&'static str>,
    /// The error and the advice.
    pub message: String,
    /// The cause that others can have, too.
    #[serde(skip)]
    pub cause: Option<Cause>,
}

impl Diagnostic {
    /// An error that is about the source as a whole.
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: bounded(file.into(), Log::LONGEST_FILE),
            position: None,
            requirement: None,
            message: bounded(message.into(), Log::LONGEST),
            cause: None,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, file, message, .. } = self;
        let mut f = OneLine(f);
        f.write_str(file)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {severity}: {message}")?;
        match self.requirement {
            Some(id) => write!(f, " [{id}]"),
            None => Ok(()),
        }
    }
}

/// Escapes control characters: what a source says can't end a line of a log, nor change how a terminal shows it.
struct OneLine<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| match character.is_control() {
            true => write!(self.0, "{}", character.escape_debug()),
            false => self.0.write_char(character),
        })
    }
}

/// The strictness with which a source is read: [`Load`], [`Lint`] or [`LenientLint`].
///
/// It is a type, so that a program that only loads has no text that only lint says.
pub trait Strictness: Copy + fmt::Debug + sealed::Sealed {
    /// True if departures from the specification are reported that cost nothing on loading.
    const IS_LINT: bool;

    /// True if an entry that is lost is a warning, and not an error.
    const IS_LENIENT: bool;
}

/// Lenient, for an edge that must not drop a feed for one bad entry: what can be used is used, each loss is a warning.
#[derive(Clone, Copy, Debug)]
pub struct Load;

/// Strict, for publishers: each departure from the specification is reported as an error.
#[derive(Clone, Copy, Debug)]
pub struct Lint;

/// For publishers: each departure from the specification is reported as a warning, and an error means that the source is
/// unusable.
#[derive(Clone, Copy, Debug)]
pub struct LenientLint;

impl Strictness for Load {
    const IS_LINT: bool = false;
    const IS_LENIENT: bool = true;
}

impl Strictness for Lint {
    const IS_LINT: bool = true;
    const IS_LENIENT: bool = false;
}

impl Strictness for LenientLint {
    const IS_LINT: bool = true;
    const IS_LENIENT: bool = true;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Load {}
    impl Sealed for super::Lint {}
    impl Sealed for super::LenientLint {}
}

/// Collects the diagnostics of one source.
///
/// At most 100 of each severity are kept, so that a hostile source can't fill the memory or the log,
/// and warnings can't hide the error that makes it unusable; all are counted. A message of more than 1000 characters,
/// because it repeats what the source says, is cut in its middle, and so is the name of a source that is longer than any
/// file's.
///
/// A message is formatted only where it is kept. What only lint says costs nothing on loading if it is given as
/// `format_args!`.
///
/// ```
/// use crawlpike_core::Locator;
/// use crawlpike_core::internals::{Diagnostics, Load};
///
/// let mut diagnostics = Diagnostics::new("feeds/a.json", Load);
/// let position = Locator::new(b"{\n  oops").position(4);
/// diagnostics.lost(position, "JAFAR-11", "not a prefix: oops");
/// assert!(!diagnostics.has_errors());
/// assert_eq!(diagnostics.items()[0].to_string(), "feeds/a.json:2:3: warning: not a prefix: oops [JAFAR-11]");
/// ```
#[derive(Clone, Debug)]
pub struct Diagnostics<S = Load> {
    log: Log,
    strictness: PhantomData<S>,
}

/// The diagnostics of one source, however strictly it is read.
#[derive(Clone, Debug)]
struct Log {
    file: String,
    items: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Log {
    /// The number of diagnostics of one source that are kept with their text.
    const KEPT: usize = 100;

    /// The largest number of characters of a message.
    const LONGEST: usize = 1000;

    /// The largest number of characters of the name of a source: as many as a path has bytes.
    const LONGEST_FILE: usize = 4096;

    fn push(
        &mut self,
        severity: Severity,
        position: Option<Position>,
        requirement: Option<&'static str>,
        message: &dyn fmt::Display,
        cause: Option<Cause>,
    ) {
        let alike = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *alike += 1;
        if *alike <= Log::KEPT {
            let (file, message) = (self.file.clone(), bounded(message.to_string(), Self::LONGEST));
            self.items.push(Diagnostic { severity, file, position, requirement, message, cause });
        }
    }

    /// A source that has more to be said of than is kept must not pass for one that has no more.
    fn not_shown(&self) -> Option<Diagnostic> {
        let errors = self.errors.saturating_sub(Log::KEPT);
        let warnings = self.warnings.saturating_sub(Log::KEPT);
        let severity = if errors > 0 { Severity::Error } else { Severity::Warning };
        let message = format!("not shown: errors {errors}, warnings {warnings}");
        (errors + warnings > 0)
            .then(|| Diagnostic { severity, ..Diagnostic::error(self.file.as_str(), message) })
    }
}

impl<S: Strictness> Diagnostics<S> {
    /// A collector for the source that the user knows as `file`.
    pub fn new(file: impl Into<String>, _: S) -> Self {
        let file = bounded(file.into(), Log::LONGEST_FILE);
        let log = Log { file, items: Vec::new(), errors: 0, warnings: 0 };
        Self { log, strictness: PhantomData }
    }

    const SEVERITY_OF_LOSSES: Severity = if S::IS_LENIENT { Severity::Warning } else { Severity::Error };

    /// Returns true if an entry that is lost is a warning, and not an error.
    pub(crate) fn loses_leniently(&self) -> bool {
        S::IS_LENIENT
    }

    /// Returns true if the source is read to be checked, not to be used.
    pub fn is_lint(&self) -> bool {
        S::IS_LINT
    }

    /// The source is unusable.
    pub fn error(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl fmt::Display,
    ) {
        self.log.push(Severity::Error, position.into(), requirement.into(), &message, None);
    }

    /// The source is usable, but its owner should know.
    pub fn warning(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl fmt::Display,
    ) {
        self.log.push(Severity::Warning, position.into(), requirement.into(), &message, None);
    }

    /// As [`Self::warning`], if many warnings can have this cause.
    pub(crate) fn warning_because(
        &mut self,
        cause: Option<Cause>,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl fmt::Display,
    ) {
        self.log.push(Severity::Warning, position.into(), requirement.into(), &message, cause);
    }

    /// One entry is ignored: a warning on loading, an error in lint.
    pub fn lost(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl fmt::Display,
    ) {
        self.log.push(Self::SEVERITY_OF_LOSSES, position.into(), requirement.into(), &message, None);
    }

    /// Breaks the specification, but nothing is lost: reported in lint only, as an error unless it is lenient.
    #[inline]
    pub fn lint_error(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl fmt::Display,
    ) {
        if S::IS_LINT {
            self.log.push(Self::SEVERITY_OF_LOSSES, position.into(), requirement.into(), &message, None);
        }
    }

    /// Allowed, but unwise: reported in lint only, as a warning.
    #[inline]
    pub fn lint_warning(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl fmt::Display,
    ) {
        if S::IS_LINT {
            self.warning(position, requirement, message);
        }
    }

    /// Returns true if one more error would be kept with its text.
    pub(crate) fn keeps_errors(&self) -> bool {
        self.log.errors < Log::KEPT
    }

    /// Takes over the diagnostics of a part of this source.
    pub(crate) fn absorb<T>(&mut self, part: Diagnostics<T>) {
        let Log { items, errors, warnings, .. } = part.log;
        let (known_errors, known_warnings) = (self.log.errors, self.log.warnings);
        for Diagnostic { severity, position, requirement, message, cause, .. } in items {
            self.log.push(severity, position, requirement, &message, cause);
        }
        // Those that the part did not keep count, too.
        self.log.errors = known_errors + errors;
        self.log.warnings = known_warnings + warnings;
    }

    /// The diagnostics that were kept, in the order in which they were found.
    pub fn items(&self) -> &[Diagnostic] {
        &self.log.items
    }

    /// The diagnostics that were kept, in the order in which they were found, and a last one that counts the others.
    pub fn into_items(mut self) -> Vec<Diagnostic> {
        self.log.items.extend(self.log.not_shown());
        self.log.items
    }

    /// The same in the order of their places, as somebody mends them.
    pub fn into_items_by_position(mut self) -> Vec<Diagnostic> {
        sort_by_key(&mut self.log.items, |item| item.position);
        self.into_items()
    }

    /// The number of errors, kept or not.
    pub fn errors(&self) -> usize {
        self.log.errors
    }

    /// The number of warnings, kept or not.
    pub fn warnings(&self) -> usize {
        self.log.warnings
    }

    /// Returns true if the source is unusable (on loading) or does not conform (in lint).
    pub fn has_errors(&self) -> bool {
        self.log.errors > 0
    }
}

/// A text of at most `longest` characters: the start and the end of a longer one, because the end of a message says what
/// to do.
fn bounded(text: String, longest: usize) -> String {
    if text.chars().nth(longest).is_none() {
        return text;
    }
    let from_end = longest / 4;
    let start: String = text.chars().take(longest - from_end - 1).collect();
    let end = text.char_indices().nth_back(from_end - 1).and_then(|(at, _)| text.get(at..));
    format!("{start}…{}", end.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_in_the_middle() {
        let message = |length: usize| {
            let mut diagnostics = Diagnostics::new("f".repeat(length), Load);
            diagnostics.error(None, None, format!("unknown key `{}`: remove it", "ż".repeat(length)));
            assert_eq!(diagnostics.items()[0].file.chars().count(), length.min(Log::LONGEST_FILE));
            diagnostics.items()[0].message.clone()
        };
        let around = "unknown key ``: remove it".len();
        let single = Diagnostic::error("f".repeat(1_000_000), "m".repeat(1_000_000)).to_string();
        assert!(single.chars().count() < Log::LONGEST_FILE + Log::LONGEST + 20);
        assert!(!message(Log::LONGEST - around).contains('…'));
        for length in [Log::LONGEST - around + 1, 1_000_000] {
            let cut = message(length);
            assert_eq!(cut.chars().count(), Log::LONGEST);
            assert!(cut.starts_with("unknown key `żż") && cut.ends_with("żż`: remove it"), "{cut}");
        }
    }

    #[test]
    fn what_is_lost_is_a_warning_for_an_edge_and_an_error_for_a_publisher() {
        fn severity(strictness: impl Strictness) -> (usize, usize) {
            let mut diagnostics = Diagnostics::new("f", strictness);
            diagnostics.lost(None, None, "m");
            diagnostics.lint_error(None, None, "n");
            (diagnostics.errors(), diagnostics.warnings())
        }
        assert_eq!(severity(Load), (0, 1));
        assert_eq!(severity(Lint), (2, 0));
        assert_eq!(severity(LenientLint), (0, 2));
    }

    #[test]
    fn a_flood_is_counted_but_not_kept() {
        let mut diagnostics = Diagnostics::new("f", Load);
        for _ in 0..1000 {
            diagnostics.lost(Position { line: 1, column: 2 }, "GEO-4", "m");
        }
        assert_eq!((diagnostics.items().len(), diagnostics.warnings()), (Log::KEPT, 1000));
        assert_eq!(diagnostics.items()[0].to_string(), "f:1:2: warning: m [GEO-4]");
    }
}
