//! The codes of ISO 3166-1, for lint. When a feed is loaded, any two letters are a country.

/// The status of a code of two capital letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// Assigned to a country, or reserved for a common use (`EU`).
    Known,
    /// `UK`, which is reserved: the country's code is `GB`.
    UnitedKingdom,
    /// Free for private use.
    PrivateUse,
    /// Not assigned.
    Unassigned,
}

impl Code {
    pub(super) fn of(code: [u8; 2]) -> Self {
        match &code {
            b"UK" => Self::UnitedKingdom,
            // For private use in ISO 3166-1, and commonly used for Kosovo.
            b"XK" => Self::Known,
            b"AA" | [b'Q', b'M'..=b'Z'] | [b'X', _] => Self::PrivateUse,
            _ if is_listed(code) => Self::Known,
            _ => Self::Unassigned,
        }
    }
}

/// The second letters of the known codes, for each first letter.
const SECOND_LETTERS: [(u8, &str); 25] = [
    (b'A', "CDEFGILMOQRSTUWXZ"),
    (b'B', "ABDEFGHIJLMNOQRSTVWYZ"),
    (b'C', "ACDFGHIKLMNOPQRUVWXYZ"),
    (b'D', "EGJKMOZ"),
    (b'E', "ACEGHRSTUZ"),
    (b'F', "IJKMORX"),
    (b'G', "ABDEFGHILMNPQRSTUWY"),
    (b'H', "KMNRTU"),
    (b'I', "CDELMNOQRST"),
    (b'J', "EMOP"),
    (b'K', "EGHIMNPRWYZ"),
    (b'L', "ABCIKRSTUVY"),
    (b'M', "ACDEFGHKLMNOPQRSTUVWXYZ"),
    (b'N', "ACEFGILOPRUZ"),
    (b'O', "M"),
    (b'P', "AEFGHKLMNRSTWY"),
    (b'Q', "A"),
    (b'R', "EOSUW"),
    (b'S', "ABCDEGHIJKLMNORSTUVXYZ"),
    (b'T', "ACDFGHJKLMNORTVWZ"),
    (b'U', "AGMNSYZ"),
    (b'V', "ACEGINU"),
    (b'W', "FS"),
    (b'Y', "ET"),
    (b'Z', "AMWZ"),
];

/// Assigned, reserved, or `ZZ`, which geofeeds use for no location.
fn is_listed([first, second]: [u8; 2]) -> bool {
    let row = SECOND_LETTERS.iter().find(|(letter, _)| *letter == first);
    row.is_some_and(|(_, seconds)| seconds.as_bytes().contains(&second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geo_6_all_assigned_codes_are_known() {
        // GEO-6: the 249 of ISO 3166-1, 12 that are reserved beside `UK`, and `ZZ`.
        let count: usize = SECOND_LETTERS.iter().map(|(_, seconds)| seconds.len()).sum();
        assert_eq!(count, 249 + 12 + 1);
        assert!(SECOND_LETTERS.iter().all(|(_, seconds)| seconds.as_bytes().is_sorted_by(|a, b| a < b)));
        for known in [b"US", b"GB", b"EU", b"AC", b"XK", b"ZZ", b"SS", b"QA"] {
            assert_eq!(Code::of(*known), Code::Known);
        }
        assert_eq!(Code::of(*b"UK"), Code::UnitedKingdom);
        assert_eq!([b"QQ", b"XX", b"AA"].map(|code| Code::of(*code)), [Code::PrivateUse; 3]);
        assert_eq!([b"EN", b"JA", b"YU", b"AN"].map(|code| Code::of(*code)), [Code::Unassigned; 4]);
    }
}
