//! Plain lists of prefixes: one prefix or bare address a line, `#` comments, blank lines.

use alloc::format;

use crate::feed::build::{Added, FeedBuilder};
use crate::feed::prefix::parse_prefix;
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::position::Locator;
use crate::source::quoted::Quoted;

/// Reads the list into `builder`; `None` after an error.
pub(crate) fn read<S: Strictness>(
    text: &str,
    mut builder: FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<FeedBuilder> {
    let mut locator = Locator::new(text.as_bytes());
    let value = builder.range(None)?;
    for line in text.split(['\n', '\r']) {
        let content = line.split_once('#').map_or(line, |(content, _comment)| content).trim();
        if content.is_empty() {
            continue;
        }
        let mut position = || locator.position_of(content.as_bytes());
        let most = builder.bounds.line;
        let parsed = if line.len() > most {
            Err(format!("the line is longer than {most} bytes"))
        } else {
            parse_prefix(content).map_err(|error| format!("{}: {error}", Quoted(content)))
        };
        match parsed {
            Ok(prefix) => {
                if let Added::Duplicate(_) = builder.add(prefix, value, &mut position, diagnostics)? {
                    diagnostics.lint_warning(position(), None, format_args!("{prefix} is a duplicate"));
                }
            }
            Err(message) => {
                builder.unreadable();
                diagnostics.lost(position(), None, message);
            }
        }
    }
    Some(builder)
}

#[cfg(test)]
mod tests {
    use crate::feed::prefix::parse_prefix;
    use crate::feed::{Feed, FeedBounds, FeedFormat, FeedValue, ReadOptions, read};
    use crate::source::diagnostic::{Diagnostics, Lint};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn read_with(source: &str, options: &ReadOptions<'_>) -> (Option<Feed>, Vec<String>) {
        let mut diagnostics = Diagnostics::new("f", Lint);
        let feed = read(FeedFormat::Cidr, source.as_bytes(), options, &mut diagnostics);
        (feed, diagnostics.into_items().iter().map(ToString::to_string).collect())
    }

    fn listed(feed: Option<Feed>) -> Vec<String> {
        feed.unwrap().entries.iter().map(|(prefix, _)| prefix.to_string()).collect()
    }

    #[test]
    fn prefixes_addresses_and_comments() {
        let source = "\u{feff}# partners\r\n\r\n192.0.2.0/24\r\n  2001:DB8::1 # probe\n::ffff:198.51.100.0/120\n203.0.113.7";
        let (feed, messages) = read_with(source, &ReadOptions::default());
        let feed = feed.unwrap();
        assert_eq!(feed.values, [FeedValue::Range { services: [].into() }]);
        assert_eq!(
            listed(Some(feed)),
            ["192.0.2.0/24", "2001:db8::1/128", "198.51.100.0/24", "203.0.113.7/32"]
        );
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!(listed(read_with("# nobody yet\n", &ReadOptions::default()).0), Vec::<String>::new());
    }

    #[test]
    fn a_carriage_return_ends_a_line() {
        let (feed, messages) = read_with("192.0.2.0/24\r# a\r192.0.2.7\r\nx\r", &ReadOptions::default());
        assert_eq!(listed(feed), ["192.0.2.0/24", "192.0.2.7/32"]);
        assert_eq!(messages, ["f:4:1: error: \"x\": not an IP address"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let source = "192.0.2.0/24\n  192.0.2.1/24\n192.0.2.0/24 # again\nexample.org\n";
        let (feed, messages) = read_with(source, &ReadOptions::default());
        assert_eq!(listed(feed), ["192.0.2.0/24"]);
        assert_eq!(
            messages,
            [
                r#"f:2:3: error: "192.0.2.1/24": host bits are set; write 192.0.2.0/24"#,
                "f:3:1: warning: 192.0.2.0/24 is a duplicate",
                r#"f:4:1: error: "example.org": not an IP address"#,
            ]
        );
    }

    #[test]
    fn geo_15_entries_outside_the_authority_are_ignored() {
        // GEO-15
        let authority =
            ["10.0.0.0/9", "10.128.0.0/9", "::ffff:192.0.2.0/120"].map(|text| parse_prefix(text).unwrap());
        let options = ReadOptions { authority: &authority, ..ReadOptions::default() };
        let source = "10.0.0.0/8\n192.0.2.7\n192.0.0.0/16\n9.0.0.0/8\n2001:db8::/32\n";
        let (feed, messages) = read_with(source, &options);
        assert_eq!(listed(feed), ["10.0.0.0/8", "192.0.2.7/32"]);
        assert_eq!(messages.len(), 3);
        assert_eq!(
            messages[0],
            "f:3:1: warning: 192.0.0.0/16 is outside `authority`; the entry is ignored [GEO-15]"
        );
    }

    #[test]
    fn bounds_hold_for_lines_and_entries() {
        let bounds = FeedBounds { line: 20, entries: 2, ..FeedBounds::default() };
        let options = ReadOptions { bounds, ..ReadOptions::default() };
        let (feed, messages) = read_with("192.0.2.0/24 # a very long remark\n10.0.0.1\n", &options);
        assert_eq!(listed(feed), ["10.0.0.1/32"]);
        assert_eq!(messages, ["f:1:1: error: the line is longer than 20 bytes"]);
        let (feed, messages) = read_with("10.0.0.1\n10.0.0.2\n10.0.0.2\n10.0.0.3\n", &options);
        assert_eq!(feed, None);
        assert_eq!(messages[1], "f:4:1: error: more than 2 entries; the feed is refused");
    }
}
