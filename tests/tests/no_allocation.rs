//! A decision takes no memory: nothing is allocated in `decide`, whatever the request of the table, unless it is signed.
//!
//! The only test of its program, so that no other one allocates beside it.

use std::alloc::System;

use crawlpike_core::{Overrides, Request, decide};
use crawlpike_tests::cases::Table;
use crawlpike_tests::runners::core::{InMemory, requests, ruleset};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn decide_allocates_nothing() {
    let counted = Region::new(ALLOCATOR);
    drop(Box::new(1));
    assert!(counted.change().allocations > 0, "the allocator counts");
    let mut decided = 0;
    for table in Table::all() {
        let ruleset = ruleset(&table);
        let requests: Vec<InMemory<'_>> = requests(&table).collect();
        for (request, case) in requests.iter().zip(&table.cases) {
            // A signature's base is put together in memory that is given back.
            if request.header("signature").is_some() {
                continue;
            }
            let before = Region::new(ALLOCATOR);
            let decision = decide(&ruleset, request, Overrides::default());
            let change = before.change();
            let taken = (change.allocations, change.reallocations, change.deallocations);
            assert_eq!(taken, (0, 0, 0), "{}: {}: {decision:?}", table.name, case.name);
            decided += 1;
        }
    }
    assert!(decided >= 350, "only {decided} cases");
}
