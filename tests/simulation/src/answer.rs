//! The answers of a publisher in its situation.

use std::sync::Arc;

use fastrand::Rng;

use crate::day::Day;
use crate::file::{File, Networks, dotted, list, list_of};
use crate::situation::Situation;

/// The age of the list that a server gives that goes back, in days.
const BACK: usize = 60;

/// The circumstances of an answer.
pub(crate) struct Answers<'a> {
    /// The days before.
    pub(crate) past: &'a [Day],
    /// The days since the situation began.
    pub(crate) since: usize,
    /// The random part of the situation, in percent.
    pub(crate) part: usize,
    /// The date that a list of this day has.
    pub(crate) created: i64,
    /// The source of chance.
    pub(crate) rng: &'a mut Rng,
}

impl Answers<'_> {
    /// Spoils the answer of a day in which the publisher is in a situation.
    pub(crate) fn spoil(mut self, situation: Situation, day: &mut Day) {
        let networks = &day.list;
        day.answer = match situation {
            Situation::Breaks => self.broken(day),
            Situation::LosesMost => Some(self.list_of(networks, networks.len().div_ceil(10))),
            Situation::Truncates => Some(self.list_of(networks, self.kept(networks))),
            Situation::Mixes => {
                let kept = some_of(networks, self.kept(networks));
                day.strangers = others(networks, networks.len() - kept.len());
                let all: Vec<u32> = kept.iter().chain(&*day.strangers).copied().collect();
                Some(File::wrong(list(&all, self.created)))
            }
            Situation::ShrinksSlowly => {
                Some(self.list_of(networks, after_steps(networks.len(), 92, self.since)))
            }
            Situation::ShrinksFast => {
                Some(self.list_of(networks, after_steps(networks.len(), 70, self.since)))
            }
            Situation::GoesBackDated | Situation::GoesBackUndated => self.old(),
            Situation::Vanishes => None,
            Situation::ChangesShape => Some(self.of_another_shape(networks)),
            Situation::HalfReadable => Some(self.half_readable(networks)),
            Situation::ClaimsTooMuch => {
                let half = std::iter::once("0.0.0.0/1".to_owned());
                let others = networks.iter().map(|network| format!("{}/24", dotted(*network)));
                Some(File::wrong(list_of(half.chain(others), self.created)))
            }
            Situation::Hijacked => {
                day.strangers = others(networks, networks.len().div_ceil(20));
                let all: Vec<u32> = networks.iter().chain(&*day.strangers).copied().collect();
                Some(File::wrong(list(&all, self.created)))
            }
            Situation::Usual
            | Situation::Swaps
            | Situation::Moves
            | Situation::Renumbers
            | Situation::MovesSlowly
            | Situation::Grows
            | Situation::PublishesLate => return,
        };
    }

    fn broken(&mut self, day: &Day) -> Option<Arc<File>> {
        match self.rng.usize(0..4) {
            0 => Some(File::wrong("<!doctype html><title>503 Service Unavailable</title>")),
            1 => Some(File::wrong(&day.file.bytes[..day.file.bytes.len() / 2])),
            2 => Some(File::wrong(list(&[], self.created))),
            _ => None,
        }
    }

    fn list_of(&self, networks: &[u32], count: usize) -> Arc<File> {
        File::wrong(list(&some_of(networks, count), self.created))
    }

    /// The number of networks without the random part.
    fn kept(&self, networks: &[u32]) -> usize {
        (networks.len() * (100 - self.part)).div_ceil(100)
    }

    /// The list before the situation, and some time before that.
    fn old(&self) -> Option<Arc<File>> {
        let began = self.past.len() - self.since;
        let old = &self.past[began.saturating_sub(BACK)].file;
        Some(File::wrong(old.bytes.clone()))
    }

    fn of_another_shape(&self, networks: &[u32]) -> Arc<File> {
        File::wrong(list(networks, self.created).replace("prefixes", "ranges").replace("ipv4Prefix", "net"))
    }

    fn half_readable(&self, networks: &[u32]) -> Arc<File> {
        let entries = networks.iter().enumerate().map(|(number, network)| match number % 20 {
            0 => format!("{}/2_4", dotted(*network)),
            _ => format!("{}/24", dotted(*network)),
        });
        File::wrong(list_of(entries, self.created))
    }
}

/// Some of the networks, the same ones each day.
fn some_of(networks: &[u32], count: usize) -> Vec<u32> {
    let mut some = networks.to_vec();
    some.sort_by_key(|network| network.wrapping_mul(2_654_435_761));
    some.truncate(count);
    some.sort_unstable();
    some
}

/// Networks that are nobody's, other ones for each list.
fn others(networks: &[u32], count: usize) -> Networks {
    let first = (45 << 16) + (networks.first().copied().unwrap_or(0) & 0xffff);
    (first..).take(count).collect()
}

/// The networks left if a list keeps a share of itself, in percent, each day, rounded up.
fn after_steps(count: usize, share: usize, since: usize) -> usize {
    (0..=since).fold(count, |left, _| (left * share).div_ceil(100))
}
