//! Tokens, the words of HTTP.

/// Returns true if a byte may stand in a token (RFC 9110 5.6.2): a method, the name of a header, a purpose.
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
