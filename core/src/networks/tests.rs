use alloc::vec::Vec;

use super::{ClientNetwork, SystemTable, SystemsBuilder};
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
    builder.build().unwrap()
}

#[test]
fn a_stored_table_whose_lengths_do_not_fit_is_refused() {
    let built = table();
    let (words, names) = built.parts();
    let load = |words: &[u32]| SystemTable::load(words.to_vec(), names.into());
    assert!(load(words).is_some() && load(&[]).is_some());
    for place in 0..4 {
        for value in [0, words[place] + 1, u32::MAX] {
            let mut damaged = words.to_vec();
            damaged[place] = value;
            assert!(load(&damaged).is_none(), "word {place}: {value}");
        }
    }
    for length in (1..words.len()).filter(|length| length % 1000 < 3 || *length > 65_000) {
        assert!(load(&words[..length]).is_none(), "{length} words");
    }
}

#[test]
fn no_words_make_a_lookup_panic_or_go_on_for_ever() {
    let built = table();
    let (words, names) = built.parts();
    let places = (4..40).chain(2500..2600).chain(65_500..words.len());
    for (place, value) in
        places.flat_map(|place| [(place, 0), (place, u32::MAX), (place, 1 << 24), (place, 3 << 30)])
    {
        let mut damaged = words.to_vec();
        damaged[place] = value;
        let table = SystemTable::load(damaged, names.into()).unwrap();
        for address in ["0.0.0.1", "10.1.2.3", "192.0.2.1", "255.255.255.255", "2001:db8:1::", "::1"] {
            let _ = table.find(address.parse().unwrap());
        }
    }
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
