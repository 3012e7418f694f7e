//! Reloads and refreshes leave nothing behind.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crawlpike_tests::reloads::{LargeFeed, Usage};

const PREFIXES: usize = 50_000;

/// In KiB. One ruleset of this size is larger, and so is what a fortieth of it adds up to.
const SLACK: u64 = 3 << 10;

#[test]
fn reloads_leave_nothing_in_memory() {
    let mut server = LargeFeed::start(PREFIXES, "");
    let after = |server: &mut LargeFeed, reloads: usize| {
        for _ in 0..reloads {
            server.reload();
        }
        server.usage()
    };
    let early = after(&mut server, 20);
    after(&mut server, 40);
    assert_no_growth(&early, &server);
    assert!(server.is_unharmed());
}

#[test]
fn refreshes_leave_nothing_in_memory() {
    let mut server = LargeFeed::start(PREFIXES, "crawlpike_refresh 100ms;");
    let after = |server: &mut LargeFeed, refreshes: usize| {
        for _ in 0..refreshes {
            server.time_to_effect(|_| ());
        }
        server.usage()
    };
    let early = after(&mut server, 20);
    after(&mut server, 40);
    assert_no_growth(&early, &server);
    assert!(server.is_unharmed());
}

/// The version that was replaced last can be in use for a moment longer. Only lasting growth counts.
fn assert_no_growth(early: &Usage, server: &LargeFeed) {
    let end = Instant::now() + Duration::from_secs(10);
    while let Some(growth) = growth(early, &server.usage()) {
        assert!(Instant::now() < end, "{growth}");
        sleep(Duration::from_millis(100));
    }
}

fn growth(early: &Usage, late: &Usage) -> Option<String> {
    let processes = [("master", early.master, late.master), ("worker", early.worker, late.worker)];
    let has_grown = |before: u64, after: u64| after > before + SLACK;
    processes.into_iter().find_map(|(name, early, late)| {
        let grown = has_grown(early.resident, late.resident) || has_grown(early.anonymous, late.anonymous);
        grown.then(|| format!("{name}: {early:?} became {late:?}"))
    })
}
