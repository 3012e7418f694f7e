//! Accidents that the guard holds, and changes that it does not.

use super::*;
use crate::feed::prefix::parse_prefix;
use crate::feed::{Entries, FeedValue};
use alloc::vec;

fn entries(list: impl Iterator<Item = (String, u32)>) -> Entries {
    let list: Vec<_> = list.map(|(text, value)| (parse_prefix(&text).unwrap(), value)).collect();
    list.iter().collect()
}

fn feed(prefixes: impl IntoIterator<Item = String>) -> Feed {
    Feed {
        entries: entries(prefixes.into_iter().map(|text| (text, 0))),
        values: vec![FeedValue::Range { services: [].into() }],
        created: Some(1000),
        ..Feed::default()
    }
}

fn numbered(numbers: core::ops::Range<u32>) -> Feed {
    feed(numbers.map(|n| format!("10.{}.{}.0/24", n / 256, n % 256)))
}

fn change(new: &Feed, good: &Feed) -> Option<String> {
    Limits::default().objection_to_change(Extent::of(new), Extent::of(good))
}

fn claim(new: &Feed, proving: &Proving<'_>) -> Option<String> {
    Limits::default().objection_to_claim(new, proving)
}

#[test]
fn a_file_cut_to_12_of_481_prefixes_is_held() {
    let good = numbered(0..481);
    assert_eq!(
        change(&numbered(0..12), &good).unwrap(),
        "it shrank from 481 to 12 prefixes, by more than 50%"
    );
    assert_eq!(change(&numbered(0..241), &good), None);
    assert_eq!(change(&good, &good), None);
}

#[test]
fn other_accidents_are_held() {
    let good = numbered(0..100);
    assert_eq!(change(&numbered(0..0), &good).unwrap(), "it became empty, after 100 prefixes");
    assert_eq!(
        change(&numbered(0..1001), &good).unwrap(),
        "it grew from 100 to 1001 prefixes, to more than 10 times"
    );
    assert_eq!(change(&numbered(80..180), &good).unwrap(), "80 of its 100 prefixes are gone, more than 70%");
    assert_eq!(change(&numbered(60..160), &good), None);
    assert_eq!(change(&numbered(0..1000), &good), None);
    assert_eq!(change(&good, &numbered(0..0)), None);
}

#[test]
fn addresses_count_as_prefixes_do() {
    let list = |texts: &[&str]| feed(texts.iter().map(ToString::to_string));
    let good = list(&["10.0.0.0/24", "10.0.1.0/24", "2001:db8::/48"]);
    for (new, why) in [
        (&["10.0.0.0/24", "10.0.1.0/30", "2001:db8::/48"][..], None),
        (
            &["10.0.0.0/26", "10.0.1.0/26", "2001:db8::/48"],
            Some("it shrank from 512 to 128 IPv4 addresses, by more than 50%"),
        ),
        (
            &["10.0.0.0/24", "10.0.1.0/24", "2001:db8::/52"],
            Some("it shrank from 65536 to 4096 IPv6 networks of length 64, by more than 50%"),
        ),
        (
            &["10.0.0.0/24", "10.0.1.0/24", "10.1.0.0/16", "2001:db8::/48"],
            Some("it grew from 512 to 66048 IPv4 addresses, to more than 10 times"),
        ),
        (&["10.0.0.0/24", "10.0.1.0/24", "2001:db8::/48", "2001:db8:1::/48"], None),
        (
            &["10.0.0.0/24", "10.0.1.0/24"],
            Some("it shrank from 65536 to 0 IPv6 networks of length 64, by more than 50%"),
        ),
    ] {
        assert_eq!(change(&list(new), &good).as_deref(), why, "{new:?}");
    }
    let few = |large: &str| list(&["10.0.0.0/24", large]);
    assert_eq!(
        change(&few("2001:db8::/120"), &few("2001:db8::/112")).as_deref(),
        Some("it shrank from 65536 to 256 IPv6 addresses, by more than 50%")
    );
    assert_eq!(change(&list(&[]), &list(&[])), None);
    // Ten times a /32 is the limit for one prefix before.
    let limit = ["10.0.0.0/24", "2a00::/29", "2a10::/31"];
    assert_eq!(change(&list(&limit), &list(&limit[..1])), None);
    let above = [&limit[..], &["2a20::/64"]].concat();
    assert!(change(&list(&above), &list(&limit[..1])).unwrap().starts_with("IPv6 is new in it"));
    let half_replaced = ["10.0.0.0/24", "10.1.0.0/24", "10.2.0.0/23", "2001:db8::/48"];
    assert_eq!(change(&list(&half_replaced), &good), None);
    // Two small prefixes stay, and nearly all addresses are others.
    let small = |large: &str| list(&["10.0.0.0/30", "10.0.1.0/30", large]);
    assert_eq!(
        change(&small("10.3.0.0/24"), &small("10.2.0.0/24")).unwrap(),
        "256 of its 264 IPv4 addresses are gone, more than 70%"
    );
    // A new family is not growth of the old one.
    assert_eq!(change(&list(&["10.0.0.0/24", "2001:db8::/32"]), &list(&["10.0.0.0/24"])), None);
}

#[test]
fn many_ipv6_addresses_are_counted_by_the_network() {
    let counts = |first, second| Unit::V6.counts(first, second).1;
    assert_eq!(counts(1, (1 << 64) - 1), "18446744073709551615 IPv6 addresses");
    assert_eq!(counts(1, 1 << 64), "1 IPv6 networks of length 64");
    assert_eq!(Unit::V6.counts(1, 5 << 64), ("1".into(), "5 IPv6 networks of length 64".into()));
}

#[test]
fn a_family_that_is_new_is_no_larger_than_what_publishers_have() {
    let list = |texts: &[&str]| feed(texts.iter().map(ToString::to_string));
    let (of_v4, of_v6) = (list(&["20.0.0.0/24"]), list(&["2001:db8::/32"]));
    // Ten times a /32, and more.
    assert_eq!(change(&list(&["20.0.0.0/24", "2a00:8::/29", "2a01::/31"]), &of_v4), None);
    assert_eq!(
        change(&list(&["20.0.0.0/24", "2a00::/28"]), &of_v4).unwrap(),
        "IPv6 is new in it, with 68719476736 IPv6 networks of length 64: more than 10 times a /32 for each of the prefixes before (1)"
    );
    assert_eq!(change(&list(&["2001:db8::/32", "20.8.0.0/13"]), &of_v6), None);
    assert!(change(&list(&["2001:db8::/32", "20.0.0.0/12"]), &of_v6).is_some());
    assert_eq!(change(&list(&["2a00::/28"]), &list(&[])), None, "the first version");
}

#[test]
fn what_proves_an_agent_covers_little_of_the_internet() {
    let whole = feed(["0.0.0.0/0".into()]);
    let text = "it covers 0.0.0.0/0, wider than the limit (`widest`)";
    assert_eq!(claim(&whole, &Proving::NOTHING).unwrap(), text);
    assert!(claim(&feed(["2000::/3".into()]), &Proving::NOTHING).is_some());

    // 317 prefixes that are right, and 223 that are not.
    let many = feed(
        (0..317)
            .map(|n| format!("66.{}.{}.0/27", n / 256, n % 256))
            .chain((1..224).map(|n| format!("{n}.0.0.0/8"))),
    );
    let text =
        "it covers 87.2% of all IPv4 addresses; the limit for a feed that verifies an agent is 1% (`cover`)";
    assert_eq!(claim(&many, &Proving::Everything).unwrap(), text);
    assert_eq!(claim(&many, &Proving::NOTHING), None);
    let of_v6 = feed(["2800::/10".into(), "fe80::/16".into()]);
    let text = "it covers 0.8% of all global IPv6 addresses; the limit for a feed that verifies an agent is 0% (`cover`)";
    let strict =
        Limits { cover: Percent(0), widest: Widest { v4: UpTo(0), v6: UpTo(0) }, ..Limits::default() };
    assert_eq!(strict.objection_to_claim(&of_v6, &Proving::Everything).unwrap(), text);
    let everything = feed(["::/0".into(), "2001:db8::/32".into()]);
    let lax = Limits { cover: Percent(100), ..strict.clone() };
    assert_eq!(lax.objection_to_claim(&everything, &Proving::Everything), None);
    assert!(strict.objection_to_claim(&everything, &Proving::Everything).unwrap().contains("100.0%"));
    // A prefix inside another prefix counts once: 0.8 % here.
    let nested = feed((0..8).map(|n| format!("10.{}.0.0/16", n * 32)).chain(["10.0.0.0/9".into()]));
    assert_eq!(claim(&nested, &Proving::Everything), None);
}

#[test]
fn only_what_proves_an_agent_is_limited() {
    let cloud = Feed {
        entries: entries(
            [("10.0.0.0/8", 0), ("11.0.0.0/8", 0), ("12.0.0.0/8", 0), ("172.16.0.0/16", 1)]
                .map(|(text, value)| (text.to_string(), value))
                .into_iter(),
        ),
        values: [&["AMAZON", "EC2"][..], &["AMAZON", "ROUTE53"]]
            .map(|services| FeedValue::Range { services: services.iter().map(|one| (*one).into()).collect() })
            .into(),
        ..Feed::default()
    };
    assert_eq!(claim(&cloud, &Proving::NOTHING), None);
    // Entries of a table of autonomous systems have no values.
    let table = Feed { values: Vec::new(), ..cloud.clone() };
    assert_eq!(claim(&table, &Proving::NOTHING), None);
    assert_eq!(claim(&cloud, &Proving::Services(["ROUTE53"].into())), None);
    assert!(claim(&cloud, &Proving::Services(["ROUTE53", "EC2"].into())).is_some());
    assert!(claim(&cloud, &Proving::Everything).is_some());
}
