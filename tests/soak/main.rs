//! `make soak`: nginx with the module, or Envoy with the native one, through whatever can happen to it, for as long as one likes.
//!
//! Meanwhile it is given other documents and feeds, broken ones too, and its processes are replaced and killed; clients
//! are of every kind, slow ones and such as send nonsense among them. Every answer to a request must be the one that the
//! core decides on, no process may end but those that were killed, and none may grow. What happens is drawn from a seed,
//! which is printed first.
//!
//! With `--documents`, clients ask for documents of pages that the origin sends in all ways, many of which break off: no
//! answer may have anything but what is made of its page, and none that looks whole may lack a part. The Wasm filters in Envoy
//! have this, too.

use std::env;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_tests::envoy::Filter;
use crawlpike_tests::origin::Origin;
use crawlpike_tests::page_origin;
use fastrand::Rng;

mod clients;
mod envoy;
mod events;
mod gate;
mod memory;
mod nginx;
mod pages;
mod scene;

use crate::envoy::Envoy;
use crate::events::Events;
use crate::gate::Gate;
use crate::memory::Memory;
use crate::nginx::Nginx;
use crate::scene::Scene;

const USAGE: &str = "usage: soak [--gate nginx|envoy] [--seconds N] [--seed N]
       soak --documents [--gate nginx|envoy|wasm] [--seconds N] [--seed N]";

/// The interval between samples of memory.
const SAMPLES: u32 = 12;

/// The subject of the clients' requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    /// Decisions, while the files change.
    Policies,
    Documents,
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let (mut gate, mut seconds, mut seed) = ("nginx", 60, Rng::new().u64(..));
    let topic = match arguments.first() {
        Some(first) if first == "--documents" => {
            arguments.remove(0);
            Topic::Documents
        }
        _ => Topic::Policies,
    };
    for option in arguments.chunks(2) {
        match option {
            [name, value] if name == "--gate" && is_known(value, topic) => gate = value,
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
    println!("# Soak of {gate}, {topic:?}: {seconds} s, --seed {seed}\n");
    if run(gate, topic, Duration::from_secs(seconds), seed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_known(gate: &str, topic: Topic) -> bool {
    // The files of the Wasm filters are watched by another process, whose tests are elsewhere.
    matches!(gate, "nginx" | "envoy") || (gate == "wasm" && topic == Topic::Documents)
}

/// Starts a gate by its name, on the scene's port.
fn start(gate: &str, topic: Topic, scene: &Scene, origin: u16) -> Box<dyn Gate> {
    let folder = match topic {
        Topic::Policies => events::folder,
        Topic::Documents => pages::folder,
    };
    match gate {
        "nginx" => Box::new(Nginx::start(folder(), scene, origin)),
        "wasm" => Box::new(Envoy::start(Filter::Wasm, [folder(), folder()], scene, origin)),
        _ => Box::new(Envoy::start(Filter::Native, [folder(), folder()], scene, origin)),
    }
}

/// Soaks and reports; whether all went well.
fn run(gate: &str, topic: Topic, time: Duration, seed: u64) -> bool {
    let mut random = Rng::with_seed(seed);
    let scene = Scene::new();
    let facts = (topic == Topic::Policies).then(Origin::start);
    let origin = facts.as_ref().map_or_else(page_origin::start, Origin::port);
    let mut events = Events::new(&scene, start(gate, topic, &scene, origin), topic);
    let mut memory = Memory::default();
    let start = Instant::now();
    thread::scope(|scope| {
        let all: &[fn(&Scene, Rng)] = match topic {
            Topic::Policies => &[
                clients::everybody,
                clients::everybody,
                clients::everybody,
                clients::slow,
                clients::nonsense,
            ],
            Topic::Documents => &[pages::clients as fn(&Scene, Rng); 6],
        };
        for clients in all {
            let (scene, random) = (&scene, random.fork());
            scope.spawn(move || clients(scene, random));
        }
        // Also where an event panics: the clients would go on, and the program never end.
        let _ends = scene.ends_with_this();
        let mut next_sample = start;
        while start.elapsed() < time {
            if Instant::now() >= next_sample {
                memory.sample(events.gate.as_ref());
                next_sample += time / SAMPLES;
            }
            // The memory of a process in the long run shows only if the process lives on.
            let spared = start.elapsed() > time / 2;
            events.happen(&mut random, spared);
            thread::sleep(Duration::from_millis(random.u64(50..800)));
        }
        events.mend_all();
        memory.sample(events.gate.as_ref());
    });
    println!("{}", events.report());
    println!("{}", scene.report());
    println!("{memory}");
    let problems = [scene.problems(), events.gate.problems_in_logs(), memory.growth()].concat();
    for problem in &problems {
        println!("- {problem}");
    }
    println!("{}", if problems.is_empty() { "Nothing is wrong." } else { "The above is wrong." });
    problems.is_empty()
}
