//! Each test names the rows of REQUIREMENTS that it shows.

use crate::feed::prefix::parse_prefix;
use crate::feed::{Feed, FeedBounds, FeedFormat, FeedValue, ReadOptions, read};
use crate::source::diagnostic::{Diagnostics, Lint, Load, Strictness};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn read_with<S: Strictness>(
    source: &str,
    strictness: S,
    options: &ReadOptions<'_>,
) -> (Option<Feed>, Diagnostics<S>) {
    let mut diagnostics = Diagnostics::new("f", strictness);
    let feed = read(FeedFormat::Geofeed, source.as_bytes().into(), options, &mut diagnostics);
    (feed, diagnostics)
}

fn messages(diagnostics: Diagnostics<impl Strictness>) -> Vec<String> {
    diagnostics.into_items().iter().map(ToString::to_string).collect()
}

/// The entries as `prefix country region city`, `-` for what is absent; and what was said.
fn load(source: &str) -> (Vec<String>, Vec<String>) {
    let (feed, diagnostics) = read_with(source, Load, &ReadOptions::default());
    (listed(&feed.expect("a usable feed")), messages(diagnostics))
}

fn lint(source: &str) -> Vec<String> {
    messages(read_with(source, Lint, &ReadOptions::default()).1)
}

fn listed(feed: &Feed) -> Vec<String> {
    let show = |(prefix, value): (ipnet::IpNet, u32)| match &feed.values[value as usize] {
        FeedValue::Place { country, region, city } => format!(
            "{prefix} {} {} {}",
            country.map_or("-".into(), |code| String::from_utf8(code.into()).unwrap()),
            region.as_deref().unwrap_or("-"),
            city.as_deref().unwrap_or("-")
        ),
        FeedValue::Range { .. } => panic!("a geofeed has places"),
    };
    feed.entries.iter().map(show).collect()
}

const GOOD: &str = "192.0.2.0/24,US,US-AL,Alabaster,\n";
const GOOD_LISTED: &str = "192.0.2.0/24 US US-AL Alabaster";

/// `bad` is lost for one reason, and nothing else is.
fn loses(bad: &str, place: &str, requirement: &str) {
    let source = format!("{GOOD}{bad}\n");
    let (entries, messages) = load(&source);
    assert_eq!(entries, [GOOD_LISTED], "{bad}");
    assert_eq!(messages.len(), 1, "{messages:?}");
    let (start, end) = (format!("f:2:{place}: warning: "), format!("[{requirement}]"));
    assert!(messages[0].starts_with(&start) && messages[0].ends_with(&end), "{messages:?}");
    assert!(lint(&source).iter().any(|message| message.contains(": error: ")), "{bad}");
}

#[test]
fn geo_1_line_ends_blank_lines_and_a_byte_order_mark() {
    // GEO-1; other encodings are tested in source_text.rs.
    let source = "\u{feff}192.0.2.0/24,US,US-AL,Alabaster,\r\n\r\n   \n198.51.100.0/24,BR,BR-SP,São Paulo,";
    let entries = ["192.0.2.0/24 US US-AL Alabaster", "198.51.100.0/24 BR BR-SP São Paulo"];
    assert_eq!(load(source), (entries.map(String::from).into(), Vec::new()));
    assert!(lint(source).is_empty());
}

#[test]
fn geo_1_a_carriage_return_alone_ends_a_line() {
    // GEO-1, GEO-3: all entries count, and diagnostics name their lines.
    let source = "# places\r192.0.2.0/24,US,US-AL,Alabaster,\r\"198.51.100.0/24\",PL,,\"a\rb\",\rx,PL,,,\r203.0.113.0/24,DE,,,\r";
    let entries = ["192.0.2.0/24 US US-AL Alabaster", "198.51.100.0/24 PL - a b", "203.0.113.0/24 DE - -"];
    let messages = ["f:5:1: warning: \"x\": not an IP address [GEO-4]"];
    assert_eq!(load(source), (entries.map(String::from).into(), messages.map(String::from).into()));
}

#[test]
fn geo_2_comments_stand_alone_or_after_data() {
    // GEO-2
    let source = "# IETF106 \"Singapore\n130.129.0.0/16,SG,SG-01,Singapore, # until \"Friday\n  # the end";
    assert_eq!(load(source), ([String::from("130.129.0.0/16 SG SG-01 Singapore")].into(), Vec::new()));
    assert_eq!(load("192.0.2.0/24,US#,US-AL,,\n").0, ["192.0.2.0/24 US - -"]);
    // In quotes it is text, as RFC 4180 has it.
    let quoted = "192.0.2.0/24,US,US-AL,\"Pier #5\",\n";
    assert_eq!(load(quoted).0, ["192.0.2.0/24 US US-AL Pier #5"]);
    assert!(lint(quoted)[0].starts_with("f:1:23: warning: "));
}

#[test]
fn geo_3_quoted_fields_are_unquoted() {
    // GEO-3
    let source = "\"192.0.2.0/24\",US,\"US-AL\",\"Foo \"\"Bar\"\"\",\n\"198.51.100.0/24\",\"pl\",,\"a\r\nb, c\",\"0\n2\" # x\n203.0.113.0/24,DE,,,\n";
    assert_eq!(
        load(source).0,
        ["192.0.2.0/24 US US-AL Foo \"Bar\"", "198.51.100.0/24 PL - a  b, c", "203.0.113.0/24 DE - -"]
    );
    loses("\"198.51.100.0/24,US,,,", "1", "GEO-3");
    // The line after an open quote is not lost with it.
    assert_eq!(load("\"10.0.0.0/8,US,,,\n192.0.2.0/24,US,,,\n").0, ["192.0.2.0/24 US - -"]);
}

#[test]
fn geo_4_an_entry_needs_a_prefix_or_an_address() {
    // GEO-4
    for bad in [
        ",US,,,",
        ",,,,",
        "example.org,US,,,",
        "10.0.0/8,US,,,",
        "10.0.0.0/33,US,,,",
        "10.1.0.0/8,US,,,",
        "x",
    ] {
        loses(bad, "1", "GEO-4");
    }
    loses("  010.0.0.0/8,US,,,", "3", "GEO-4");
    loses("\"\",US,,,", "1", "GEO-4");
    assert_eq!(
        load("192.0.2.5,US,,,\n2001:db8::1,PL,,,").0,
        ["192.0.2.5/32 US - -", "2001:db8::1/128 PL - -"]
    );
}

#[test]
fn geo_4_a_file_without_one_entry_is_no_empty_feed() {
    // GEO-4
    let (feed, diagnostics) = read_with("{\"prefixes\": []}\n", Load, &ReadOptions::default());
    assert!(feed.is_none());
    let messages = messages(diagnostics);
    assert!(
        messages[1].contains("cannot read any of the 1 entries; check that this is the right file"),
        "{messages:?}"
    );
    assert_eq!(load("# nothing now\n"), (Vec::new(), Vec::new()));
    // GEO-3, GEO-4: nor one of which no record can be read.
    for source in ["\"192.0.2.0/24,US,,,\n".to_string(), "x".repeat(1 << 17)] {
        assert!(read_with(&source, Load, &ReadOptions::default()).0.is_none());
    }
}

#[test]
fn geo_5_all_forms_of_ipv6_addresses() {
    // GEO-5
    assert_eq!(
        load(
            "2001:0DB8::0/32,US,,,\n::ffff:192.0.2.0/120,PL,,,\n2001:DB8:0:0:1:0:0:1,DE,,,\n1::0.0.0.1,FR,,,"
        )
        .0,
        ["192.0.2.0/24 PL - -", "1::1/128 FR - -", "2001:db8::/32 US - -", "2001:db8::1:0:0:1/128 DE - -"]
    );
}

#[test]
fn geo_6_the_country_is_two_letters() {
    // GEO-6
    let source = "10.0.0.0/8,us,,,\n11.0.0.0/8,EU,,,\n12.0.0.0/8,zz,,,\n13.0.0.0/8,ZZ,ZZ-1,Atlantis,\n";
    assert_eq!(
        load(source),
        (
            ["10.0.0.0/8 US - -", "11.0.0.0/8 EU - -", "12.0.0.0/8 - - -", "13.0.0.0/8 - - -"]
                .map(String::from)
                .into(),
            Vec::new()
        )
    );
    for bad in ["USA", "U", "99", "Ü", "U-", "ÜÜ"] {
        loses(&format!("10.0.0.0/8,{bad},,,"), "12", "GEO-6");
    }
}

#[test]
fn geo_6_lint_points_out_codes_that_mean_no_country() {
    // GEO-6
    for (line, message) in [
        (
            "11.0.0.0/8,UK,,,",
            "f:1:12: warning: the ISO 3166-1 code of the United Kingdom is GB, not UK [GEO-6]",
        ),
        (
            "11.0.0.0/8,QQ,QQ-1,,",
            "f:1:12: warning: QQ is for private use in ISO 3166-1; other readers do not know it [GEO-6]",
        ),
        ("11.0.0.0/8,en,,,", "f:1:12: warning: EN is not assigned in ISO 3166-1 [GEO-6]"),
    ] {
        assert_eq!(lint(line), [message]);
        // The publisher's word is taken for it all the same.
        assert_eq!(load(line).1, [""; 0]);
    }
    let by_region = lint("11.0.0.0/8,,UK-LND,,");
    assert_eq!(by_region.len(), 2);
    assert!(by_region[1].starts_with("f:1:13: warning: the ISO 3166-1 code of the United"), "{by_region:?}");
    assert!(
        lint("11.0.0.0/8,GB,GB-LND,,\n12.0.0.0/8,EU,,,\n13.0.0.0/8,ZZ,,,\n14.0.0.0/8,XK,,,\n").is_empty()
    );
}

#[test]
fn geo_7_the_region_is_one_of_the_country() {
    // GEO-7
    let source =
        "10.0.0.0/8,us,us-ca,,\n11.0.0.0/8,AU,AU-NSW,,\n12.0.0.0/8,FR,FR-2A,,\n13.0.0.0/8,,PL-14,,\n";
    assert_eq!(
        load(source).0,
        ["10.0.0.0/8 US US-CA -", "11.0.0.0/8 AU AU-NSW -", "12.0.0.0/8 FR FR-2A -", "13.0.0.0/8 PL PL-14 -"]
    );
    assert_eq!(
        lint("13.0.0.0/8,,PL-14,,\n"),
        ["f:1:12: warning: the region PL-14 has no alpha2code; add it [GEO-7]"]
    );
    for bad in ["USA-CA", "CA", "US-", "US-CALI", "US_CA", "PL-14", "ÜS-CA", "US-Ü"] {
        loses(&format!("10.0.0.0/8,US,{bad},,"), "15", "GEO-7");
    }
}

#[test]
fn geo_8_cities_are_free_text_and_postal_codes_are_dropped() {
    // GEO-8
    let source =
        "10.0.0.0/8,JP,JP-13, 東京 ,106-6126\n11.0.0.0/8,JP,JP-13,東京,100-0001\n12.0.0.0/8,,,Berlin,\n";
    let (feed, diagnostics) = read_with(source, Lint, &ReadOptions::default());
    let feed = feed.unwrap();
    assert_eq!(
        listed(&feed),
        ["10.0.0.0/8 JP JP-13 東京", "11.0.0.0/8 JP JP-13 東京", "12.0.0.0/8 - - Berlin"]
    );
    assert_eq!(feed.values.len(), 2);
    // 10.0.0.0/8 is private.
    assert_eq!((diagnostics.errors(), diagnostics.warnings()), (1, 0));
    assert!(!format!("{feed:?}").contains("106"));
}

/// GEO-18.
#[test]
fn geo_18_a_prefix_is_private_if_all_of_it_is() {
    for (prefix, is_private) in
        [("10.0.0.0/8", true), ("10.0.0.0/7", false), ("fc00::/7", true), ("fc00::/6", false)]
    {
        let found = lint(&format!("{prefix},US,,,\n"));
        assert_eq!(
            found.iter().any(|message| message.contains("private address space")),
            is_private,
            "{prefix}"
        );
    }
}

#[test]
fn geo_9_blank_fields_say_that_there_is_no_location() {
    // GEO-9: the entry is kept, so that it hides the one around it.
    let source = "192.0.0.0/16,US,,,\n192.0.2.0/24,,,,\n";
    assert_eq!(
        load(source),
        (["192.0.0.0/16 US - -", "192.0.2.0/24 - - -"].map(String::from).into(), Vec::new())
    );
    assert!(lint(source).is_empty());
}

#[test]
fn geo_10_the_first_of_two_equal_prefixes_counts() {
    // GEO-10
    for (first, second) in [
        ("192.0.2.1", "192.0.2.1/32"),
        ("192.0.2.0/24", "::ffff:192.0.2.0/120"),
        ("2001:db8::/32", "2001:DB8:0::/32"),
    ] {
        let source = format!("{first},US,,,\n{second},PL,,,\n");
        let (entries, messages) = load(&source);
        assert!(entries.len() == 1 && entries[0].ends_with(" US - -"), "{entries:?}");
        assert!(messages.len() == 1 && messages[0].starts_with("f:2:1: warning: "), "{messages:?}");
        assert!(messages[0].ends_with(" is a duplicate; the first entry counts [GEO-10]"), "{messages:?}");
        assert!(lint(&source)[0].starts_with("f:2:1: error: "));
    }
}

#[test]
fn geo_11_nested_prefixes_are_all_kept() {
    // GEO-11: which one counts is the prefix table's to say.
    let source = "2001:db8::/32,PL,,,\n2001:db8:cafe::/48,PL,PL-MZ,,\n";
    assert_eq!(load(source).0, ["2001:db8::/32 PL - -", "2001:db8:cafe::/48 PL PL-MZ -"]);
    assert!(lint(source).is_empty());
}

#[test]
fn geo_12_every_bad_field_of_an_entry_is_reported() {
    // GEO-12
    let (entries, messages) = load(&format!("{GOOD}198.51.100.0/24,USA,USA-CA,Somewhere,\n"));
    assert_eq!(entries, [GOOD_LISTED]);
    assert_eq!(
        messages,
        [
            r#"f:2:17: warning: "USA" is not a two-letter ISO 3166-1 code [GEO-6]"#,
            r#"f:2:21: warning: "USA-CA" is not an ISO 3166-2 code such as US-CA [GEO-7]"#,
        ]
    );
}

#[test]
fn geo_13_and_14_more_and_fewer_fields() {
    // GEO-13, GEO-14
    for (source, entry, warning) in [
        ("192.0.2.0/24,US,US-AL,Foo,1,x,USA\n", "192.0.2.0/24 US US-AL Foo", "f:1:31: warning: 7 fields"),
        ("2001:db8::/32,PL\n", "2001:db8::/32 PL - -", "f:1:15: warning: 2 fields"),
        (
            "199.91.192.0/21,MA,MA-07,Marrakech\n",
            "199.91.192.0/21 MA MA-07 Marrakech",
            "f:1:26: warning: 4 f",
        ),
        ("192.0.2.0/24\n", "192.0.2.0/24 - - -", "f:1:1: warning: 1 fields"),
        ("\"192.0.2.0/24\",US\n", "192.0.2.0/24 US - -", "f:1:16: warning: 2 fields"),
    ] {
        assert_eq!(load(source), ([String::from(entry)].into(), Vec::new()));
        let messages = lint(source);
        assert!(messages.len() == 1 && messages[0].starts_with(warning), "{messages:?}");
        let requirement = if entry.ends_with("Foo") { "[GEO-13]" } else { "[GEO-14]" };
        assert!(messages[0].ends_with(requirement), "{messages:?}");
    }
}

#[test]
fn geo_14_a_fault_is_reported_each_time() {
    // GEO-14: what is remembered of a place never hides a diagnostic.
    assert_eq!(lint("192.0.2.0/24,PL\n198.51.100.0/24,PL\n").len(), 2);
    assert_eq!(load(&format!("{GOOD}10.0.0.0/8,USA,,,\n11.0.0.0/8,USA,,,\n")).1.len(), 2);
}

#[test]
fn geo_15_entries_outside_the_authority_are_ignored() {
    // GEO-15
    let authority = ["192.0.2.0/24", "2001:db8::/32"].map(|text| parse_prefix(text).unwrap());
    let options = ReadOptions { authority: &authority, ..ReadOptions::default() };
    let source = "192.0.2.128/25,US,,,\n192.0.0.0/16,US,,,\n2001:db8::/32,US,,,\n8.8.8.0/24,US,,,\n";
    let (feed, diagnostics) = read_with(source, Load, &options);
    assert_eq!(listed(&feed.unwrap()), ["192.0.2.128/25 US - -", "2001:db8::/32 US - -"]);
    assert_eq!(
        messages(diagnostics),
        [
            "f:2:1: warning: 192.0.0.0/16 is outside `authority`; the entry is ignored [GEO-15]",
            "f:4:1: warning: 8.8.8.0/24 is outside `authority`; the entry is ignored [GEO-15]",
        ]
    );
    // Nothing of ours in it is not the same as nothing readable in it.
    let (feed, _) = read_with("8.8.8.0/24,US,,,\n", Load, &options);
    assert_eq!(feed, Some(Feed { values: feed.clone().unwrap().values, ..Feed::default() }));
}

#[test]
fn geo_18_the_test_lines_of_appendix_a() {
    // GEO-18: line, errors, warnings.
    for (line, errors, warnings) in [
        ("# asdf", 0, 0),
        (" ", 0, 0),
        ("", 0, 0),
        ("asdf", 1, 1),
        ("asdf,US,,,", 1, 0),
        ("aaaa::,US,,,", 0, 0),
        ("zzzz::,US", 1, 1),
        (",US,,,", 1, 0),
        ("55.66.77", 1, 1),
        ("55.66.77.888", 1, 1),
        ("55.66.77.asdf", 1, 1),
        ("2001:db8:cafe::/48,PL,PL-MZ,,02-784", 0, 0),
        ("2001:db8:cafe::/48", 0, 1),
        ("55.66.77.88,PL", 0, 1),
        ("55.66.77.88,PL,,,", 0, 0),
        ("55.66.77.88,,,,", 0, 0),
        ("55.66.77.88,ZZ,,,", 0, 0),
        ("55.66.77.88,US,,,", 0, 0),
        ("55.66.77.88,USA,,,", 1, 0),
        ("55.66.77.88,99,,,", 1, 0),
        ("55.66.77.88,US,US-CA,,", 0, 0),
        ("55.66.77.88,US,USA-CA,,", 1, 0),
        ("55.66.77.88,USA,USA-CA,,", 2, 0),
        ("55.66.77.88,US,US-CA,Mountain View,", 0, 0),
        ("55.66.77.88,US,US-CA,Mountain View,94043", 0, 0),
        ("55.66.77.88,US,US-CA,Mountain View,94043,1600 Ampthitheatre Parkway", 0, 1),
        ("55.66.77.0/24,US,,,", 0, 0),
        ("55.66.77.88/24,US,,,", 1, 0),
        ("55.66.77.88/32,US,,,", 0, 0),
        ("55.66.77/24,US,,,", 1, 0),
        ("55.66.77.0/35,US,,,", 1, 0),
        ("172.15.30.1,US,,,", 0, 0),
        ("172.28.30.1,US,,,", 1, 0),
        ("192.167.100.1,US,,,", 0, 0),
        ("192.168.100.1,US,,,", 1, 0),
        ("10.0.5.9,US,,,", 1, 0),
        ("10.0.5.0/24,US,,,", 1, 0),
        ("fc00::/48,PL,,,", 1, 0),
        ("fe00::/48,PL,,,", 0, 0),
    ] {
        // As in the RFC, and with the spaces that some copies of it have.
        for line in [line.to_string(), format!(" {line} "), format!("{line}\r\n")] {
            let (_, diagnostics) = read_with(&line, Lint, &ReadOptions::default());
            assert_eq!((diagnostics.errors(), diagnostics.warnings()), (errors, warnings), "{line:?}");
        }
    }
}

#[test]
fn bounds_hold_for_lines_and_entries() {
    let bounds = FeedBounds { line: 40, entries: 2, ..FeedBounds::default() };
    let options = ReadOptions { bounds, ..ReadOptions::default() };
    let long = format!("{GOOD}10.0.0.0/8,US,US-AL,{},\n", "x".repeat(40));
    let (feed, diagnostics) = read_with(&long, Load, &options);
    assert_eq!(listed(&feed.unwrap()), [GOOD_LISTED]);
    assert_eq!(messages(diagnostics), ["f:2:1: warning: the line is longer than 40 bytes [GEO-3]"]);
    let (feed, diagnostics) = read_with("1.1.1.1\n1.1.1.2\n1.1.1.3\n", Load, &options);
    assert_eq!(feed, None);
    assert_eq!(messages(diagnostics), ["f:3:1: error: more than 2 entries; the feed is refused"]);
}
