//! The intervals of the plots.

use serde::Serialize;

use crate::line::moment;
use crate::tally::{COLUMNS, DENIED, timeline};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timeline {
    /// The length of an interval.
    pub(crate) seconds: i64,
    /// From the first to the last request that is not left out.
    pub(crate) intervals: Vec<Interval>,
    /// A few requests that are so far from all others that no interval has them.
    pub(crate) left_out: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Interval {
    pub(crate) start: String,
    /// The requests of each identity, in the order of `identities`.
    pub(crate) requests: Vec<u64>,
    pub(crate) denied: u64,
}

impl Timeline {
    const MOST: usize = 200;

    pub(super) fn new(mut timeline: timeline::Timeline<COLUMNS>) -> Self {
        let requests = |sums: &[u64; COLUMNS]| sums[..DENIED].iter().sum();
        let left_out = requests(&timeline.cut_off(requests));
        let (seconds, intervals) = timeline.into_intervals(Self::MOST);
        let interval = |(start, sums): (i64, [u64; COLUMNS])| Interval {
            start: moment::text(start),
            requests: sums[..DENIED].to_vec(),
            denied: sums[DENIED],
        };
        Self { seconds, intervals: intervals.into_iter().map(interval).collect(), left_out }
    }
}
