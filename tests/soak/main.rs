//! `make soak`: nginx with the module through whatever can happen to it, for as long as one likes.
//!
//! Meanwhile it is reloaded with other documents and feeds, with broken ones too, and its workers are killed; clients
//! are of every kind, slow ones and such as send nonsense among them. Every answer to a request must be the one that the
//! core decides on, no process may end but those that were killed, and none may grow. What happens is drawn from a seed,
//! which is printed first.

use std::env;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

mod clients;
mod events;
mod memory;
mod scene;

use crate::events::Events;
use crate::memory::Memory;
use crate::scene::Scene;

const USAGE: &str = "usage: soak [--seconds N] [--seed N]";

/// How often memory is looked at.
const SAMPLES: u32 = 12;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (mut seconds, mut seed) = (60, Rng::new().u64(..));
    for option in arguments.chunks(2) {
        match option {
            [name, value] if name == "--seconds" && value.parse::<u64>().is_ok() => {
                seconds = value.parse().unwrap_or(seconds);
            }
            [name, value] if name == "--seed" && value.parse::<u64>().is_ok() => {
                seed = value.parse().unwrap_or(seed);
            }
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    println!("# Soak of nginx: {seconds} s, --seed {seed}\n");
    if run(Duration::from_secs(seconds), seed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Soaks and reports; whether all went well.
fn run(time: Duration, seed: u64) -> bool {
    let mut random = Rng::with_seed(seed);
    let scene = Scene::start();
    let mut events = Events::new(&scene);
    let mut memory = Memory::default();
    let end = Instant::now() + time;
    thread::scope(|scope| {
        for _ in 0..3 {
            let random = random.fork();
            scope.spawn(|| clients::everybody(&scene, random));
        }
        let (slow, odd) = (random.fork(), random.fork());
        scope.spawn(|| clients::slow(&scene, slow));
        scope.spawn(|| clients::nonsense(&scene, odd));
        // Also where an event panics: the clients would go on, and the program never end.
        let _ends = scene.ends_with_this();
        let mut next_sample = Instant::now();
        while Instant::now() < end {
            if Instant::now() >= next_sample {
                memory.sample(&scene);
                next_sample += time / SAMPLES;
            }
            events.happen(&mut random);
            thread::sleep(Duration::from_millis(random.u64(50..800)));
        }
        events.mend_all();
        memory.sample(&scene);
    });
    println!("{}", events.report());
    println!("{}", scene.report());
    println!("{memory}");
    let mut problems = scene.failures();
    problems.extend(events.problems_in_log());
    problems.extend(memory.growth());
    if scene.checked.load(Ordering::Relaxed) == 0 {
        problems.push("no answer was checked".to_owned());
    }
    for problem in &problems {
        println!("- {problem}");
    }
    println!("{}", if problems.is_empty() { "Nothing is wrong." } else { "The above is wrong." });
    problems.is_empty()
}
