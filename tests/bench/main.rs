//! The benchmarks of the gates: `make bench-nginx`, `make bench-envoy`.
//!
//! Each is one run over all candidates side by side, and prints a report in Markdown; what it is doing meanwhile goes to
//! standard error. `docs/performance.md` tells the method and what came out.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

mod callgrind;
mod hand_written;
mod nginx;
mod proc;
mod rounds;
mod world;

const USAGE: &str = "usage: bench nginx [--rounds N] [--seconds N]";

/// How long to measure.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// How often each candidate has its turn; medians count.
    rounds: usize,
    /// How long a turn is.
    turn: Duration,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((program, options)) = arguments.split_first() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut effort = Effort { rounds: 9, turn: Duration::from_secs(2) };
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--rounds" && value.parse().is_ok_and(|rounds: usize| rounds > 0) => {
                effort.rounds = value.parse().unwrap_or(effort.rounds);
            }
            [name, value] if name == "--seconds" && value.parse().is_ok_and(|seconds: u64| seconds > 0) => {
                effort.turn = value.parse().map_or(effort.turn, Duration::from_secs);
            }
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    match program.as_str() {
        "nginx" => nginx::report(effort),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
