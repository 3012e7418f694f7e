//! Times as servers log them.

use time::format_description::well_known::Rfc3339;
use time::{Date, Month, OffsetDateTime};

/// Times outside these years come from a wrong clock, or from a line that does not belong to a log.
const YEARS: std::ops::RangeInclusive<i32> = 1990..=2199;

/// The time in seconds since the Unix epoch, of any of these forms: `22/Nov/2026:07:05:12 +0100`,
/// `2026-11-22T07:05:12.123+01:00`, `1795331112.123`.
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    match text {
        [_, _, b'/', ..] => common(text),
        [_, _, _, _, b'-', ..] => iso(text),
        _ => epoch(text),
    }
}

fn common(text: &[u8]) -> Option<i64> {
    let (day, rest) = number(text, 2)?;
    let (name, rest) = rest.strip_prefix(b"/")?.split_at_checked(3)?;
    let names =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let month = names.iter().position(|known| *known == name)? + 1;
    let (year, rest) = number(rest.strip_prefix(b"/")?, 4)?;
    let (clock, rest) = clock(rest.strip_prefix(b":")?)?;
    Some(days(year, u8::try_from(month).ok()?, day)? * 86_400 + clock - offset(rest.trim_ascii())?)
}

fn iso(text: &[u8]) -> Option<i64> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix(b"-")?, 2)?;
    let (day, rest) = number(rest.strip_prefix(b"-")?, 2)?;
    let date = days(year, u8::try_from(month).ok()?, day)? * 86_400;
    let [b'T' | b't' | b' ', rest @ ..] = rest else { return rest.is_empty().then_some(date) };
    let (clock, rest) = clock(rest)?;
    let rest = match rest {
        [b'.' | b',', digits @ ..] => {
            let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
            digits.split_at(end).1
        }
        _ => rest,
    };
    Some(date + clock - offset(rest)?)
}

fn epoch(text: &[u8]) -> Option<i64> {
    let whole = text.split(|byte| *byte == b'.').next()?;
    // Ten digits are seconds from 2001 on; those behind them are fractions.
    let digits = match whole.len() {
        digits @ 9..=11 => digits,
        13 | 16 | 19 => 10,
        _ => return None,
    };
    let (seconds, fraction) = number(whole, digits)?;
    checked(seconds).filter(|_| fraction.iter().all(u8::is_ascii_digit))
}

/// The milliseconds behind the seconds of a time in any form, if it has a fraction.
pub(crate) fn milliseconds(text: &[u8]) -> Option<u16> {
    let point = memchr::memchr2(b'.', b',', text);
    let whole = &text[..point.unwrap_or(text.len())];
    let fraction = match point {
        _ if matches!(whole.len(), 13 | 16 | 19) && whole.iter().all(u8::is_ascii_digit) => &whole[10..],
        Some(point) => &text[point + 1..],
        None => return None,
    };
    let digits = fraction.iter().copied().take_while(u8::is_ascii_digit);
    Some(digits.chain([b'0'; 3]).take(3).fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
}

/// Seconds since the epoch if they are in the years that count.
fn checked(seconds: i64) -> Option<i64> {
    let year = OffsetDateTime::from_unix_timestamp(seconds).ok()?.year();
    YEARS.contains(&year).then_some(seconds)
}

fn days(year: i64, month: u8, day: i64) -> Option<i64> {
    let year = i32::try_from(year).ok().filter(|year| YEARS.contains(year))?;
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, u8::try_from(day).ok()?).ok()?;
    const EPOCH: i64 = 2_440_588;
    Some(i64::from(date.to_julian_day()) - EPOCH)
}

/// The seconds of `07:05:12`, and what follows.
fn clock(text: &[u8]) -> Option<(i64, &[u8])> {
    let (hours, rest) = number(text, 2)?;
    let (minutes, rest) = number(rest.strip_prefix(b":")?, 2)?;
    let (seconds, rest) = number(rest.strip_prefix(b":")?, 2)?;
    (hours < 24 && minutes < 60 && seconds <= 60).then_some((hours * 3_600 + minutes * 60 + seconds, rest))
}

/// The seconds of `Z`, `+01:00`, `+0100`; none is that of UTC.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, rest) = number(rest, 2)?;
    let (minutes, rest) = number(rest.strip_prefix(b":").unwrap_or(rest), 2)?;
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// A number of so many digits, and what follows.
fn number(text: &[u8], digits: usize) -> Option<(i64, &[u8])> {
    let (number, rest) = text.split_at_checked(digits).filter(|_| digits > 0)?;
    let mut value = 0_i64;
    for byte in number {
        value = value * 10 + i64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some((value, rest))
}

/// A time in seconds since the Unix epoch, such as `2026-11-22T03:17:02Z`.
pub(crate) fn text(seconds: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok();
    time.and_then(|time| time.format(&Rfc3339).ok()).unwrap_or_else(|| "-".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_nginx_and_envoy_give_the_same_second() {
        for text in [
            "22/Nov/2026:07:05:12 +0000",
            "22/Nov/2026:08:35:12 +0130",
            "21/Nov/2026:23:05:12 -0800",
            "2026-11-22T07:05:12+00:00",
            "2026-11-22T07:05:12.999Z",
            "2026-11-22 07:05:12",
            "2026-11-22T08:05:12,5+01:00",
            "1795331112",
            "1795331112.123",
            "1795331112123",
            "1795331112123456789",
        ] {
            assert_eq!(parse(text.as_bytes()), Some(1_795_331_112), "{text}");
        }
        for (text, expected) in [
            ("22/Nov/2026:07:05:12 +0000", None),
            ("2026-11-22T07:05:12.9Z", Some(900)),
            ("2026-11-22T08:05:12,0567+01:00", Some(56)),
            ("1795331112", None),
            ("1795331112.123", Some(123)),
            ("1795331112123", Some(123)),
            ("1795331112123456", Some(123)),
            ("1795331112123456789", Some(123)),
        ] {
            assert_eq!(milliseconds(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(parse(b"2026-11-22"), Some(1_795_305_600));
        assert_eq!(parse(b"29/Feb/2028:00:00:00 +0000"), parse(b"2028-02-29T00:00:00Z"));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "-",
            "0",
            "99/Nov/2026:07:05:12 +0000",
            "22/Foo/2026:07:05:12 +0000",
            "22/Nov/9999:07:05:12 +0000",
            "29/Feb/2026:00:00:00 +0000",
            "22/Nov/2026:24:05:12 +0000",
            "22/Nov/2026:07:05:12 +2500",
            "22/Nov/2026",
            "2026-13-22T07:05:12Z",
            "2026-11-22T07:05:12X",
            "2026-11-22T07:05",
            "0001-01-01T00:00:00Z",
            "999999999999999999999",
            "1795331112x",
            "1795331112x23",
            "12345678",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_is_that_of_the_calendar() {
        let mut day = Date::from_calendar_date(1999, Month::December, 1).unwrap();
        for _ in 0..1_500 {
            let text = format!("{day}T00:00:00Z");
            let expected = day.midnight().assume_utc().unix_timestamp();
            assert_eq!(parse(text.as_bytes()), Some(expected), "{text}");
            day = day.next_day().unwrap();
        }
    }
}
