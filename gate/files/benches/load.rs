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

use crawlpike_core::{Compiled, Files, FoundFile, NoFiles, Ruleset};
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

#[expect(dead_code, reason = "the bench of the prefix table needs more of it")]
#[path = "../../../core/benches/prefix_table/data.rs"]
mod data;

const DOCUMENT: &str = r#"{ "feeds": [ { "name": "v4", "format": "cidr", "source": "v4" },
    { "name": "v6", "format": "cidr", "source": "v6" } ] }"#;

const RUNS: usize = 15;

struct Feeds {
    v4: String,
    v6: String,
}

impl Files for Feeds {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let text = if path == "v4" { &self.v4 } else { &self.v6 };
        Ok(Some(FoundFile { bytes: text.clone().into_bytes(), modified: None }))
    }
}

fn main() {
    // Cargo passes --bench, except where `cargo test --all-targets` only wants to see it run.
    let share = if std::env::args().any(|argument| argument == "--bench") { 1 } else { 1000 };
    let v4 = data::routing_table_v4(1_000_000 / share, 20_000);
    let v6 = data::routing_table_v6(200_000 / share, 20_000);
    let feeds = Feeds { v4: lines(v4), v6: lines(v6) };
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
    ] {
        println!("{what:<48}{time:>8.2}");
    }
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
