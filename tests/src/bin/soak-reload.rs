//! `make soak-reload`: what a thousand reloads leave in memory, and how long a change of a feed takes.

use std::env;
use std::time::Duration;

use crawlpike_tests::nginx::Nginx;
use crawlpike_tests::reloads::{LargeFeed, Usage};

fn number(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn row(name: &str, usage: Usage, peak: u64, time: Option<Duration>) {
    let Usage { master, worker } = usage;
    let mib = |kib: u64| format!("{}.{}", kib / 1024, kib % 1024 * 10 / 1024);
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} |",
        mib(master.resident),
        mib(master.anonymous),
        mib(peak),
        mib(worker.resident),
        mib(worker.private),
        time.map_or_else(|| "–".to_owned(), |time| format!("{:.2}", time.as_secs_f64())),
    );
}

fn main() {
    let (reloads, prefixes) = (number("RELOADS", 1000), number("PREFIXES", 300_000));
    println!(
        "{prefixes} prefixes, two workers; MiB, and seconds a reload takes until only new workers serve\n"
    );
    println!("| reloads | master | of it anonymous | its peak | a worker | of it private | seconds |");
    println!("|---|---|---|---|---|---|---|");
    let mut server = LargeFeed::start(prefixes, "");
    row("0", server.usage(), server.peak(), None);
    let mut since = Duration::ZERO;
    let mut last = 0;
    server.forget_peak();
    for done in 1..=reloads {
        since += server.reload();
        if [1, 10, 100, 500].contains(&done) || done == reloads {
            let mean = since / u32::try_from(done - last).unwrap_or(1);
            row(&done.to_string(), server.usage(), server.peak(), Some(mean));
            (since, last) = (Duration::ZERO, done);
            server.forget_peak();
        }
    }

    println!("\nFrom a feed's change to its effect in every worker, five times each, in seconds\n");
    let seconds = |times: Vec<Duration>| {
        let times: Vec<String> = times.iter().map(|time| format!("{:.2}", time.as_secs_f64())).collect();
        times.join(", ")
    };
    let by_reload = (0..5).map(|_| server.time_to_effect(Nginx::reload)).collect();
    println!("- SIGHUP: {}", seconds(by_reload));
    drop(server);
    let mut server = LargeFeed::start(prefixes, "crawlpike_refresh 1s;");
    let before = server.usage();
    let by_refresh = (0..5).map(|_| server.time_to_effect(|_| ())).collect();
    println!("- `crawlpike_refresh 1s;`: {}", seconds(by_refresh));

    let refreshes = number("REFRESHES", 100);
    println!("\n`crawlpike_refresh`: the memory of a worker, which has a copy of its own\n");
    println!("| refreshes | master | of it anonymous | its peak | a worker | of it private | seconds |");
    println!("|---|---|---|---|---|---|---|");
    row("0", before, server.peak(), None);
    for done in 1..=refreshes {
        let time = server.time_to_effect(|_| ());
        if [1, 10, 100].contains(&done) || done == refreshes {
            row(&done.to_string(), server.usage(), server.peak(), Some(time));
        }
    }
    assert!(server.is_unharmed(), "nginx complained");
}
