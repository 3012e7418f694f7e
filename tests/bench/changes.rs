//! The cost of a changed feed for nginx: memory over reloads, and the time from the change to its effect.

use std::fmt::Write as _;

use crawlpike_tests::nginx::Nginx;
use crawlpike_tests::reloads::{LargeFeed, Usage};

/// After how many reloads memory is looked at.
const RELOADS: [usize; 4] = [1, 10, 50, 100];
/// The number of measurements of the time to the effect; the median counts.
const CHANGES: usize = 5;

/// Memory in a worker for the prefixes of a feed, over reloads of it, and seconds from its change to its effect.
pub(crate) fn report(small: usize, large: usize) -> String {
    let of_small = LargeFeed::start(small, "").usage();
    let mut server = LargeFeed::start(large, "");
    let first = server.usage();
    let grown = first.worker.resident.saturating_sub(of_small.worker.resident) * 1024;
    let mut text = format!(
        "{:.1} bytes a prefix in a running worker: its memory with {large} prefixes less that with {small}.\n\n\
         | reloads | master, MiB | of it anonymous | worker, MiB | of it private |\n|---|---|---|---|---|\n{}",
        grown as f64 / (large - small) as f64,
        line(0, first)
    );
    for number in 1..=RELOADS[RELOADS.len() - 1] {
        server.reload();
        if RELOADS.contains(&number) {
            text.push_str(&line(number, server.usage()));
        }
    }
    let by_reload = median_time(&mut server, Nginx::reload);
    drop(server);
    let by_refresh = median_time(&mut LargeFeed::start(large, "crawlpike_refresh 1s;"), |_| ());
    let _ = write!(
        text,
        "\n| from a feed's change to its effect in all workers, {large} prefixes | seconds |\n|---|---|\n\
         | SIGHUP | {by_reload:.2} |\n| `crawlpike_refresh 1s` | {by_refresh:.2} |\n"
    );
    text
}

fn line(reloads: usize, Usage { master, worker }: Usage) -> String {
    let mib = |kib: u64| kib as f64 / 1024.0;
    format!(
        "| {reloads} | {:.1} | {:.1} | {:.1} | {:.1} |\n",
        mib(master.resident),
        mib(master.anonymous),
        mib(worker.resident),
        mib(worker.private)
    )
}

fn median_time(server: &mut LargeFeed, act: fn(&Nginx)) -> f64 {
    let mut times: Vec<f64> = (0..CHANGES).map(|_| server.time_to_effect(act).as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times[CHANGES / 2]
}
