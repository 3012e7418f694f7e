//! Reloads and refreshes leave nothing behind.

use crawlward_tests::reloads::{LargeFeed, Usage};

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
    let late = after(&mut server, 40);
    assert_no_growth(&early, &late);
    assert!(server.is_unharmed());
}

#[test]
fn refreshes_leave_nothing_in_memory() {
    let mut server = LargeFeed::start(PREFIXES, "crawlward_refresh 100ms;");
    let after = |server: &mut LargeFeed, refreshes: usize| {
        for _ in 0..refreshes {
            server.time_to_effect(|_| ());
        }
        server.usage()
    };
    let early = after(&mut server, 20);
    let late = after(&mut server, 40);
    assert_no_growth(&early, &late);
    assert!(server.is_unharmed());
}

fn assert_no_growth(early: &Usage, late: &Usage) {
    for (name, early, late) in [("master", early.master, late.master), ("worker", early.worker, late.worker)]
    {
        assert!(late.resident <= early.resident + SLACK, "{name}: {early:?} became {late:?}");
        assert!(late.anonymous <= early.anonymous + SLACK, "{name}: {early:?} became {late:?}");
    }
}
