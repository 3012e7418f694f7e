//! The series that a worker needed last.

use alloc::boxed::Box;
use core::array;
use core::cell::Cell;
use core::fmt;

use super::Series;
use crate::decide::decision::Decision;
use crate::hash;

/// The counters of the series that one worker needed last, for one ruleset: so a request costs one addition.
pub struct Recent<T>(Box<[Place<T>; 1 << BITS]>);

/// The key of a series, and where it is counted.
type Place<T> = Cell<(u64, Option<T>)>;

const BITS: u32 = 10;

/// Longer than any key of a series.
const NO_KEY: u64 = u64::MAX;

impl<T: Copy> Recent<T> {
    /// The counter that was found for the series of a decision, or is found now; `None` where the decision is not counted. An
    /// error is not remembered.
    ///
    /// # Errors
    ///
    /// Those of `find`.
    pub fn counter<E>(
        &self,
        decision: &Decision,
        find: impl FnOnce(Series) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let Some(series) = Series::of(decision) else { return Ok(None) };
        self.place(series, || find(series))
    }

    /// The place that was found for a series, or is found now. An error is not remembered.
    pub(super) fn place<E>(
        &self,
        series: Series,
        find: impl FnOnce() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let key = series.key();
        // The lowest bits: as many places as there are.
        let place = hash::mix(key) % (1 << BITS);
        let Some(entry) = usize::try_from(place).ok().and_then(|place| self.0.get(place)) else {
            return find();
        };
        let (known, place) = entry.get();
        if known == key {
            return Ok(place);
        }
        let place = find()?;
        entry.set((key, place));
        Ok(place)
    }
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Box::new(array::from_fn(|_| Cell::new((NO_KEY, None)))))
    }
}

impl<T> fmt::Debug for Recent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recent").finish_non_exhaustive()
    }
}
