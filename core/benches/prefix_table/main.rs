//! The prefix table beside published crates, in one run on the same data: `cargo bench --bench prefix_table`.
//!
//! One table for each data set. Times are in nanoseconds a lookup; the addresses are timed in chunks, and for each chunk
//! the best of several rounds counts, in which the candidates take turns: the machine may be busy with other things. Every candidate's answers are folded into a
//! sum that must be the same for all. Columns:
//!
//! - *inside*: addresses in a prefix of the table, each prefix equally likely, in random order;
//! - *random*: addresses anywhere in the unicast space;
//! - *chained*: as *inside*, but each lookup waits for the result of the one before. A server does other work between
//!   two lookups, so this is nearer to what a request waits; the other columns let the processor overlap lookups.
//!
//! The environment variable `CRAWLPIKE_FEEDS` names a directory of JSON feeds for the small data set.

use std::alloc::System;
use std::hint::black_box;
use std::time::Instant;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use crate::candidates::{Candidate, crawlpike_load_time, v4_candidates, v6_candidates};
use crate::data::{Address, Random, V4, V6};

mod candidates;
mod data;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// More addresses than any cache holds results for.
const ADDRESSES: usize = 1 << 20;

/// Addresses that are timed together: about a millisecond, so that some rounds are not interrupted.
const CHUNK: usize = 1 << 14;

const ROUNDS: usize = 7;

fn main() {
    let feeds = data::feeds();
    v4_report(&format!("v4, {}", feeds.source), &feeds.v4);
    v6_report(&format!("v6, {}", feeds.source), &feeds.v6);
    v4_report("v4, 100,000 like the routing table", &data::routing_table_v4(100_000, 20_000));
    let large_v4 = data::routing_table_v4(1_000_000, 20_000);
    v4_report("v4, 1,000,000 like the routing table, 20,000 values", &large_v4);
    v4_report("v4, the same, each prefix with a value of its own", &data::with_own_values(&large_v4));
    let large_v6 = data::routing_table_v6(200_000, 20_000);
    v6_report("v6, 200,000 like the routing table, 20,000 values", &large_v6);
    let (milliseconds, bytes) = crawlpike_load_time(&large_v4, &large_v6);
    println!(
        "loading the stored form of 1,000,000 v4 and 200,000 v6: {milliseconds:.3} ms for {bytes} bytes"
    );
    println!("(copying the bytes into words and checking the header; positions are checked by lookups)");
}

fn v4_report(title: &str, entries: &[V4]) {
    report(title, &v4_candidates(entries), data::inside(entries), data::anywhere_v4());
}

fn v6_report(title: &str, entries: &[V6]) {
    report(title, &v6_candidates(entries), data::inside(entries), data::anywhere_v6());
}

/// The best time of every chunk of addresses, in nanoseconds.
#[derive(Clone)]
struct Times(Vec<f64>);

impl Times {
    fn new() -> Self {
        Self(vec![f64::MAX; ADDRESSES / CHUNK])
    }

    /// Runs `work` for every chunk, keeps its time if it is the best so far, and adds up the results.
    fn measure<A>(&mut self, addresses: &[A], work: impl Fn(&[A]) -> u64) -> u64 {
        let mut sum = 0;
        for (chunk, best) in addresses.chunks(CHUNK).zip(&mut self.0) {
            let start = Instant::now();
            sum += black_box(work(black_box(chunk)));
            *best = best.min(start.elapsed().as_nanos() as f64);
        }
        sum
    }

    fn per_lookup(&self) -> f64 {
        self.0.iter().sum::<f64>() / ADDRESSES as f64
    }
}

fn report<A: Address>(
    title: &str,
    candidates: &[Candidate<A>],
    inside: impl Fn(&mut Random) -> A,
    anywhere: impl Fn(&mut Random) -> A,
) {
    let mut random = Random::new();
    let inside: Vec<A> = (0..ADDRESSES).map(|_| inside(&mut random)).collect();
    let anywhere: Vec<A> = (0..ADDRESSES).map(|_| anywhere(&mut random)).collect();
    let mut times = vec![[Times::new(), Times::new(), Times::new()]; candidates.len()];
    for _ in 0..ROUNDS {
        let mut sums = Vec::new();
        for (candidate, [inside_times, random_times, chained_times]) in candidates.iter().zip(&mut times) {
            let inside_sum = inside_times.measure(&inside, |chunk| (candidate.sum)(chunk));
            let random_sum = random_times.measure(&anywhere, |chunk| (candidate.sum)(chunk));
            let chained_sum =
                chained_times.measure(&inside, |chunk| (candidate.chained_sum)(chunk, black_box(0)));
            assert_eq!(inside_sum, chained_sum, "{}", candidate.name);
            sums.push((inside_sum, random_sum));
        }
        assert!(sums.windows(2).all(|pair| pair[0] == pair[1]), "the candidates disagree: {sums:?}");
    }

    println!("\n{title}");
    println!(
        "{:<18}{:>10}{:>14}{:>10}{:>10}{:>10}",
        "", "build ms", "bytes/prefix", "inside", "random", "chained"
    );
    let line = |name: &str, values: [f64; 5], digits: usize| {
        let [build, bytes, inside, random, chained] = values;
        println!(
            "{name:<18}{build:>10.digits$}{bytes:>14.digits$}{inside:>10.digits$}{random:>10.digits$}{chained:>10.digits$}"
        );
    };
    let rows: Vec<[f64; 5]> = candidates
        .iter()
        .zip(&times)
        .map(|(candidate, times)| {
            let [inside, random, chained] = times.each_ref().map(Times::per_lookup);
            [candidate.build_ms, candidate.bytes_per_prefix, inside, random, chained]
        })
        .collect();
    for (candidate, row) in candidates.iter().zip(&rows) {
        line(candidate.name, *row, 1);
    }
    // The first candidate is ours.
    if let [ours, peers @ ..] = rows.as_slice() {
        let best = |column: usize| peers.iter().map(|row| row[column]).fold(f64::MAX, f64::min);
        line("best peer / ours", std::array::from_fn(|column| best(column) / ours[column]), 2);
    }
}
