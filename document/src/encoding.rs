//! The encoding of a page, found as browsers find it: byte order mark, then header, then `meta` in the first bytes.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The length of the part that is searched for a `meta` element with the encoding: the same as in browsers.
const PRESCAN: usize = 1024;

/// The characters of a page.
pub(crate) fn decode<'p>(page: &'p [u8], content_type: Option<&str>) -> Cow<'p, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(page) {
        let rest = page.get(mark..).unwrap_or_default();
        return encoding.decode_without_bom_handling(rest).0;
    }
    let named = content_type.and_then(|value| charset(value.as_bytes())).or_else(|| prescan(page));
    // A page that does not say is UTF-8 if it can be, which today's pages mostly are.
    let encoding =
        named.unwrap_or_else(|| if std::str::from_utf8(page).is_ok() { UTF_8 } else { WINDOWS_1252 });
    encoding.decode_without_bom_handling(page).0
}

/// The encoding that a `Content-Type` names.
fn charset(content_type: &[u8]) -> Option<&'static Encoding> {
    const NAME: &[u8] = b"charset";
    let mut rest = content_type;
    loop {
        let at = rest.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
        rest = rest.get(at + NAME.len()..)?;
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        let label = match value.first()? {
            quote @ (b'"' | b'\'') => value.get(1..)?.split(|byte| byte == quote).next()?,
            _ => value
                .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | b'"' | b'\''))
                .next()?,
        };
        return Encoding::for_label(label);
    }
}

/// The encoding that a `meta` element at the start of a page names.
fn prescan(page: &[u8]) -> Option<&'static Encoding> {
    let mut rest = page.get(..PRESCAN).unwrap_or(page);
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        rest = rest.get(at + 1..)?;
        if let Some(comment) = rest.strip_prefix(b"!--") {
            let end = comment.windows(3).position(|window| window == b"-->")?;
            rest = comment.get(end..)?;
            continue;
        }
        let is_meta = rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
            && rest.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        if is_meta {
            let tag = rest.split(|byte| *byte == b'>').next().unwrap_or_default();
            // Either `charset=…`, or `content="text/html; charset=…"`.
            if let Some(encoding) = charset(tag) {
                // The text up to here is ASCII, so the encoding is neither of these.
                let is_misnamed = encoding == UTF_16BE || encoding == UTF_16LE;
                let is_private = encoding == X_USER_DEFINED;
                return Some(match (is_misnamed, is_private) {
                    (true, _) => UTF_8,
                    (_, true) => WINDOWS_1252,
                    _ => encoding,
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_names_an_encoding_counts() {
        let cyrillic = b"\xcf\xf0\xe8\xe2\xe5\xf2";
        let with_meta =
            [b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>", &cyrillic[..]]
                .concat();
        assert!(decode(&with_meta, None).ends_with("Привет"));
        assert!(decode(cyrillic, Some("text/html; charset=\"windows-1251\"")).ends_with("Привет"));
        assert!(decode(&with_meta, Some("text/html; charset=koi8-r")).ends_with("оПХБЕР"));
        let with_mark = [b"\xef\xbb\xbf<meta charset=windows-1251>", "Привет".as_bytes()].concat();
        assert!(decode(&with_mark, Some("text/html; charset=koi8-r")).ends_with("Привет"));
        assert_eq!(decode(b"\xff\xfeh\0i\0", None), "hi");
    }

    #[test]
    fn a_page_that_names_none_is_utf_8_if_it_can_be() {
        assert_eq!(decode("na\u{ef}ve".as_bytes(), None), "na\u{ef}ve");
        assert_eq!(decode(b"na\xefve", None), "na\u{ef}ve");
        assert_eq!(decode(b"<meta charset=utf-16>na\xc3\xafve", None), "<meta charset=utf-16>na\u{ef}ve");
        assert_eq!(
            decode(b"<!-- <meta charset=koi8-r> --><meta charset=nothing>\xef", None).chars().last(),
            Some('\u{ef}')
        );
        assert_eq!(decode(b"broken \xff", Some("text/html; charset=utf-8")), "broken \u{fffd}");
    }
}
