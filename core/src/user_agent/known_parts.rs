//! The parts that the User-Agents of today's browsers have in common.
//!
//! Browsers have frozen most of what they send: a platform, an engine, products from a short list. These parts never
//! name automation, so only the others need to be read: a device, an application, or nothing at all. A part that is
//! missing here costs time and nothing more.

use core::ops::Range;

use super::words::words;
use crate::octets::is_in_table;

/// A text with at most one version in it.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    before: &'static str,
    /// The text after the version; `None` if there is no version.
    after: Option<&'static str>,
}

impl Pattern {
    const fn without_version(text: &'static str) -> Self {
        Self { before: text, after: None }
    }

    const fn new(before: &'static str, after: &'static str) -> Self {
        Self { before, after: Some(after) }
    }
}

const OPENING: &str = "Mozilla/5.0 (";

/// Lists patterns, and makes the function that finds what follows the first of them that the text begins with. With each
/// pattern in its code, it compares with numbers instead of texts.
macro_rules! patterns {
    ($(#[$meta:meta])* $list:ident, $after:ident: $($pattern:expr,)*) => {
        $(#[$meta])*
        const $list: &[Pattern] = &[$($pattern),*];

        #[inline]
        fn $after(text: &[u8]) -> Option<&[u8]> {
            None$(.or_else(|| after(text, const { &$pattern })))*
        }
    };
}

patterns! {
    /// Comments that name a platform, without their last parenthesis.
    PLATFORMS, after_platform_name:
    Pattern::new("Windows NT ", "; Win64; x64"),
    Pattern::new("Macintosh; Intel Mac OS X ", ""),
    Pattern::new("iPhone; CPU iPhone OS ", " like Mac OS X"),
    Pattern::new("Linux; Android ", "; K"),
    Pattern::without_version("X11; Linux x86_64"),
    Pattern::without_version("X11; Ubuntu; Linux x86_64"),
    Pattern::new("X11; CrOS x86_64 ", ""),
    Pattern::new("Android ", "; Mobile"),
    Pattern::new("iPad; CPU OS ", " like Mac OS X"),
}

/// The texts that may follow the platform.
const REVISION: Pattern = Pattern::new("; rv:", "");

/// The text after the comment.
const WEBKIT: Pattern = Pattern::new(" AppleWebKit/", " (KHTML, like Gecko)");
const GECKO: Pattern = Pattern::new(" Gecko/", "");

/// The beginning of the User-Agents of many crawlers, up to the semicolon before their own words.
const CRAWLERS_OPENING: Pattern = Pattern::new("Mozilla/5.0 AppleWebKit/", " (KHTML, like Gecko");

/// The texts that may precede a product.
const MOBILE: &str = "Mobile ";

patterns! {
    /// The text after the engine.
    PRODUCTS, after_product:
    Pattern::new("Chrome/", ""), Pattern::new("Safari/", ""), Pattern::new("Version/", ""),
    Pattern::new("Firefox/", ""), Pattern::new("Mobile/15E", ""), Pattern::new("Edg/", ""),
    Pattern::new("OPR/", ""), Pattern::new("CriOS/", ""), Pattern::new("FxiOS/", ""),
    Pattern::new("EdgA/", ""), Pattern::new("EdgiOS/", ""), Pattern::new("GSA/", ""),
    Pattern::new("SamsungBrowser/", ""), Pattern::new("YaBrowser/", ""), Pattern::new("UCBrowser/", ""),
    Pattern::new("HuaweiBrowser/", ""), Pattern::new("MiuiBrowser/", ""), Pattern::new("Vivaldi/", ""),
    Pattern::new("DuckDuckGo/", ""),
}

/// The parts of a browser's User-Agent that are not known, in their order; `None` if the User-Agent does not have the
/// form of today's browsers: `Mozilla/5.0`, a comment, an engine.
// Apart, so that it has all registers.
#[inline(never)]
pub(super) fn unknown_parts(text: &[u8]) -> Option<[Range<usize>; 2]> {
    let inside = text.strip_prefix(OPENING.as_bytes())?;
    let position = |rest: &[u8]| text.len() - rest.len();
    // An unknown comment includes its parenthesis, with which a token may begin.
    let comment = OPENING.len() - 1;
    let (comment, rest) = match after_platform(inside) {
        Some(rest) => (comment..comment, rest),
        None => {
            let rest = after_comment(inside)?;
            (comment..position(rest), rest)
        }
    };
    let rest = after(rest, &WEBKIT).or_else(|| after(rest, &GECKO))?;
    matches!(rest, [] | [b' ', ..]).then(|| [comment, position(after_products(rest))..text.len()])
}

/// The part that is not known of a User-Agent without the form of today's browsers: what follows [`CRAWLERS_OPENING`], or all.
pub(super) fn unknown_part(text: &[u8]) -> Range<usize> {
    let rest = after(text, &CRAWLERS_OPENING).filter(|rest| rest.starts_with(b";"));
    text.len() - rest.unwrap_or(text).len()..text.len()
}

/// The text after the comment's last parenthesis, if the comment is known.
fn after_platform(inside: &[u8]) -> Option<&[u8]> {
    let rest = after_platform_name(inside)?;
    let rest = after(rest, &REVISION).unwrap_or(rest);
    rest.strip_prefix(b")")
}

/// The text after the parenthesis that closes a comment, which may have comments in it.
pub(super) fn after_comment(inside: &[u8]) -> Option<&[u8]> {
    let mut depth = 1_usize;
    for at in memchr::memchr2_iter(b'(', b')', inside) {
        depth = if inside.get(at) == Some(&b'(') { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return inside.get(at + 1..);
        }
    }
    None
}

/// The text after the known products at the beginning.
fn after_products(mut rest: &[u8]) -> &[u8] {
    while let Some(product) = rest.strip_prefix(b" ") {
        // `Mobile` alone may be the beginning of any name.
        let product = product.strip_prefix(MOBILE.as_bytes()).unwrap_or(product);
        match after_product(product) {
            Some(after @ ([] | [b' ', ..])) => rest = after,
            _ => break,
        }
    }
    rest
}

/// Returns true if a token may begin in a known part, and so be missed when only the unknown parts are read.
///
/// A token that stands alone begins and ends where words do. So if it begins in a known part, either its first word is
/// a whole word of that part, or its first word is in the next part, before which there is a space.
pub(super) fn may_hide(token: &str) -> bool {
    let Some(word) = words(token.as_bytes(), 0..token.len(), 1).next() else { return true };
    let (before, rest) = token.split_at_checked(word.start).unwrap_or_default();
    let word = rest.get(..word.length).unwrap_or_default();
    before.contains(' ') || is_version(word) || known_words().any(|known| is_known(word, known))
}

/// Every word of the known parts, without the version that some end with.
fn known_words() -> impl Iterator<Item = &'static str> {
    let of_patterns = [&[REVISION, WEBKIT, GECKO, CRAWLERS_OPENING], PLATFORMS, PRODUCTS]
        .into_iter()
        .flatten()
        .flat_map(|pattern| [pattern.before, pattern.after.unwrap_or_default()]);
    let texts = [OPENING, MOBILE].into_iter().chain(of_patterns);
    texts.flat_map(|text| words(text.as_bytes(), 0..text.len(), 1).filter_map(|word| text.get(word.range())))
}

fn is_known(word: &str, known: &str) -> bool {
    let Some((beginning, version)) = word.split_at_checked(known.len()) else { return false };
    beginning.eq_ignore_ascii_case(known) && is_version(version)
}

/// Returns true if the word may be a part of a version, between points.
fn is_version(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'_'))
}

/// The text after a pattern with which it begins. Inlined, it compares with numbers instead of texts.
#[inline(always)]
fn after<'t>(text: &'t [u8], pattern: &Pattern) -> Option<&'t [u8]> {
    let rest = text.strip_prefix(pattern.before.as_bytes())?;
    match pattern.after {
        None => Some(rest),
        Some(after) => after_version(rest)?.strip_prefix(after.as_bytes()),
    }
}

/// The text after digits, points and underscores that begin with a digit.
#[inline(never)]
fn after_version(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| !may_be_in_version(*byte)).unwrap_or(text.len());
    let (version, rest) = text.split_at_checked(end)?;
    version.first()?.is_ascii_digit().then_some(rest)
}

/// Returns true if the byte is a digit, a point or an underscore.
#[inline]
fn may_be_in_version(byte: u8) -> bool {
    is_in_table!(byte, each => matches!(each, b'0'..=b'9' | b'.' | b'_'))
}
