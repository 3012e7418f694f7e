//! A run of text with its markup: emphasis, code, links, images.

use super::escape::{self, Into};
use crate::text::is_invisible;

/// Markup around a part of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Emphasis,
    Deleted,
    /// A link to an address, ready to be written.
    Link(String),
}

impl Mark {
    fn opening(&self) -> &str {
        match self {
            Self::Strong => "**",
            Self::Emphasis => "*",
            Self::Deleted => "~~",
            Self::Link(_) => "[",
        }
    }

    fn close(&self, out: &mut String) {
        match self {
            Self::Link(address) => {
                out.push_str("](");
                out.push_str(address);
                out.push(')');
            }
            other => out.push_str(other.opening()),
        }
    }
}

/// Markup that has begun, and where its opening stands once text has come.
#[derive(Clone, Debug)]
struct Begun {
    mark: Mark,
    opened_at: Option<usize>,
    /// Markup of this sort is open already, or cannot stand here: it is not written.
    is_void: bool,
}

/// The places of marks of emphasis.
#[derive(Clone, Copy, Debug)]
struct Frail {
    opened_at: usize,
    closed_at: usize,
    /// The bytes of each.
    length: usize,
    is_deleted: bool,
}

/// The end of a line within a run.
const LINE_BREAK: &str = "\\\n";

/// The run that is being written.
#[derive(Debug)]
pub(super) struct Line {
    text: String,
    begun: Vec<Begun>,
    pub(super) into: Into,
    /// The marks of emphasis that just ended, from the innermost, if a letter cannot follow: their last character is punctuation.
    frail: Vec<Frail>,
    /// The places before and behind the marks that ended last.
    ended: (usize, usize),
    /// The same text without markup, while somebody needs it.
    plain: String,
    captures: usize,
}

impl Line {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            begun: Vec::new(),
            into: Into::Block,
            frail: Vec::new(),
            ended: (0, 0),
            plain: String::new(),
            captures: 0,
        }
    }

    /// The bytes of the run, with those that the end of an open link needs in it and in the list of links.
    pub(super) fn len_with_ends(&self) -> usize {
        let is_link = |begun: &Begun| match &begun.mark {
            Mark::Link(address) => Some(2 * address.len() + self.plain.len()),
            _ => None,
        };
        self.text.len() + self.begun.iter().find_map(is_link).unwrap_or(0)
    }

    /// Begins to keep text without markup; gives the place.
    pub(super) fn begin_capture(&mut self) -> usize {
        self.captures += 1;
        self.plain.len()
    }

    /// The text without markup since a place.
    pub(super) fn end_capture(&mut self, from: usize) -> String {
        let text = self.plain.get(from..).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.captures = self.captures.saturating_sub(1);
        if self.captures == 0 {
            self.plain.clear();
        }
        text
    }

    /// A word ends for those who keep text without markup.
    pub(super) fn part_captures(&mut self) {
        if self.captures > 0 {
            self.plain.push(' ');
        }
    }

    pub(super) fn begin(&mut self, mark: Mark) {
        let is_link = |mark: &Mark| matches!(mark, Mark::Link(_));
        let is_void =
            self.begun.iter().any(|begun| begun.mark == mark || is_link(&mark) && is_link(&begun.mark));
        self.begun.push(Begun { mark, opened_at: None, is_void });
    }

    pub(super) fn end(&mut self) {
        if let Some(begun) = self.begun.pop() {
            self.close(&begun);
        }
    }

    /// The link that text here is in.
    pub(super) fn is_in_link(&self) -> bool {
        self.begun.iter().any(|begun| matches!(begun.mark, Mark::Link(_)))
    }

    fn close(&mut self, begun: &Begun) {
        let Some(opened_at) = begun.opened_at else { return };
        let end = self.end_without_blanks();
        let blanks = self.text.split_off(end);
        let is_frail = !matches!(begun.mark, Mark::Link(_))
            && blanks.is_empty()
            && self.text.chars().next_back().is_some_and(is_punctuation);
        let closed_at = self.text.len();
        begun.mark.close(&mut self.text);
        let (end, after_marks) = self.ended;
        self.ended = (if after_marks == closed_at { end } else { closed_at }, self.text.len());
        let length = begun.mark.opening().len();
        self.frail.retain(|inner| is_frail && inner.closed_at + inner.length == closed_at);
        if is_frail {
            self.frail.push(Frail { opened_at, closed_at, length, is_deleted: begun.mark == Mark::Deleted });
        }
        self.text.push_str(&blanks);
    }

    /// The end of the run without the blanks and line breaks there.
    fn end_without_blanks(&self) -> usize {
        let mut rest = self.text.as_str();
        loop {
            let shorter = rest.trim_end_matches(' ');
            let shorter = shorter.strip_suffix(LINE_BREAK).unwrap_or(shorter);
            if shorter.len() == rest.len() {
                return rest.len();
            }
            rest = shorter;
        }
    }

    /// Mends marks that just ended, as a letter follows: `**(a)**b` would not be read as emphasis. Without its marks, text
    /// that was taken out would count.
    fn mend(&mut self) {
        let mut removed = 0;
        while let Some(frail) = self.frail.pop() {
            if frail.is_deleted {
                self.frail.clear();
                self.text.push(' ');
                return;
            }
            for at in [frail.closed_at, frail.opened_at] {
                let at = at.saturating_sub(removed);
                self.text.replace_range(at..at + frail.length, "");
            }
            removed += frail.length;
        }
        if self.text.ends_with("~~") {
            self.text.push(' ');
        }
    }

    /// Opens what has begun, as text follows.
    fn open(&mut self, first: char) {
        if is_of_word(first) && !self.frail.is_empty() {
            self.mend();
        }
        self.frail.clear();
        self.ended = (0, 0);
        let mut before = self.text.chars().next_back();
        let is_new_link = |begun: &Begun| {
            begun.opened_at.is_none() && !begun.is_void && matches!(begun.mark, Mark::Link(_))
        };
        let link = self.begun.iter().position(is_new_link);
        for (at, begun) in self.begun.iter_mut().enumerate() {
            if begun.opened_at.is_some() || begun.is_void {
                continue;
            }
            // The first sign of a link stands before its text.
            let first = if link.is_some_and(|link| link > at) { '[' } else { first };
            // `a**(b)**` would not be read as emphasis, nor would marks that run into each other.
            let is_unreadable = before.is_some_and(|before| {
                matches!(before, '*' | '~') || is_punctuation(first) && is_of_word(before)
            });
            if begun.mark == Mark::Deleted && is_unreadable {
                self.text.push(' ');
            }
            // `![a](b)` would be an image.
            let is_link = matches!(begun.mark, Mark::Link(_));
            if is_link && self.text.ends_with('!') {
                self.text.truncate(self.text.len() - 1);
                self.text.push_str("\\!");
            }
            if is_link || begun.mark == Mark::Deleted || !is_unreadable {
                begun.opened_at = Some(self.text.len());
                self.text.push_str(begun.mark.opening());
                // Marks directly after others are readable.
                before = None;
            }
        }
    }

    /// Adds text; a blank at its start or end parts words.
    pub(super) fn push(&mut self, text: &str) {
        if self.captures > 0 {
            self.plain.extend(text.chars().filter(|c| !is_invisible(*c)));
        }
        let is_blank = |c: char| c.is_whitespace();
        let rest = text.trim_start_matches(is_blank);
        if rest.len() < text.len() {
            self.blank();
        }
        let Some(first) = rest.chars().find(|c| !is_invisible(*c)) else { return };
        self.open(first);
        let body = rest.trim_end_matches(is_blank);
        escape::push(&mut self.text, body, self.into);
        if body.len() < rest.len() {
            self.blank();
        }
    }

    /// Adds a blank between words.
    pub(super) fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
            self.frail.clear();
        }
    }

    /// Parts an item from the next one, unless it ends with a mark.
    pub(super) fn end_item(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        if self.text.get(..end).is_some_and(|text| text.ends_with(char::is_alphanumeric)) {
            self.text.truncate(end);
            self.text.push_str("; ");
        }
    }

    /// Adds a line break, which in a cell is a blank.
    pub(super) fn line_break(&mut self) {
        self.part_captures();
        if self.into == Into::Cell {
            self.blank();
        } else if !self.text.trim_end().is_empty() && !self.text.ends_with('\n') {
            let end = self.text.trim_end_matches(' ').len();
            self.text.truncate(end);
            self.text.push_str(LINE_BREAK);
            self.frail.clear();
        }
    }

    /// Adds markup that is complete.
    pub(super) fn push_markup(&mut self, markup: &str) {
        if let Some(first) = markup.chars().next() {
            self.open(first);
            self.text.push_str(markup);
        }
    }

    /// Adds code.
    pub(super) fn push_code(&mut self, code: &str) {
        if self.captures > 0 {
            self.plain.push_str(code);
        }
        let is_visible = |c: &char| !is_invisible(*c);
        let mut text = String::with_capacity(code.len());
        for word in code.split_whitespace() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.extend(word.chars().filter(is_visible));
        }
        if code.starts_with(char::is_whitespace) {
            self.blank();
        }
        if text.is_empty() {
            return;
        }
        if self.into == Into::Cell {
            text = text.replace('|', "\\|");
        }
        let fence = "`".repeat(longest_run(&text, '`') + 1);
        // Code next to code would run into it.
        if self.text.ends_with('`') {
            self.text.push(' ');
        }
        let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        self.open('`');
        for part in [&*fence, pad, &*text, pad, &*fence] {
            self.text.push_str(part);
        }
        if code.ends_with(char::is_whitespace) {
            self.blank();
        }
    }

    /// The run, without the marks that end there.
    pub(super) fn before_marks(&self) -> &str {
        let (end, after_marks) = self.ended;
        self.text.get(..end).filter(|_| after_marks == self.text.len()).unwrap_or(&self.text)
    }

    /// The character before the number at the end of the run.
    pub(super) fn before_number(&self) -> Option<char> {
        let number = |c: char| c.is_ascii_digit() || c == ',';
        let rest = self.text.trim_end_matches(number);
        rest.chars().next_back().filter(|_| rest.len() < self.text.len())
    }

    /// The last character of the run.
    pub(super) fn last(&self) -> Option<char> {
        self.text.chars().next_back()
    }

    /// Takes the run; what has begun goes on in the next one.
    pub(super) fn take(&mut self) -> String {
        for at in (0..self.begun.len()).rev() {
            if let Some(begun) = self.begun.get(at).cloned() {
                self.close(&begun);
            }
            if let Some(begun) = self.begun.get_mut(at) {
                begun.opened_at = None;
            }
        }
        self.frail.clear();
        self.ended = (0, 0);
        self.part_captures();
        let end = self.end_without_blanks();
        self.text.truncate(end);
        std::mem::take(&mut self.text)
    }
}

/// The length of the longest run of a character.
pub(super) fn longest_run(text: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in text.chars() {
        run = if character == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn is_punctuation(character: char) -> bool {
    !character.is_alphanumeric() && !character.is_whitespace() && !is_on_letter(character)
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || is_on_letter(character)
}

/// Returns true if a character is a part of the letter before it: an accent, a tone, a joiner.
fn is_on_letter(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{483}'..='\u{489}'
            | '\u{591}'..='\u{5bd}'
            | '\u{64b}'..='\u{65f}'
            | '\u{93c}'
            | '\u{94d}'
            | '\u{9cd}'
            | '\u{bcd}'
            | '\u{e31}'
            | '\u{e34}'..='\u{e3a}'
            | '\u{e47}'..='\u{e4e}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{200c}'..='\u{200d}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}
