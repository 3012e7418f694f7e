//! Declarations: names, values and `!important`, with escapes and comments read as browsers read them.

use super::changes::Changes;
use super::look::Look;

/// The declarations of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Style {
    pub(crate) usual: Look,
    pub(crate) important: Look,
}

/// The bytes of a declaration that are read; what hides is shorter.
const LONGEST: usize = 512;

impl Style {
    /// Reads declarations: the value of a `style` attribute, or what is between the braces of a rule.
    pub(crate) fn of(text: &str) -> Self {
        let mut style = Self::default();
        let mut rest = text;
        let mut declaration = String::new();
        loop {
            rest = rest.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
            if rest.is_empty() {
                break;
            }
            let Declaration { name, value, is_important } = match Declaration::plain(rest) {
                Some((plain, after)) => {
                    rest = after;
                    plain
                }
                None => {
                    declaration.clear();
                    let after = read(rest.as_bytes(), &mut declaration).len();
                    rest = rest.get(rest.len() - after..).unwrap_or_default();
                    match Declaration::of(&declaration) {
                        Some(read) => read,
                        None => continue,
                    }
                }
            };
            let look = if is_important { &mut style.important } else { &mut style.usual };
            look.take(name, value);
        }
        Self { usual: style.usual.settled(), important: style.important.settled() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.usual.is_empty() && self.important.is_empty()
    }

    /// Adds declarations that count more.
    pub(crate) fn add(&mut self, other: &Self) {
        self.usual.add(&other.usual);
        self.important.add(&other.important);
    }

    /// The result of all declarations.
    pub(crate) fn look(&self) -> Look {
        self.look_with(Changes::default())
    }

    /// The same where rules that count at times may declare other values.
    pub(crate) fn look_with(&self, changes: Changes) -> Look {
        let mut look = self.usual.with_shown(changes.usual.with(changes.important));
        look.add(&self.important.with_shown(changes.important));
        look.with_image()
    }
}

/// A declaration in lower case.
#[derive(Clone, Copy, Debug)]
struct Declaration<'t> {
    name: &'t str,
    value: &'t str,
    is_important: bool,
}

impl<'t> Declaration<'t> {
    /// A declaration as it is read; none if browsers pass over it.
    fn of(text: &'t str) -> Option<Self> {
        let (name, value) = text.split_once(':')?;
        let (value, is_important) = match value.split_once('!') {
            Some((value, mark)) if mark.trim_ascii() == IMPORTANT => (value, true),
            Some(_) => return None,
            None => (value, false),
        };
        Some(Self { name: name.trim_ascii(), value: value.trim_ascii(), is_important })
    }

    /// The next declaration as it is written, if it has only lower case, no escapes, comments and quotes, and no brackets in
    /// others, and what follows it.
    fn plain(text: &'t str) -> Option<(Self, &'t str)> {
        let (name, after) = text.split_at_checked(length_of_name(text.as_bytes()))?;
        let from = after.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        let bytes = from.as_bytes();
        let mut length = length_of_plain(bytes);
        while let Some([b'(', arguments @ ..]) = bytes.get(length..) {
            let inside = length_of_plain(arguments);
            let after = arguments.get(inside..)?.strip_prefix(b")")?;
            length += inside + 2 + length_of_plain(after);
        }
        let (value, mut rest) = from.split_at_checked(length).filter(|_| name.len() + length < LONGEST)?;
        let important = rest.strip_prefix('!').map(|mark| mark.trim_ascii_start().strip_prefix(IMPORTANT));
        if let Some(after) = important {
            rest = after?.trim_ascii_start();
        }
        let after = match rest.as_bytes().first() {
            Some(b';') => rest.get(1..)?,
            Some(_) => return None,
            None => rest,
        };
        Some((Self { name, value: value.trim_ascii_end(), is_important: important.is_some() }, after))
    }
}

const IMPORTANT: &str = "important";

/// The bytes at the start of a text that are in declarations as they are: words, with one space between them.
fn length_of_plain(text: &[u8]) -> usize {
    let mut length = length_of_word(text);
    while let Some([b' ', after @ ..]) = text.get(length..)
        && !after.starts_with(b" ")
    {
        length += 1 + length_of_word(after);
    }
    length
}

fn length_of_name(text: &[u8]) -> usize {
    text.iter().position(|byte| !matches!(byte, b'a'..=b'z' | b'-')).unwrap_or(text.len())
}

fn length_of_word(text: &[u8]) -> usize {
    let is_in_word = |byte: u8| IS_IN_WORD.get(usize::from(byte)).copied().unwrap_or_default();
    text.iter().position(|byte| !is_in_word(*byte)).unwrap_or(text.len())
}

/// The bytes that are in the words of declarations as they are.
const IS_IN_WORD: [bool; 256] = {
    let mut is_in_word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            is_in_word[byte] = matches!(byte as u8, b'#'..=b'&' | b'*'..=b'.' | b'0'..=b':' | b'<'..=b'@' | b'^'..=b'z' | b'|' | b'~');
        }
        byte += 1;
    }
    is_in_word
};

/// Writes the next declaration in lower case, without comments and with one space for each run of blanks; gives what follows.
fn read<'t>(text: &'t [u8], out: &mut String) -> &'t [u8] {
    let mut rest = text;
    // The open brackets and the quote that a semicolon does not end.
    let (mut depth, mut quote) = (0_usize, None);
    loop {
        let length = match quote {
            Some(quote) => memchr::memchr2(quote, b'\\', rest).unwrap_or(rest.len()),
            None => length_of_word(rest),
        };
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        if quote.is_none() {
            let word = word.get(..LONGEST.saturating_sub(out.len())).unwrap_or(word);
            out.push_str(std::str::from_utf8(word).unwrap_or_default());
        }
        let Some((byte, after)) = after.split_first() else { return after };
        rest = after;
        let character = match *byte {
            b'\\' => {
                let (character, after) = escaped(rest);
                rest = after;
                character
            }
            other if Some(other) == quote => {
                quote = None;
                '"'
            }
            other @ (b'"' | b'\'') => {
                quote = Some(other);
                continue;
            }
            b'/' if rest.first() == Some(&b'*') => {
                rest = after_comment(rest);
                ' '
            }
            b'(' if begins_address(out.as_bytes(), rest) => {
                rest = after_address(rest);
                ' '
            }
            b';' if depth == 0 => return rest,
            b'}' if depth == 0 => return rest,
            other @ (b'(' | b'[' | b'{') => {
                depth += 1;
                char::from(other)
            }
            other @ (b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                // A nested rule ends like a declaration.
                if other == b'}' && depth == 0 {
                    out.clear();
                    return rest;
                }
                char::from(other)
            }
            other if other.is_ascii_whitespace() => ' ',
            other if other.is_ascii() => char::from(other.to_ascii_lowercase()),
            _ => '\u{fffd}',
        };
        let is_blank_again = character == ' ' && (out.is_empty() || out.ends_with(' '));
        if !is_blank_again && out.len() < LONGEST {
            out.push(character);
        }
    }
}

/// Returns true if a bracket between two texts begins an address without quotes, in which browsers read no strings and no comments.
pub(super) fn begins_address(before: &[u8], after: &[u8]) -> bool {
    let is_name =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'\\') || !byte.is_ascii();
    before.split_last_chunk().is_some_and(|(before, name): (_, &[u8; 3])| {
        name.eq_ignore_ascii_case(b"url") && !before.last().is_some_and(is_name)
    }) && !matches!(after.trim_ascii_start().first(), Some(b'"' | b'\''))
}

/// The text after an address without quotes.
pub(super) fn after_address(text: &[u8]) -> &[u8] {
    let mut rest = text;
    loop {
        match memchr::memchr2(b')', b'\\', rest).and_then(|at| rest.get(at..)) {
            Some([b')', after @ ..]) => return after,
            Some([_, _, after @ ..]) => rest = after,
            _ => return &[],
        }
    }
}

/// The text after a comment whose first slash is read.
pub(super) fn after_comment(text: &[u8]) -> &[u8] {
    let inside = text.get(1..).unwrap_or_default();
    memchr::memmem::find(inside, b"*/").and_then(|end| inside.get(end + 2..)).unwrap_or_default()
}

/// The character of an escape whose backslash is read, if it can be part of a name, and the text after it.
pub(super) fn escaped(text: &[u8]) -> (char, &[u8]) {
    const MOST_DIGITS: usize = 6;
    let digits = text.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (code, mut rest) = text.split_at_checked(digits).unwrap_or_default();
    let character = if digits == 0 {
        let (first, after) = text.split_first().unwrap_or((&b' ', &[]));
        rest = after;
        char::from(*first)
    } else {
        // A blank ends the digits.
        rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let code = std::str::from_utf8(code).ok().and_then(|code| u32::from_str_radix(code, 16).ok());
        code.and_then(char::from_u32).unwrap_or('\u{fffd}')
    };
    // An escaped `;` or `:` is part of a name, and no known name has one.
    let is_plain = character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    (if is_plain { character.to_ascii_lowercase() } else { '\u{fffd}' }, rest)
}
