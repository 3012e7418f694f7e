//! The profiles of edges: the hour of their updates, their ways to publishers, their clocks and operators.

use std::ops::Range;

use fastrand::Rng;

use crate::situation::{WAYS, Way};
use crate::time::{DAY, at};

/// The lag of a mirror, and the error of a clock.
const TEN_DAYS: i64 = 10 * DAY;

/// A clock is wrong from the eighth day of each sixty on, for a week.
const WRONG: Range<usize> = 8..15;
const EVERY: usize = 60;

/// The properties of an edge by which others are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Profile {
    /// The hour of the day at which it updates its feeds.
    pub hour: u8,
    /// The days that the operator takes to accept a version that is right.
    pub reaction: i64,
    /// Its way to publishers, and its clock.
    pub way: Way,
}

/// The days until a version that is right is accepted: by an operator who looks, and by one who has something else to do.
pub const REACTIONS: [i64; 2] = [2, 14];

impl Profile {
    /// The profile of an edge. Two in ten have a mirror, or a clock that is wrong now and then. Eight hours of updates are enough
    /// to be sooner and later than what publishers change.
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let reaction = REACTIONS[rng.usize(0..2)];
        match rng.usize(0..20) {
            kind @ 0..4 => Self { hour: 12 * rng.u8(0..2), reaction, way: WAYS[kind].0 },
            _ => Self { hour: 3 * rng.u8(0..8), reaction, way: Way::Straight },
        }
    }

    /// The time of the edge's clock.
    pub(crate) fn clock(&self, time: i64) -> i64 {
        match (self.way, wrong_since(time)) {
            (Way::ClockAhead, Some(_)) => time + TEN_DAYS,
            (Way::ClockBehind, Some(_)) => time - TEN_DAYS,
            _ => time,
        }
    }

    /// The time of which it sees the publishers' answers, in a run with this number.
    pub(crate) fn view(&self, time: i64, run: usize) -> i64 {
        match self.way {
            Way::LateMirror => time - TEN_DAYS,
            Way::TwoMirrors if run % 2 == 1 => time - TEN_DAYS,
            _ => time,
        }
    }

    /// The beginning of the time, with a week to recover, in which the edge sees its publishers through its way.
    pub(crate) fn way_since(&self, time: i64) -> Option<i64> {
        match self.way {
            Way::Straight => None,
            Way::LateMirror | Way::TwoMirrors => Some(at(0, 0)),
            Way::ClockAhead | Way::ClockBehind => wrong_since(time).or_else(|| wrong_since(time - 7 * DAY)),
        }
    }
}

/// The time since when clocks are wrong; `None`: they are right.
fn wrong_since(time: i64) -> Option<i64> {
    let day = usize::try_from((time - at(0, 0)).div_euclid(DAY)).ok()?;
    let begin = at(day - day % EVERY + WRONG.start, 0);
    WRONG.contains(&(day % EVERY)).then_some(begin)
}
