//! Undoing what servers do to bytes that would break a line of a log.

use std::borrow::Cow;

use super::record::Text;

/// The bytes that nginx's `escape=default` (`\x22`), its `escape=json` and Envoy's JSON (`\"`, `\u0022`) stand for.
/// A backslash that begins nothing of the kind stays.
pub(crate) fn undo(text: &[u8]) -> Text<'_> {
    if memchr::memchr(b'\\', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) if hex(&[*high, *low]).is_some() => {
                bytes.extend(hex(&[*high, *low]).and_then(|code| u8::try_from(code).ok()));
                after
            }
            (b'\\', [b'u', after @ ..]) if code_unit(after).is_some() => {
                let (character, after) = character(after);
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                after
            }
            (b'\\', [short, after @ ..]) if unescaped(*short).is_some() => {
                bytes.extend(unescaped(*short));
                after
            }
            _ => {
                bytes.push(*first);
                after
            }
        };
    }
    Cow::Owned(bytes)
}

fn unescaped(short: u8) -> Option<u8> {
    match short {
        b'"' | b'\\' | b'/' => Some(short),
        b'b' => Some(8),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
}

fn code_unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((hex(digits)?, rest))
}

/// The character that one or two code units of UTF-16 stand for, behind `\u`.
fn character(text: &[u8]) -> (char, &[u8]) {
    let Some((high, rest)) = code_unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    let low = rest.strip_prefix(b"\\u").and_then(code_unit);
    if let (0xd800..0xdc00, Some((low @ 0xdc00..0xe000, rest))) = (high, low) {
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), rest);
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_nginx_and_of_json_are_undone() {
        for (text, expected) in [
            (&b"plain"[..], &b"plain"[..]),
            (br"a\x22b\x5Cc\xE9", b"a\"b\\c\xe9"),
            (br#"\"\\\/\b\f\n\r\t"#, b"\"\\/\x08\x0c\n\r\t"),
            (br"\u001b[2J\u00e9\ud83e\udd16", "\u{1b}[2J\u{e9}\u{1f916}".as_bytes()),
            (br"\ud83e\u0041\udd16", "\u{fffd}A\u{fffd}".as_bytes()),
            // Anything else stays as it is.
            (br"\xg0\x2\u12", br"\xg0\x2\u12"),
            (br"C:\Windows\", br"C:\Windows\"),
        ] {
            assert_eq!(undo(text), expected, "{}", String::from_utf8_lossy(text));
        }
    }
}
