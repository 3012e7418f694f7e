//! The times that publishers write.

use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

/// Returns true if a text is an ISO 8601 time in UTC, with `Z` or `+00:00`.
pub(super) fn is_utc(time: &str) -> bool {
    OffsetDateTime::parse(time, &Iso8601::PARSING).is_ok_and(|time| time.offset().is_utc())
}

/// Seconds since the epoch of an ISO 8601 time, or of AWS's `2024-06-18-22-00-57`. A time without a zone is in UTC, as
/// for all publishers of such times.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    if let Ok(time) = OffsetDateTime::parse(text, &Iso8601::PARSING) {
        return Some(time.unix_timestamp());
    }
    let midnight = |date| PrimitiveDateTime::new(date, Time::MIDNIGHT);
    let without_zone = PrimitiveDateTime::parse(text, &Iso8601::PARSING)
        .ok()
        .or_else(|| parse_aws_time(text))
        .or_else(|| Date::parse(text, &Iso8601::PARSING).ok().map(midnight))?;
    Some(without_zone.assume_utc().unix_timestamp())
}

fn parse_aws_time(text: &str) -> Option<PrimitiveDateTime> {
    let (date, time) = text.split_at_checked("2024-06-18".len())?;
    let time = time.strip_prefix('-')?.replace('-', ":");
    let date = Date::parse(date, &Iso8601::PARSING).ok()?;
    Some(PrimitiveDateTime::new(date, Time::parse(&time, &Iso8601::PARSING).ok()?))
}
