//! Plain lists of prefixes, one a line: a prefix, a bare address, a range `192.0.2.0 - 192.0.2.255`, or an address with a
//! mask `192.0.2.0 255.255.255.0`. `#` and `;` start comments.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, IpSubnets, Ipv4Subnets, Ipv6Subnets};

use crate::feed::build::{Added, FeedBuilder};
use crate::feed::prefix::{PrefixError, parse_address, parse_prefix};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::lines::{Line, Lines};
use crate::source::pages::Source;
use crate::source::parts::each_part;
use crate::source::position::Locator;
use crate::source::quoted::Quoted;
use crate::source::text::Expected;

/// Reads the list into `builder`; `None` after an error.
pub(crate) fn read<S: Strictness>(
    source: Source<'_>,
    expected: Expected,
    builder: &mut FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<()> {
    let value = builder.range(None)?;
    let mut is_inside = false;
    let least = builder.bounds.line.saturating_add(2);
    each_part(source, expected, least, diagnostics, &mut |part, diagnostics| {
        let mut lines = Lines::new(part.text, part.is_last, is_inside);
        part_of_list(&mut lines, part.locator, value, builder, diagnostics)?;
        is_inside = lines.is_inside();
        Some(part.text.len() - lines.rest().len())
    })
}

fn part_of_list<S: Strictness>(
    lines: &mut Lines<'_>,
    mut locator: Locator<'_>,
    value: u32,
    builder: &mut FeedBuilder,
    diagnostics: &mut Diagnostics<S>,
) -> Option<()> {
    let most = builder.bounds.line;
    while let Some(line) = lines.next_within(most) {
        let (Line::Whole(text) | Line::TooLong(text)) = line;
        let content = text.split_once(['#', ';']).map_or(text, |(content, _comment)| content).trim();
        if content.is_empty() {
            continue;
        }
        let mut position = || locator.position_of(content.as_bytes());
        let parsed = match line {
            Line::TooLong(_) => Err(format!("the line is longer than {most} bytes")),
            Line::Whole(_) => parse(content).map_err(|error| format!("{}: {error}", Quoted(content))),
        };
        let mut add = |prefix| {
            if let Added::Duplicate(_) = builder.add(prefix, value, &mut position, diagnostics)? {
                diagnostics.lint_warning(position(), None, format_args!("{prefix} is a duplicate"));
            }
            Some(())
        };
        match parsed {
            Ok(Entry::Prefix(prefix)) => add(prefix)?,
            Ok(Entry::Range(mut prefixes)) => prefixes.try_for_each(add)?,
            Err(message) => {
                builder.unreadable();
                diagnostics.lost(position(), None, message);
            }
        }
    }
    Some(())
}

/// The reason why a line has no prefixes.
#[derive(Clone, Copy, Debug)]
enum LineError {
    Prefix(PrefixError),
    Families,
    Backwards,
    Mask,
}

impl From<PrefixError> for LineError {
    fn from(error: PrefixError) -> Self {
        Self::Prefix(error)
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(error) => error.fmt(f),
            Self::Families => f.write_str("the range has addresses of both families"),
            Self::Backwards => f.write_str("the last address of the range is before the first one"),
            Self::Mask => f.write_str("invalid mask; expected one such as 255.255.255.0"),
        }
    }
}

/// The prefixes of an entry in another list, for publishers.
pub(crate) fn prefixes(text: &str) -> Result<Vec<IpNet>, String> {
    match parse(text).map_err(|error| format!("{}: {error}", Quoted(text)))? {
        Entry::Prefix(prefix) => Ok(vec![prefix]),
        Entry::Range(range) => Ok(range.collect()),
    }
}

/// The content of a line.
enum Entry {
    Prefix(IpNet),
    /// The prefixes that make up a range: at most 254.
    Range(IpSubnets),
}

fn parse(line: &str) -> Result<Entry, LineError> {
    if let Some((first, last)) = line.split_once('-') {
        let range = match (parse_address(first.trim_ascii_end())?, parse_address(last.trim_ascii_start())?) {
            (IpAddr::V4(first), IpAddr::V4(last)) if first <= last => Ipv4Subnets::new(first, last, 0).into(),
            (IpAddr::V6(first), IpAddr::V6(last)) if first <= last => Ipv6Subnets::new(first, last, 0).into(),
            (first, last) if first.is_ipv4() == last.is_ipv4() => return Err(LineError::Backwards),
            _ => return Err(LineError::Families),
        };
        return Ok(Entry::Range(range));
    }
    let prefix = match line.split_once(['/', ' ', '\t']) {
        Some((address, mask)) if mask.contains('.') => with_mask(address, mask.trim_ascii_start())?,
        _ => parse_prefix(line)?,
    };
    Ok(Entry::Prefix(prefix))
}

fn with_mask(address: &str, mask: &str) -> Result<IpNet, LineError> {
    let mask: u32 = mask.parse::<Ipv4Addr>().map_err(|_| LineError::Mask)?.into();
    if mask.count_ones() != mask.leading_ones() || address.contains(':') {
        return Err(LineError::Mask);
    }
    // Host bits are found there, too.
    Ok(parse_prefix(&format!("{address}/{}", mask.count_ones()))?)
}

#[cfg(test)]
mod tests {
    use crate::feed::prefix::parse_prefix;
    use crate::feed::{Feed, FeedBounds, FeedFormat, FeedValue, ReadOptions, read};
    use crate::source::diagnostic::{Diagnostics, Lint};
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn read_with(source: &str, options: &ReadOptions<'_>) -> (Option<Feed>, Vec<String>) {
        let mut diagnostics = Diagnostics::new("f", Lint);
        let feed = read(FeedFormat::Cidr, source.as_bytes().into(), options, &mut diagnostics);
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
            ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.7/32", "2001:db8::1/128"]
        );
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!(listed(read_with("# nobody yet\n", &ReadOptions::default()).0), Vec::<String>::new());
    }

    #[test]
    fn a_range_goes_forward_and_stays_in_its_family() {
        for (line, expected) in [
            ("192.0.2.2-192.0.2.1", "the last address of the range is before the first one"),
            ("2001:db8::2 - 2001:db8::1", "the last address of the range is before the first one"),
            ("192.0.2.1-2001:db8::1", "the range has addresses of both families"),
        ] {
            let error = super::prefixes(line).unwrap_err();
            assert_eq!(error, format!("\"{line}\": {expected}"));
        }
    }

    #[test]
    fn jafar_20_ranges_masks_and_semicolons() {
        // JAFAR-20
        let source = "192.0.2.0 - 192.0.2.255\n198.51.100.1-198.51.100.6 ; AS64496\n; comment\n\
                      203.0.113.0 255.255.255.128\n203.0.113.128/255.255.255.128\n10.0.0.0\t255.0.0.0;x\n\
                      2001:db8::-2001:db8::ffff\n0.0.0.0-255.255.255.255\n::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\n\
                      100.64.0.7-100.64.0.7\n100.64.0.8 255.255.255.255\n";
        let (feed, messages) = read_with(source, &ReadOptions::default());
        assert_eq!(messages, Vec::<String>::new());
        assert_eq!(
            listed(feed),
            [
                "0.0.0.0/0",
                "10.0.0.0/8",
                "100.64.0.7/32",
                "100.64.0.8/32",
                "192.0.2.0/24",
                "198.51.100.1/32",
                "198.51.100.2/31",
                "198.51.100.4/31",
                "198.51.100.6/32",
                "203.0.113.0/25",
                "203.0.113.128/25",
                "::/0",
                "2001:db8::/112",
            ]
        );
        for (line, problem) in [
            ("192.0.2.9-192.0.2.1", "the last address of the range is before the first one"),
            ("192.0.2.9-2001:db8::", "the range has addresses of both families"),
            ("192.0.2.0/24-192.0.2.255", "not an IP address"),
            ("192.0.2.0-255", "not an IP address"),
            ("192.0.2.0 0.0.0.255", "invalid mask; expected one such as 255.255.255.0"),
            ("192.0.2.0 255.0.255.0", "invalid mask; expected one such as 255.255.255.0"),
            ("192.0.2.1 255.255.255.0", "host bits are set; write 192.0.2.0/24"),
            ("2001:db8:: 255.0.0.0", "invalid mask; expected one such as 255.255.255.0"),
            ("192.0.2.0 24", "not an IP address"),
        ] {
            let (_, messages) = read_with(line, &ReadOptions::default());
            assert_eq!(messages, [format!("f:1:1: error: \"{line}\": {problem}")]);
        }
        // A range is at most 254 prefixes.
        let widest = "::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe";
        assert_eq!(listed(read_with(widest, &ReadOptions::default()).0).len(), 254);
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
