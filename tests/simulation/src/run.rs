//! The days of many edges, and the clients that ask them.

use std::collections::BTreeMap;
use std::thread;

use crawlpike_core::{Action, Identity, Overrides, PlainRequest, Scheme, decide};
use fastrand::Rng;

use crate::edge::Edge;
use crate::profile::Profile;
use crate::publisher::Publisher;
use crate::situation::{Situation, Way};
use crate::tally::{Client, Row, Tally};
use crate::time::at;
use crate::world::{World, token};

/// The moments of a day at which clients of all kinds claim to be each crawler.
const MOMENTS: u64 = 3;

/// Lets edges with these profiles live through all days of a world; each profile has the number of its edges.
pub fn run(world: &World, profiles: &BTreeMap<Profile, u64>, seed: u64) -> Tally {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let profiles: Vec<(Profile, u64)> = profiles.iter().map(|(profile, edges)| (*profile, *edges)).collect();
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let shares = (0..threads).map(|first| {
            let share: Vec<_> = profiles.iter().skip(first).step_by(threads).copied().collect();
            scope.spawn(move || {
                let mut tally = Tally::default();
                for (profile, edges) in share {
                    Days { world, profile, edges, seed, tally: &mut tally, heard: BTreeMap::new() }.pass();
                }
                tally
            })
        });
        for share in shares.collect::<Vec<_>>() {
            tally.merge(share.join().expect("the thread of some edges"));
        }
    });
    tally
}

/// The profiles of some edges, with their numbers.
pub fn profiles(edges: usize, seed: u64) -> BTreeMap<Profile, u64> {
    let mut rng = Rng::with_seed(seed);
    let mut profiles = BTreeMap::new();
    for _ in 0..edges {
        *profiles.entry(Profile::draw(&mut rng)).or_insert(0) += 1;
    }
    profiles
}

struct Days<'w, 't> {
    world: &'w World,
    profile: Profile,
    /// The number of edges that are alike.
    edges: u64,
    seed: u64,
    tally: &'t mut Tally,
    /// By publisher and the time when its situation began: the seconds until the operator heard of it.
    heard: BTreeMap<(usize, i64), Option<i64>>,
}

impl Days<'_, '_> {
    fn pass(mut self) {
        let mut edge = Edge::new(self.world, self.profile, at(0, 0));
        for day in 0..self.world.days {
            let moments = self.moments(day);
            let (before, after): (Vec<_>, Vec<_>) =
                moments.into_iter().partition(|(_, hour)| *hour < self.profile.hour);
            before.into_iter().for_each(|(moment, hour)| self.ask(&edge, at(day, hour), moment));
            let time = at(day, self.profile.hour);
            edge.look(time);
            self.hear(&edge, time);
            edge.update(time);
            self.hear(&edge, time);
            after.into_iter().for_each(|(moment, hour)| self.ask(&edge, at(day, hour), moment));
        }
        for ((publisher, _), after) in self.heard {
            let row = self.profile.way.row(self.world.publishers[publisher].situation);
            self.tally.0.entry((row, self.profile.reaction)).or_default().hear(after, self.edges);
        }
    }

    /// The seeds and hours of the moments of a day, which are the same for all edges.
    fn moments(&self, day: usize) -> Vec<(u64, u8)> {
        let mut rng = Rng::with_seed(self.seed ^ (day as u64) << 8);
        (0..MOMENTS).map(|_| (rng.u64(..), rng.u8(0..24))).collect()
    }

    /// The time when the situation began that a publisher is in, or the edge; `None`: neither is in any that counts.
    fn since(&self, publisher: &Publisher, time: i64) -> Option<i64> {
        match self.profile.way {
            Way::Straight => publisher.window_at(time).map(|window| publisher.window_begins(window)),
            _ if publisher.situation == Situation::Usual => self.profile.way_since(time),
            _ => None,
        }
    }

    fn hear(&mut self, edge: &Edge<'_>, time: i64) {
        for (number, publisher) in self.world.publishers.iter().enumerate() {
            let Some(since) = self.since(publisher, time) else { continue };
            let after = self.heard.entry((number, since)).or_insert(None);
            *after = after.or_else(|| edge.heard(number).map(|_| time - since));
        }
    }

    fn ask(&mut self, edge: &Edge<'_>, time: i64, moment: u64) {
        for (number, publisher) in self.world.publishers.iter().enumerate() {
            if self.since(publisher, time).is_none() {
                continue;
            }
            let mut rng = Rng::with_seed(moment ^ (number as u64) << 32);
            let host = rng.u8(..);
            let row = self.profile.way.row(publisher.situation);
            let now = self.profile.clock(time);
            let cell = self.tally.0.entry((row, self.profile.reaction)).or_default();
            for (client, network) in clients(publisher, time, &mut rng) {
                let (identity, action) = ask(edge, number, network, host, now);
                let (is_verified, is_denied) = (identity == Identity::Verified, action == Action::Deny);
                cell.add(client, is_verified, is_denied, self.edges);
            }
        }
    }
}

impl Way {
    fn row(self, situation: Situation) -> Row {
        if self == Self::Straight { Row::Publisher(situation) } else { Row::Edge(self) }
    }
}

fn ask(edge: &Edge<'_>, publisher: usize, network: u32, host: u8, now: i64) -> (Identity, Action) {
    let user_agent = format!("{}/1.0", token(publisher));
    let request = PlainRequest {
        address: Some((network << 8 | u32::from(host)).to_be_bytes().into()),
        scheme: Some(Scheme::Https),
        authority: Some(b"example.com"),
        user_agent: Some(user_agent.as_bytes()),
        now,
        ..PlainRequest::default()
    };
    let decision = decide(edge.ruleset(), &request, Overrides::default());
    (decision.identity, decision.action)
}

/// Clients that claim to be a publisher's crawler, with their networks: one of each kind, if there is any.
fn clients(publisher: &Publisher, time: i64, rng: &mut Rng) -> impl Iterator<Item = (Client, u32)> {
    let day = publisher.day_at(time);
    let genuine = rng.choice(day.uses.iter().copied());
    // Nobody publishes these.
    let stranger = Some(rng.u32(60 << 16..99 << 16));
    let former = rng.choice(publisher.days[..=publisher.number_at(time)].iter()).and_then(|past| {
        let network = rng.choice(past.list.iter().copied())?;
        let is_gone = day.uses.binary_search(&network).is_err() && day.list.binary_search(&network).is_err();
        is_gone.then_some(network)
    });
    let neighbour = rng.choice(day.strangers.iter().copied()).or(former);
    let kinds = [Client::Genuine, Client::Stranger, Client::Neighbour];
    kinds.into_iter().zip([genuine, stranger, neighbour]).filter_map(|(kind, network)| Some((kind, network?)))
}
