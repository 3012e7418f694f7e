//! What is wrong with a source (configuration, feed, policy): where, how badly, and what to do about it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use serde::Serialize;

/// How much a [`Diagnostic`] matters.
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

/// A place in a text: line and column, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One thing that is wrong, shown as `file:line:column: error: message [JAFAR-11]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Whether the source is still usable.
    pub severity: Severity,
    /// The source, as the configuration names it.
    pub file: String,
    /// Where in the source, when it is about one place.
    #[serde(flatten)]
    pub position: Option<Position>,
    /// The requirement that it stands for, such as `JAFAR-11`.
    pub requirement: Option<&'static str>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Diagnostic {
    /// An error that is about the source as a whole.
    pub fn error(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: file.into(),
            position: None,
            requirement: None,
            message: message.into(),
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

/// Who reads the source: an edge that must not drop a feed for one bad entry, or a publisher who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Lenient: what can be used is used, each loss is a warning.
    Load,
    /// Strict: each departure from the specification is reported.
    Lint,
}

/// Collects the diagnostics of one source.
///
/// At most [`Diagnostics::KEPT`] of each severity are kept, so that a hostile source can't fill the memory or the log,
/// and warnings can't hide the error that makes it unusable; all are counted.
///
/// ```
/// use crawlward_core::diagnostic::{Diagnostics, Locator, Strictness};
///
/// let mut diagnostics = Diagnostics::new("feeds/a.json", Strictness::Load);
/// let position = Locator::new(b"{\n  oops").position(4);
/// diagnostics.lost(position, "JAFAR-11", "not a prefix: oops");
/// assert!(!diagnostics.has_errors());
/// assert_eq!(diagnostics.items()[0].to_string(), "feeds/a.json:2:3: warning: not a prefix: oops [JAFAR-11]");
/// ```
#[derive(Clone, Debug)]
pub struct Diagnostics {
    file: String,
    strictness: Strictness,
    items: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Diagnostics {
    /// How many diagnostics of one source are kept with their text.
    pub const KEPT: usize = 100;

    /// A collector for the source that the user knows as `file`.
    pub fn new(file: impl Into<String>, strictness: Strictness) -> Self {
        Self { file: file.into(), strictness, items: Vec::new(), errors: 0, warnings: 0 }
    }

    /// Whether the source is read to be used or to be checked.
    pub fn strictness(&self) -> Strictness {
        self.strictness
    }

    /// The source is unusable.
    pub fn error(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl Into<String>,
    ) {
        self.push(Severity::Error, position.into(), requirement.into(), message.into());
    }

    /// The source is usable, but its owner should know.
    pub fn warning(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl Into<String>,
    ) {
        self.push(Severity::Warning, position.into(), requirement.into(), message.into());
    }

    /// One entry is ignored: a warning on loading, an error in lint.
    pub fn lost(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl Into<String>,
    ) {
        let severity = match self.strictness {
            Strictness::Load => Severity::Warning,
            Strictness::Lint => Severity::Error,
        };
        self.push(severity, position.into(), requirement.into(), message.into());
    }

    /// Breaks the specification, but nothing is lost: reported in lint only, as an error.
    pub fn lint_error(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl Into<String>,
    ) {
        if self.strictness == Strictness::Lint {
            self.push(Severity::Error, position.into(), requirement.into(), message.into());
        }
    }

    /// Allowed, but unwise: reported in lint only, as a warning.
    pub fn lint_warning(
        &mut self,
        position: impl Into<Option<Position>>,
        requirement: impl Into<Option<&'static str>>,
        message: impl Into<String>,
    ) {
        if self.strictness == Strictness::Lint {
            self.push(Severity::Warning, position.into(), requirement.into(), message.into());
        }
    }

    fn push(
        &mut self,
        severity: Severity,
        position: Option<Position>,
        requirement: Option<&'static str>,
        message: String,
    ) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        let alike = if severity == Severity::Error { self.errors } else { self.warnings };
        if alike <= Self::KEPT {
            self.items.push(Diagnostic { severity, file: self.file.clone(), position, requirement, message });
        }
    }

    /// The diagnostics that were kept, in the order in which they were found.
    pub fn items(&self) -> &[Diagnostic] {
        &self.items
    }

    /// The diagnostics that were kept, in the order in which they were found, and a last one that counts the others.
    pub fn into_items(mut self) -> Vec<Diagnostic> {
        self.items.extend(self.not_shown());
        self.items
    }

    /// The same in the order of their places, as somebody mends them.
    pub fn into_items_by_position(mut self) -> Vec<Diagnostic> {
        self.items.sort_by_key(|item| item.position);
        self.into_items()
    }

    /// A source that has more to be said of than is kept must not pass for one that has no more.
    fn not_shown(&self) -> Option<Diagnostic> {
        let errors = self.errors.saturating_sub(Self::KEPT);
        let warnings = self.warnings.saturating_sub(Self::KEPT);
        (errors + warnings > 0).then(|| Diagnostic {
            severity: if errors > 0 { Severity::Error } else { Severity::Warning },
            file: self.file.clone(),
            position: None,
            requirement: None,
            message: format!("not shown: errors {errors}, warnings {warnings}"),
        })
    }

    /// How many errors there were, kept or not.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// How many warnings there were, kept or not.
    pub fn warnings(&self) -> usize {
        self.warnings
    }

    /// Whether the source is unusable (on loading) or does not conform (in lint).
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }
}

/// A text from a source as a message shows it: in quotes, control characters escaped, cut after 60 characters.
#[derive(Clone, Copy, Debug)]
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        f.write_char('"')?;
        for character in self.0.chars().take(SHOWN) {
            write!(f, "{}", character.escape_debug())?;
        }
        f.write_str(if self.0.chars().nth(SHOWN).is_some() { "…\"" } else { "\"" })
    }
}

/// Turns byte offsets of one text into positions.
///
/// Each call costs no more than the distance from the last one, so that offsets that rise, or nearly so, are found in
/// linear time over all calls, even where the text is one line of many megabytes.
#[derive(Clone, Debug)]
pub struct Locator<'a> {
    text: &'a [u8],
    /// Where the last call ended, as an offset and as a position.
    offset: usize,
    position: Position,
}

impl<'a> Locator<'a> {
    /// Starts at the first byte of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, offset: 0, position: Position { line: 1, column: 1 } }
    }

    /// The position of the byte at `offset`; past the end, that of the end.
    pub fn position(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let forward = offset >= self.offset;
        let between = if forward { self.offset..offset } else { offset..self.offset };
        let between = self.text.get(between).unwrap_or_default();
        let lines = count(between.iter().filter(|byte| **byte == b'\n'));
        let Position { line, column } = &mut self.position;
        *line = if forward { line.saturating_add(lines) } else { line.saturating_sub(lines) };
        if lines == 0 {
            let characters = characters(between);
            *column =
                if forward { column.saturating_add(characters) } else { column.saturating_sub(characters) };
        } else {
            let before = self.text.get(..offset).unwrap_or_default();
            let in_line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            *column = characters(in_line).saturating_add(1);
        }
        self.offset = offset;
        self.position
    }

    /// The position of `part`, a slice of this very text; `None` when it lies elsewhere in memory.
    pub fn position_of(&mut self, part: &[u8]) -> Option<Position> {
        let offset = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (offset <= self.text.len()).then(|| self.position(offset))
    }
}

fn characters(utf8: &[u8]) -> u32 {
    count(utf8.iter().filter(|byte| !is_utf8_continuation(**byte)))
}

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

fn is_utf8_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "a\nżółw x\n\nend";
        let mut locator = Locator::new(text.as_bytes());
        let at = |locator: &mut Locator<'_>, needle: &str| locator.position(text.find(needle).unwrap());
        assert_eq!(at(&mut locator, "a"), Position { line: 1, column: 1 });
        assert_eq!(at(&mut locator, "x"), Position { line: 2, column: 6 });
        assert_eq!(at(&mut locator, "end"), Position { line: 4, column: 1 });
        // Going back is allowed, only slower.
        assert_eq!(at(&mut locator, "ż"), Position { line: 2, column: 1 });
        assert_eq!(locator.position(10_000), Position { line: 4, column: 4 });
    }

    #[test]
    fn slices_of_the_text_are_located_and_others_are_not() {
        let text = alloc::vec![b'\n'; 8];
        let mut locator = Locator::new(&text);
        assert_eq!(locator.position_of(&text[3..4]), Some(Position { line: 4, column: 1 }));
        assert_eq!(Locator::new(&text[..2]).position_of(&text[5..]), None);
    }

    #[test]
    fn positions_do_not_depend_on_the_way_there() {
        let text = "ż2\n\n34567\n8ó".as_bytes();
        for from in 0..=text.len() {
            for to in 0..=text.len() {
                let mut locator = Locator::new(text);
                locator.position(from);
                assert_eq!(locator.position(to), Locator::new(text).position(to), "{from} to {to}");
            }
        }
        assert_eq!(Locator::new(text).position(8), Position { line: 3, column: 4 });
    }

    #[test]
    fn quoted_texts_are_short_and_printable() {
        assert_eq!(Quoted("a\nb").to_string(), r#""a\nb""#);
        assert_eq!(Quoted(&"x".repeat(1_000_000)).to_string().chars().count(), 63);
    }

    #[test]
    fn what_is_lost_is_a_warning_for_an_edge_and_an_error_for_a_publisher() {
        let severity = |strictness| {
            let mut diagnostics = Diagnostics::new("f", strictness);
            diagnostics.lost(None, None, "m");
            diagnostics.lint_error(None, None, "n");
            (diagnostics.errors(), diagnostics.warnings())
        };
        assert_eq!(severity(Strictness::Load), (0, 1));
        assert_eq!(severity(Strictness::Lint), (2, 0));
    }

    #[test]
    fn a_flood_is_counted_but_not_kept() {
        let mut diagnostics = Diagnostics::new("f", Strictness::Load);
        for _ in 0..1000 {
            diagnostics.lost(Position { line: 1, column: 2 }, "GEO-4", "m");
        }
        assert_eq!((diagnostics.items().len(), diagnostics.warnings()), (Diagnostics::KEPT, 1000));
        assert_eq!(diagnostics.items()[0].to_string(), "f:1:2: warning: m [GEO-4]");
    }
}
