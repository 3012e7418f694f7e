//! The guard with other limits.

use std::collections::BTreeMap;

use crate::profile::{Profile, REACTIONS};
use crate::run::run;
use crate::situation::{Situation, Way};
use crate::tally::{Client, Row, Tally, percent};
use crate::world::{Settings, World};

/// The situations of which the limits decide, and the usual one.
const SITUATIONS: [Situation; 4] =
    [Situation::Truncates, Situation::Mixes, Situation::Renumbers, Situation::Usual];

/// The results of a guard.
#[derive(Clone, Copy, Debug)]
pub struct Results {
    /// Of the crawler's requests, the share that is denied if a part of the list is missing by mistake.
    pub truncated: f64,
    /// The same, if a part of the list is replaced by mistake.
    pub mixed: f64,
    /// The same, if the publisher has replaced a part, by the operator's reaction.
    pub renumbered: [f64; 2],
    /// Of two weeks of a list with usual changes, the share in which the operator hears of it.
    pub alarms: f64,
}

/// Lets an edge with either operator live through a year with another limit, in percent, in place of a default.
pub fn sweep(name: &str, limit: u8, seed: u64) -> Results {
    let guard = format!(r#"{{ "{name}": "{limit}%" }}"#);
    let world =
        World::new(&Settings { seed, days: 365, situations: &SITUATIONS, publishers: 40, guard: &guard });
    let profiles: BTreeMap<Profile, u64> =
        REACTIONS.map(|reaction| (Profile { hour: 12, reaction, way: Way::Straight }, 1)).into();
    let tally = run(&world, &profiles, seed);
    let denied = |situation| {
        let count = tally.row(Row::Publisher(situation)).count(Client::Genuine);
        percent(count.denied, count.all)
    };
    Results {
        truncated: denied(Situation::Truncates),
        mixed: denied(Situation::Mixes),
        renumbered: REACTIONS.map(|reaction| denied_with(&tally, Situation::Renumbers, reaction)),
        alarms: tally.row(Row::Publisher(Situation::Usual)).heard().0,
    }
}

fn denied_with(tally: &Tally, situation: Situation, reaction: i64) -> f64 {
    let cell = tally.0.get(&(Row::Publisher(situation), reaction));
    let count = cell.map(|cell| cell.count(Client::Genuine)).unwrap_or_default();
    percent(count.denied, count.all)
}
