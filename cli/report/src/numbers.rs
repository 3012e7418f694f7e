//! Numbers for people.

/// `1,234,567`
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `1.2 GB`
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if number < 1_000 {
        return format!("{number} B");
    }
    let (mut tenths, mut unit) = (number / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    match tenths {
        0..1_000 => format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit]),
        _ => format!("{} {}", tenths / 10, UNITS[unit]),
    }
}

/// A part of a whole: `38 %`. Only none is `0 %`, and only all is `100 %`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".to_string();
    }
    let percent = (u128::from(part) * 100 + u128::from(whole) / 2) / u128::from(whole);
    match percent {
        0 if part > 0 => "less than 1 %".to_string(),
        100 if part < whole => "more than 99 %".to_string(),
        percent => format!("{percent} %"),
    }
}

/// `2026-11-22 03:17 UTC` for `2026-11-22T03:17:02Z`
pub(crate) fn shown_time(time: &str) -> String {
    match time.get(..16) {
        Some(minute) => format!("{} UTC", minute.replace('T', " ")),
        None => time.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 12_345_678].map(count), ["0", "999", "1,000", "12,345,678"]);
        let sizes = [0, 999, 1_000, 99_949, 100_000, 999_999, 1_000_000, 1_234_567_890, u64::MAX];
        let shown = ["0 B", "999 B", "1.0 kB", "99.9 kB", "100 kB", "999 kB", "1.0 MB", "1.2 GB", "18.4 EB"];
        assert_eq!(sizes.map(bytes), shown);
        for (part, whole, shown) in [
            (0, 0, "0 %"),
            (0, 9, "0 %"),
            (1, 1_000, "less than 1 %"),
            (999, 1_000, "more than 99 %"),
            (381, 1_000, "38 %"),
            (7, 7, "100 %"),
        ] {
            assert_eq!(share(part, whole), shown);
        }
        assert_eq!(shown_time("2026-11-22T03:17:02Z"), "2026-11-22 03:17 UTC");
    }
}
