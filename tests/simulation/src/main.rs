//! `make simulation`: 1,000 edges that update 100 feeds for a year, and the guard with other limits.

use crawlpike_simulation::{
    REPLACE, SHRINK, SITUATIONS, Settings, World, limits, profiles, run, situations, sweep,
};

/// The seed, so that each run prints the same tables.
const SEED: u64 = 1;

fn main() {
    let all = SITUATIONS.map(|(situation, _)| situation);
    let world =
        World::new(&Settings { seed: SEED, days: 365, situations: &all, publishers: 100, guard: "{}" });
    println!("{}", situations(&run(&world, &profiles(1000, SEED), SEED)));
    let steps = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90];
    let shrink = steps.map(|limit| (limit, sweep("shrink", limit, SEED)));
    println!("{}", limits("shrink", &SHRINK, &shrink));
    let replace = steps.map(|limit| (limit, sweep("replace", limit, SEED)));
    println!("{}", limits("replace", &REPLACE, &replace));
}
