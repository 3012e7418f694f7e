//! The encoding of a page, found as browsers find it: byte order mark, then header, then what the page says in its first
//! bytes, then what it says later.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The length of the part that is searched for a `meta` element with the encoding: the same as in browsers.
const PRESCAN: usize = 1024;

/// The byte with which each run of letters in ISO-2022-JP begins, which is valid UTF-8 otherwise.
const ESCAPE: u8 = 0x1b;

/// The bytes of a `meta` element that are read.
const LONGEST_TAG: usize = 1024;

/// The bytes, from the first one that is not ASCII, that show an encoding.
const SAMPLE: usize = 64 << 10;
/// As many bytes behind the first one that are not ASCII, or fewer, do not show an encoding.
const TOO_FEW: usize = 16;

/// The characters of a page.
pub(crate) fn decode<'p>(page: &'p [u8], content_type: Option<&str>) -> Cow<'p, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(page) {
        let rest = page.get(mark..).unwrap_or_default();
        return encoding.decode_without_bom_handling(rest).0;
    }
    let start = page.get(..PRESCAN).unwrap_or(page);
    let named = content_type
        .and_then(|value| charset(value.as_bytes()))
        .or_else(|| of_xml(start))
        .or_else(|| prescan(start));
    if let Some(encoding) = named {
        return encoding.decode_without_bom_handling(page).0;
    }
    // A page that does not say, or says it late, is UTF-8 if it can be, which today's pages mostly are.
    let decoded =
        |encoding: &'static Encoding| encoding.decode_without_bom_handling_and_without_replacement(page);
    let utf_8 = decoded(UTF_8);
    if memchr::memchr(ESCAPE, page).is_none()
        && let Some(text) = utf_8
    {
        return text;
    }
    let late = prescan(page).filter(|encoding| utf_8.is_none() || *encoding == ISO_2022_JP);
    late.map_or(utf_8, decoded).unwrap_or_else(|| guessed(page))
}

/// The characters of a page in the encoding that its bytes look like; in that of Western Europe if few are not ASCII.
fn guessed(page: &[u8]) -> Cow<'_, str> {
    let mut others = page.iter().enumerate().filter(|(_, byte)| !byte.is_ascii()).map(|(at, _)| at);
    let (Some(first), Some(_)) = (others.next(), others.nth(TOO_FEW)) else {
        return WINDOWS_1252.decode_without_bom_handling(page).0;
    };
    let rest = page.get(first..).unwrap_or_default();
    let sample = rest.get(..SAMPLE).unwrap_or(rest);
    if is_mostly_utf_8(sample) {
        return String::from_utf8_lossy(page);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == rest.len());
    detector.guess(None, Utf8Detection::Deny).decode_without_bom_handling(page).0
}

/// Returns true if nearly all bytes that are not ASCII are letters in UTF-8: no other text looks like that by chance.
fn is_mostly_utf_8(sample: &[u8]) -> bool {
    const LETTERS_FOR_EACH_FAULT: usize = 8;
    let (mut letters, mut faults) = (0, 0);
    for chunk in sample.utf8_chunks() {
        letters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        faults += usize::from(!chunk.invalid().is_empty());
    }
    letters >= LETTERS_FOR_EACH_FAULT * faults
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

/// The encoding that an XML declaration names, or shows by its zeros.
fn of_xml(page: &[u8]) -> Option<&'static Encoding> {
    if page.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if page.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    let declaration = page.strip_prefix(b"<?xml")?.split(|byte| *byte == b'>').next()?;
    let at = declaration.windows(ENCODING.len()).position(|window| window == ENCODING)?;
    let value = declaration.get(at + ENCODING.len()..)?.trim_ascii_start().strip_prefix(b"=")?;
    let (quote, value) = value.trim_ascii_start().split_first()?;
    let label = value.split(|byte| byte == quote).next().filter(|_| matches!(quote, b'"' | b'\''))?;
    Encoding::for_label(label).map(as_found)
}

const ENCODING: &[u8] = b"encoding";

/// The encoding in which a page is that names one in ASCII.
fn as_found(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        _ if encoding == UTF_16BE || encoding == UTF_16LE => UTF_8,
        _ if encoding == X_USER_DEFINED => WINDOWS_1252,
        _ => encoding,
    }
}

/// The encoding that a `meta` element in a part of a page names.
fn prescan(page: &[u8]) -> Option<&'static Encoding> {
    let mut rest = page;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = rest.get(at + 1..)?;
        if let Some(comment) = rest.strip_prefix(b"!--") {
            let end = memchr::memmem::find(comment, b"-->")?;
            rest = comment.get(end..)?;
            continue;
        }
        let is_meta = rest.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
            && rest.get(4).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/');
        if is_meta {
            let tag = rest.get(..LONGEST_TAG).unwrap_or(rest);
            let tag = tag.split(|byte| *byte == b'>').next().unwrap_or_default();
            // Either `charset=…`, or `content="text/html; charset=…"`.
            if let Some(encoding) = charset(tag) {
                return Some(as_found(encoding));
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
    fn a_page_may_name_its_encoding_late_or_in_its_declaration() {
        // "nihongo" in Shift_JIS and in ISO-2022-JP.
        let japanese = b"\x93\xfa\x96{\x8c\xea";
        let early = format!("<title>x</title><!-- {} -->", "x".repeat(2000));
        let late = [early.as_bytes(), b"<meta charset=shift_jis><p>", japanese].concat();
        assert!(decode(&late, None).ends_with("日本語"));
        // Bytes that are not in the encoding which comes late are in none that anybody knows.
        let wrong = [&late[..], b"\x80\xff\xff"].concat();
        assert!(!decode(&wrong, None).contains('\u{fffd}'));
        // Valid UTF-8 counts more than what a page says at its end.
        let utf_8 = [early.as_bytes(), b"<meta charset=shift_jis><p>", "日本語".as_bytes()].concat();
        assert!(decode(&utf_8, None).ends_with("日本語"));
        let escapes = [early.as_bytes(), b"<meta charset=iso-2022-jp><p>\x1b$BF|K\\8l\x1b(B"].concat();
        assert!(decode(&escapes, None).ends_with("日本語"));
        let declared = [&b"<?xml version='1.0' encoding=\"Shift_JIS\"?><html>"[..], japanese].concat();
        assert!(decode(&declared, Some("application/xhtml+xml")).ends_with("日本語"));
        assert!(decode(&declared, Some("text/html; charset=utf-8")).contains('\u{fffd}'));
        // Of two, the first one counts; text in another encoding further on stays in it.
        let changing =
            [&b"<meta charset=utf-8>"[..], "日本語".as_bytes(), b"<meta charset=shift_jis>", japanese]
                .concat();
        assert!(decode(&changing, None).contains("日本語"));
    }

    #[test]
    fn a_page_that_names_none_is_in_the_encoding_that_it_looks_like() {
        for (text, encoding) in [
            (
                "Мельница у реки мелет муку уже триста лет, и жернова её всё ещё вращаются.",
                encoding_rs::WINDOWS_1251,
            ),
            ("川のほとりの水車小屋は三百年前から小麦粉を挽いている。", encoding_rs::SHIFT_JIS),
            ("강가의 방앗간은 삼백 년 동안 밀가루를 빻아 왔다.", encoding_rs::EUC_KR),
            ("河边的磨坊已经磨了三百年的面粉。", encoding_rs::GBK),
            ("Le moulin près de la rivière moud la farine depuis trois siècles.", WINDOWS_1252),
        ] {
            let (bytes, ..) = encoding.encode(text);
            let page = [b"<!doctype html><title>x</title><p>", &bytes[..]].concat();
            assert!(decode(&page, None).ends_with(text), "{text}");
        }
    }

    #[test]
    fn faults_in_utf_8_are_faults() {
        let text = "Die Größe der Äpfel. ".repeat(20);
        let page = [text.as_bytes(), b"\x92", text.as_bytes()].concat();
        assert_eq!(decode(&page, None), format!("{text}\u{fffd}{text}"));
    }

    #[test]
    fn tags_without_end_are_searched_once() {
        let page = [&b"\xff"[..], &b"<meta ".repeat(300_000)].concat();
        assert!(decode(&page, None).starts_with('\u{ff}'));
        let page = [&b"\xff"[..], &b"<!--<meta charset=".repeat(100_000)].concat();
        assert!(decode(&page, None).starts_with('\u{ff}'));
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
