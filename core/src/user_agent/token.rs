//! The texts that can stand for an agent in a User-Agent.

use core::fmt;

/// The longest token that is accepted, in bytes.
pub(crate) const MAX_TOKEN: usize = 64;

/// The reason why a text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenError {
    /// It has no characters.
    Empty,
    /// It is longer than [`MAX_TOKEN`].
    TooLong,
    /// A character that is not printable ASCII, or a quote or a backslash.
    Character(char),
    /// A space before or after it.
    Space,
    /// No letter or digit: it would stand alone nearly everywhere.
    NoWord,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::TooLong => write!(f, "it is longer than {MAX_TOKEN} bytes"),
            Self::Character(char) => {
                write!(f, "{char:?} is not allowed in a token; use printable ASCII without quotes")
            }
            Self::Space => f.write_str("it begins or ends with a space; remove it"),
            Self::NoWord => f.write_str("it has no letter or digit"),
        }
    }
}

impl core::error::Error for TokenError {}

/// Returns true if `token` can stand for an agent: 1 to 64 bytes of printable ASCII without quotes and backslashes.
///
/// RFC 9309 allows letters, `-` and `_` only; agents in use have digits, dots and inner spaces, too.
pub fn check_token(token: &str) -> Result<(), TokenError> {
    if token.is_empty() {
        return Err(TokenError::Empty);
    }
    if token.len() > MAX_TOKEN {
        return Err(TokenError::TooLong);
    }
    if let Some(char) =
        token.chars().find(|char| !matches!(char, ' '..='~') || matches!(char, '"' | '\'' | '\\'))
    {
        return Err(TokenError::Character(char));
    }
    if token.starts_with(' ') || token.ends_with(' ') {
        return Err(TokenError::Space);
    }
    if !token.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return Err(TokenError::NoWord);
    }
    Ok(())
}
