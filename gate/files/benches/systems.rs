//! The table of autonomous systems: `cargo bench -p crawlpike-files --bench systems`.
//!
//! By default the table is drawn: 1,000,000 IPv4 and 200,000 IPv6 prefixes with lengths like the routing table's, each of a random
//! system, so that a prefix within another one nearly always changes the system. `AS_TABLE=FILE` names one in the layout of iptoasn
//! instead. A naive reader of the same file has to find the same system for each of 100,000 addresses.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::net::IpAddr;
use std::time::Instant;

use crawlpike_core::{Files, FoundFile, NoFiles, Ruleset, TableReader};
use crawlpike_files::read_table;
use ipnet::{IpNet, Ipv4Subnets, Ipv6Subnets};

#[expect(dead_code, reason = "the bench of the prefix table needs more of it")]
#[path = "../../../core/benches/prefix_table/data.rs"]
mod data;

const DOCUMENT: &str =
    r#"{ "networks": [ { "name": "as", "format": "iptoasn", "source": "as", "guard": "off" } ] }"#;

const ROUNDS: usize = 7;
const ADDRESSES: usize = 100_000;

struct Table(String);

impl Files for Table {
    fn read(&self, _: &str) -> Result<Option<FoundFile>, String> {
        Ok(Some(FoundFile { bytes: self.0.clone().into_bytes(), modified: None }))
    }

    fn table_reader(&self) -> Option<TableReader> {
        Some(read_table)
    }
}

fn main() {
    // Cargo passes --bench, except where `cargo test --all-targets` only wants to see it run.
    let share = if std::env::args().any(|argument| argument == "--bench") { 1 } else { 1000 };
    let table = match std::env::var_os("AS_TABLE") {
        Some(file) => Table(fs::read_to_string(file).expect("a readable table")),
        None => Table(drawn(share)),
    };
    let naive = Naive::of(&table.0);
    let nothing = Ruleset::compile("crawlpike.json", b"{}", &NoFiles).store().expect("an empty document");
    let start = Instant::now();
    let compiled = Ruleset::compile("crawlpike.json", DOCUMENT.as_bytes(), &table);
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let bytes = (compiled.store().expect("the table is right").len() - nothing.len()) * 4;
    let ruleset = compiled.ruleset.expect("the table is right");

    let prefixes = naive.prefixes.len();
    println!("{prefixes} prefixes of {} systems", naive.systems());
    println!("{:<48}{milliseconds:>8.0}", "ms to read and compile them");
    println!("{:<48}{:>8.2}", "bytes for a prefix, with names", bytes as f64 / prefixes as f64);
    for (what, addresses) in naive.addresses() {
        for address in &addresses {
            assert_eq!(
                ruleset.system_of(*address).map(|system| system.asn),
                naive.find(*address),
                "{address}"
            );
        }
        let round = || {
            let start = Instant::now();
            addresses.iter().for_each(|address| _ = black_box(ruleset.system_of(*address)));
            start.elapsed().as_secs_f64() * 1e9 / addresses.len() as f64
        };
        let best = (0..ROUNDS).map(|_| round()).fold(f64::MAX, f64::min);
        println!("{:<48}{best:>8.1}", format!("ns a lookup, {what}"));
    }
}

fn drawn(share: usize) -> String {
    let mut text = String::new();
    let mut range = |first: IpAddr, last: IpAddr, asn: u32| {
        writeln!(text, "{first}\t{last}\t{}\tXX\tNetwork {asn}", asn + 1).expect("memory");
    };
    for (net, asn) in data::routing_table_v4(1_000_000 / share, 20_000) {
        range(net.network().into(), net.broadcast().into(), asn);
    }
    for (net, asn) in data::routing_table_v6(200_000 / share, 20_000) {
        range(net.network().into(), net.broadcast().into(), asn);
    }
    text
}

/// Each prefix by itself: the longest one that has an address is found by trying all lengths.
struct Naive {
    prefixes: HashMap<IpNet, u32>,
}

impl Naive {
    fn of(text: &str) -> Self {
        let mut prefixes = HashMap::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [first, last] =
                [fields[0], fields[1]].map(|field| field.parse::<IpAddr>().expect("an address"));
            let asn = fields[2].parse().expect("a number");
            let nets: Vec<IpNet> = match (first, last) {
                (IpAddr::V4(first), IpAddr::V4(last)) => {
                    Ipv4Subnets::new(first, last, 0).map(IpNet::from).collect()
                }
                (IpAddr::V6(first), IpAddr::V6(last)) => {
                    Ipv6Subnets::new(first, last, 0).map(IpNet::from).collect()
                }
                _ => panic!("a range of two families"),
            };
            // Of IPv6, the table leaves out what is smaller than a client's network.
            for net in nets.into_iter().filter(|net| net.addr().is_ipv4() || net.prefix_len() <= 64) {
                prefixes.entry(net).or_insert(asn);
            }
        }
        prefixes.retain(|_, asn| ![0, 65_535, u32::MAX].contains(asn));
        Self { prefixes }
    }

    fn find(&self, address: IpAddr) -> Option<u32> {
        let longest = if address.is_ipv4() { 32 } else { 64 };
        let nets = (0..=longest).rev().map(|length| IpNet::new(address, length).expect("a length").trunc());
        nets.into_iter().find_map(|net| self.prefixes.get(&net)).copied()
    }

    fn systems(&self) -> usize {
        self.prefixes.values().collect::<std::collections::HashSet<_>>().len()
    }

    /// Addresses within prefixes, each prefix as often as the others, and any.
    fn addresses(&self) -> Vec<(&'static str, Vec<IpAddr>)> {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for net in self.prefixes.keys() {
            match net {
                IpNet::V4(net) => v4.push((*net, 0)),
                IpNet::V6(net) => v6.push((*net, 0)),
            }
        }
        v4.sort();
        v6.sort();
        let mut random = data::Random::new();
        let mut draw =
            |one: &dyn Fn(&mut data::Random) -> IpAddr| (0..ADDRESSES).map(|_| one(&mut random)).collect();
        vec![
            ("IPv4, inside", draw(&|random| IpAddr::V4(data::inside(&v4)(random).into()))),
            ("IPv4, random", draw(&|random| IpAddr::V4(data::anywhere_v4()(random).into()))),
            ("IPv6, inside", draw(&|random| IpAddr::V6(data::inside(&v6)(random).into()))),
            ("IPv6, random", draw(&|random| IpAddr::V6(data::anywhere_v6()(random).into()))),
        ]
    }
}
