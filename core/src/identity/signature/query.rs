//! One parameter of the query as a component (RFC 9421, 2.2.8): what `application/x-www-form-urlencoded` says of it, encoded again.

use super::base::NoBase;
use crate::http::structured::Write;

/// The most bytes of a query in which parameters are looked for.
const MOST_BYTES: usize = 8 << 10;

/// Writes the value of the only parameter with this name, which is encoded as [`encode`] does.
pub(super) fn write_parameter(query: &[u8], name: &[u8], to: &mut impl Write) -> Result<(), NoBase> {
    if query.len() > MOST_BYTES {
        return Err(NoBase::TooMuch);
    }
    let query = query.strip_prefix(b"?").unwrap_or(query);
    let mut found = None;
    for pair in query.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let end = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let (key, value) = pair.split_at_checked(end).unwrap_or_default();
        let mut rest = Some(name);
        encode(key, &mut |bytes: &[u8]| rest = rest.and_then(|rest| rest.strip_prefix(bytes)))?;
        // Verifiers differ in which of two counts, so neither is signed.
        if rest == Some(b"") && found.replace(value).is_some() {
            return Err(NoBase::Malformed);
        }
    }
    let value = found.ok_or(NoBase::Missing)?;
    encode(value.strip_prefix(b"=").unwrap_or(value), to)
}

/// Writes a name or a value of a query with its octets encoded in one way: all but letters, digits, `*`, `-`, `.` and `_`. What is
/// not UTF-8 is not supported: the standard would have it replaced.
pub(crate) fn encode(text: &[u8], to: &mut impl Write) -> Result<(), NoBase> {
    let mut octets = Octets(text);
    let mut character = [0; 4];
    while let Some(first) = octets.next() {
        let width = match first {
            0..=0x7f => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        let character = character.get_mut(..width).unwrap_or_default();
        character
            .iter_mut()
            .zip(core::iter::once(first).chain(&mut octets))
            .for_each(|(to, from)| *to = from);
        if core::str::from_utf8(character).is_err() {
            return Err(NoBase::Unsupported);
        }
        for octet in &*character {
            match octet {
                b'*' | b'-' | b'.' | b'_' => to.write(&[*octet]),
                octet if octet.is_ascii_alphanumeric() => to.write(&[*octet]),
                octet => {
                    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                    let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or_default();
                    to.write(&[b'%', digit(octet >> 4), digit(*octet)]);
                }
            }
        }
    }
    Ok(())
}

/// The octets that a part of a query stands for.
struct Octets<'a>(&'a [u8]);

impl Iterator for Octets<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        let hex = |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
        Some(match (first, rest) {
            (b'+', _) => b' ',
            (b'%', [high, low, after @ ..]) => match hex(*high).zip(hex(*low)) {
                Some((high, low)) => {
                    self.0 = after;
                    high << 4 | low
                }
                None => b'%',
            },
            _ => *first,
        })
    }
}
