//! Publishers: the addresses of their crawlers, and their answers.

use std::ops::Range;
use std::sync::Arc;

use fastrand::Rng;

use crate::answer::Answers;
use crate::day::Day;
use crate::file::File;
use crate::life::Life;
use crate::situation::Situation;
use crate::time::{DAY, at};

/// A publisher, with all of its days.
#[derive(Clone, Debug)]
pub(crate) struct Publisher {
    /// The situation that it gets into.
    pub(crate) situation: Situation,
    /// The days on which it is in that situation.
    pub(crate) windows: Vec<Range<usize>>,
    hour: u8,
    /// Its days, one after the other.
    pub(crate) days: Vec<Day>,
}

impl Publisher {
    /// A publisher that lives through some days.
    pub(crate) fn new(
        number: u32,
        situation: Situation,
        windows: Vec<Range<usize>>,
        days: usize,
        rng: &mut Rng,
    ) -> Self {
        let mut publisher = Self { situation, windows, hour: rng.u8(0..24), days: Vec::new() };
        let is_dated = match situation {
            Situation::GoesBackDated => true,
            Situation::GoesBackUndated => false,
            _ => rng.bool(),
        };
        let mut life = Life::new(number, rng);
        for day in 0..days {
            let since = publisher
                .windows
                .iter()
                .find(|window| window.contains(&day))
                .map(|window| day - window.start);
            life.pass(situation, since, rng);
            let created = at(if is_dated { day } else { 0 }, publisher.hour);
            let (uses, list) = (life.uses(), life.list());
            let file = match publisher.days.last().filter(|last| last.list == list) {
                Some(last) => Arc::clone(&last.file),
                None => File::right(&list, created),
            };
            let mut today =
                Day { uses, list, answer: Some(Arc::clone(&file)), file, strangers: Arc::new([]) };
            if let Some(since) = since {
                Answers { past: &publisher.days, since, part: life.part(), created, rng }
                    .spoil(situation, &mut today);
            }
            publisher.days.push(today);
        }
        publisher
    }

    /// The day that it is at a time.
    pub(crate) fn day_at(&self, time: i64) -> &Day {
        &self.days[self.number_at(time)]
    }

    /// The number of the window that a time is in.
    pub(crate) fn window_at(&self, time: i64) -> Option<usize> {
        let day = self.number_at(time);
        self.windows.iter().position(|window| window.contains(&day))
    }

    /// The time when a window begins.
    pub(crate) fn window_begins(&self, window: usize) -> i64 {
        at(self.windows[window].start, self.hour)
    }

    /// The number of the day that it is at a time: the first one before the simulation, and the last one after it.
    pub(crate) fn number_at(&self, time: i64) -> usize {
        let since = (time - at(0, self.hour)).div_euclid(DAY);
        usize::try_from(since).unwrap_or(0).min(self.days.len() - 1)
    }
}

/// Gives two publishers each other's lists in their windows.
pub(crate) fn swap(one: &mut Publisher, other: &mut Publisher) {
    for day in one.windows.clone().into_iter().flatten() {
        let (mine, theirs) = (&mut one.days[day], &mut other.days[day]);
        (mine.strangers, theirs.strangers) = (Arc::clone(&theirs.uses), Arc::clone(&mine.uses));
        let wrong = |file: &File| Some(File::wrong(file.bytes.clone()));
        (mine.answer, theirs.answer) = (wrong(&theirs.file), wrong(&mine.file));
    }
}
