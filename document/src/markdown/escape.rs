//! Text that must not become markup.

use crate::text::is_invisible;

/// The context that text is written into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Into {
    /// A paragraph, a heading, a list.
    Block,
    /// A cell of a table.
    Cell,
}

/// Bytes at which text may need a change: those that can be markup, and the first ones of characters that are left out.
const SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let bytes = b"\\`*_[]<&~|\x7f\xc2\xd8\xe1\xe2\xef\xf3";
    let mut at = 0;
    while at < 0x20 {
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            special[at] = true;
        }
        at += 1;
    }
    at = 0;
    while at < bytes.len() {
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            special[bytes[at] as usize] = true;
        }
        at += 1;
    }
    special
};

/// Writes text so that it reads as itself. Blanks of all sorts become spaces.
pub(super) fn push(out: &mut String, text: &str, into: Into) {
    let bytes = text.as_bytes();
    let is_special = |byte: &u8| SPECIAL.get(usize::from(*byte)).copied().unwrap_or(true);
    let mut done = 0;
    while let Some(found) = bytes.get(done..).and_then(|rest| rest.iter().position(is_special)) {
        let at = done + found;
        out.push_str(text.get(done..at).unwrap_or_default());
        let rest = text.get(at..).unwrap_or_default();
        let Some(character) = rest.chars().next() else { return };
        let after = rest.get(character.len_utf8()..).unwrap_or_default();
        match character {
            '\\' | '`' | '*' | '[' | ']' => escaped(out, character),
            '_' => {
                // Within a word it is not markup.
                let is_in_word = out.chars().next_back().is_some_and(char::is_alphanumeric)
                    && after.chars().next().is_some_and(char::is_alphanumeric);
                if is_in_word { out.push('_') } else { escaped(out, '_') }
            }
            '<' if may_begin(after, |c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')) => {
                escaped(out, '<');
            }
            '&' if may_begin(after, |c| c.is_ascii_alphanumeric() || c == '#') => escaped(out, '&'),
            '~' if after.starts_with('~') || out.ends_with(|c: char| !c.is_whitespace()) => escaped(out, '~'),
            '|' if into == Into::Cell => escaped(out, '|'),
            '\n' | '\t' | '\r' | '\u{c}' | '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{202f}' => {
                out.push(' ');
            }
            _ if is_invisible(character) => {}
            _ => out.push(character),
        }
        done = at + character.len_utf8();
    }
    out.push_str(text.get(done..).unwrap_or_default());
}

/// Returns true if the next character is one of some, or comes with what is written next.
fn may_begin(after: &str, is_one: impl Fn(char) -> bool) -> bool {
    after.chars().find(|c| !is_invisible(*c)).is_none_or(is_one)
}

fn escaped(out: &mut String, character: char) {
    out.push('\\');
    out.push(character);
}

/// Writes the lines of a block so that none starts as markup does.
pub(super) fn line_start(line: &str, out: &mut String) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = |at: usize| line.get(at..).unwrap_or_default();
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let is_run_of = |c: char| line.trim_end().chars().all(|other| other == c || other == ' ');
    let needs_escape = match line.chars().next() {
        Some('#') => ends(line.trim_start_matches('#')),
        Some('>' | '|') => true,
        Some('-') => ends(after(1)) || line.chars().all(|c| matches!(c, '-' | ' ' | '|' | ':')),
        Some('+') => ends(after(1)) || is_run_of('+'),
        Some('=') => is_run_of('='),
        Some(':') => line.starts_with(":-") || line.starts_with(": "),
        _ => false,
    };
    if needs_escape {
        out.push('\\');
        out.push_str(line);
    } else if (1..=9).contains(&digits) && after(digits).starts_with(['.', ')']) && ends(after(digits + 1)) {
        out.push_str(line.get(..digits).unwrap_or_default());
        out.push('\\');
        out.push_str(after(digits));
    } else {
        out.push_str(line);
    }
}
