//! The clock of the simulation: seconds since the Unix epoch.

/// An hour, in seconds.
pub(crate) const HOUR: i64 = 3600;

/// A day, in seconds.
pub(crate) const DAY: i64 = 24 * HOUR;

/// The midnight at which it begins.
pub(crate) const START: i64 = 1_799_971_200;

/// The moment at an hour of a day of the simulation.
pub(crate) fn at(day: usize, hour: u8) -> i64 {
    START + days(day) + i64::from(hour) * HOUR
}

/// Some days, in seconds.
pub(crate) fn days(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / DAY) * DAY
}
