//! The time to load the compiled form: `cargo bench -p crawlpike-files --bench load`.
//!
//! The ruleset is that of a large edge: 1,000,000 IPv4 and 200,000 IPv6 prefixes with lengths like the routing table's,
//! in two feeds. Loading means: everything that nginx and Envoy do between the bytes and the first decision, the checksum
//! of the whole included. Times are the best of several, because the machine may be busy with other things; beside them,
//! what each part would take alone.

use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use crawlpike_core::{Compiled, Files, FoundFile, NoFiles, Ruleset, TableReader};
use crawlpike_files::read_table;
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

#[expect(dead_code, reason = "the bench of the prefix table needs more of it")]
#[path = "../../../core/benches/prefix_table/data.rs"]
mod data;

const DOCUMENT: &str = r#"{ "feeds": [ { "name": "v4", "format": "cidr", "source": "v4" },
    { "name": "v6", "format": "cidr", "source": "v6" } ] }"#;

const RUNS: usize = 15;

/// The same prefixes as a table of autonomous systems.
const NETWORKS: &str =
    r#"{ "networks": [ { "name": "as", "format": "iptoasn", "source": "as", "guard": "off" } ] }"#;

/// The two feeds, and the table.
struct Feeds {
    v4: String,
    v6: String,
    systems: String,
}

impl Files for Feeds {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let text = match path {
            "v4" => &self.v4,
            "v6" => &self.v6,
            _ => &self.systems,
        };
        Ok(Some(FoundFile { bytes: text.clone().into_bytes(), modified: None }))
    }

    fn table_reader(&self) -> Option<TableReader> {
        Some(read_table)
    }
}

fn main() {
    // Cargo passes --bench, except where `cargo test --all-targets` only wants to see it run.
    let share = if std::env::args().any(|argument| argument == "--bench") { 1 } else { 1000 };
    let v4 = data::routing_table_v4(1_000_000 / share, 20_000);
    let v6 = data::routing_table_v6(200_000 / share, 20_000);
    let mut systems = String::new();
    v4.iter().for_each(|(net, value)| range(&mut systems, net.network(), net.broadcast(), *value));
    v6.iter().for_each(|(net, value)| range(&mut systems, net.network(), net.broadcast(), *value));
    let feeds = Feeds { v4: lines(v4), v6: lines(v6), systems };
    let start = Instant::now();
    let compiled = Ruleset::compile("crawlpike.json", DOCUMENT.as_bytes(), &feeds);
    let compile_ms = milliseconds(start);
    let start = Instant::now();
    let words = compiled.store().expect("the document and its feeds are right");
    let store_ms = milliseconds(start);
    let folder = std::env::temp_dir().join(format!("crawlpike-load-{}", std::process::id()));
    fs::write(&folder, words.as_bytes()).expect("a temporary file can be written");

    let best = |work: &mut dyn FnMut() -> f64| (0..RUNS).map(|_| work()).fold(f64::MAX, f64::min);
    let in_memory = best(&mut || {
        let words = words.clone();
        let start = Instant::now();
        let loaded = Compiled::load("crawlpike.bin", words);
        let time = milliseconds(start);
        assert!(black_box(loaded).ruleset.is_some());
        time
    });
    let from_file = best(&mut || {
        let start = Instant::now();
        let loaded = crawlpike_files::compile(&folder, &NoFiles).expect("the file that was written");
        let time = milliseconds(start);
        assert!(black_box(loaded).ruleset.is_some());
        time
    });
    let read = best(&mut || {
        let start = Instant::now();
        black_box(fs::read(&folder).expect("the file that was written"));
        milliseconds(start)
    });
    let checksum = best(&mut || {
        let start = Instant::now();
        black_box(XxHash3_64::oneshot(words.as_bytes()));
        milliseconds(start)
    });
    let small = Ruleset::compile("crawlpike.json", b"{}", &NoFiles).store().expect("an empty document");
    let without_feeds = best(&mut || {
        let words = small.clone();
        let start = Instant::now();
        black_box(Compiled::load("crawlpike.bin", words));
        milliseconds(start)
    });
    let start = Instant::now();
    let networks = Ruleset::compile("crawlpike.json", NETWORKS.as_bytes(), &feeds);
    let networks_ms = milliseconds(start);
    let in_networks = networks.store().expect("the table is right").len() - small.len();
    fs::remove_file(&folder).expect("the file that was written");

    let megabytes = words.len() as f64 * 4.0 / 1e6;
    println!("loading {megabytes:.1} MB, the compiled form of {} prefixes        ms", 1_200_000 / share);
    for (what, time) in [
        ("compiling the document and its feeds", compile_ms),
        ("storing what was compiled", store_ms),
        ("loading from words in memory (Envoy)", in_memory),
        ("loading from a file that is cached (nginx)", from_file),
        ("  of that, reading the file", read),
        ("  of that, the checksum of the whole", checksum),
        ("  of that, the document and its catalog", without_feeds),
        ("compiling the same as a table of systems", networks_ms),
    ] {
        println!("{what:<48}{time:>8.2}");
    }
    let bytes = in_networks as f64 * 4.0 / (1_200_000 / share) as f64;
    println!("{:<48}{bytes:>8.2}", "bytes for a prefix of that table, with names");
}

fn range(text: &mut String, first: impl std::fmt::Display, last: impl std::fmt::Display, asn: u32) {
    writeln!(text, "{first}\t{last}\t{}\tXX\tNetwork {asn}", asn + 1).expect("memory");
}

fn lines<N: std::fmt::Display>(prefixes: Vec<(N, u32)>) -> String {
    let mut text = String::new();
    for (prefix, _) in prefixes {
        writeln!(text, "{prefix}").expect("memory");
    }
    text
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
