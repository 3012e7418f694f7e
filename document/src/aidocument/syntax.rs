//! The syntax of values that documents have.

/// A language tag as BCP 47 writes it, if the value can be one.
pub(crate) fn language_tag(value: &str) -> Option<String> {
    let value = value.trim().replace('_', "-");
    let is_part = |part: &str, least: usize, is_known: fn(&u8) -> bool| {
        (least..=8).contains(&part.len()) && part.as_bytes().iter().all(is_known)
    };
    let mut parts = value.split('-');
    let is_language = parts.next().is_some_and(|part| is_part(part, 2, u8::is_ascii_alphabetic));
    (is_language && parts.all(|part| is_part(part, 1, u8::is_ascii_alphanumeric))).then_some(value)
}

/// Returns true if a text is the identity of a content, as [`super::AiDocument::reference`] writes it.
pub(super) fn is_reference(text: &str) -> bool {
    let is_hex = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let digits = text.strip_prefix("aidoc:sha256:");
    digits.is_some_and(|digits| digits.len() == 32 && digits.as_bytes().iter().all(is_hex))
}

/// Returns true if a text is a time as RFC 3339 section 5.6 writes it.
pub(super) fn is_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let Some(offset) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (time, offset) = time.split_at(offset);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let is_offset = matches!(offset, "Z" | "z")
        || offset
            .get(1..)
            .and_then(|offset| numbers(offset, ':', [2, 2]))
            .is_some_and(|[hour, minute]| hour <= 23 && minute <= 59);
    let is_date = numbers(date, '-', [4, 2, 2]).is_some_and(|[year, month, day]| {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 => 28 + u16::from(is_leap),
            _ => 0,
        };
        (1..=days).contains(&day)
    });
    let is_hour = numbers(time, ':', [2, 2, 2])
        .is_some_and(|[hour, minute, second]| hour <= 23 && minute <= 59 && second <= 60);
    is_date && is_hour && is_fraction && is_offset
}

/// The numbers of a text, which has so many digits of each, and a separator between them.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u16; N]> {
    let mut numbers = [0; N];
    let mut parts = text.split(separator);
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_rfc_3339() {
        for time in [
            "2026-05-13T12:34:56Z",
            "2024-02-29t23:59:60.123z",
            "2026-12-31T00:00:00+02:00",
            "2026-12-31T00:00:00.5-23:59",
        ] {
            assert!(is_time(time), "{time}");
        }
        for other in [
            "",
            "yesterday",
            "2026-05-01",
            "Fri, 01 May 2026 00:00:00 GMT",
            "2026-05-01T00:00:00",
            "2026-05-01T00:00:00+0200",
            "2026-05-01T00:00:00+02:00Z",
            "2026-05-01T00:00:00.Z",
            "2026-05-01T24:00:00Z",
            "2026-05-01T00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-5-01T00:00:00Z",
            "+026-05-01T00:00:00Z",
            "2026-05-01T00:00:00é",
        ] {
            assert!(!is_time(other), "{other}");
        }
    }

    #[test]
    fn language_tags_are_those_of_bcp_47() {
        assert_eq!(language_tag("en_US").as_deref(), Some("en-US"));
        assert_eq!(language_tag("zh-Hant-TW").as_deref(), Some("zh-Hant-TW"));
        for other in ["", "English (US)", "e", "en-", "123"] {
            assert_eq!(language_tag(other), None, "{other}");
        }
    }
}
