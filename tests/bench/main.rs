//! The benchmarks of the gates: `make bench-nginx`, `make bench-envoy`, `make bench-serve`, `make bench-signatures`,
//! `make soak-envoy`.
//!
//! Each is one run over all candidates side by side, and prints a report in Markdown; what it is doing meanwhile goes to
//! standard error. `docs/benchmarks.md` describes the method and the results.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

mod attack;
mod callgrind;
mod changes;
mod envoy;
mod envoy_peers;
mod hand_written;
mod nginx;
mod paced;
mod rounds;
mod serve;
mod signatures;
mod updates;
mod world;

const USAGE: &str = "usage: bench nginx|envoy|serve|envoy-updates|signatures|attack [--rounds N] [--seconds N] [--empty-gates DIRECTORY] [--only TEXT] [--updates N]";

/// The length of the measurement.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// The number of turns of each candidate; medians count. 0: only instructions are counted, which depend on no clock.
    rounds: usize,
    /// The length of a turn.
    turn: Duration,
}

impl Effort {
    fn is_of_instructions_alone(self) -> bool {
        self.rounds == 0
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => ExitCode::FAILURE,
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Runs the program that the arguments name; true if all went well, `None` if they name none.
fn run(arguments: &[String]) -> Option<bool> {
    let (program, options) = arguments.split_first()?;
    let mut effort = Effort { rounds: 9, turn: Duration::from_secs(2) };
    let mut empty_gates = PathBuf::new();
    let mut only = String::new();
    let mut updates = 1000;
    for option in options.chunks(2) {
        let [name, value] = option else { return None };
        match name.as_str() {
            "--rounds" => effort.rounds = value.parse().ok()?,
            "--seconds" => {
                effort.turn = Duration::from_secs(value.parse().ok().filter(|seconds| *seconds > 0)?);
            }
            "--updates" => updates = value.parse().ok().filter(|updates| *updates > 0)?,
            "--only" => only.clone_from(value),
            "--empty-gates" => empty_gates = value.into(),
            _ => return None,
        }
    }
    match program.as_str() {
        "nginx" => nginx::report(effort),
        "serve" => serve::report(effort, &empty_gates),
        "envoy" => envoy::report(effort, &empty_gates, &only),
        "signatures" => signatures::report(!effort.is_of_instructions_alone()),
        "attack" => return Some(attack::report()),
        "envoy-updates" => return Some(updates::report(updates, &only)),
        _ => return None,
    }
    Some(true)
}
