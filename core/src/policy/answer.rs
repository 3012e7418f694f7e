//! Policies, and other answers of a server. Readers are lenient: to them, anything that has no rule allows everything.

use alloc::format;
use alloc::string::String;

use crate::policy::lines::{Line, Lines};
use crate::source::quoted::QuotedBytes;

/// Checks that a text says nothing, which is a policy, or that one of its lines is `known` in the policy that is expected.
/// Comments say nothing.
///
/// # Errors
///
/// The reason why it is not a policy, with its first line.
pub(crate) fn check(text: &[u8], known: impl Fn(&Line<'_>) -> bool, expected: &str) -> Result<(), String> {
    let mut lines = Lines::new(text).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Ok(()) };
    let shown = QuotedBytes(first.content());
    let kind = match first.content().first() {
        Some(b'<') => "this is HTML or XML",
        Some(b'{' | b'[') => "this is JSON",
        _ if known(&first) || lines.any(|line| known(&line)) => return Ok(()),
        _ => "this is another text",
    };
    Err(format!("{kind}, not {expected}; its first line is {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{automation_preferences, robots};

    #[test]
    fn a_policy_has_a_line_of_one_or_says_nothing() {
        let robots = |text: &str| check(text.as_bytes(), robots::is_known, "a robots.txt");
        for text in [
            "",
            "\u{feff}\n \n",
            "# Welcome\n\n# all of you\n",
            "User-agent: *\nDisallow:\n",
            "x: y\n  ALLOW : /\n",
            "user-agent *\ndisallow /\n",
            "Sitemap: https://a.example/sitemap.xml\n",
            "License: https://a.example/license.xml\n",
            "Crawl-delay: 5\n",
        ] {
            assert_eq!(robots(text), Ok(()), "{text:?}");
        }
        for (text, reason) in [
            (
                "<html>\n<pre>\nUser-agent: *\nDisallow: /\n",
                "this is HTML or XML, not a robots.txt; its first line is \"<html>\"",
            ),
            ("\n<?xml version=\"1.0\"?>", "this is HTML or XML, not a robots.txt; "),
            (
                "{\"password\":\"x\"}",
                "this is JSON, not a robots.txt; its first line is \"{\\\"password\\\":\\\"x\\\"}\"",
            ),
            ("[\n\"disallow: /\"\n]", "this is JSON, not a robots.txt; its first line is \"[\""),
            (
                "# secrets\nhost: db\npassword: x\n",
                "this is another text, not a robots.txt; its first line is \"host: db\"",
            ),
            ("license: MIT\n", "this is another text, "),
            ("ok\n", "this is another text, "),
            ("\x1b[31mred\n", "this is another text, not a robots.txt; its first line is \"\\u{1b}[31mred\""),
        ] {
            assert!(robots(text).unwrap_err().starts_with(reason), "{text:?}: {:?}", robots(text));
        }
        let preferences = |text: &str| check(text.as_bytes(), automation_preferences::is_known, "a policy");
        assert_eq!((preferences("scope: /\n"), preferences("# none\n")), (Ok(()), Ok(())));
        for text in ["host: db\npassword: x\n", "Disallow: /\n", "ok"] {
            assert!(preferences(text).is_err(), "{text:?}");
        }
    }
}
