//! The tables that are compared: ours first, then its peers, each used as its documentation says.

use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use crawlpike_core::internals::{Entry, FeedId, PrefixTable, ValueId};
use ip_network_table::IpNetworkTable;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use poptrie::Poptrie;
use prefix_trie::PrefixMap;

use crate::ALLOCATOR;
use crate::data::{Address, V4, V6};

/// Times of building vary with what the allocator did before; the best of these counts.
const BUILDS: usize = 3;

/// Looks up all addresses; the sum of the values of the longest prefixes, plus one for each found.
type Sum<A> = Box<dyn Fn(&[A]) -> u64>;

/// The same, each lookup waiting for the one before; the second argument must be 0.
type ChainedSum<A> = Box<dyn Fn(&[A], u64) -> u64>;

/// A table that was built, ready to be asked.
pub(crate) struct Candidate<A> {
    pub(crate) name: &'static str,
    /// From parsed prefixes in random order.
    pub(crate) build_ms: f64,
    /// Heap memory after building, as counted by the allocator.
    pub(crate) bytes_per_prefix: f64,
    pub(crate) sum: Sum<A>,
    pub(crate) chained_sum: ChainedSum<A>,
}

/// `find` gives the value of the longest prefix; it is compiled into the loops, so nothing is called through a pointer
/// per lookup.
fn candidate<A: Address, E, T: 'static>(
    name: &'static str,
    entries: &[E],
    build: impl Fn(&[E]) -> T,
    find: impl Fn(&T, A) -> Option<u32> + Copy + 'static,
) -> Candidate<A> {
    let mut build_ms = f64::MAX;
    let mut built = None;
    let mut bytes = 0;
    for _ in 0..BUILDS {
        drop(built.take());
        let before = live_bytes();
        let start = Instant::now();
        let table = black_box(build(black_box(entries)));
        build_ms = build_ms.min(start.elapsed().as_secs_f64() * 1e3);
        bytes = live_bytes() - before;
        built = Some(table);
    }
    let table = std::rc::Rc::new(built.expect("built at least once"));
    let same_table = table.clone();
    let found = move |table: &T, address| find(table, address).map_or(0, |value| u64::from(value) + 1);
    Candidate {
        name,
        build_ms,
        bytes_per_prefix: bytes as f64 / entries.len() as f64,
        sum: Box::new(move |addresses| addresses.iter().map(|address| found(&table, *address)).sum()),
        chained_sum: Box::new(move |addresses, zero| {
            let mut sum = 0;
            for address in addresses {
                sum += found(&same_table, address.with_low_bits(sum & zero));
            }
            sum
        }),
    }
}

fn live_bytes() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

fn entry(prefix: IpNet, feed: u16, value: u32) -> Entry {
    Entry { prefix, feed: FeedId::new(feed), value: ValueId::new(value) }
}

fn build_crawlpike<N: Copy + Into<IpNet>>(entries: &[(N, u32)]) -> PrefixTable {
    let entries = entries.iter().map(|(prefix, value)| entry((*prefix).into(), 0, *value));
    PrefixTable::build(entries.collect()).expect("within the bounds")
}

pub(crate) fn v4_candidates(entries: &[V4]) -> Vec<Candidate<u32>> {
    let build_poptrie = |entries: &[V4]| {
        let prefix = |net: &Ipv4Net| (net.network().to_bits(), net.prefix_len());
        entries.iter().map(|(net, value)| (prefix(net), *value)).collect::<Poptrie<(u32, u8), u32>>()
    };
    let build_network_table = |entries: &[V4]| {
        let mut table = IpNetworkTable::new();
        for (net, value) in entries {
            table.insert(
                ip_network::Ipv4Network::new(net.network(), net.prefix_len()).expect("no host bits"),
                *value,
            );
        }
        table
    };
    vec![
        candidate("crawlpike", entries, build_crawlpike, |table, address| {
            table.lookup(Ipv4Addr::from(address).into())?.first().map(|found| found.value.number())
        }),
        candidate("poptrie", entries, build_poptrie, |table, address| table.lookup(address).copied()),
        candidate(
            "prefix-trie",
            entries,
            |entries| entries.iter().copied().collect::<PrefixMap<Ipv4Net, u32>>(),
            |table, address| table.get_lpm(&Ipv4Net::from(Ipv4Addr::from(address))).map(|(_, value)| *value),
        ),
        candidate("ip_network_table", entries, build_network_table, |table, address| {
            table.longest_match_ipv4(Ipv4Addr::from(address)).map(|(_, value)| *value)
        }),
    ]
}

pub(crate) fn v6_candidates(entries: &[V6]) -> Vec<Candidate<u128>> {
    let build_poptrie = |entries: &[V6]| {
        let prefix = |net: &Ipv6Net| (net.network().to_bits(), net.prefix_len());
        entries.iter().map(|(net, value)| (prefix(net), *value)).collect::<Poptrie<(u128, u8), u32>>()
    };
    let build_network_table = |entries: &[V6]| {
        let mut table = IpNetworkTable::new();
        for (net, value) in entries {
            table.insert(
                ip_network::Ipv6Network::new(net.network(), net.prefix_len()).expect("no host bits"),
                *value,
            );
        }
        table
    };
    vec![
        candidate("crawlpike", entries, build_crawlpike, |table, address| {
            table.lookup(Ipv6Addr::from(address).into())?.first().map(|found| found.value.number())
        }),
        candidate("poptrie", entries, build_poptrie, |table, address| table.lookup(address).copied()),
        candidate(
            "prefix-trie",
            entries,
            |entries| entries.iter().copied().collect::<PrefixMap<Ipv6Net, u32>>(),
            |table, address| table.get_lpm(&Ipv6Net::from(Ipv6Addr::from(address))).map(|(_, value)| *value),
        ),
        candidate("ip_network_table", entries, build_network_table, |table, address| {
            table.longest_match_ipv6(Ipv6Addr::from(address)).map(|(_, value)| *value)
        }),
    ]
}

/// Milliseconds from the bytes of the stored form to a table that answers, and the number of bytes.
pub(crate) fn crawlpike_load_time(v4: &[V4], v6: &[V6]) -> (f64, usize) {
    let v4 = v4.iter().map(|(net, value)| entry((*net).into(), 0, *value));
    let v6 = v6.iter().map(|(net, value)| entry((*net).into(), 1, *value));
    let built = PrefixTable::build(v4.chain(v6).collect()).expect("within the bounds");
    let stored: Vec<u8> = built.as_words().iter().flat_map(|word| word.to_ne_bytes()).collect();
    let mut best = f64::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        let (words, _) = stored.as_chunks();
        let words: Vec<u32> = words.iter().map(|word| u32::from_ne_bytes(*word)).collect();
        let table = PrefixTable::from_words(words).expect("what was stored");
        black_box(table.lookup(Ipv4Addr::LOCALHOST.into()));
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    (best, stored.len())
}
