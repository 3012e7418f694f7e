use alloc::vec::Vec;

use super::{ClientNetwork, SystemTable, Systems, SystemsBuilder};
use crate::feed::{Entries, Feed, System};

fn table() -> SystemTable {
    let prefixes =
        ["10.0.0.0/7", "10.1.2.0/24", "10.1.2.128/25", "192.0.2.0/24", "2001:db8::/32", "2001:db8:1::/48"];
    let mut entries = Entries::default();
    for (prefix, value) in prefixes.iter().zip([0, 1, 0, 1, 0, 1]) {
        entries.push(prefix.parse().unwrap(), value);
    }
    let systems = [(64500, Some("One".into())), (64501, Some("Two".into()))];
    let systems = systems.into_iter().map(|(asn, name)| System { asn, name, kind: None }).collect();
    let mut builder = SystemsBuilder::default();
    builder.add(&Feed { entries, systems, ..Feed::default() }).unwrap();
    builder.build()
}

#[test]
fn a_stored_table_whose_parts_do_not_fit_is_refused() {
    let built = table();
    let (words, systems) = built.parts();
    let load = |words: &[u32], systems: &Systems| SystemTable::load(words.to_vec(), systems.clone());
    assert!(load(words, systems).is_some() && load(&[], &Systems::default()).is_some());
    let [v4, v6] = [0, 1].map(|place: usize| words[place] as usize);
    let (lows, ends) = (2 + 65_537, 2 + 65_537 + v4.div_ceil(2));
    let damages: [(usize, u32); 9] = [
        (0, words[0] + 1),
        (1, u32::MAX),
        (2, 1),
        (2 + 65_536, words[0] - 1),
        (2 + 0x0a01 + 1, u32::MAX),
        (lows + 1, 0),
        (ends, 2),
        (ends + v4, u32::MAX),
        (ends + v4 + 2 * v6, 1 << 23),
    ];
    for (place, value) in damages {
        let mut damaged = words.to_vec();
        damaged[place] = value;
        assert!(load(&damaged, systems).is_none(), "word {place}");
    }
    for length in (1..words.len()).filter(|length| length % 1000 < 3 || *length > lows) {
        assert!(load(&words[..length], systems).is_none(), "{length} words");
    }
    let mut others = systems.clone();
    others.list[0].1 = 7;
    assert!(load(words, &others).is_none());
    others.list.truncate(1);
    assert!(load(words, &others).is_none());
}

#[test]
fn a_network_is_shown_as_a_prefix() {
    let network =
        |address: &str, bits| alloc::format!("{}", ClientNetwork::of(address.parse().unwrap(), bits));
    for (address, bits, expected) in [
        ("192.0.2.255", (24, 48), "192.0.2.0/24"),
        ("192.0.2.255", (32, 128), "192.0.2.255/32"),
        ("192.0.2.255", (1, 1), "128.0.0.0/1"),
        ("::ffff:192.0.2.255", (25, 48), "192.0.2.128/25"),
        ("2001:db8:1:2:3::4", (24, 48), "2001:db8:1::/48"),
        ("2001:db8:1:2:3::4", (24, 128), "2001:db8:1:2:3::4/128"),
    ] {
        assert_eq!(network(address, bits), expected);
    }
    let table = table();
    let asns: Vec<_> = ["10.1.2.3", "10.1.2.200", "11.0.0.1", "12.0.0.0", "2001:db8:1::5", "2001:db8:2::"]
        .map(|address| table.find(address.parse().unwrap()).map(|system| system.asn))
        .into();
    assert_eq!(asns, [Some(64501), Some(64500), Some(64500), None, Some(64501), Some(64500)]);
}
