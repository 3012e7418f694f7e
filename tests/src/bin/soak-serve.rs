//! `make soak-serve`: `crawlpike serve` under load in both protocols, while its ruleset is replaced all the time.

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crawlpike_tests::replacements::{Report, run};

/// The most that the server may grow after the first half, in KiB.
const GROWTH: u64 = 4096;

/// The rows of the table.
const ROWS: usize = 10;

fn show(report: &Report) {
    println!("| replacements | private memory, MiB | open files |");
    println!("|---|---|---|");
    let count = report.samples.len();
    for number in (0..=ROWS).map(|row| row * count.saturating_sub(1) / ROWS) {
        if let Some(sample) = report.samples.get(number) {
            let mib = |kib: u64| format!("{}.{}", kib / 1024, kib % 1024 * 10 / 1024);
            println!("| {} | {} | {} |", number + 1, mib(sample.private), sample.files);
        }
    }
    println!("\n{} answers over HTTP, {} over gRPC, {} replacements.", report.answers, report.checks, count);
}

fn main() -> ExitCode {
    let seconds = env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(300);
    println!("# Soak of crawlpike serve: {seconds} s\n");
    let (start, time) = (Instant::now(), Duration::from_secs(seconds));
    let report = run(|_, _| start.elapsed() < time);
    show(&report);
    let growth = report.growth();
    println!("The most in the last quarter is {growth} KiB above the most in the second one.");
    for failure in &report.failures {
        println!("- {failure}");
    }
    let is_well = report.failures.is_empty() && growth < GROWTH;
    println!("{}", if is_well { "Nothing is wrong." } else { "The above is wrong." });
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
