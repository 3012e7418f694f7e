//! The shapes of other publishers, in the files with which the gates are tested, too.

use super::{listed, load, read_with, refused};
use crate::feed::{FeedBounds, ReadOptions, Shape};
use crate::source::diagnostic::{LenientLint, Lint, Load};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../../../../tests/cases/data/shapes/", $name))
    };
}

/// The entries of a document at the paths of a shape, how many could not be read, and the messages.
fn at(shape: &str, source: &str) -> (Vec<String>, usize, Vec<String>) {
    let shape = Shape::parse(shape).unwrap();
    let options = ReadOptions { shape: Some(&shape), ..ReadOptions::default() };
    let (feed, messages) = read_with(source, Load, &options);
    let feed = feed.unwrap_or_default();
    (listed(&feed), feed.unreadable, messages)
}

#[test]
fn jafar_20_the_shapes_of_publishers_are_known() {
    // JAFAR-20
    for (source, entries) in [
        (sample!("amazonbot.json"), ["198.18.10.0/24 amazonbot", "2001:db8:10::/48 amazonbot"].as_slice()),
        (sample!("ahrefs.json"), &["198.18.12.1/32", "198.18.12.64/26", "2001:db8:12::/48"]),
        (sample!("fastly.json"), &["198.18.13.0/24", "2001:db8:13::/48"]),
        (
            sample!("github.json"),
            &[
                "198.18.14.0/25",
                "198.18.14.128/25",
                "198.18.15.0/24",
                "2001:db8:14::/49",
                "2001:db8:14:8000::/49",
            ],
        ),
        (sample!("atlassian.json"), &["198.18.16.0/24", "2001:db8:16::/48"]),
        (
            sample!("azure.json"),
            &[
                "198.18.17.0/24 ApplicationInsightsAvailability",
                "198.18.18.0/24 AzureCloud.eastus",
                "2001:db8:17::/48 ApplicationInsightsAvailability",
            ],
        ),
        (sample!("oracle.json"), &["198.18.19.0/24 ap-melbourne-1", "198.18.20.0/24 us-phoenix-1"]),
        (sample!("cloudflare-api.json"), &["198.18.21.0/24", "2001:db8:21::/48"]),
        (
            sample!("datadog.json"),
            &["198.18.22.0/24 api", "198.18.23.1/32 synthetics", "2001:db8:23::/48 synthetics"],
        ),
    ] {
        let (feed, messages) = load(source);
        let feed = feed.unwrap_or_else(|| panic!("{messages:?}"));
        assert_eq!(
            (listed(&feed), feed.unreadable, messages),
            (entries.iter().map(ToString::to_string).collect(), 0, vec![])
        );
        // A publisher learns that this is not the format.
        let (_, strict) = read_with(source, Lint, &ReadOptions::default());
        assert!(
            strict[0].contains(": error: ") && strict.iter().any(|one| one.ends_with("[JAFAR-20]")),
            "{strict:?}"
        );
        let (_, lenient) = read_with(source, LenientLint, &ReadOptions::default());
        assert!(!lenient.is_empty() && lenient.iter().all(|one| one.contains(": warning: ")), "{lenient:?}");
    }
}

#[test]
fn jafar_20_a_document_without_keys_of_the_format_claims_no_conformance() {
    use crate::feed::{FeedFormat, is_of_a_deployed_shape};
    let is_deployed = |format, text: &str| is_of_a_deployed_shape(format, text.as_bytes());
    for (text, expected) in [
        (sample!("ahrefs.json"), true),
        (r#"["192.0.2.0/24"]"#, true),
        (r#"{"prefixes":[]}"#, true),
        (r#"{"prefixes":[],"syncToken":"1"}"#, true),
        (r#"{"formatVersion":"1.0","prefixes":[]}"#, false),
        (r#"{"synctoken":"1","prefixes":[]}"#, false),
        ("{", false),
    ] {
        assert_eq!(is_deployed(FeedFormat::Jafar, text), expected, "{text}");
        assert!(!is_deployed(FeedFormat::Cidr, text));
    }
}

#[test]
fn jafar_20_a_feed_inside_an_object_is_read_as_one() {
    // JAFAR-20, JAFAR-3, JAFAR-9, JAFAR-12
    let two = r#"{"updated":"today","a":{"creationTime":"2026-01-02T00:00:00Z","prefixes":[{"ipv4Prefix":"192.0.2.0/25"}]},
        "b":{"prefixes":[{"ipv4Prefix":"192.0.2.0/25"},{"ipv4Prefix":"192.0.2.128/25","service":"own"}]}}"#;
    let feed = load(two).0.unwrap();
    assert_eq!(
        (listed(&feed), feed.created.is_some()),
        (vec!["192.0.2.0/25 a, b".into(), "192.0.2.128/25 own".into()], true)
    );
    assert!(refused(r#"{"a":{"formatVersion":"2.0","prefixes":[]}}"#).ends_with("[JAFAR-3]"));
    assert!(listed(&load(r#"{"a":{"prefixes":[]}}"#).0.unwrap()).is_empty());
    for other in [r#"{"prefixes":{"ipv4Prefix":"198.51.100.0/24"}}"#, r#"{"prefixes":null}"#] {
        let source =
            format!(r#"{{"a":{{"prefixes":[{{"ipv4Prefix":"192.0.2.0/24"}}]}},"b":{other},"c":{{}},"d":1}}"#);
        let (feed, messages) = load(&source);
        let feed = feed.unwrap();
        assert_eq!((listed(&feed), feed.unreadable), (vec!["192.0.2.0/24 a".to_string()], 1), "{source}");
        assert!(
            messages.iter().any(|message| message.contains("this part of the feed is ignored")),
            "{messages:?}"
        );
    }
    // A name that cannot be shown is none.
    let (feed, messages) = load(r#"{"a\u0007":{"prefixes":["192.0.2.0/25"]}}"#);
    assert_eq!((listed(&feed.unwrap()), messages.len()), (vec!["192.0.2.0/25".into()], 1));
}

#[test]
fn jafar_20_a_path_says_where_the_prefixes_are() {
    // JAFAR-20
    let amazonbot = sample!("amazonbot.json");
    assert_eq!(
        at("amazonbot.prefixes[].ipv4Prefix, amazonbot.prefixes[].ipv6Prefix", amazonbot),
        (vec!["198.18.10.0/24".into(), "2001:db8:10::/48".into()], 0, vec![])
    );
    assert_eq!(at("amazonbot.prefixes[]", amazonbot).0.len(), 2);
    // The other half is lost, which is said, so that it condemns nobody.
    let message = "f:2:55: warning: the object has none of the keys `ipv4Prefix` [JAFAR-20]";
    let half = at("amazonbot.prefixes[].ipv4Prefix", amazonbot);
    assert_eq!(half, (vec!["198.18.10.0/24".into()], 1, vec![message.into()]));
    assert_eq!(
        at("*[]", sample!("newrelic.json")).0,
        ["198.18.24.0/25 AWS_US_EAST_1", "198.18.24.128/25 AWS_EU_WEST_1", "2001:db8:24::/48 AWS_EU_WEST_1"]
    );
    let (entries, unreadable, messages) = at("*.ip,*.ipv6", sample!("statuscake.json"));
    assert_eq!((entries.len(), unreadable), (3, 1));
    assert_eq!(messages, ["f:2:57: warning: \"\": not an IP address [JAFAR-11]"]);
    let synthetics = at("synthetics.prefixes_ipv4[],synthetics.prefixes_ipv6[]", sample!("datadog.json"));
    assert_eq!(synthetics.0, ["198.18.23.1/32", "2001:db8:23::/48"]);
    assert_eq!(at("hooks[]", sample!("github.json")).0, ["198.18.14.0/25", "2001:db8:14::/49"]);
    assert_eq!(
        at("[][]", r#"[["192.0.2.0/25"],[],["192.0.2.128/25"]]"#).0,
        ["192.0.2.0/25", "192.0.2.128/25"]
    );
    assert_eq!(
        at("[name].ip", r#"[{"ip":"192.0.2.1","name":"a"},{"ip":"192.0.2.2"}]"#).0,
        ["192.0.2.1/32 a", "192.0.2.2/32"]
    );
}

#[test]
fn jafar_20_what_a_path_does_not_fit_is_lost_and_said() {
    // JAFAR-20, JAFAR-23
    let good = r#""a":["192.0.2.0/24"]"#;
    for (shape, rest, message) in [
        ("a[],b[]", r#""b":"10.0.0.0/8""#, "f:1:27: warning: expected an array [JAFAR-20]"),
        ("a[],b[]", r#""b":null"#, "f:1:27: warning: expected an array [JAFAR-20]"),
        ("a[],b.c", r#""b":[]"#, "f:1:27: warning: expected an object [JAFAR-20]"),
        ("a[],b.c,b.d", r#""b":{}"#, "f:1:27: warning: the object has none of the keys `c`, `d` [JAFAR-20]"),
        ("a[],b[]", r#""b":[["10.0.0.0/8"]]"#, "f:1:28: warning: expected a string or an object [JAFAR-20]"),
        (
            "a[],b[]",
            r#""b":[{"x":1}]"#,
            "f:1:28: warning: the entry has neither `ipv4Prefix` nor `ipv6Prefix` [JAFAR-10]",
        ),
        (
            "a[],b[].c",
            r#""b":[{"\ud800":1}]"#,
            "f:1:28: warning: a key contains an invalid Unicode escape [JAFAR-1]",
        ),
        (
            "a[]",
            r#""a":["10.0.0.0/8"]"#,
            "f:1:27: warning: duplicate key `a`; the first one counts [JAFAR-1]",
        ),
    ] {
        let found = at(shape, &format!("{{{good},{rest}}}"));
        assert_eq!(found, (vec!["192.0.2.0/24".into()], 1, vec![message.into()]), "{shape}");
    }
    // Beside what `*` stands for, there may be other values.
    assert_eq!(at("*[],*.x[]", r#"{"b":7,"a":["192.0.2.0/24"],"c":{},"d":"x"}"#).1, 0);
}

#[test]
fn jafar_20_an_unknown_shape_is_refused_with_what_was_seen() {
    // JAFAR-20, JAFAR-24
    for (source, message) in [
        (
            r#"{"items":[{"network":"198.18.16.0/24"}],"syncToken":1}"#,
            r#"unknown shape: an object with the keys "items", "syncToken"; if its prefixes are at `items[].network`, set `shape` to this path"#,
        ),
        (
            r#"{"Action needed":"update the location"}"#,
            r#"unknown shape: an object with the keys "Action needed"; it has no prefixes"#,
        ),
        (
            r#"{"items":[{"name":"x"},{"name":"y","network":"192.0.2.0/24"}]}"#,
            r#"unknown shape: an object with the keys "items"; if its prefixes are at `items[].network`, set `shape` to this path"#,
        ),
        (
            r#"{"items":[1,2,"192.0.2.0/24"]}"#,
            r#"unknown shape: an object with the keys "items"; if its prefixes are at `items[]`, set `shape` to this path"#,
        ),
        (
            r#"{"items":[1,2,3,"192.0.2.0/24"]}"#,
            r#"unknown shape: an object with the keys "items"; it has no prefixes"#,
        ),
        (r#"{"items":[]}"#, r#"unknown shape: an object with the keys "items"; it has no prefixes"#),
        (
            r#"{"ips":[],"addresses":[]}"#,
            r#"unknown shape: an object with the keys "ips", "addresses"; it has no prefixes"#,
        ),
        (
            r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i.j":{"k":["::1"]}}"#,
            r#"unknown shape: an object with 9 keys, such as "a", "b", "c", "d", "e", "f", "g", "h"; if its prefixes are at `*.k[]`, set `shape` to this path"#,
        ),
        (
            r#"[{"ip":"192.0.2.1"}]"#,
            "not an array of strings in CIDR notation: an array; if its prefixes are at `[].ip`, set `shape` to this path",
        ),
    ] {
        assert_eq!(refused(source), format!("f:1:1: error: {message} [JAFAR-20]"));
    }
    let (entries, unreadable, messages) = at("a[][]", r#"{"a":[["192.0.2.0/24"],{"b":"::1"}]}"#);
    assert_eq!((entries, unreadable), (vec!["192.0.2.0/24".into()], 1));
    assert!(messages[0].contains("expected an array"), "{messages:?}");
    for (shape, source) in
        [("a[]", r#"{"b":["192.0.2.0/24"]}"#), ("a[]", "[]"), ("a.b", r#"{"a":7}"#), ("*", "{}")]
    {
        let (entries, _, messages) = at(shape, source);
        let last = messages.last().unwrap();
        assert!(entries.is_empty() && last.contains("error: nothing is at the paths of `shape`: "), "{last}");
    }
}

#[test]
fn jafar_20_a_page_has_the_feed_inside() {
    // JAFAR-20, JAFAR-24
    let page = sample!("amazonbot.html");
    assert_eq!(
        at("html", page),
        (vec!["198.18.11.1/32".into(), "198.18.11.2/32".into(), "2001:db8:11::/48".into()], 0, vec![])
    );
    assert_eq!(at("html:prefixes[].ipv4Prefix", page).0, ["198.18.11.1/32", "198.18.11.2/32"]);
    // Positions are those of the page.
    let broken = page.replace("198.18.11.2", "198.18.11.256");
    let message = r#"f:10:89: warning: `ipv4Prefix`: "198.18.11.256": not an IP address [JAFAR-11]"#;
    assert_eq!(at("html", &broken).2, [message]);
    // The publisher may leave the page away, or put the feed into an object.
    assert_eq!(at("html", sample!("amazonbot.json")).0.len(), 2);
    for (shape, page) in [
        ("html", "<html>login</html>"),
        ("html", "<p>{\"ip\":\"192.0.2.1\"}</p>"),
        ("html:a[]", page),
        ("html", ""),
    ] {
        let (entries, _, messages) = at(shape, page);
        assert!(
            entries.is_empty() && messages[0].starts_with("f: error: the page has no JSON "),
            "{messages:?}"
        );
    }
    // Without the shape, a page is an error.
    assert!(refused(page).contains("this is HTML, not JSON"));
}

#[test]
fn a_shape_has_at_most_a_thousand_bytes() {
    let path = |length| "a".repeat(length);
    assert!(Shape::parse(&path(1000)).is_ok());
    assert_eq!(Shape::parse(&path(1001)).unwrap_err(), "the shape has 1001 bytes; the limit is 1000");
}

#[test]
fn jafar_20_bounds_hold_for_all_shapes() {
    // JAFAR-20
    let read = |shape: Option<&str>, source: &str, bounds| {
        let shape = shape.map(|text| Shape::parse(text).unwrap());
        let options = ReadOptions { bounds, shape: shape.as_ref(), ..ReadOptions::default() };
        read_with(source, Load, &options).1
    };
    let few = FeedBounds { entries: 1, ..FeedBounds::default() };
    for (shape, source) in [
        (None, sample!("fastly.json")),
        (None, sample!("amazonbot.json")),
        (Some("html"), sample!("amazonbot.html")),
        (Some("*[]"), sample!("newrelic.json")),
    ] {
        assert!(read(shape, source, few)[0].contains("error: more than 1 entries"), "{source}");
    }
    let flat = FeedBounds { nesting: 2, ..FeedBounds::default() };
    for (shape, source) in [(None, sample!("amazonbot.json")), (Some("html"), sample!("amazonbot.html"))] {
        assert!(read(shape, source, flat)[0].contains("nested more than 2 levels deep"), "{source}");
    }
    let deep = format!("{}\"10.0.0.0/8\"{}", "{\"a\":".repeat(60), "}".repeat(60));
    assert!(refused(&deep).contains("it has no prefixes"), "only so many steps are looked at");
}
