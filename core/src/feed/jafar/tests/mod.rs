//! Each test names the rows of REQUIREMENTS that it shows.

use super::time::parse_time;
use crate::feed::{Feed, FeedBounds, FeedFormat, FeedValue, ReadOptions, read};
use crate::source::diagnostic::{Diagnostics, Lint, Load, Strictness};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

mod entries;
mod shapes;

const GOOD: &str = r#"{"ipv4Prefix":"192.0.2.0/24"}"#;

fn read_with<S: Strictness>(
    source: impl AsRef<[u8]>,
    strictness: S,
    options: &ReadOptions<'_>,
) -> (Option<Feed>, Vec<String>) {
    let mut diagnostics = Diagnostics::new("f", strictness);
    let feed = read(FeedFormat::Jafar, source.as_ref().into(), options, &mut diagnostics);
    assert_eq!(feed.is_none(), diagnostics.has_errors() && (!S::IS_LINT || feed.is_none()));
    (feed, diagnostics.into_items().iter().map(ToString::to_string).collect())
}

fn load(source: impl AsRef<[u8]>) -> (Option<Feed>, Vec<String>) {
    read_with(source, Load, &ReadOptions::default())
}

fn lint(source: impl AsRef<[u8]>) -> Vec<String> {
    read_with(source, Lint, &ReadOptions::default()).1
}

/// A conforming document with these entries.
fn with_entries(entries: &str) -> String {
    format!(
        r#"{{"formatVersion":"1.0","synctoken":"7","creationTime":"2025-08-15T14:30:00Z","prefixes":[{entries}]}}"#
    )
}

/// The prefixes, each with its service where it has one.
fn listed(feed: &Feed) -> Vec<String> {
    let show = |(prefix, value): (ipnet::IpNet, u32)| match &feed.values[value as usize] {
        FeedValue::Range { services } if !services.is_empty() => format!("{prefix} {}", services.join(", ")),
        _ => prefix.to_string(),
    };
    feed.entries.iter().map(show).collect()
}

fn loaded(source: impl AsRef<[u8]>) -> Vec<String> {
    listed(&load(source).0.expect("a usable feed"))
}

/// The requirement of the error that makes the feed unusable.
fn refused(source: impl AsRef<[u8]>) -> String {
    let (feed, messages) = load(source);
    assert_eq!(feed, None);
    messages.last().expect("a reason").clone()
}

#[test]
fn jafar_1_anything_but_one_object_is_refused() {
    // JAFAR-1
    for (source, message) in [
        ("", "f:1:1: error: not JSON: EOF while parsing a value: was the file cut off? [JAFAR-1]"),
        ("17", "f:1:1: error: expected a JSON object [JAFAR-1]"),
        ("null", "f:1:1: error: expected a JSON object [JAFAR-1]"),
        ("[]", "f:1:1: error: an empty array is not a feed [JAFAR-1]"),
        (
            "[\"192.0.2.0/24\",\n {}]",
            "f:1:1: error: not an array of strings in CIDR notation: an array; if its prefixes are at `[]`, set `shape` to this path [JAFAR-20]",
        ),
        (
            "{\"prefixes\": []}\n{\"prefixes\": []}",
            "f:2:1: error: more text after the end of the JSON document [JAFAR-1]",
        ),
        ("{\"notes\": \"żółw\", prefixes: []}", "f:1:19: error: not JSON: key must be a string [JAFAR-1]"),
        (
            "{\"prefixes\": [{\"ipv4Prefix\": \"192.0.2.0/24\"},",
            "f:1:45: error: not JSON: EOF while parsing a value: was the file cut off? [JAFAR-1]",
        ),
        (
            "<!DOCTYPE html>\n<title>404</title>",
            "f: error: this is HTML, not JSON: the server sent a web page, such as an error or a login; check the URL [JAFAR-1]",
        ),
        (
            "{\"\\ud800\": 1, \"prefixes\": []}",
            "f:1:1: error: a key contains an invalid Unicode escape [JAFAR-1]",
        ),
    ] {
        assert_eq!(refused(source), message);
    }
    assert!(refused(b"{\"prefixes\": [], \"notes\": \"caf\xe9\"}").contains("f:1:31: error: not UTF-8"));
    assert!(refused(r#"{"prefixes": [], "prefixes": []}"#).contains("duplicate key `prefixes`"));
    // In lint a bare array is an error, too, though it is read.
    let list = r#"["192.0.2.0/24"]"#;
    assert!(
        lint(list)[0].starts_with("f:1:1: error: the file is an array; write an object"),
        "{:?}",
        lint(list)
    );
}

#[test]
fn jafar_1_a_byte_order_mark_is_tolerated() {
    // JAFAR-1
    let source = format!("\u{feff}{}", with_entries(r#"{"ipv4Prefix":"192.0.2.0/24"}"#));
    assert_eq!(load(&source).1, Vec::<String>::new());
    assert_eq!(
        lint(&source),
        ["f: error: the file starts with a byte order mark, which RFC 8259 forbids in JSON [JAFAR-1]"]
    );
}

#[test]
fn jafar_2_the_version_is_a_string_of_two_numbers() {
    // JAFAR-2
    let with_version = |version: &str| {
        format!(r#"{{{version}"synctoken":"7","creationTime":"2025-08-15T14:30:00Z","prefixes":[]}}"#)
    };
    assert!(load(with_version("")).1.is_empty());
    assert_eq!(
        lint(with_version("")),
        [r#"f:1:1: error: the key `formatVersion` is missing; add "formatVersion": "1.0" [JAFAR-2]"#]
    );
    for usable in [r#""1""#, r#""1.0.0""#, "1.0", "1", r#""1.x""#, "null"] {
        let source = with_version(&format!(r#""formatVersion":{usable},"#));
        assert!(load(&source).0.is_some(), "{usable}");
        let messages = lint(&source);
        assert!(messages.len() == 1 && messages[0].ends_with("[JAFAR-2]"), "{messages:?}");
    }
    for unusable in [r#""""#, r#""v1.0""#, r#""one""#, "[]", "{}", "true", "-1.0"] {
        let source = with_version(&format!(r#""formatVersion":{unusable},"#));
        assert!(refused(source).ends_with("[JAFAR-2]"), "{unusable}");
    }
}

#[test]
fn jafar_3_a_greater_major_version_is_not_parsed() {
    // JAFAR-3. The version may come last, and what stands before it must not matter.
    let source = r#"{"prefixes": {"new": "shape"}, "formatVersion": "2.0"}"#;
    let reason = r#"f:1:49: error: format version "2.0" is not supported; known is 1.x [JAFAR-3]"#;
    assert_eq!(refused(source), reason);
    for version in [r#""2""#, r#""10.0""#, "2.0", r#""99999999999999999999999.0""#] {
        let source = format!(r#"{{"formatVersion":{version},"prefixes":[]}}"#);
        assert!(refused(source).ends_with("[JAFAR-3]"), "{version}");
    }
}

#[test]
fn jafar_4_and_5_greater_minor_versions_and_unknown_members_are_read() {
    // JAFAR-4, JAFAR-5
    let source = r#"{"formatVersion":"1.10","synctoken":"7","creationTime":"2025-08-15T14:30:00Z",
        "ttl":[1,{"a":null}],"prefixes":[{"scope":{"prefixes":[1]},"ipv4Prefix":"192.0.2.0/24","asn":64496}]}"#;
    assert_eq!(loaded(source), ["192.0.2.0/24"]);
    assert!(lint(source).is_empty());
}

#[test]
fn jafar_6_a_conforming_file_has_a_synctoken() {
    // JAFAR-6
    let with_token = |token: &str| {
        format!(r#"{{"formatVersion":"1.0",{token}"creationTime":"2025-08-15T14:30:00Z","prefixes":[]}}"#)
    };
    assert!(lint(with_token(r#""synctoken":"","#)).is_empty());
    assert!(lint(with_token(r#""synctoken":"a","syncToken":"b","#)).is_empty());
    for (token, message) in [
        ("", "the key `synctoken` is missing; add one that changes with the content"),
        (r#""synctoken":7,"#, "`synctoken` is not a string"),
        (r#""syncToken":"7","#, "use the key `synctoken`, in lower case"),
    ] {
        assert!(load(with_token(token)).1.is_empty());
        let messages = lint(with_token(token));
        assert!(messages.len() == 1 && messages[0].contains(message), "{messages:?}");
        assert!(messages[0].ends_with("[JAFAR-6]"));
    }
}

#[test]
fn jafar_7_times_of_all_publishers_are_read_and_z_is_asked_for() {
    // JAFAR-7
    let with_time = |time: &str| {
        format!(r#"{{"formatVersion":"1.0","synctoken":"7","creationTime":{time},"prefixes":[]}}"#)
    };
    for (text, seconds, conforms) in [
        ("2025-08-15T14:30:00Z", 1_755_268_200, true),
        ("2025-08-15T14:30:00.5Z", 1_755_268_200, true),
        ("2025-08-15T16:30:00+02:00", 1_755_268_200, false),
        // Another way to say UTC.
        ("2025-08-15T14:30:00+00:00", 1_755_268_200, true),
        ("2025-08-15T14:30:00.123+00:00", 1_755_268_200, true),
        ("2024-06-18T22:00:57.000000", 1_718_748_057, false),
        ("20250815T143000Z", 1_755_268_200, true),
        ("2024-06-18", 1_718_668_800, false),
        ("2024-06-18-22-00-57", 1_718_748_057, false),
    ] {
        let source = with_time(&format!("{text:?}"));
        let (feed, messages) = load(&source);
        assert_eq!((feed.unwrap().created, messages), (Some(seconds), vec![]), "{text}");
        assert_eq!(lint(&source).is_empty(), conforms, "{text}");
    }
    for bad in [r#""yesterday""#, r#""18.06.2024 22:00""#, r#""2024-02-30T00:00:00Z""#, "1718748057", "null"]
    {
        let (feed, messages) = load(with_time(bad));
        assert_eq!(feed.unwrap().created, None);
        assert!(messages[0].starts_with("f:1:55: warning: ") && messages[0].ends_with("[JAFAR-7]"));
    }
    let missing = lint(r#"{"formatVersion":"1.0","synctoken":"7","prefixes":[]}"#);
    assert_eq!(missing, ["f:1:1: error: the key `creationTime` is missing [JAFAR-7]"]);
    assert_eq!(parse_time("1969-12-31T23:59:59Z"), Some(-1));
}

#[test]
fn jafar_8_notes_are_kept() {
    // JAFAR-8
    let notes = |source| load(source).0.unwrap().notes;
    assert_eq!(notes(r#"{"notes":"FCrDNS \u2713\nx","prefixes":[]}"#).as_deref(), Some("FCrDNS ✓\nx"));
    assert_eq!(notes(r#"{"notes":["x"],"prefixes":[]}"#), None);
    assert!(lint(r#"{"notes":1,"prefixes":[]}"#).iter().any(|message| message.ends_with("[JAFAR-8]")));
}

#[test]
fn jafar_9_prefixes_is_one_array_that_may_be_empty() {
    // JAFAR-9
    assert_eq!(loaded(with_entries("")), Vec::<String>::new());
    assert_eq!(
        loaded(with_entries(r#"{"ipv6Prefix":"2001:db8::/32"},{"ipv4Prefix":"192.0.2.0/24"}"#)),
        ["192.0.2.0/24", "2001:db8::/32"]
    );
    assert_eq!(
        refused("{}"),
        "f:1:1: error: unknown shape: an object without keys; it has no prefixes [JAFAR-20]"
    );
    assert_eq!(
        refused(r#"{"Prefixes":[]}"#),
        r#"f:1:1: error: the key `prefixes` is missing; keys are case-sensitive, and the file has "Prefixes" [JAFAR-9]"#
    );
    for other in ["null", "{}", r#""192.0.2.0/24""#] {
        let reason = "f:1:13: error: `prefixes` is not an array [JAFAR-9]";
        assert_eq!(refused(format!(r#"{{"prefixes":{other}}}"#)), reason);
    }
}

#[test]
fn jafar_20_bare_addresses_are_read() {
    // JAFAR-20, JAFAR-11
    let source = with_entries(
        r#"{"ipv4Prefix":"192.0.2.1"},{"ipv6Prefix":"2001:db8::1"},{"ip_prefix":"198.51.100.7"},"203.0.113.9""#,
    );
    let (feed, messages) = load(&source);
    let feed = feed.unwrap();
    assert_eq!(listed(&feed), ["192.0.2.1/32", "198.51.100.7/32", "203.0.113.9/32", "2001:db8::1/128"]);
    assert_eq!((feed.unreadable, messages), (0, vec![]));
    let messages = lint(&source);
    assert_eq!(messages[0], "f:1:104: error: the prefix length is missing; write 192.0.2.1/32 [JAFAR-11]");
    assert_eq!(loaded(r#"["192.0.2.1"]"#), ["192.0.2.1/32"]);
}

#[test]
fn jafar_23_what_cannot_be_read_is_counted() {
    // JAFAR-23
    let unreadable = |entries: &str| load(with_entries(&format!("{GOOD}{entries}"))).0.unwrap().unreadable;
    assert_eq!(unreadable(""), 0);
    assert_eq!(unreadable(r#",{"ipv4Prefix":"10.0.0.1/8"},{},null,"x",{"ipv4Prefix":"10.0.0.0/8"}"#), 4);
}

#[test]
fn jafar_20_deployed_shapes_load_without_a_word() {
    // JAFAR-20
    let google = r#"{
  "creationTime": "2024-06-18T22:00:57.000000",
  "prefixes": [{ "ipv6Prefix": "2001:4860:4801:10::/64" }, { "ipv4Prefix": "66.249.64.0/27" }]
}"#;
    let cloud = r#"{
  "syncToken": "1718805881850",
  "creationTime": "2024-06-19T07:04:41.850152",
  "prefixes": [{ "ipv4Prefix": "34.35.0.0/16", "service": "Google Cloud", "scope": "africa-south1" }]
}"#;
    let aws = r#"{
  "syncToken": "1718748057",
  "createDate": "2024-06-18-22-00-57",
  "prefixes": [{ "ip_prefix": "3.2.34.0/26", "region": "af-south-1", "service": "AMAZON",
                 "network_border_group": "af-south-1" }],
  "ipv6_prefixes": [{ "ipv6_prefix": "2a05:d07a:a000::/40", "region": "eu-south-1", "service": "AMAZON",
                      "network_border_group": "eu-south-1" }]
}"#;
    let cloudflare = r#"["173.245.48.0/20", "2400:cb00::/32"]"#;
    let (june_18, june_19) = (Some(1_718_748_057), Some(1_718_780_681));
    for (source, entries, created) in [
        (google, ["66.249.64.0/27", "2001:4860:4801:10::/64"].as_slice(), june_18),
        (cloud, &["34.35.0.0/16 Google Cloud"], june_19),
        (aws, &["3.2.34.0/26 AMAZON", "2a05:d07a:a000::/40 AMAZON"], june_18),
        (cloudflare, &["173.245.48.0/20", "2400:cb00::/32"], None),
    ] {
        let (feed, messages) = load(source);
        let feed = feed.unwrap();
        assert_eq!(
            (listed(&feed), feed.created),
            (entries.iter().map(ToString::to_string).collect(), created)
        );
        assert!(messages.is_empty(), "{messages:?}");
        assert!(lint(source).iter().all(|message| message.contains(": error: ")), "{:?}", lint(source));
        assert!(!lint(source).is_empty());
    }
}

#[test]
fn jafar_20_the_feeds_that_we_ship_load_whole() {
    // JAFAR-20
    for (source, entries) in [
        (include_str!("../../../../data/feeds/ahrefs-crawler.json"), 81),
        (include_str!("../../../../data/feeds/apple-applebot.json"), 33),
        (include_str!("../../../../data/feeds/google-googlebot.json"), 317),
        (include_str!("../../../../data/feeds/google-user-triggered.json"), 1058),
        (include_str!("../../../../data/feeds/google-user-triggered-agents.json"), 4),
        (include_str!("../../../../data/feeds/google-user-triggered-google.json"), 496),
        (include_str!("../../../../data/feeds/openai-chatgpt-user.json"), 204),
        (include_str!("../../../../data/feeds/openai-gptbot.json"), 21),
        (include_str!("../../../../data/feeds/perplexity-bot.json"), 8),
        (include_str!("../../../../data/feeds/perplexity-user.json"), 4),
    ] {
        let (feed, messages) = load(source);
        let feed = feed.unwrap();
        assert_eq!((feed.entries.len(), messages), (entries, vec![]));
        // 2026-09-02
        assert_eq!(feed.created.unwrap() / 86_400, 20_698);
    }
}

#[test]
fn jafar_21_the_example_of_the_draft_loads() {
    // JAFAR-21, section 4.1; it lacks the synctoken that the draft demands.
    let source = r#"   { "formatVersion": "1.0", "creationTime": "2025-08-15T14:30:00Z",
   "prefixes": [ { "ipv4Prefix": "66.249.64.0/20" }, { "ipv4Prefix":
   "34.64.0.0/12" }, { "ipv6Prefix": "2001:4860:4000::/36" } ] }"#;
    assert_eq!(loaded(source), ["34.64.0.0/12", "66.249.64.0/20", "2001:4860:4000::/36"]);
    let messages = lint(source);
    assert!(messages.len() == 1 && messages[0].ends_with("[JAFAR-6]"), "{messages:?}");
}

#[test]
fn jafar_22_nothing_depends_on_the_number_of_the_draft() {
    // JAFAR-22: a file may say which text it follows; only formatVersion counts.
    let source = r#"{"$schema":"https://www.ietf.org/archive/id/draft-illyes-webbotauth-jafar-00.html","prefixes":[]}"#;
    assert_eq!(load(source), (Some(Feed::default()), vec![]));
}

#[test]
fn bounds_hold_for_bytes_entries_and_nesting() {
    let read = |source: &str, bounds| {
        let options = ReadOptions { bounds, ..ReadOptions::default() };
        read_with(source, Load, &options)
    };
    let source = with_entries(&format!(r#"{GOOD},{{"ipv4Prefix":"198.51.100.0/24"}}"#));
    let (feed, messages) = read(&source, FeedBounds { entries: 1, ..FeedBounds::default() });
    assert_eq!(
        (feed, messages),
        (None, vec!["f:1:134: error: more than 1 entries; the feed is refused".into()])
    );
    let (feed, messages) = read(&source, FeedBounds { bytes: 100, ..FeedBounds::default() });
    assert!(feed.is_none() && messages[0].contains("the limit is 100"));
    assert!(read(&source, FeedBounds { bytes: source.len(), ..FeedBounds::default() }).0.is_some());
    let deep = |depth: usize| format!(r#"{{"x":{}{},"prefixes":[]}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(load(deep(63)).0.is_some());
    assert_eq!(
        load(deep(64)).1,
        ["f:1:69: error: arrays and objects are nested more than 64 levels deep [JAFAR-1]"]
    );
    // Far beyond the stack, with the bound off.
    let (feed, _) = read(&deep(300_000), FeedBounds { nesting: usize::MAX, ..FeedBounds::default() });
    assert!(feed.is_some());
    // Brackets in strings are text.
    assert!(
        load(r#"{"x":"\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[","prefixes":[]}"#)
            .0
            .is_some()
    );
}
