//! Dates in HTTP headers (RFC 9110 5.6.7), in seconds since the Unix epoch.

use alloc::format;
use alloc::string::String;

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time};

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads a date in any of the three forms. `now` decides the century of a year with two digits.
///
/// By hand, because the descriptions of formats in the crate `time` make the .wasm 34 KB larger.
pub(crate) fn parse(text: &[u8], now: i64) -> Option<i64> {
    let text = core::str::from_utf8(text).ok()?;
    let mut fields = text.split([' ', ',', '-']).filter(|field| !field.is_empty());
    let mut next = || fields.next();
    let (weekday, second, third, fourth, fifth) = (next()?, next()?, next()?, next()?, next()?);
    let (day, month, year, clock) = match next() {
        // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
        Some("GMT") => (second, third, fourth, fifth),
        // Sun Nov  6 08:49:37 1994
        None => (third, second, fifth, fourth),
        Some(_) => return None,
    };
    if next().is_some() || !WEEKDAYS.iter().any(|name| weekday.starts_with(name)) {
        return None;
    }
    let month = MONTHS.iter().zip(1_u8..).find(|(name, _)| **name == month)?.1;
    let date = Date::from_calendar_date(full_year(year, now)?, Month::try_from(month).ok()?, number(day)?);
    let mut parts = clock.split(':').map(number);
    let time = Time::from_hms(parts.next()??, parts.next()??, parts.next()??).ok()?;
    let is_whole = parts.next().is_none();
    is_whole.then_some(PrimitiveDateTime::new(date.ok()?, time).assume_utc().unix_timestamp())
}

/// The number that one or two digits stand for.
fn number(digits: &str) -> Option<u8> {
    let is_number = digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

fn full_year(digits: &str, now: i64) -> Option<i32> {
    if digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits.parse().ok();
    }
    let this_year = OffsetDateTime::from_unix_timestamp(now).ok()?.year();
    let year = this_year - this_year % 100 + i32::from(number(digits)?);
    // A year that seems to be more than fifty years ahead is past.
    Some(if year > this_year + 50 { year - 100 } else { year })
}

/// A time as RFC 3339 writes it, in UTC; `None` for a year that has not four digits.
pub fn rfc_3339(seconds: i64) -> Option<String> {
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    let year = Some(time.year()).filter(|year| (0..=9999).contains(year))?;
    let (month, day) = (u8::from(time.month()), time.day());
    let (hour, minute, second) = time.to_hms();
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Writes a date; `None` for a year that has not four digits.
pub(crate) fn format(seconds: i64) -> Option<String> {
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    let year = Some(time.year()).filter(|year| (0..=9999).contains(year))?;
    let weekday = WEEKDAYS.get(usize::from(time.weekday().number_days_from_monday()))?;
    let month = MONTHS.get(usize::from(u8::from(time.month())) - 1)?;
    let day = time.day();
    let (hour, minute, second) = time.to_hms();
    Some(format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 9110.
    const THEN: i64 = 784_111_777;
    const NOW: i64 = 1_800_000_000;

    #[test]
    fn the_three_forms_of_one_date() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(parse(text.as_bytes(), NOW), Some(THEN), "{text}");
        }
        assert_eq!(format(THEN).as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "0",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "06 Nov 1994 08:49:37 GMT",
            "Any, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 994 08:49:37 GMT",
            "Sun, 06 Nov +994 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 08:49:37:00 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(parse(text.as_bytes(), NOW), None, "{text}");
        }
        assert_eq!(parse(&[0xff; 29], NOW), None);
    }

    #[test]
    fn a_year_of_two_digits_is_at_most_fifty_ahead() {
        let year = |text: &str| {
            let seconds = parse(text.as_bytes(), NOW)?;
            Some(OffsetDateTime::from_unix_timestamp(seconds).unwrap().year())
        };
        assert_eq!(year("Monday, 01-Jan-27 00:00:00 GMT"), Some(2027));
        assert_eq!(year("Monday, 01-Jan-77 00:00:00 GMT"), Some(2077));
        assert_eq!(year("Monday, 01-Jan-78 00:00:00 GMT"), Some(1978));
    }

    #[test]
    fn what_is_written_is_read() {
        for seconds in [0, 951_782_400, 1_709_164_800, 1_735_689_599, NOW, 253_402_300_799] {
            let text = format(seconds).unwrap();
            assert_eq!(parse(text.as_bytes(), NOW), Some(seconds), "{text}");
        }
        assert_eq!(rfc_3339(1_709_164_801).as_deref(), Some("2024-02-29T00:00:01Z"));
        assert_eq!(rfc_3339(-99_999_999_999), None);
        assert_eq!(format(i64::MAX), None);
        assert_eq!(format(-99_999_999_999), None, "before the year 0");
    }
}
