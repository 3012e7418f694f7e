//! The browsers that say how they fetch: since some version, each sends `Sec-Fetch-Mode` with requests over TLS.
//!
//! Only the usual forms of the four browsers count, without another word: what else names a browser may be something else.

use super::form::{find, first_comment};

/// Returns true if the User-Agent is one of Chrome 76, Edge 79, Firefox 90, Safari 16.4 or a later version.
pub(crate) fn sends_fetch_mode(user_agent: &[u8]) -> bool {
    let text = user_agent.trim_ascii();
    let (comment, after) = first_comment(text);
    let is_app = ["compatible", "; wv"].iter().any(|part| find(comment, part).is_some());
    text.starts_with(b"Mozilla/5.0 (") && !is_app && (is_gecko(after) || is_webkit(after))
}

fn is_gecko(after: &[u8]) -> bool {
    let firefox = product(after, " Gecko/").and_then(|(_, rest)| product(rest, " Firefox/"));
    firefox.is_some_and(|(version, rest)| version >= (90, 0) && rest.is_empty())
}

fn is_webkit(after: &[u8]) -> bool {
    let engine =
        product(after, " AppleWebKit/").and_then(|(_, rest)| rest.strip_prefix(b" (KHTML, like Gecko)"));
    engine.is_some_and(|rest| is_chrome(rest) || is_safari(rest))
}

fn is_chrome(products: &[u8]) -> bool {
    let Some((version, rest)) = product(products, " Chrome/") else { return false };
    let rest = rest.strip_prefix(b" Mobile").unwrap_or(rest);
    let Some((_, rest)) = product(rest, " Safari/") else { return false };
    let edge = product(rest, " Edg/").or_else(|| product(rest, " EdgA/"));
    match edge {
        Some((edge, rest)) => edge >= (79, 0) && rest.is_empty(),
        None => version >= (76, 0) && rest.is_empty(),
    }
}

fn is_safari(products: &[u8]) -> bool {
    let Some((version, rest)) = product(products, " Version/") else { return false };
    let rest = product(rest, " Mobile/").map_or(rest, |(_, rest)| rest);
    product(rest, " Safari/").is_some_and(|(_, rest)| version >= (16, 4) && rest.is_empty())
}

/// The first two numbers of the version of a product, and what follows it.
fn product<'t>(text: &'t [u8], name: &str) -> Option<((u32, u32), &'t [u8])> {
    let text = text.strip_prefix(name.as_bytes())?;
    let (version, rest) =
        text.split_at_checked(text.iter().position(|byte| *byte == b' ').unwrap_or(text.len()))?;
    let mut numbers = version.split(|byte| *byte == b'.').map(number);
    Some(((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)), rest))
}

fn number(digits: &[u8]) -> u32 {
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u32, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_that_say_how_they_fetch_are_known_by_their_usual_forms() {
        const WEBKIT: &str = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (platform, after, expected) in [
            ("X11; Linux x86_64", "{} Chrome/76.0.3809.100 Safari/537.36", true),
            ("X11; Linux x86_64", "{} Chrome/75.0.3770.142 Safari/537.36", false),
            ("Linux; Android 10; K", "{} Chrome/131.0.0.0 Mobile Safari/537.36", true),
            ("Linux; Android 14; Pixel 8 Build/AP1A; wv", "{} Chrome/131.0.0.0 Mobile Safari/537.36", false),
            ("Windows NT 10.0; Win64; x64", "{} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0", true),
            ("Windows NT 10.0; Win64; x64", "{} Chrome/70.0.3538.102 Safari/537.36 Edge/18.19582", false),
            ("Windows NT 10.0; Win64; x64", "{} Chrome/131.0.0.0 Safari/537.36 OPR/116.0.0.0", false),
            ("X11; Linux x86_64", "{} HeadlessChrome/131.0.0.0 Safari/537.36", false),
            ("compatible; Miniflux/2.0", "{} Chrome/131.0.0.0 Safari/537.36", false),
            ("X11; Linux x86_64; rv:90.0", "Gecko/20100101 Firefox/90.0", true),
            ("X11; Linux x86_64; rv:89.0", "Gecko/20100101 Firefox/89.0", false),
            ("X11; Linux x86_64; rv:128.0", "Gecko/20100101 Firefox/128.0 SeaMonkey/2.53", false),
            (
                "Macintosh; Intel Mac OS X 10_15_7",
                "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15",
                true,
            ),
            (
                "Macintosh; Intel Mac OS X 10_15_7",
                "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.3 Safari/605.1.15",
                false,
            ),
            (
                "iPhone; CPU iPhone OS 17_5 like Mac OS X",
                "AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
                true,
            ),
            (
                "iPhone; CPU iPhone OS 17_5 like Mac OS X",
                "AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0 Mobile/15E148 Safari/604.1",
                false,
            ),
            (
                "iPhone; CPU iPhone OS 17_5 like Mac OS X",
                "AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
                false,
            ),
        ] {
            let after = after.replace("{}", WEBKIT);
            let text = alloc::format!("Mozilla/5.0 ({platform}) {after}");
            assert_eq!(sends_fetch_mode(text.as_bytes()), expected, "{text}");
        }
        assert!(
            ["", "curl/8", "Mozilla/5.0 (", "Mozilla/5.0 ()"]
                .iter()
                .all(|text| !sends_fetch_mode(text.as_bytes()))
        );
    }
}
