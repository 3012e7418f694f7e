//! `make soak-envoy`: a ruleset of many prefixes replaced again and again, by ECDS from a file and under load.

use std::fmt::Write as _;
use std::fs;

use crawlward_tests::envoy::{Envoy, discovered_filter, write_resource_with};
use crawlward_tests::http::Request;
use crawlward_tests::lab::from;
use crawlward_tests::load::{Probe, during};
use crawlward_tests::nginx::{Folder, local};
use crawlward_tests::proc;
use crawlward_tests::process::wait_for;
use rustix::process::Pid;
use serde_json::json;

use crate::envoy::{Variant, listener};
use crate::world::{Kind, World};

const PREFIXES: usize = 300_000;

/// After how many updates memory is looked at.
const LOOKS: [usize; 9] = [1, 10, 20, 50, 100, 200, 300, 500, 1000];

const RESOURCE: &str = "resource.json";

/// Updates, and prints; whether no request failed.
pub(crate) fn report(updates: usize) -> bool {
    // One differs from the other, since Envoy takes no notice of a resource that it has.
    let worlds = [PREFIXES, PREFIXES - 1].map(World::new);
    println!("# {updates} updates of a ruleset of {PREFIXES} prefixes by ECDS\n");
    let folder = Folder::new();
    let resources = [0, 1].map(|number| {
        let path = folder.path().join(format!("{number}.json"));
        let output = write_resource_with(&worlds[number].compiled, &path, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::read(path).expect("the resource that was written")
    });
    println!("The resource has {:.1} MB.\n", resources[0].len() as f64 / 1e6);

    let one = start(&resources[0], 1).0;
    let of_one = memory(&one);
    drop(one);
    let (envoy, port) = start(&resources[0], 2);
    println!(
        "A worker more takes {:.1} MiB: Envoy has {:.1} MiB with one and {:.1} MiB with two.\n",
        mib(memory(&envoy).saturating_sub(of_one)),
        mib(of_one),
        mib(memory(&envoy))
    );
    let probe = |kind: Kind, status| {
        let client = &worlds[0].clients(kind)[0];
        let request = from(&client.address.to_string(), Request::get("/").agent(client.user_agent));
        Probe { request, status }
    };
    let probes = [probe(Kind::Browser, 200), probe(Kind::Verified, 200), probe(Kind::Spoofed, 403)];
    let mut table =
        format!("| updates | resident, MiB | allocated by Envoy, MiB |\n|---|---|---|\n{}", line(&envoy, 0));
    let load = during(local(port), &probes, || {
        for number in 1..=updates {
            let before = taken(&envoy);
            envoy.folder().write(RESOURCE, &resources[number % 2]);
            wait_for("Envoy has taken the resource", || (taken(&envoy) > before).then_some(()));
            if LOOKS.contains(&number) || number == updates {
                table.push_str(&line(&envoy, number));
                eprintln!("soak: {number} updates");
            }
        }
    });
    println!("{table}");
    println!("{} requests meanwhile, {} of them failed.", load.requests, load.failures.len());
    for failure in &load.failures {
        println!("- {failure}");
    }
    load.failures.is_empty()
}

/// Envoy with so many workers and the filter from a file; and its port.
fn start(resource: &[u8], workers: usize) -> (Envoy, u16) {
    let folder = Folder::new();
    let path = folder.write(RESOURCE, resource);
    let variant = Variant::new("crawlward", Some(discovered_filter(&path)), true);
    let bootstrap = json!({
        "node": { "id": "crawlward-soak", "cluster": "crawlward-soak" },
        "static_resources": { "listeners": [listener(&variant)] },
    });
    (Envoy::boot(folder, bootstrap, workers, &[]), variant.port)
}

/// How many resources Envoy has taken.
fn taken(envoy: &Envoy) -> u64 {
    let stats = envoy.admin("/stats?filter=config_reload$");
    stats.lines().filter_map(|line| line.rsplit_once(": ")?.1.parse::<u64>().ok()).sum()
}

/// KiB.
fn memory(envoy: &Envoy) -> u64 {
    proc::memory(Pid::as_raw(Some(envoy.server().pid()))).resident
}

fn line(envoy: &Envoy, updates: usize) -> String {
    let page: serde_json::Value = serde_json::from_str(&envoy.admin("/memory")).unwrap_or_default();
    let allocated =
        page["allocated"].as_str().and_then(|bytes| bytes.parse::<u64>().ok()).unwrap_or_default();
    let mut text = String::new();
    let _ = writeln!(text, "| {updates} | {:.1} | {:.1} |", mib(memory(envoy)), mib(allocated / 1024));
    text
}

fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}
