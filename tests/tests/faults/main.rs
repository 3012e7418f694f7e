//! Failures of everything that can fail: `make test-panics` builds gates and a command line in which any call of the server or
//! for a file fails on demand, and runs this. In each situation, each call of each kind fails once, one in each run.

mod commands;
mod envoy;
mod nginx;
mod wasm;

use std::collections::BTreeMap;
use std::io;

use crawlpike_tests::faults::{Kind, Plan};

/// Faults after which a response may be lost.
#[derive(Clone, Copy, Default)]
struct Excused {
    /// Functions by which the server sends: without them there is no response.
    functions: &'static [&'static str],
    /// Panics outside of what is caught closer to its cause.
    panics: usize,
}

/// Has each call of each kind fail once in a situation, as long as one is left to fail. `run` has the situation happen, and
/// `judge` says what is wrong after it, when nothing fails any more. The next run shows that the server goes on. Prints the
/// rows of the table in `docs/reliability.md`. Returns how often each function failed, but for files.
fn each_fault<T>(
    faults: &impl Plan,
    situation: &str,
    excused: Excused,
    mut run: impl FnMut() -> T,
    mut judge: impl FnMut(Kind, T) -> Result<(), String>,
) -> BTreeMap<String, u64> {
    let (mut problems, mut panics, mut all) = (Vec::new(), 0, BTreeMap::new());
    for kind in Kind::ALL {
        let mut failed = BTreeMap::<String, u64>::new();
        for number in 1.. {
            faults.begin(kind, number);
            let result = run();
            let name = faults.end();
            let name_or_none = name.as_deref().unwrap_or("nothing failed");
            if let Err(problem) = judge(kind, result) {
                if kind == Kind::Panic {
                    panics += 1;
                }
                if !excused.functions.contains(&name_or_none)
                    && (kind != Kind::Panic || panics > excused.panics)
                {
                    problems.push(format!("{situation}, {kind:?} {number}, {name_or_none}: {problem}"));
                }
            }
            let Some(name) = name else { break };
            *failed.entry(name).or_default() += 1;
        }
        println!("{situation}: {kind:?}: {}: {failed:?}", failed.values().sum::<u64>());
        if kind != Kind::File {
            all.extend(failed);
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    all
}

/// The sum of failures, but for those of functions whose failure is not an error.
fn errors(failed: &BTreeMap<String, u64>, not_errors: &[&str]) -> u64 {
    failed.iter().filter(|(name, _)| !not_errors.contains(&&***name)).map(|(_, count)| count).sum()
}

/// Says what is wrong with a response, whose status and body `is_good` judges.
fn judge_response(answer: io::Result<String>, is_good: impl Fn(u16, &str) -> bool) -> Result<(), String> {
    let answer = answer.map_err(|error| format!("no response: {error}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    if is_good(status, body) { Ok(()) } else { Err(format!("{head}, {} bytes", body.len())) }
}
