//! `make soak-envoy`: a ruleset of many prefixes replaced again and again under load, in both gates and by each way to deliver it.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crawlpike_tests::envoy::{Envoy, Filter, RESOURCE, discovered_filter};
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::from;
use crawlpike_tests::load::{Probe, during};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::proc;
use crawlpike_tests::process::wait_for;
use rustix::process::Pid;
use serde_json::{Value, json};

use crate::envoy::{Variant, listener};
use crate::world::{self, Kind, World};

const PREFIXES: usize = 300_000;

/// After how many updates memory is looked at, beside every hundred.
const LOOKS: [usize; 4] = [1, 10, 20, 50];

/// The delivery of a ruleset to a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery {
    /// In a resource that Envoy watches.
    Discovered(Filter),
    /// In files, which the native module watches.
    Files,
}

impl Delivery {
    const ALL: [Self; 3] = [Self::Discovered(Filter::Wasm), Self::Discovered(Filter::Native), Self::Files];

    fn name(self) -> String {
        match self {
            Self::Discovered(filter) => format!("{}, by ECDS", filter.name()),
            Self::Files => "native, by files".to_owned(),
        }
    }
}

/// Updates each gate by each delivery whose name contains `only`, and prints; whether no request failed.
pub(crate) fn report(updates: usize, only: &str) -> bool {
    // One differs from the other, since nobody takes notice of what he has.
    let worlds = [PREFIXES, PREFIXES - 1].map(World::new);
    println!("# {updates} updates of a ruleset of {PREFIXES} prefixes\n");
    let deliveries = Delivery::ALL.into_iter().filter(|delivery| delivery.name().contains(only));
    let results: Vec<bool> = deliveries.map(|delivery| updates_by(delivery, updates, &worlds)).collect();
    results.iter().all(|is_good| *is_good)
}

fn updates_by(delivery: Delivery, updates: usize, worlds: &[World; 2]) -> bool {
    println!("## {}\n", delivery.name());
    let versions = worlds.each_ref().map(|world| match delivery {
        Delivery::Discovered(filter) => {
            let path = world.folder().path().join(RESOURCE);
            filter.write_resource(&world.compiled, &path);
            fs::read(path).expect("the resource that was written")
        }
        Delivery::Files => fs::read(world.folder().path().join(world::FILLER_FILE)).expect("its feed"),
    });
    println!("The file that is replaced has {:.1} MB.\n", versions[0].len() as f64 / 1e6);
    let running = |delivery, workers| Running::start(delivery, workers, worlds, &versions[0]);
    let of_bare = memory(&Running::boot(None, 1, Folder::new()).0);
    let of_one = memory(&running(delivery, 1).envoy);
    let envoy = running(delivery, 2);
    let of_two = memory(&envoy.envoy);
    println!(
        "Envoy has {:.1} MiB without the gate, {:.1} MiB with one worker and {:.1} MiB with two: {:.1} bytes for each prefix \
         with one worker.\n",
        mib(of_bare),
        mib(of_one),
        mib(of_two),
        of_one.saturating_sub(of_bare) as f64 * 1024.0 / PREFIXES as f64
    );
    let probe = |kind: Kind, status| {
        let client = &worlds[0].clients(kind)[0];
        let request = from(&client.address.to_string(), Request::get("/").agent(client.user_agent));
        Probe { request, status }
    };
    let probes = [probe(Kind::Browser, 200), probe(Kind::Verified, 200), probe(Kind::Spoofed, 403)];
    let mut table = format!(
        "| updates | resident, MiB | allocated by Envoy, MiB |\n|---|---|---|\n{}",
        line(&envoy.envoy, 0)
    );
    let load = during(local(envoy.port), &probes, || {
        for number in 1..=updates {
            let before = envoy.taken();
            fs::write(envoy.file.with_extension("new"), &versions[number % 2]).expect("a folder of ours");
            fs::rename(envoy.file.with_extension("new"), &envoy.file).expect("a folder of ours");
            wait_for("the new version", || (envoy.taken() > before).then_some(()));
            if LOOKS.contains(&number) || number.is_multiple_of(100) || number == updates {
                table.push_str(&line(&envoy.envoy, number));
                eprintln!("soak: {number} updates");
            }
        }
    });
    println!("{table}");
    println!("{} requests meanwhile, {} of them failed.\n", load.requests, load.failures.len());
    for failure in &load.failures {
        println!("- {failure}");
    }
    load.failures.is_empty()
}

/// Envoy with a gate.
struct Running {
    envoy: Envoy,
    port: u16,
    /// The file that is replaced.
    file: PathBuf,
    delivery: Delivery,
}

impl Running {
    fn start(delivery: Delivery, workers: usize, worlds: &[World; 2], first: &[u8]) -> Self {
        let folder = Folder::new();
        let (file, filter) = match delivery {
            Delivery::Discovered(_) => {
                let file = folder.write(RESOURCE, first);
                let filter = discovered_filter(&file);
                (file, filter)
            }
            Delivery::Files => {
                let of_world = worlds[0].folder();
                let file = of_world.write(world::FILLER_FILE, first);
                (file, Filter::Native.with(of_world, &worlds[0].document))
            }
        };
        let (envoy, port) = Self::boot(Some(filter), workers, folder);
        Self { envoy, port, file, delivery }
    }

    fn boot(filter: Option<Value>, workers: usize, folder: Folder) -> (Envoy, u16) {
        let variant = Variant::new("crawlpike", filter, true);
        let bootstrap = json!({
            "node": { "id": "crawlpike-soak", "cluster": "crawlpike-soak" },
            "static_resources": { "listeners": [listener(&variant)] },
        });
        (Envoy::boot(folder, bootstrap, workers, &[]), variant.port)
    }

    /// The number of versions that were accepted.
    fn taken(&self) -> u64 {
        let (page, end) = match self.delivery {
            Delivery::Discovered(_) => ("/stats?filter=config_reload$", "config_reload: "),
            Delivery::Files => {
                ("/stats/prometheus?filter=reloads_total", r#"reloads_total{result="success"} "#)
            }
        };
        let stats = self.envoy.admin(page);
        stats.lines().filter_map(|line| line.split_once(end)?.1.parse::<u64>().ok()).sum()
    }
}

/// KiB.
fn memory(envoy: &Envoy) -> u64 {
    proc::memory(Pid::as_raw(Some(envoy.server().pid()))).resident
}

fn line(envoy: &Envoy, updates: usize) -> String {
    let page: Value = serde_json::from_str(&envoy.admin("/memory")).unwrap_or_default();
    let allocated =
        page["allocated"].as_str().and_then(|bytes| bytes.parse::<u64>().ok()).unwrap_or_default();
    let mut text = String::new();
    let _ = writeln!(text, "| {updates} | {:.1} | {:.1} |", mib(memory(envoy)), mib(allocated / 1024));
    text
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
