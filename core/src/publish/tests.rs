use super::*;
use crate::feed::{FeedFormat, ReadOptions, read};
use crate::source::diagnostic::{Diagnostics, Load};
use alloc::string::ToString;
use alloc::vec;
use core::net::IpAddr;

fn source<'a>(text: &'a str, meaning: Option<&'a str>) -> Source<'a> {
    Source { name: "f", bytes: text.as_bytes(), shape: None, meaning }
}

fn content(kind: Kind, texts: &[(&str, Option<&str>)]) -> Content {
    let mut content = Content::new(kind);
    for (text, meaning) in texts {
        content.add(&source(text, *meaning)).unwrap();
    }
    content.aggregate();
    content
}

fn problems(kind: Kind, texts: &[&str]) -> Vec<String> {
    let mut content = Content::new(kind);
    let added = texts.iter().map(|text| content.add(&source(text, None)));
    added.filter_map(Result::err).flatten().map(|one| one.to_string()).collect()
}

const CREATED: &str = "2026-11-22T00:00:00Z";

#[test]
fn jafar_6_a_feed_conforms_and_its_token_follows_its_content() {
    // JAFAR-2, JAFAR-6, JAFAR-7, JAFAR-8, JAFAR-9, JAFAR-11
    let feed = content(
        Kind::Jafar,
        &[("198.51.100.7\n2001:db8::/33\n2001:db8:8000::/33 ; both\n192.0.2.0 - 192.0.2.255\n", None)],
    );
    let text = feed.feed(CREATED, Some("\"all\""));
    assert_eq!(
        text,
        r#"{
  "formatVersion": "1.0",
  "synctoken": "TOKEN",
  "creationTime": "2026-11-22T00:00:00Z",
  "notes": "\"all\"",
  "prefixes": [
    {"ipv4Prefix": "192.0.2.0/24"},
    {"ipv4Prefix": "198.51.100.7/32"},
    {"ipv6Prefix": "2001:db8::/32"}
  ]
}
"#
        .replace("TOKEN", &feed.token(Some("\"all\"")))
    );
    assert_eq!(feed.check("f", &text), []);
    let other = content(Kind::Jafar, &[("192.0.2.0/24", None)]);
    let tokens = [feed.token(None), feed.token(Some("x")), other.token(None), other.token(Some("x"))];
    let distinct: alloc::collections::BTreeSet<_> = tokens.iter().collect();
    assert_eq!(distinct.len(), 4);
    assert!(tokens.iter().all(|token| token.len() == 16));
}

#[test]
fn jafar_12_services_come_from_the_list_or_from_the_publisher() {
    // JAFAR-12, JAFAR-18
    let feed = content(
        Kind::Jafar,
        &[
            ("prefix,service\n192.0.2.0/25,b\n192.0.2.0/25,a # twice\n\"192.0.2.128/25\",\"a, b\"\n", None),
            ("203.0.113.0/24,\n203.0.113.0/24,own\n198.51.100.0/24\n", Some("fallback")),
            (r#"{"prefixes":[{"ipv4Prefix":"192.0.2.0/25","service":"c"}]}"#, None),
        ],
    );
    let text = feed.feed(CREATED, None);
    let expected = r#"    {"ipv4Prefix": "192.0.2.0/25", "service": "a"},
    {"ipv4Prefix": "192.0.2.0/25", "service": "b"},
    {"ipv4Prefix": "192.0.2.0/25", "service": "c"},
    {"ipv4Prefix": "192.0.2.128/25", "service": "a, b"},
    {"ipv4Prefix": "198.51.100.0/24", "service": "fallback"},
    {"ipv4Prefix": "203.0.113.0/24", "service": "fallback"},
    {"ipv4Prefix": "203.0.113.0/24", "service": "own"}
"#;
    assert!(text.contains(expected), "{text}");
    assert_eq!(feed.check("f", &text), []);
}

#[test]
fn jafar_12_the_services_of_a_prefix_have_one_order() {
    // JAFAR-12
    let list = |services: [&str; 3]| {
        let entry = |service| format!(r#"{{"ipv4Prefix":"192.0.2.0/24","service":"{service}"}}"#);
        format!(r#"{{"prefixes":[{}]}}"#, services.map(entry).join(","))
    };
    let [one, other] =
        [["b", "a", "b"], ["a", "b", "a"]].map(|services| content(Kind::Jafar, &[(&list(services), None)]));
    assert_eq!(one, other);
}

#[test]
fn geo_8_a_geofeed_conforms_and_has_no_postal_codes() {
    // GEO-3, GEO-8, GEO-9, GEO-18
    let feed = content(
        Kind::Geofeed,
        &[
            (
                "8.8.8.0/25,us,us-ca,\"San Jose, \"\"South\"\"\",95002\n8.8.8.128/25,US,US-CA,\"San Jose, \"\"South\"\"\",\n9.9.0.0/16,,,,\n",
                None,
            ),
            ("2600::/33\n2600:0:8000::/33\n", Some("PL,PL-14,Warszawa")),
        ],
    );
    let text = feed.feed(CREATED, None);
    assert_eq!(
        text,
        "# prefix,alpha2code,region,city,postal_code\n8.8.8.0/24,US,US-CA,\"San Jose, \"\"South\"\"\",\n9.9.0.0/16,,,,\n\
         2600::/32,PL,PL-14,Warszawa,\n"
    );
    assert_eq!(feed.check("f", &text), []);
    // The appendix's example of an error is an error.
    let private = content(Kind::Geofeed, &[("10.0.0.0/8,PL,,,", None)]);
    assert_eq!(private.check("f", &private.feed(CREATED, None)).len(), 1);
}

#[test]
fn what_cannot_be_read_is_an_error() {
    for (kind, texts, expected) in [
        (
            Kind::Jafar,
            ["192.0.2.0/24\nexample.org\n", ""].as_slice(),
            "f:2:1: error: \"example.org\": not an IP address",
        ),
        (
            Kind::Jafar,
            &["192.0.2.0/24,a\n192.0.2.1/24,a"],
            "f:2:1: error: \"192.0.2.1/24\": host bits are set; write 192.0.2.0/24",
        ),
        (Kind::Jafar, &["192.0.2.0/24,a,b"], "f:1:1: error: expected prefix,service"),
        (
            Kind::Jafar,
            &["192.0.2.1, 198.51.100.7\n203.0.113.0/24"],
            "f:1:1: error: \"198.51.100.7\" is an address, not a service; write one prefix a line",
        ),
        (
            Kind::Jafar,
            &["192.0.2.0/24,2001:db8::/32"],
            "f:1:1: error: \"2001:db8::/32\" is an address, not a service; write one prefix a line",
        ),
        (
            Kind::Jafar,
            &["192.0.2.0/24,a ; ours"],
            "f:1:1: error: the service \"a ; ours\" contains `;`; in CSV, `#` starts a comment",
        ),
        (
            Kind::Jafar,
            &["192.0.2.0/24,a\u{7}"],
            "f:1:1: error: the service \"a\\u{7}\" contains control characters",
        ),
        (
            Kind::Geofeed,
            &["192.0.2.0/24"],
            "f: error: the list has no places; write them into the file, or use --place",
        ),
        (
            Kind::Geofeed,
            &["192.0.2.0/24,PL,,,", "192.0.2.0/24,DE,,,"],
            "f: error: 192.0.2.0/24 has another place in another file; keep one",
        ),
    ] {
        assert_eq!(problems(kind, texts), [expected]);
    }
    let mut content = Content::new(Kind::Geofeed);
    let error = content.add(&source("192.0.2.0/24", Some("Poland"))).unwrap_err();
    assert!(error[0].to_string().starts_with("--place: error: "), "{}", error[0]);
    assert!(error.iter().any(|one| one.message.contains("Poland")), "{error:?}");
}

#[test]
fn other_programs_get_what_the_feed_says_of_each_address() {
    let feed = content(Kind::Jafar, &[("192.0.2.0/24\n192.0.2.64/26,a\n192.0.2.64/27,\"b \"\"\\\"\n", None)]);
    assert_eq!(feed.cidr(), "192.0.2.0/24\n");
    assert_eq!(
        feed.nginx_geo("bots"),
        "geo $bots {\n    default \"\";\n    192.0.2.0/24 \"bots\";\n    192.0.2.64/26 \"a\";\n    192.0.2.64/27 \"b \\\"\\\\\";\n}\n"
    );
    let filter: serde_json::Value = serde_json::from_str(&feed.envoy_ip_tagging("bots")).unwrap();
    let tags = filter["typed_config"]["ip_tags"].as_array().unwrap();
    let shown: Vec<String> = tags
        .iter()
        .map(|tag| {
            let ranges = tag["ip_list"].as_array().unwrap().iter();
            let ranges: Vec<String> = ranges
                .map(|one| format!("{}/{}", one["address_prefix"].as_str().unwrap(), one["prefix_len"]))
                .collect();
            format!("{} {}", tag["ip_tag_name"].as_str().unwrap(), ranges.join(" "))
        })
        .collect();
    assert_eq!(shown, ["a 192.0.2.96/27", "b \"\\ 192.0.2.64/27", "bots 192.0.2.0/26 192.0.2.128/25"]);
    let places = content(Kind::Geofeed, &[("8.8.8.0/24,US,,,\n8.8.8.0/25,,,,\n", None)]);
    assert!(places.envoy_ip_tagging("x").contains("8.8.8.128"));
    assert!(!places.envoy_ip_tagging("x").contains("\"8.8.8.0\""));
    assert_eq!(places.nginx_geo("x").lines().nth(3), Some("    8.8.8.0/25 \"\";"));
}

/// The value of the longest prefix for an address.
fn said(entries: &BTreeMap<IpNet, FeedValue>, address: IpAddr) -> Option<&FeedValue> {
    entries.iter().rfind(|(prefix, _)| prefix.contains(&address)).map(|(_, value)| value)
}

proptest::proptest! {
    #[test]
    fn aggregation_changes_nothing_that_is_said(
        prefixes in proptest::collection::vec((0_u32..64, 26_u8..=32, 0_u8..3), 0..40)
    ) {
        let mut entries = BTreeMap::new();
        for (low, length, service) in prefixes {
            let prefix = ipnet::Ipv4Net::new((0xC000_0200 | low).into(), length).unwrap().trunc();
            entries.insert(IpNet::V4(prefix), FeedValue::Range { services: vec![service.to_string().into()].into() });
        }
        let mut fewer = entries.clone();
        aggregate::aggregate(&mut fewer);
        let parts: Vec<_> = fewer.iter().map(|(prefix, value)| (*prefix, value)).collect();
        let parts = aggregate::disjoint(&parts);
        assert!(fewer.len() <= entries.len());
        for low in 0_u32..64 {
            let address = IpAddr::V4((0xC000_0200 | low).into());
            assert_eq!(said(&fewer, address), said(&entries, address));
            let of_parts: Vec<_> = parts.iter().filter(|(prefix, _)| prefix.contains(&address)).collect();
            assert!(of_parts.len() <= 1);
            assert_eq!(of_parts.first().map(|(_, value)| *value), said(&entries, address));
        }
        // A gate reads what was meant.
        let content = Content { kind: Kind::Jafar, entries: fewer };
        let text = content.feed(CREATED, None);
        let feed = read(FeedFormat::Jafar, text.as_bytes().into(), &ReadOptions::default(), &mut Diagnostics::new("f", Load)).unwrap();
        let again = feed.entries.iter().map(|(prefix, value)| (prefix, feed.values[value as usize].clone()));
        assert_eq!(again.collect::<BTreeMap<_, _>>(), content.entries);
    }
}
