//! Text from a source, as messages show it.

use core::fmt::{self, Write};

/// A text from a source: in quotes, control characters escaped, cut after 60 characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a>(pub &'a str);

/// As [`Quoted`], for bytes of which some may not be UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotedBytes<'a>(pub &'a [u8]);

/// An argument of a command, quoted where a shell would change it.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a>(pub &'a str);

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
        match !self.0.is_empty() && self.0.bytes().all(is_plain) {
            true => f.write_str(self.0),
            false => write!(f, "'{}'", self.0.replace('\'', "'\\''")),
        }
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        QuotedBytes(self.0.as_bytes()).fmt(f)
    }
}

impl fmt::Display for QuotedBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 60;
        let characters = self.0.utf8_chunks().flat_map(|chunk| {
            let invalid = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
            chunk.valid().chars().chain(invalid)
        });
        f.write_char('"')?;
        for character in characters.clone().take(SHOWN) {
            write!(f, "{}", character.escape_debug())?;
        }
        f.write_str(if characters.clone().nth(SHOWN).is_some() { "…\"" } else { "\"" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn quoted_texts_are_short_and_printable() {
        assert_eq!(Quoted("a\nb").to_string(), r#""a\nb""#);
        assert_eq!(Quoted(&"x".repeat(1_000_000)).to_string().chars().count(), 63);
        assert_eq!(
            QuotedBytes(b"a\x1b[31m\xff\xfe\xc5b").to_string(),
            "\"a\\u{1b}[31m\u{fffd}\u{fffd}\u{fffd}b\""
        );
    }
}
