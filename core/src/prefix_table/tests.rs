//! The table against a naive model, and against damage.

use core::net::Ipv4Addr;
use std::collections::BTreeSet;
use std::format;
use std::string::ToString;
use std::vec;

use ipnet::{Ipv4Net, Ipv6Net};
use proptest::prelude::*;

use super::*;

fn entry(prefix: &str, feed: u16, value: u32) -> Entry {
    entry_of(prefix.parse().unwrap(), feed, value)
}

fn entry_of(prefix: IpNet, feed: u16, value: u32) -> Entry {
    Entry { prefix, feed: FeedId::new(feed), value: ValueId::new(value) }
}

fn table(entries: &[Entry]) -> PrefixTable {
    PrefixTable::build(entries.to_vec()).unwrap()
}

fn lookup<'a>(table: &'a PrefixTable, address: &str) -> &'a [Match] {
    table.lookup(address.parse().unwrap()).unwrap()
}

fn found(feed: u16, prefix_len: u8, value: u32) -> Match {
    Match { value: ValueId::new(value), feed: FeedId::new(feed), prefix_len }
}

/// The expected answer of the table: a scan of all entries.
fn model(entries: &[Entry], address: IpAddr) -> Vec<Match> {
    let address = address.to_canonical();
    let mut found: Vec<Match> = Vec::new();
    for Entry { prefix, feed, value } in entries {
        let (prefix, value) = (crate::feed::prefix::unmap(*prefix), *value);
        if !prefix.contains(&address) {
            continue;
        }
        let this = Match { feed: *feed, prefix_len: prefix.prefix_len(), value };
        match found.iter_mut().find(|known| known.feed == *feed) {
            None => found.push(this),
            Some(known) if known.prefix_len < this.prefix_len => *known = this,
            Some(_) => {}
        }
    }
    found.sort_by_key(|found| (u8::MAX - found.prefix_len, found.feed));
    found
}

/// The first and the last address of every prefix and their neighbours outside, and the ends of both families.
fn boundaries(entries: &[Entry]) -> BTreeSet<IpAddr> {
    let mut addresses = BTreeSet::new();
    let ends = [entry("0.0.0.0/0", 0, 0), entry("::/0", 0, 0)];
    for Entry { prefix, .. } in entries.iter().chain(&ends) {
        match prefix {
            IpNet::V4(net) => {
                let (first, last) = (net.network().to_bits(), net.broadcast().to_bits());
                for bits in [first.wrapping_sub(1), first, last, last.wrapping_add(1)] {
                    addresses.insert(IpAddr::V4(bits.into()));
                    addresses.insert(IpAddr::V6(Ipv4Addr::from(bits).to_ipv6_mapped()));
                }
            }
            IpNet::V6(net) => {
                let (first, last) = (net.network().to_bits(), net.broadcast().to_bits());
                for bits in [first.wrapping_sub(1), first, last, last.wrapping_add(1)] {
                    addresses.insert(IpAddr::V6(bits.into()));
                }
            }
        }
    }
    addresses
}

/// Compares at all boundaries, and after a trip through the stored form.
fn agrees_with_model(entries: &[Entry]) {
    let built = table(entries);
    let loaded = PrefixTable::from_words(built.as_words()).unwrap();
    assert_eq!(loaded.len(), built.len());
    for address in boundaries(entries) {
        let expected = model(entries, address);
        assert_eq!(built.lookup(address), Some(&*expected), "{address} in {entries:?}");
        assert_eq!(loaded.lookup(address), Some(&*expected), "{address} after loading");
    }
}

/// JAFAR-13, GEO-11: the data of the longest prefix counts, per feed.
#[test]
fn the_longest_prefix_of_each_feed_counts() {
    let table = table(&[
        entry("198.51.0.0/22", 1, 10),
        entry("198.51.1.0/24", 1, 11),
        entry("198.51.0.0/16", 7, 70),
        entry("198.51.1.128/25", 3, 30),
        entry("198.51.0.0/22", 0, 1),
    ]);
    assert_eq!(
        lookup(&table, "198.51.1.200"),
        [found(3, 25, 30), found(1, 24, 11), found(0, 22, 1), found(7, 16, 70)]
    );
    assert_eq!(lookup(&table, "198.51.1.1"), [found(1, 24, 11), found(0, 22, 1), found(7, 16, 70)]);
    assert_eq!(lookup(&table, "198.51.3.255"), [found(0, 22, 1), found(1, 22, 10), found(7, 16, 70)]);
    assert_eq!(lookup(&table, "198.51.4.0"), [found(7, 16, 70)]);
    assert_eq!(lookup(&table, "198.50.255.255"), []);
    assert_eq!((table.len(), table.len_v4(), table.len_v6()), (5, 5, 0));
}

/// JAFAR-18: the same prefix twice is one entry, the first; another feed's is its own.
#[test]
fn of_duplicates_the_first_counts() {
    let table = table(&[
        entry("2001:db8::/32", 4, 9),
        entry("192.0.2.0/24", 2, 5),
        entry("192.0.2.0/24", 2, 3),
        entry("192.0.2.0/24", 1, 4),
        entry("2001:db8::/32", 4, 1),
        entry("192.0.2.99/24", 2, 1),
    ]);
    assert_eq!(lookup(&table, "192.0.2.1"), [found(1, 24, 4), found(2, 24, 5)]);
    assert_eq!(lookup(&table, "2001:db8::1"), [found(4, 32, 9)]);
    assert_eq!((table.len_v4(), table.len_v6()), (2, 1));
}

#[test]
fn mapped_addresses_and_prefixes_are_ipv4() {
    let table =
        table(&[entry("::/0", 0, 1), entry("::ffff:192.0.2.0/120", 1, 2), entry("192.0.2.128/25", 1, 3)]);
    assert_eq!(lookup(&table, "192.0.2.1"), [found(1, 24, 2)]);
    assert_eq!(lookup(&table, "::ffff:192.0.2.129"), [found(1, 25, 3)]);
    assert_eq!(lookup(&table, "::ffff:198.51.100.1"), []);
    assert_eq!(lookup(&table, "::192.0.2.1"), [found(0, 0, 1)]);
    assert_eq!((table.len_v4(), table.len_v6()), (2, 1));
}

#[test]
fn a_table_of_nothing_and_a_table_of_everything() {
    let nothing = table(&[]);
    assert!(nothing.is_empty() && !table(&[entry("192.0.2.0/24", 0, 0)]).is_empty());
    assert_eq!(lookup(&nothing, "192.0.2.1"), []);
    assert_eq!(lookup(&nothing, "::"), []);
    let everything = table(&[entry("0.0.0.0/0", 0, 1), entry("::/0", 0, 2)]);
    for (address, value) in [("0.0.0.0", 1), ("255.255.255.255", 1), ("::", 2), ("ffff::ffff", 2)] {
        assert_eq!(lookup(&everything, address), [found(0, 0, value)], "{address}");
    }
}

/// JAFAR-13, GEO-11: every length of prefix, each inside the one before.
#[test]
fn every_prefix_length_is_found() {
    let (v4, v6) =
        ("203.0.113.165".parse().unwrap(), "2001:db8:5a5a:a5a5:5a5a:a5a5:dead:beef".parse().unwrap());
    let nested_v4 = (0..=32).map(|len| IpNet::V4(Ipv4Net::new(v4, len).unwrap().trunc()));
    let nested_v6 = (0..=128).map(|len| IpNet::V6(Ipv6Net::new(v6, len).unwrap().trunc()));
    let one_feed: Vec<Entry> =
        nested_v4.chain(nested_v6).zip(0..).map(|(prefix, value)| entry_of(prefix, 0, value)).collect();
    agrees_with_model(&one_feed);
    let many_feeds: Vec<Entry> =
        one_feed.iter().zip(0..).map(|(entry, feed)| Entry { feed: FeedId::new(feed), ..*entry }).collect();
    agrees_with_model(&many_feeds);
    for entry in one_feed {
        agrees_with_model(&[entry]);
    }
}

#[test]
fn sets_of_any_size_are_read_back() {
    for feeds in [1, 14, 15, 16, 300] {
        let entries: Vec<Entry> = (0..feeds).map(|feed| entry("192.0.2.0/24", feed, feed.into())).collect();
        let table = table(&entries);
        assert_eq!(lookup(&table, "192.0.2.7"), model(&entries, "192.0.2.7".parse().unwrap()));
        assert_eq!(lookup(&table, "192.0.2.7").len(), usize::from(feeds));
    }
}

#[test]
fn equal_sets_are_stored_once() {
    let host = |n: u32, value| entry_of(IpAddr::V4((n * 4).into()).into(), 0, value);
    let of_values = |values: u32| table(&(0..1000).map(|n| host(n, n % values)).collect::<Vec<_>>()).bytes();
    assert_eq!(of_values(1000) - of_values(1), 999 * size_of::<Match>());
}

/// A table that has all kinds of nodes, in both families.
fn varied() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        random >> 33
    };
    for n in 0..1500 {
        let (feed, value) = ((next() % 5) as u16, n);
        // Dense, in a few places, and sparse.
        let bits = if n % 3 == 0 { next() as u32 * 2 } else { 0xC000_0000 | (next() as u32 & 0x000F_FFFF) };
        let v4 = Ipv4Net::new(bits.into(), 12 + (next() % 21) as u8).unwrap().trunc();
        entries.push(entry_of(v4.into(), feed, value));
        let high = if n % 4 == 0 { next() as u32 } else { 0x2A00_0000 | (next() as u32 & 0xFFFF) };
        let bits = u128::from(high) << 96 | u128::from(next()) << 65 | u128::from(next()) << 20;
        let v6 = Ipv6Net::new(bits.into(), 16 + (next() % 113) as u8).unwrap().trunc();
        entries.push(entry_of(v6.into(), feed, value));
    }
    entries
}

/// JAFAR-13, GEO-11.
#[test]
fn large_tables_agree_with_the_model() {
    agrees_with_model(&varied());
}

/// JAFAR-18: so many that they are dealt into buckets before they are sorted; a third of them are duplicates.
#[test]
fn of_a_hundred_thousand_entries_each_is_found() {
    let bits = |n: u32| n.wrapping_mul(0x9E37_79B1);
    let entries: Vec<Entry> = (0..100_000_u32)
        .map(|n| {
            let place = bits(n % 66_000);
            let v4 = Ipv4Net::new(place.into(), 14 + (place % 19) as u8).unwrap().trunc();
            let v6 = Ipv6Net::new((u128::from(place) << 90).into(), 32 + (place % 33) as u8).unwrap().trunc();
            let prefix = if n % 6 == 0 { IpNet::V6(v6) } else { IpNet::V4(v4) };
            entry_of(prefix, (place % 3) as u16, n)
        })
        .collect();
    let table = table(&entries);
    for entry in entries.iter().step_by(991) {
        let address = entry.prefix.network();
        assert_eq!(table.lookup(address), Some(&*model(&entries, address)), "{entry:?}");
    }
}

/// JAFAR-18: the choice of nodes and of their sizes is a matter of memory only, so any other choice would give the same answers.
#[test]
fn tables_take_the_memory_for_which_their_nodes_were_chosen() {
    let hashed = |n: u32| n.wrapping_mul(0x9E37_79B1);
    let hosts = |n: u32| entry_of(Ipv4Net::new(hashed(n).into(), 32).unwrap().into(), 0, n % 5);
    let clouds = |n: u32| {
        let block = 0x2001_0db8_u128 << 96 | u128::from(hashed(n % 50)) << 64;
        let net = Ipv6Net::new((block | u128::from(hashed(n)) << 32).into(), 96).unwrap();
        entry_of(net.trunc().into(), 0, n % 5)
    };
    let words = |count: u32, of: &dyn Fn(u32) -> Entry| {
        PrefixTable::build((0..count).map(of).collect()).unwrap().as_words().len()
    };
    assert_eq!(table(&varied()).as_words().len(), 262_772);
    let sizes: Vec<[usize; 2]> =
        [1, 20, 300, 4_000, 60_000].map(|count| [words(count, &hosts), words(count, &clouds)]).into();
    assert_eq!(sizes, [[150, 158], [2_173, 3_300], [34_293, 78_340], [85_561, 189_486], [559_364, 510_440]]);
}

#[test]
fn what_is_no_table_is_refused() {
    let good = table(&varied()).as_words().to_vec();
    let error = |words: &[u32]| PrefixTable::from_words(words.to_vec()).map(|_| ()).unwrap_err();
    assert_eq!(error(&[]), TableError::Format);
    assert_eq!(error(&good[..Header::WORDS - 1]), TableError::Format);
    assert_eq!(error(&[0; 100]), TableError::Format);
    let swapped: Vec<u32> = good.iter().map(|word| word.swap_bytes()).collect();
    assert_eq!(error(&swapped), TableError::Format);
    assert_eq!(error(&good[..good.len() - 1]), TableError::Length);
    assert_eq!(error(&[good.clone(), vec![0]].concat()), TableError::Length);
    for (at, word) in [(4, good.len() as u32), (4, u32::MAX), (5, 19), (5, u32::MAX), (6, u32::MAX), (7, 60)]
    {
        let mut bad = good.clone();
        bad[at] = word;
        assert_eq!(error(&bad), TableError::Root, "word {at}");
    }
    assert_eq!(TableError::Length.to_string(), "the prefix table is cut short or has bytes added");
}

/// Whatever the words say, a lookup ends and does not panic.
#[test]
fn damaged_tables_are_harmless() {
    let entries = varied();
    let good = table(&entries).as_words().to_vec();
    let addresses: Vec<IpAddr> = boundaries(&entries).into_iter().step_by(97).collect();
    let mut words = good.clone();
    let mut random = 1_u64;
    for _ in 0..20_000 {
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let at = Header::WORDS + (random >> 34) as usize % (good.len() - Header::WORDS);
        // One flipped bit, or a word of another place, or anything.
        words[at] = match random >> 62 {
            0 | 1 => good[at] ^ 1 << (random >> 20 & 31),
            2 => good[(random >> 12) as usize % good.len()],
            _ => random as u32,
        };
        // The damage accumulates up to a point, so that some of it is on the way of each address.
        if random.is_multiple_of(64) {
            let damaged = PrefixTable::from_words(words.as_slice()).unwrap();
            for address in &addresses {
                assert!(damaged.lookup(*address).is_none_or(|matches| matches.len() <= words.len()));
            }
        }
        if random.is_multiple_of(512) {
            words.copy_from_slice(&good);
        }
    }
}

#[test]
fn too_large_tables_are_an_error_and_not_a_full_memory() {
    // Zeros that nobody touches take no memory.
    let mut words = vec![0; MAX_WORDS - 1];
    let (items, _) = item::by_family(vec![entry("192.0.2.0/24", 0, 0)]).unwrap();
    let mut sets = match_set::Interner::default();
    assert_eq!(sweep::intervals(&items, &mut sets, &mut words).map(|_| ()), Err(TableError::TooLarge));
    assert_eq!(trie::reserve(&mut words, 2), Err(TableError::TooLarge));
    assert_eq!(trie::reserve(&mut words, usize::MAX), Err(TableError::TooLarge));
    assert_eq!(words.len(), MAX_WORDS - 1);
}

/// Prefixes near each other, so that they nest, touch and repeat.
fn prefixes() -> impl Strategy<Value = IpNet> {
    let v4_place = prop_oneof![Just(0_u32), Just(0x0A00_0000), Just(0xFFFF_FF00), any::<u32>()];
    let v4 = (v4_place, 0_u32..1024, 0_u32..24, 0_u8..=32).prop_map(|(place, low, shift, len)| {
        IpNet::V4(Ipv4Net::new((place ^ low << shift).into(), len).unwrap().trunc())
    });
    let v6_place = prop_oneof![
        Just(0_u128),
        Just(0x2001_0db8 << 96),
        Just(u128::MAX << 7),
        Just(0xFFFF << 32),
        any::<u128>()
    ];
    let v6 = (v6_place, 0_u128..1024, 0_u32..118, 0_u8..=128).prop_map(|(place, low, shift, len)| {
        IpNet::V6(Ipv6Net::new((place ^ low << shift).into(), len).unwrap().trunc())
    });
    prop_oneof![v4, v6]
}

proptest! {
    /// JAFAR-13, JAFAR-18, GEO-11: nested, adjacent and duplicate prefixes of several feeds, at all their boundaries.
    #[test]
    fn any_table_agrees_with_the_model(
        entries in prop::collection::vec((prefixes(), 0_u16..4, 0_u32..3), 0..120)
    ) {
        let entries: Vec<Entry> =
            entries.into_iter().map(|(prefix, feed, value)| entry_of(prefix, feed, value)).collect();
        agrees_with_model(&entries);
    }

    /// Words that begin like a table and go on like anything.
    #[test]
    fn any_words_are_harmless(
        mut words in prop::collection::vec(any::<u32>(), Header::WORDS..300),
        bits in 0_u32..6,
        address in any::<u128>(),
    ) {
        let root = Root { offset: Header::WORDS as u32, bits };
        let header = Header { words: words.len() as u32, prefixes_v4: 0, prefixes_v6: 0, v4: root, v6: root };
        words[..Header::WORDS].copy_from_slice(&header.to_words());
        for word in &mut words[Header::WORDS..] {
            // Offsets that mostly lie inside.
            *word &= 0xFC00_01FF;
        }
        if let Ok(table) = PrefixTable::from_words(words) {
            let _ = format!("{:?}", table.lookup(IpAddr::V6(address.into())));
            let _ = format!("{:?}", table.lookup(IpAddr::V4((address as u32).into())));
        }
    }
}
