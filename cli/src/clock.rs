//! Times for people and logs.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A time in seconds since the Unix epoch, such as `2026-11-22T03:17:02Z`.
pub(crate) fn rfc3339(seconds: i64) -> String {
    // A clock that is wrong by millennia has no date.
    format_rfc3339(seconds).unwrap_or_else(|| "-".into())
}

/// The same; `None` if such a text has no year for it.
pub(crate) fn format_rfc3339(seconds: i64) -> Option<String> {
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

/// The time of such a text, in seconds since the Unix epoch.
pub(crate) fn parse_rfc3339(text: &str) -> Option<i64> {
    Some(OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp())
}
