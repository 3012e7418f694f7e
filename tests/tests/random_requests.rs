//! Random requests: nginx, Envoy and the command line decide each of them as the core does.

use std::collections::BTreeSet;
use std::env;

use crawlpike_tests::envoy::Filter;
use crawlpike_tests::random_requests;
use crawlpike_tests::runners::{Cli, Core, Envoy, Nginx, Runner};
use crawlpike_tests::verdict::{against_core, against_table};

const REQUESTS: usize = 1000;

/// The possible reasons of a decision.
const REASONS: [&str; 13] = [
    "agent-allowed",
    "agent-denied",
    "allowed",
    "geo-denied",
    "invalid-host",
    "method-not-allowed",
    "not-automated",
    "purpose-not-allowed",
    "robots-disallowed",
    "served",
    "spoofed-agent",
    "undeclared-agent",
    "unverified-agent",
];

/// The seed of the property tests counts here, too.
fn seed() -> u64 {
    env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

#[test]
fn all_ways_in_decide_random_requests_alike() {
    let seed = seed();
    println!("PROPTEST_RNG_SEED={seed}");
    let tables = [random_requests::table(seed, REQUESTS)];
    let core = Core.run(&tables);
    let reasons: BTreeSet<&str> =
        core[0].iter().flatten().filter_map(|answer| answer.facts["reason"].as_str()).collect();
    assert_eq!(
        reasons,
        BTreeSet::from(REASONS),
        "PROPTEST_RNG_SEED={seed}: each reason decides some request"
    );
    let mut report = String::new();
    for runner in [&Cli as &dyn Runner, &Nginx, &Envoy(Filter::Wasm), &Envoy(Filter::Native)] {
        let (name, answers) = (runner.name(), runner.run(&tables));
        report += &against_table(name, &tables, &answers);
        report += &against_core(name, &tables, &core, &answers);
    }
    assert!(report.is_empty(), "PROPTEST_RNG_SEED={seed}:\n{report}");
}
