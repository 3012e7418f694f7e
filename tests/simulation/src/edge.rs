//! An edge: its updates, and the ruleset that is in force.

use std::collections::BTreeMap;
use std::sync::Arc;

use crawlpike_core::{FeedState, Ruleset, Verdict};

use crate::copy::{Copy, Folder, Outcome};
use crate::file::File;
use crate::profile::Profile;
use crate::time::DAY;
use crate::world::World;

/// All edges with the same profile, which are alike.
pub(crate) struct Edge<'w> {
    world: &'w World,
    profile: Profile,
    copies: Vec<Copy>,
    /// When the operator heard of each feed that is not current.
    heard: Vec<Option<i64>>,
    runs: usize,
    ruleset: Ruleset,
}

impl<'w> Edge<'w> {
    /// An edge that has just fetched all feeds.
    pub(crate) fn new(world: &'w World, profile: Profile, time: i64) -> Self {
        let now = profile.clock(time);
        let first = world.publishers.iter().map(|publisher| Copy::new(&publisher.days[0].file, now));
        let copies: Vec<Copy> = first.collect();
        let ruleset = world.compile(&Folder { copies: &copies, accepted: &[], now });
        Self { world, profile, heard: vec![None; copies.len()], copies, runs: 0, ruleset }
    }

    /// The ruleset in force.
    pub(crate) fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }

    /// The time when the operator heard of a feed that is not current; `None` if it is.
    pub(crate) fn heard(&self, feed: usize) -> Option<i64> {
        self.heard[feed]
    }

    /// A run of `crawlpike update` at the true time `time`, and the reload after it.
    pub(crate) fn update(&mut self, time: i64) {
        let now = self.profile.clock(time);
        let seen = self.profile.view(time, self.runs);
        self.runs += 1;
        let publishers = self.world.publishers.iter();
        let answers: Vec<Option<Arc<File>>> =
            publishers.map(|publisher| publisher.day_at(seen).answer.clone()).collect();
        let is_accepted = |feed: &usize| {
            let is_right = answers[*feed].as_ref().is_some_and(|answer| answer.is_right);
            let knows = self.heard[*feed].is_some_and(|heard| time - heard >= self.profile.reaction * DAY);
            is_right && knows && self.copies[*feed].is_held()
        };
        let accepted: Vec<usize> = (0..answers.len()).filter(is_accepted).collect();
        let outcomes = self.judge(&answers, &accepted, now);
        for (feed, (answer, outcome)) in answers.into_iter().zip(outcomes).enumerate() {
            self.copies[feed].settle(answer, outcome, accepted.contains(&feed), now);
        }
        self.ruleset = self.world.compile(&Folder { copies: &self.copies, accepted: &[], now });
        self.look(time);
    }

    fn judge(&self, answers: &[Option<Arc<File>>], accepted: &[usize], now: i64) -> Vec<Outcome> {
        let folder = Folder { copies: &self.copies, accepted, now };
        self.world.subscriptions.judging(&folder, |judge| {
            let outcomes = answers.iter().enumerate().map(|(feed, answer)| {
                let Some(answer) = answer else { return Outcome::Failed };
                if self.copies[feed].has(answer) {
                    return Outcome::Unchanged;
                }
                match judge.judge(&feed.to_string(), answer.bytes.clone(), now) {
                    Some(Verdict::Good { .. }) => Outcome::Good,
                    Some(Verdict::Held(why)) => Outcome::Held(why),
                    Some(Verdict::Unusable(_)) | None => Outcome::Failed,
                }
            });
            outcomes.collect()
        })
    }

    /// The operator looks at the status of the last run, and at the feeds' states in the log.
    pub(crate) fn look(&mut self, time: i64) {
        let states: BTreeMap<&str, FeedState> =
            self.ruleset.feeds(self.profile.clock(time)).map(|feed| (feed.name, feed.state)).collect();
        for (feed, (heard, copy)) in self.heard.iter_mut().zip(&self.copies).enumerate() {
            let is_current = copy.is_current && states.get(&*feed.to_string()) == Some(&FeedState::Ok);
            *heard = if is_current { None } else { heard.or(Some(time)) };
        }
    }
}
