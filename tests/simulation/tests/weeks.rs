//! Seven weeks of the simulation, in which each situation occurs once. `make simulation` runs the year.

use std::collections::BTreeMap;

use crawlpike_simulation::{
    Cell, Client, Profile, REACTIONS, Row, SITUATIONS, Settings, Situation, Tally, WAYS, Way, World, percent,
    run,
};

const SEED: u64 = 1;

/// Edges that reach publishers straight, of operators of both kinds.
fn straight() -> BTreeMap<Profile, u64> {
    REACTIONS.map(|reaction| (Profile { hour: 12, reaction, way: Way::Straight }, 1)).into()
}

/// Edges that do not.
fn others() -> BTreeMap<Profile, u64> {
    WAYS.map(|(way, _)| (Profile { hour: 12, reaction: REACTIONS[0], way }, 1)).into()
}

fn world(situations: &[Situation], publishers: usize) -> World {
    let publishers = publishers.try_into().unwrap();
    World::new(&Settings { seed: SEED, days: 49, situations, publishers, guard: "{}" })
}

struct Weeks(Tally);

impl Weeks {
    fn of(&self, situation: Situation) -> Cell {
        self.0.row(Row::Publisher(situation))
    }

    fn genuine_denied(&self, situation: Situation) -> f64 {
        let count = self.of(situation).count(Client::Genuine);
        assert!(count.all > 0, "{situation:?} did not occur");
        percent(count.denied, count.all)
    }

    fn operators(&self, situation: Situation) -> f64 {
        self.of(situation).heard().0
    }
}

#[test]
fn seven_weeks_of_all_situations() {
    let all = SITUATIONS.map(|(situation, _)| situation);
    let weeks = Weeks(run(&world(&all, 2 * all.len()), &straight(), SEED));
    assert_eq!(weeks.0.0.len(), 2 * all.len(), "each situation occurs");
    no_impostor_from_anywhere_is_verified(&weeks);
    answers_that_are_no_lists_deny_no_crawler(&weeks);
    suspicious_lists_are_held(&weeks);
    publishers_that_fall_silent_condemn_nobody(&weeks);
    operators_who_look_shorten_what_is_held(&weeks);
}

fn no_impostor_from_anywhere_is_verified(weeks: &Weeks) {
    for ((row, _), cell) in &weeks.0.0 {
        let count = cell.count(Client::Stranger);
        assert!(count.all > 0 && count.verified == 0, "{row:?}: {count:?}");
    }
}

fn answers_that_are_no_lists_deny_no_crawler(weeks: &Weeks) {
    for situation in [Situation::Usual, Situation::Breaks, Situation::HalfReadable] {
        assert_eq!(weeks.genuine_denied(situation).to_bits(), 0, "{situation:?}");
    }
    for situation in [Situation::Breaks, Situation::ChangesShape, Situation::HalfReadable] {
        assert_eq!(weeks.operators(situation).to_bits(), 100_f64.to_bits(), "{situation:?}");
    }
    assert_eq!(weeks.operators(Situation::Usual).to_bits(), 0);
}

fn suspicious_lists_are_held(weeks: &Weeks) {
    for situation in
        [Situation::LosesMost, Situation::Swaps, Situation::ClaimsTooMuch, Situation::GoesBackDated]
    {
        assert!(weeks.genuine_denied(situation) < 10.0, "{situation:?}: {}", weeks.genuine_denied(situation));
        assert!(weeks.operators(situation) > 99.0, "{situation:?}: {}", weeks.operators(situation));
    }
    let swapped = weeks.of(Situation::Swaps).count(Client::Neighbour);
    assert!(swapped.all > 0 && swapped.verified == 0, "{swapped:?}");
    // In three steps of a day, the list has lost two thirds.
    assert!(weeks.operators(Situation::ShrinksFast) > 99.0);
}

fn publishers_that_fall_silent_condemn_nobody(weeks: &Weeks) {
    for situation in [Situation::Vanishes, Situation::ChangesShape] {
        let genuine = weeks.of(situation).count(Client::Genuine);
        let unverified = genuine.all - genuine.verified - genuine.denied;
        assert!(percent(unverified, genuine.all) > 50.0, "{situation:?}: {genuine:?}");
        assert!(weeks.genuine_denied(situation) < 3.0, "{situation:?}");
    }
}

fn operators_who_look_shorten_what_is_held(weeks: &Weeks) {
    let denied = |situation, reaction| {
        let count = weeks.0.0[&(Row::Publisher(situation), reaction)].count(Client::Genuine);
        percent(count.denied, count.all)
    };
    for situation in [Situation::Moves, Situation::Grows] {
        let [soon, late] = REACTIONS.map(|reaction| denied(situation, reaction));
        assert!(soon < 25.0 && late > soon + 10.0, "{situation:?}: {soon} {late}");
    }
}

#[test]
fn wrong_clocks_deny_no_crawler() {
    let tally = run(&world(&[Situation::Usual], 4), &others(), SEED);
    assert_eq!(tally.0.len(), WAYS.len());
    for way in [Way::ClockAhead, Way::ClockBehind] {
        let cell = tally.row(Row::Edge(way));
        let genuine = cell.count(Client::Genuine);
        assert!(genuine.all > 0 && genuine.denied == 0, "{way:?}: {genuine:?}");
        assert_eq!(cell.heard().0.to_bits(), 100_f64.to_bits(), "{way:?}");
    }
}

#[test]
fn a_seed_gives_the_same_weeks() {
    let rows = || {
        let world = world(&[Situation::Usual, Situation::Breaks, Situation::Truncates], 6);
        format!("{:?}", run(&world, &straight(), SEED).0)
    };
    assert_eq!(rows(), rows());
}
