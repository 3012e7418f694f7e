//! Candidates measured in turns, so that what else the machine does meets all of them alike.

use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crawlpike_tests::proc::{processor_time, threads};
use crawlpike_tests::process::wait_for;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use tempfile::TempDir;

use crate::world::Client;
use crate::{Effort, paced};

/// A server under load.
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    /// The process that serves.
    pub(crate) pid: i32,
    /// Another process that works for it.
    pub(crate) helper: Option<i32>,
    /// True if it answers these clients with an error.
    pub(crate) denies: bool,
}

/// The measurements of a candidate.
pub(crate) struct Measured {
    pub(crate) name: String,
    turns: Vec<Turn>,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    per_second: f64,
    /// Microseconds of the server's processor for a request.
    processor: f64,
    /// Half of the requests, and all but one in a hundred, took no longer.
    latencies: [Duration; 2],
}

impl Candidate {
    fn pin_helper(&self, core: usize) {
        for thread in self.helper.into_iter().flat_map(threads) {
            pin(Pid::from_raw(thread), core);
        }
    }

    fn processor_time(&self) -> Duration {
        [Some(self.pid), self.helper].into_iter().flatten().map(processor_time).sum()
    }
}

/// Has a thread run on one core, or this one.
pub(crate) fn pin(thread: Option<Pid>, core: usize) {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(thread, &cores).expect("a core to run on");
}

/// The core of the server under load; the load generator has the next.
pub(crate) const SERVER_CORE: usize = 0;
pub(crate) const LOAD_CORE: usize = 1;
pub(crate) const CONNECTIONS: usize = 32;

/// Puts the same requests to all candidates, in turns, as many as they serve.
///
/// # Panics
///
/// If a candidate gives a wrong answer.
pub(crate) fn measure(candidates: &[Candidate], clients: &[Client], effort: Effort) -> Vec<Measured> {
    let wrk = Wrk::new(clients);
    in_turns(candidates, effort, |candidate| wrk.turn(candidate, effort))
}

/// Puts the same requests to all candidates, in turns, so many a second. Here a process that works for another shares a core with the
/// load generator: on one core the scheduler lets either of the two run for milliseconds while the other could go on.
///
/// # Panics
///
/// If a candidate gives a wrong answer.
pub(crate) fn measure_at(
    per_second: f64,
    candidates: &[Candidate],
    clients: &[Client],
    effort: Effort,
) -> Vec<Measured> {
    in_turns(candidates, effort, |candidate| {
        candidate.pin_helper(LOAD_CORE);
        let before = candidate.processor_time();
        let times = paced::turn(candidate, clients, per_second, effort.turn);
        let processor = candidate.processor_time().saturating_sub(before);
        candidate.pin_helper(SERVER_CORE);
        Turn {
            per_second,
            processor: processor.as_secs_f64() * 1e6 / times.len() as f64,
            latencies: [times[times.len() / 2], times[times.len() * 99 / 100]],
        }
    })
}

fn in_turns(candidates: &[Candidate], effort: Effort, turn: impl Fn(&Candidate) -> Turn) -> Vec<Measured> {
    let mut measured: Vec<Measured> =
        candidates.iter().map(|one| Measured { name: one.name.clone(), turns: Vec::new() }).collect();
    // A turn before those that count: caches, connections, and the compiler of Envoy's Wasm runtime.
    for candidate in candidates {
        turn(candidate);
    }
    for round in 0..effort.rounds {
        // Not always the same one after the same one.
        for step in 0..candidates.len() {
            let at = (round + step) % candidates.len();
            measured[at].turns.push(turn(&candidates[at]));
        }
    }
    measured
}

/// `wrk` with the requests of some clients.
struct Wrk {
    folder: TempDir,
}

impl Wrk {
    fn new(clients: &[Client]) -> Self {
        let mut script = String::from("local requests = {\n");
        for client in clients {
            let _ = writeln!(script, "{:?},", client.request());
        }
        script.push_str(
            "}
local at = 0
function request()
    at = at % #requests + 1
    return requests[at]
end
function done(summary, latency)
    local e = summary.errors
    io.write(string.format('RESULT %d %d %d %d %d %d\\n', summary.requests, summary.duration, e.status,
        e.connect + e.read + e.write + e.timeout, latency:percentile(50), latency:percentile(99)))
end
",
        );
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("requests.lua"), script).expect("a temporary file");
        Self { folder }
    }

    /// One turn; another one where the machine was so busy that nothing at all was served.
    fn turn(&self, candidate: &Candidate, effort: Effort) -> Turn {
        const TRIES: usize = 5;
        let turn = (0..TRIES).find_map(|_| self.try_turn(candidate, effort));
        turn.unwrap_or_else(|| panic!("{} serves nothing", candidate.name))
    }

    fn try_turn(&self, candidate: &Candidate, effort: Effort) -> Option<Turn> {
        let before = candidate.processor_time();
        let output = Command::new("taskset")
            .args(["-c", &LOAD_CORE.to_string(), "wrk", "-t1", &format!("-c{CONNECTIONS}")])
            .arg(format!("-d{}s", effort.turn.as_secs()))
            .arg("-s")
            .arg(self.folder.path().join("requests.lua"))
            .arg(format!("http://{}/", candidate.address))
            .output()
            .expect("wrk can be started: .ci/setup bench installs it");
        let processor = candidate.processor_time().saturating_sub(before);
        // Requests that it has not answered yet must not affect the next candidate.
        wait_for("a server with nothing to do", || {
            let before = candidate.processor_time();
            thread::sleep(Duration::from_millis(50));
            (candidate.processor_time().saturating_sub(before) < Duration::from_millis(20)).then_some(())
        });
        let text = String::from_utf8_lossy(&output.stdout);
        let result = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let numbers: Vec<f64> = result
            .into_iter()
            .flat_map(|line| line.split(' '))
            .filter_map(|word| word.parse().ok())
            .collect();
        let [requests, microseconds, refused, broken, p50, p99] = *numbers else {
            panic!("wrk says nothing of its requests: {text}{}", String::from_utf8_lossy(&output.stderr));
        };
        let name = &candidate.name;
        assert!(broken == 0.0, "{name}: {broken} of {requests} requests failed: {text}");
        let expected = if candidate.denies { requests } else { 0.0 };
        assert!(refused == expected, "{name}: {refused} of {requests} refused");
        (requests > 0.0).then(|| Turn {
            per_second: requests / microseconds * 1e6,
            processor: processor.as_secs_f64() * 1e6 / requests,
            latencies: [p50, p99].map(|latency| Duration::from_secs_f64(latency / 1e6)),
        })
    }
}

impl Measured {
    /// Requests a second.
    pub(crate) fn per_second(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.per_second))
    }

    /// Microseconds of the server's processor for a request.
    pub(crate) fn processor(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.processor))
    }

    /// The time that half of the requests took at most, and that all but one in a hundred took.
    pub(crate) fn latencies(&self) -> [Duration; 2] {
        let median = |place: usize| {
            let mut all: Vec<Duration> = self.turns.iter().map(|turn| turn.latencies[place]).collect();
            all.sort();
            all[all.len() / 2]
        };
        [0, 1].map(median)
    }

    /// The ratio of its requests a second to those of another candidate.
    pub(crate) fn times(&self, other: &Self) -> f64 {
        median(self.turns.iter().zip(&other.turns).map(|(ours, other)| ours.per_second / other.per_second))
    }

    /// The same by processor time: how many requests for the time that the other takes for one.
    pub(crate) fn times_by_processor(&self, other: &Self) -> f64 {
        median(self.turns.iter().zip(&other.turns).map(|(ours, other)| other.processor / ours.processor))
    }
}

/// A table of one kind of clients; ratios are to the first candidate.
pub(crate) fn table(measured: &[Measured]) -> String {
    let mut text =
        String::from("| | requests/s | ratio | µs of processor a request | ratio |\n|---|---|---|---|---|\n");
    for one in measured {
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.3} | {:.2} | {:.3} |",
            one.name,
            one.per_second(),
            one.times(&measured[0]),
            one.processor(),
            one.times_by_processor(&measured[0])
        );
    }
    text
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
