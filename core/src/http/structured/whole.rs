//! Values whose content the reader passes over: bytes and display strings (RFC 9651, 4.2.7 and 4.2.10).

use alloc::vec::Vec;

use base64::Engine;

use super::{Bare, Entry, Item, LENIENT, Malformed, Member};

/// The entry, if all of it is right.
pub(super) fn checked(entry: Entry<'_>) -> Result<Entry<'_>, Malformed> {
    let is_right = match entry.member {
        Member::Item(item) => is_whole(item),
        Member::List(list) => {
            list.items().all(is_whole) && list.parameters.written().all(|(_, value)| is_right(value))
        }
    };
    is_right.then_some(entry).ok_or(Malformed)
}

fn is_whole(item: Item<'_>) -> bool {
    is_right(item.value) && item.parameters.written().all(|(_, value)| is_right(value))
}

fn is_right(value: Bare<'_>) -> bool {
    match value {
        Bare::Bytes(text) => is_base64(text),
        Bare::Other([b'%', b'"', text @ .., b'"']) => is_encoded_utf8(text),
        _ => true,
    }
}

/// Padding may be missing, and bits that stand for nothing may be set.
fn is_base64(text: &[u8]) -> bool {
    let mut decoded = [0; 3];
    let mut chunks = text.chunks(4);
    let last = chunks.next_back().unwrap_or_default();
    chunks.all(|chunk| LENIENT.decode_slice(chunk, &mut decoded) == Ok(3))
        && LENIENT.decode_slice(last, &mut [0; 3]).is_ok()
}

/// Returns true for UTF-8 in which `%` begins an octet in two digits of lower case.
fn is_encoded_utf8(mut text: &[u8]) -> bool {
    let mut octets = Vec::with_capacity(text.len());
    while let Some((first, rest)) = text.split_first() {
        text = rest;
        let octet = match first {
            b'%' => match rest.split_first_chunk() {
                Some((digits @ [b'0'..=b'9' | b'a'..=b'f', b'0'..=b'9' | b'a'..=b'f'], after)) => {
                    text = after;
                    digits.iter().fold(0, |octet, digit| (octet << 4) | ((digit & 0x0f) + (digit >> 6) * 9))
                }
                _ => return false,
            },
            other => *other,
        };
        octets.push(octet);
    }
    core::str::from_utf8(&octets).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::dictionary;
    use alloc::string::String;
    use sfv::Parser;

    /// USE-2: what the RFC refuses leaves nothing known, and what it permits is read.
    #[test]
    fn use_2_a_dictionary_is_what_sfv_reads() {
        let many: String = (0..300).map(|number| alloc::format!(";p{number}")).collect();
        let items = "x ".repeat(1000);
        for text in [
            "a=:AAECAw==:",
            "a=:AAECAw:",
            "a=:AAECAx==:",
            "a=:A:",
            "a=:A=AA:",
            "a=:====:",
            "a=::",
            r#"a=%"abc %c3%a9""#,
            r#"a=%"abc %C3%A9""#,
            r#"a=%"%c3""#,
            r#"a=%"%zz""#,
            r#"a=%"%a""#,
            r#"a=%"""#,
            r#"a=("b" %"%zz")"#,
            r#"a;b=:A:"#,
            r#"a=(b);c=%"%ff""#,
            "a=1.5, b=@7",
            "a=@1.5",
            "A=1",
            "a,",
            "",
            &alloc::format!("a{many}"),
            &alloc::format!("a=({items})"),
        ] {
            assert_eq!(
                dictionary(text.as_bytes()).is_ok(),
                Parser::new(text).parse_dictionary().is_ok(),
                "{text}"
            );
        }
    }

    #[test]
    fn an_entry_has_its_text() {
        let entries = dictionary(b" a=1;b , c ,d=(e f);g").unwrap();
        let texts: alloc::vec::Vec<_> =
            entries.iter().map(|entry| core::str::from_utf8(entry.text).unwrap()).collect();
        assert_eq!(texts, ["a=1;b", "c", "d=(e f);g"]);
    }
}
