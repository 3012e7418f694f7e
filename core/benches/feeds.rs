//! The speed of reading feeds: `cargo bench --bench feeds [-- ENTRIES]`, a million entries by default.
//!
//! The feeds are made up, with the length and variety of real lines: mostly distinct prefixes of both families, a few
//! thousand places. Prints the best of five runs, because on a shared machine the worst ones measure the others.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use crawlpike_core::FeedFormat;
use crawlpike_core::internals::{Diagnostics, Load};
use crawlpike_core::internals::{ReadOptions, read_feed};
use ipnet::IpNet;

const RUNS: usize = 5;

fn main() {
    // Cargo passes --bench, except where `cargo test --all-targets` only wants to see it run.
    let most = if std::env::args().any(|argument| argument == "--bench") { 1_000_000 } else { 1_000 };
    let entries = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(most);
    println!("{:<10} {:>10} {:>8} {:>10} {:>8}", "what", "entries", "MB", "ms", "MB/s");
    for (name, format, source) in [
        ("geofeed", FeedFormat::Geofeed, geofeed(entries)),
        ("jafar", FeedFormat::Jafar, jafar(entries)),
        ("cidr", FeedFormat::Cidr, cidr(entries)),
    ] {
        print(name, entries, source.len(), || {
            let mut diagnostics = Diagnostics::new("bench", Load);
            let feed = read_feed(format, source.as_bytes().into(), &ReadOptions::default(), &mut diagnostics);
            assert_eq!(
                feed.map(|feed| feed.entries.len()),
                Some(entries as usize),
                "{:?}",
                diagnostics.items()
            );
        });
    }
    // The lower bound on this machine: nothing but ipnet on each line, no check, nothing kept.
    let source = cidr(entries);
    print("(ipnet)", entries, source.len(), || {
        let sum =
            source.lines().filter_map(|line| line.parse::<IpNet>().ok()).map(|net| net.prefix_len() as usize);
        assert!(black_box(sum.sum::<usize>()) > entries as usize);
    });
}

fn print(name: &str, entries: u32, bytes: usize, mut work: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    let megabytes = bytes as f64 / 1e6;
    println!("{name:<10} {entries:>10} {megabytes:>8.1} {:>10.1} {:>8.1}", best * 1e3, megabytes / best);
}

/// The `index`th of distinct prefixes, a sixth of them IPv6 as in AWS's feed, in an order that is not sorted.
fn prefix(index: u32) -> String {
    // Odd, so that it permutes the 24-bit networks.
    let network = index.wrapping_mul(0x9E_3779) & 0xFF_FFFF;
    let [_, a, b, c] = network.to_be_bytes();
    if index.is_multiple_of(6) {
        format!("2600:{a:x}{b:02x}:{c:x}00::/40")
    } else {
        format!("{a}.{b}.{c}.0/24")
    }
}

fn geofeed(entries: u32) -> String {
    let mut text = String::from("# prefix,alpha2code,region,city,postal_code\n");
    for index in 0..entries {
        let place = index.wrapping_mul(2_654_435_761) >> 20;
        let (letter, region) = (char::from(b'A' + (place % 26) as u8), place % 90);
        let prefix = prefix(index);
        writeln!(text, "{prefix},A{letter},A{letter}-{region},City of {place},").expect("memory");
    }
    text
}

fn jafar(entries: u32) -> String {
    let mut text = String::from(
        r#"{"formatVersion":"1.0","synctoken":"1","creationTime":"2025-08-15T14:30:00Z","prefixes":["#,
    );
    for index in 0..entries {
        let prefix = prefix(index);
        let family = if prefix.contains(':') { "ipv6Prefix" } else { "ipv4Prefix" };
        let comma = if index == 0 { "" } else { "," };
        write!(text, "{comma}\n  {{ \"{family}\": \"{prefix}\", \"service\": \"Service {}\" }}", index % 50)
            .expect("memory");
    }
    text + "\n]}\n"
}

fn cidr(entries: u32) -> String {
    let mut text = String::new();
    for index in 0..entries {
        writeln!(text, "{}", prefix(index)).expect("memory");
    }
    text
}
