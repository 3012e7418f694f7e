//! The rules that are in use. They distinguish the syntaxes, and `lint` finds typos by them.

/// Rules without a value: of the drafts, of Google, Bing, Yandex, and of those who write for crawlers that train models.
pub(super) const PLAIN: [&str; 19] = [
    "all",
    "index",
    "follow",
    "archive",
    "none",
    "noindex",
    "nofollow",
    "nosnippet",
    "noarchive",
    "nocache",
    "noimageindex",
    "notranslate",
    "indexifembedded",
    "nositelinkssearchbox",
    "noodp",
    "noydir",
    "noyaca",
    "noai",
    "noimageai",
];

/// Rules with a value.
pub(super) const VALUED: [&str; 4] =
    ["max-snippet", "max-image-preview", "max-video-preview", UNAVAILABLE_AFTER];

/// The rule whose value is a date, which may hold commas.
const UNAVAILABLE_AFTER: &str = "unavailable_after";

/// Returns true if a name is that of a rule without a value.
pub(super) fn is_plain(name: &[u8]) -> bool {
    PLAIN.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Returns true if a name is that of a rule with a value, known or to come: no product token begins with `max-`.
pub(super) fn is_valued(name: &[u8]) -> bool {
    const FAMILY: &[u8] = b"max-";
    is_date_rule(name) || name.get(..FAMILY.len()).is_some_and(|start| start.eq_ignore_ascii_case(FAMILY))
}

/// Returns true if a name is that of the rule whose value is a date.
pub(super) fn is_date_rule(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(UNAVAILABLE_AFTER.as_bytes())
}

/// Returns true if a name is a product token: letters, `-` and `_` (RFC 9309, 2.2.1), and the digits of deployed ones.
pub(super) fn is_token(name: &[u8]) -> bool {
    !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !is_valued(name)
}
