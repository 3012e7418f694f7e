//! Whatever the stored form of a prefix table says, loading and lookups end without a panic.
//!
//! The input is a list of edits, applied to the words of a table that has all kinds of nodes, then addresses: most
//! inputs get past the header that way, and a damaged word is near the way of some address.

#![no_main]

use std::net::IpAddr;
use std::sync::LazyLock;

use crawlpike_core::internals::parse_prefix;
use crawlpike_core::internals::{Entry, FeedId, PrefixTable, ValueId};
use libfuzzer_sys::fuzz_target;

/// Dense and sparse prefixes of both families, and one address with more matches than a word can count.
static WORDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut prefixes = vec![String::from("0.0.0.0/0"), String::from("2001:db8::/32"), String::from("::/0")];
    for n in 0..200 {
        prefixes.push(format!("192.0.{n}.{}/32", n / 2));
        prefixes.push(format!("{n}.{n}.0.0/16"));
        prefixes.push(format!("2001:db8:{n:x}::/48"));
        prefixes.push(format!("2001:db8::{n:x}:0/128"));
        prefixes.push(format!("2a{n:02x}::/{}", 16 + n % 13));
    }
    let entry = |prefix: &str, feed: usize| Entry {
        prefix: parse_prefix(prefix).expect("a prefix").trunc(),
        feed: FeedId::new(feed as u16),
        value: ValueId::new(feed as u32 / 3),
    };
    let spread = prefixes.iter().enumerate().map(|(n, prefix)| entry(prefix, n % 5));
    let stacked = (0..20).map(|feed| entry("198.51.100.0/24", feed));
    PrefixTable::build(spread.chain(stacked).collect()).expect("within the bounds").as_words().to_vec()
});

fuzz_target!(|input: &[u8]| {
    let mut words = WORDS.clone();
    // Two bytes of place and four of content for each edit, sixteen for each address.
    let (edits, addresses) = input.split_at(input.len() / 2);
    for edit in edits.chunks_exact(6) {
        let [place_low, place_high, content @ ..] = edit else { continue };
        let place = usize::from(u16::from_le_bytes([*place_low, *place_high])) % words.len();
        let content = content.try_into().map_or(0, u32::from_le_bytes);
        words[place] = match place_high >> 6 {
            // Keeps the meaning, changes where it points to.
            0 => words[place] & 0xFC00_0000 | content & 0x0000_FFFF,
            1 => words[place] ^ 1 << (content % 32),
            _ => content,
        };
    }
    if input.len() % 7 == 6 {
        words.truncate(input.len());
    }
    let Ok(table) = PrefixTable::from_words(words) else { return };
    for address in addresses.chunks_exact(16) {
        let Ok(bytes) = <[u8; 16]>::try_from(address) else { continue };
        let [a, b, c, d, ..] = bytes;
        let near = [0x20, 0x01, 0x0d, 0xb8, 0, a, 0, 0, 0, 0, 0, 0, 0, b, c, d];
        for address in [
            IpAddr::from(bytes),
            IpAddr::from([a, b, c, d]),
            IpAddr::from(near),
            IpAddr::from([192, 0, c, d]),
        ] {
            let matches = table.lookup(address).unwrap_or_default();
            assert!(size_of_val(matches) <= table.bytes());
        }
    }
});
