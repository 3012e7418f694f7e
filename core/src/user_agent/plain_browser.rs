//! The few shapes that most of today's browsers send, in which nothing varies but version numbers.
//!
//! Browsers have frozen their User-Agents: the same dozen platforms, then products from a short list. Such a text holds
//! nothing that could tell automation, and is told at a small part of the cost of looking for it. Everything else,
//! people's browsers too, goes the long way; so a shape that is missing here costs time and nothing more.

/// A text with at most one version in it.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    before: &'static str,
    /// What follows the version; `None` where there is no version.
    behind: Option<&'static str>,
}

impl Pattern {
    const fn without_version(text: &'static str) -> Self {
        Self { before: text, behind: None }
    }

    const fn new(before: &'static str, behind: &'static str) -> Self {
        Self { before, behind: Some(behind) }
    }
}

/// What stands first in the comment.
const PLATFORMS: &[Pattern] = &[
    Pattern::new("Windows NT ", "; Win64; x64"),
    Pattern::new("Macintosh; Intel Mac OS X ", ""),
    Pattern::new("iPhone; CPU iPhone OS ", " like Mac OS X"),
    Pattern::new("Linux; Android ", "; K"),
    Pattern::without_version("X11; Linux x86_64"),
    Pattern::without_version("X11; Ubuntu; Linux x86_64"),
    Pattern::new("X11; CrOS x86_64 ", ""),
    Pattern::new("Android ", "; Mobile"),
    Pattern::new("iPad; CPU OS ", " like Mac OS X"),
];

/// What may follow it.
const REVISION: Pattern = Pattern::new("; rv:", "");

/// What stands between the comment and the products.
const ENGINES: &[Pattern] =
    &[Pattern::new(" AppleWebKit/", " (KHTML, like Gecko)"), Pattern::without_version(" Gecko/20100101")];

/// What a browser says of itself; each is followed by a version.
const PRODUCTS: &[&str] = &[
    "Chrome/",
    "Safari/",
    "Version/",
    "Firefox/",
    "Edg/",
    "Mobile/15E",
    "OPR/",
    "CriOS/",
    "FxiOS/",
    "EdgA/",
    "EdgiOS/",
    "GSA/",
    "SamsungBrowser/",
];

/// Whether the text is one of these shapes from its first to its last byte.
pub(super) fn is_plain_browser(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"Mozilla/5.0 (") else { return false };
    let Some(rest) = after_any(rest, PLATFORMS) else { return false };
    let rest = after(rest, &REVISION).unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b")").and_then(|rest| after_any(rest, ENGINES)) else { return false };
    // A bare `Mobile` stands before the last product only: as a last word it could be anybody's signature.
    let mut rest = rest;
    while let Some(product) = rest.strip_prefix(b" ") {
        let product = product.strip_prefix(b"Mobile ").unwrap_or(product);
        let Some(after_version) =
            PRODUCTS.iter().find_map(|name| product.strip_prefix(name.as_bytes())).and_then(after_version)
        else {
            return false;
        };
        if after_version.is_empty() {
            return true;
        }
        rest = after_version;
    }
    false
}

/// Every run of letters in these shapes, for who wants to know whether a word could stand in one.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let of_patterns = [&[REVISION], PLATFORMS, ENGINES]
        .into_iter()
        .flatten()
        .flat_map(|pattern| [pattern.before, pattern.behind.unwrap_or_default()]);
    let texts = ["Mozilla/5.0 (", " Mobile "].into_iter().chain(of_patterns).chain(PRODUCTS.iter().copied());
    texts
        .flat_map(|text| text.split(|character: char| !character.is_ascii_alphabetic()))
        .filter(|word| !word.is_empty())
}

fn after_any<'t>(text: &'t [u8], patterns: &[Pattern]) -> Option<&'t [u8]> {
    patterns.iter().find_map(|pattern| after(text, pattern))
}

/// What follows a pattern that the text begins with.
fn after<'t>(text: &'t [u8], pattern: &Pattern) -> Option<&'t [u8]> {
    // Most patterns differ in the first byte, which is compared faster than a text.
    if text.first() != pattern.before.as_bytes().first() {
        return None;
    }
    let rest = text.strip_prefix(pattern.before.as_bytes())?;
    match pattern.behind {
        None => Some(rest),
        Some(behind) => after_version(rest)?.strip_prefix(behind.as_bytes()),
    }
}

/// What follows digits, points and underscores that begin with a digit.
fn after_version(text: &[u8]) -> Option<&[u8]> {
    let end = text.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'_')).unwrap_or(text.len());
    let (version, rest) = text.split_at_checked(end)?;
    version.first()?.is_ascii_digit().then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::diagnostic::{Diagnostics, Strictness};
    use crate::user_agent::{Claims, looks_automated};
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn todays_browsers_are_plain() {
        for text in [
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
            "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15",
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
        ] {
            assert!(is_plain_browser(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn anything_more_is_not_plain() {
        for text in [
            "",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Bot/1.0",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 ",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Mobile",
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)",
            "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/",
            "Mozilla/5.0 (compatible; Googlebot/2.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
        ] {
            assert!(!is_plain_browser(text.as_bytes()), "{text}");
        }
    }

    /// A pattern with a version in it, where it has one.
    fn filled(patterns: &'static [Pattern]) -> impl Strategy<Value = String> {
        (prop::sample::select(patterns), "[0-9][0-9._]{0,6}").prop_map(|(pattern, version)| {
            let rest = pattern.behind.map(|behind| format!("{version}{behind}"));
            format!("{}{}", pattern.before, rest.unwrap_or_default())
        })
    }

    proptest! {
        /// The short way is never another than the long one.
        #[test]
        fn plain_browsers_claim_nothing_and_are_no_automation(
            platform in filled(PLATFORMS),
            revision in prop::option::of("[0-9][0-9._]{0,4}"),
            engine in filled(ENGINES),
            products in prop::collection::vec(
                (any::<bool>(), prop::sample::select(PRODUCTS), "[0-9][0-9._]{0,8}"), 1..5),
        ) {
            let revision = revision.map(|revision| format!("; rv:{revision}")).unwrap_or_default();
            let products: Vec<String> = products
                .into_iter()
                .map(|(mobile, name, version)| format!(" {}{name}{version}", if mobile { "Mobile " } else { "" }))
                .collect();
            let text = format!("Mozilla/5.0 ({platform}{revision}){engine}{}", products.concat());
            prop_assert!(is_plain_browser(text.as_bytes()), "{}", text);
            prop_assert!(!looks_automated(Some(text.as_bytes())), "{}", text);
            let (name, bytes) = Catalog::builtin();
            let catalog = Catalog::parse(bytes, &mut Diagnostics::new(name, Strictness::Load)).unwrap();
            let claims = Claims::new(catalog.agents.iter().map(|agent| agent.token.as_str())).unwrap();
            prop_assert_eq!(claims.find(text.as_bytes()), None);
        }
    }
}
