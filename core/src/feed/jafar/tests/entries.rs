//! The entries of a feed: prefixes and services.

use super::*;

#[test]
fn jafar_10_a_name_in_the_wrong_case_is_pointed_out() {
    // JAFAR-10
    let (_, messages) = load(with_entries(&format!(r#"{GOOD},{{"IPv4Prefix":"10.0.0.0/8"}}"#)));
    assert_eq!(
        messages,
        [
            r#"f:1:120: warning: the entry has neither `ipv4Prefix` nor `ipv6Prefix`; keys are case-sensitive, and the file has "IPv4Prefix" [JAFAR-10]"#
        ]
    );
}

#[test]
fn jafar_10_an_object_has_exactly_one_prefix() {
    // JAFAR-10
    for bad in [
        "{}",
        "null",
        "[]",
        "7",
        r#"{"service":"x"}"#,
        r#"{"ipv4Prefix":"10.0.0.0/8","ipv6Prefix":"2001:db8::/32"}"#,
        r#"{"ipv4Prefix":"10.0.0.0/8","ipv6Prefix":null}"#,
        r#"{"ipv4Prefix":null}"#,
        r#"{"ipv4Prefix":"10.0.0.0/8","ipv4Prefix":"10.0.0.0/8"}"#,
        r#"{"ipv4Prefix":"10.0.0.0/8","ip_prefix":"10.0.0.0/8"}"#,
        r#"{"IPv4Prefix":"10.0.0.0/8"}"#,
    ] {
        let source = with_entries(&format!("{GOOD},\n{bad}"));
        let (feed, messages) = load(&source);
        assert_eq!(listed(&feed.unwrap()), ["192.0.2.0/24"]);
        assert!(messages.len() == 1 && messages[0].starts_with("f:2:"), "{messages:?}");
        assert!(messages[0].ends_with("[JAFAR-10]") && messages[0].contains(": warning: "), "{messages:?}");
        assert!(lint(&source)[0].contains(": error: "));
    }
}

#[test]
fn jafar_11_only_cidr_of_the_own_family_counts() {
    // JAFAR-11
    for (bad, reason) in [
        (
            r#"{"ipv4Prefix":"2001:db8::/32"}"#,
            r#"`ipv4Prefix`: "2001:db8::/32" is of the other address family"#,
        ),
        (r#"{"ipv6Prefix":"10.0.0.0/8"}"#, r#"`ipv6Prefix`: "10.0.0.0/8" is of the other address family"#),
        (r#"{"ipv4Prefix":"66.249.66.1/19"}"#, "host bits are set; write 66.249.64.0/19"),
        (r#"{"ipv4Prefix":"10.0.0.0/33"}"#, "the prefix length is greater than 32"),
        (r#"{"ipv4Prefix":"2001:db8::1"}"#, "is of the other address family"),
        (r#"{"ipv4Prefix":" 10.0.0.0/8"}"#, "not an IP address"),
        (r#"{"ipv4Prefix":""}"#, "not an IP address"),
        (r#"{"ipv4Prefix":10}"#, "`ipv4Prefix` is not a string"),
        (r#"{"ipv4Prefix":"\ud800"}"#, "`ipv4Prefix` is not a string"),
    ] {
        let source = with_entries(&format!("{GOOD},\n{bad}"));
        let (feed, messages) = load(&source);
        assert_eq!(listed(&feed.unwrap()), ["192.0.2.0/24"]);
        assert!(messages.len() == 1 && messages[0].starts_with("f:2:15: warning: "), "{messages:?}");
        assert!(messages[0].contains(reason) && messages[0].ends_with("[JAFAR-11]"), "{messages:?}");
        assert!(lint(&source)[0].starts_with("f:2:15: error: "));
    }
    // Escaped slashes are the same text.
    assert_eq!(loaded(with_entries(r#"{"ipv4Prefix":"10.0.0.0\/8"}"#)), ["10.0.0.0/8"]);
}

#[test]
fn jafar_20_a_message_names_the_key_of_the_publisher() {
    // JAFAR-20
    for key in ["cidr", "ip_address"] {
        let (_, messages) = load(with_entries(&format!("{GOOD},{{\"{key}\":7}}")));
        assert!(messages[0].contains(&format!("`{key}` is not a string")), "{messages:?}");
    }
}

#[test]
fn jafar_11_a_feed_without_one_readable_entry_is_not_an_empty_one() {
    // JAFAR-11
    let reason = refused(with_entries(r#"{"ipv4Prefix":"10.0.0"},{}"#));
    assert!(reason.contains("cannot read any of the 2 entries"), "{reason}");
}

#[test]
fn jafar_12_services_are_case_sensitive_strings() {
    // JAFAR-12
    let source = with_entries(
        r#"{"ipv4Prefix":"10.0.0.0/24","service":"Bingbot"},{"ipv4Prefix":"10.0.1.0/24","service":"bingbot"},
           {"ipv4Prefix":"10.0.2.0/24","service":"Bingbot"},{"ipv4Prefix":"10.0.3.0/24"}"#,
    );
    let feed = load(&source).0.unwrap();
    assert_eq!(
        listed(&feed),
        ["10.0.0.0/24 Bingbot", "10.0.1.0/24 bingbot", "10.0.2.0/24 Bingbot", "10.0.3.0/24"]
    );
    assert_eq!(feed.values.len(), 3);
    // A service that is not a name costs the service, not the prefix.
    let with_service =
        |service: &str| with_entries(&format!(r#"{{"ipv4Prefix":"10.0.0.0/24","service":{service}}}"#));
    for bad in ["7", r#""a\r\nSet-Cookie: b""#] {
        let (feed, messages) = load(with_service(bad));
        let feed = feed.unwrap();
        // JAFAR-23: it may have been one that an agent needs.
        assert_eq!((listed(&feed), feed.unreadable), (vec!["10.0.0.0/24".into()], 1));
        assert!(messages[0].contains("warning: `service`") && messages[0].ends_with("[JAFAR-12]"));
    }
    // No service, in so many words.
    let (feed, messages) = load(with_service("null"));
    let feed = feed.unwrap();
    assert_eq!((listed(&feed), feed.unreadable, messages), (vec!["10.0.0.0/24".into()], 0, vec![]));
    assert!(lint(with_service("null"))[0].ends_with("error: `service` is null; remove it [JAFAR-12]"));
}

#[test]
fn jafar_13_overlapping_prefixes_are_all_kept() {
    // JAFAR-13: which one counts is the prefix table's to say.
    let source = with_entries(
        r#"{"ipv4Prefix":"198.51.100.0/22","service":"any"},{"ipv4Prefix":"198.51.100.0/24","service":"one"}"#,
    );
    assert_eq!(loaded(&source), ["198.51.100.0/22 any", "198.51.100.0/24 one"]);
    assert!(lint(&source).is_empty());
}

#[test]
fn jafar_18_a_prefix_has_all_the_services_that_it_is_listed_for() {
    // JAFAR-18
    let same = with_entries(&format!("{GOOD},{GOOD}"));
    let (feed, messages) = load(&same);
    assert_eq!((listed(&feed.unwrap()), messages), (vec!["192.0.2.0/24".to_string()], vec![]));
    assert_eq!(lint(&same), ["f:1:134: warning: 192.0.2.0/24 is a duplicate [JAFAR-18]"]);

    let other = r#"{"prefixes":[
        {"ip_prefix":"192.0.2.0/24","service":"AMAZON"},{"ip_prefix":"198.51.100.0/24","service":"AMAZON"},
        {"ip_prefix":"203.0.113.0/24"},{"ip_prefix":"192.0.2.0/24","service":"S3"},
        {"ip_prefix":"203.0.113.0/24","service":"EC2"},{"ip_prefix":"192.0.2.0/24","service":"EC2"},
        {"ip_prefix":"192.0.2.0/24","service":"S3"},{"ip_prefix":"198.51.100.0/24","service":"S3"}]}"#;
    let (feed, messages) = load(other);
    let expected = ["192.0.2.0/24 AMAZON, S3, EC2", "198.51.100.0/24 AMAZON, S3", "203.0.113.0/24 EC2"];
    assert_eq!((listed(&feed.unwrap()), messages), (expected.map(String::from).into(), vec![]));
    assert!(!lint(other).iter().any(|message| message.contains("warning")), "{:?}", lint(other));
    // An IPv4-mapped prefix is the IPv4 prefix.
    let mapped = with_entries(&format!(r#"{GOOD},{{"ipv6Prefix":"::ffff:192.0.2.0/120"}}"#));
    assert_eq!(loaded(mapped), ["192.0.2.0/24"]);
}

#[test]
fn jafar_18_the_services_of_a_prefix_are_bounded() {
    // JAFAR-18, JAFAR-23
    let with_services = |count: usize| {
        let entry = |n| format!(r#"{{"ipv4Prefix":"10.0.0.0/24","service":"s{n}"}}"#);
        with_entries(&(0..count).map(entry).collect::<Vec<_>>().join(","))
    };
    let (feed, messages) = load(with_services(32));
    assert_eq!((feed.unwrap().unreadable, messages), (0, vec![]));
    let (feed, messages) = load(with_services(40));
    let feed = feed.unwrap();
    assert_eq!(feed.unreadable, 1);
    assert!(listed(&feed)[0].ends_with(", s30, s31"), "{feed:?}");
    let message = "f: warning: 10.0.0.0/24 has 40 services; only the first 32 count [JAFAR-18]";
    assert_eq!(messages, [message]);
    // They count as entries do.
    let options =
        ReadOptions { bounds: FeedBounds { entries: 10, ..FeedBounds::default() }, ..ReadOptions::default() };
    assert_eq!(read_with(with_services(10), Load, &options).1.len(), 0);
    let (feed, messages) = read_with(with_services(11), Load, &options);
    assert!(feed.is_none() && messages[0].contains("more than 10 entries"), "{messages:?}");
}
