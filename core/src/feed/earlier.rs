//! The version of a feed that was good before the changes of the last days. The guard compares new versions with it, too.

/// For how many seconds it counts. The next change after them begins anew.
const LAST_DAYS: i64 = 3 * 24 * 60 * 60;

/// The use of a host's copy of this version when another version becomes the last good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierGood {
    /// It stays: the changes go on.
    Stays,
    /// The former last good version takes its place: changes begin.
    Begins,
    /// It is removed: nothing that was good before counts.
    Ends,
}

impl EarlierGood {
    /// The use of the copy that is there since `since`, for a version that is good at `now`, both in seconds since the Unix
    /// epoch. `has_last_good` is true if there was a last good version.
    pub fn next(has_last_good: bool, is_accepted: bool, since: Option<i64>, now: i64) -> Self {
        match since {
            _ if is_accepted || !has_last_good => Self::Ends,
            Some(since) if Self::counts(since, now) => Self::Stays,
            _ => Self::Begins,
        }
    }

    /// Returns true if a copy that is there since `since` counts at `now`. One of the future says nothing.
    pub fn counts(since: i64, now: i64) -> bool {
        (0..LAST_DAYS).contains(&now.saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_begin_anew_after_three_days() {
        let next = |since| EarlierGood::next(true, false, since, 10 * LAST_DAYS);
        assert_eq!(next(None), EarlierGood::Begins);
        assert_eq!(next(Some(9 * LAST_DAYS)), EarlierGood::Begins);
        assert_eq!(next(Some(9 * LAST_DAYS + 1)), EarlierGood::Stays);
        assert_eq!(next(Some(10 * LAST_DAYS + 1)), EarlierGood::Begins, "the clock was set back");
        assert_eq!(EarlierGood::next(false, false, Some(5), 6), EarlierGood::Ends);
        assert_eq!(EarlierGood::next(true, true, Some(5), 6), EarlierGood::Ends);
    }
}
