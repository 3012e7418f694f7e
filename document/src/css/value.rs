//! Numbers and lengths in values.

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length<'v> {
    pub(super) number: f32,
    pub(super) unit: &'v str,
}

impl<'v> Length<'v> {
    /// The number at the start of a word, or the product that it is.
    pub(super) fn of(word: &'v str) -> Option<Self> {
        let Some(product) = word.strip_prefix("calc(").and_then(|rest| rest.strip_suffix(')')) else {
            return Self::of_number(word);
        };
        let mut factors = product.split('*').map(|factor| Self::of_number(factor.trim()));
        let first = factors.next()??;
        factors.try_fold(first, |all, factor| {
            let Self { number, unit } = factor?;
            Some(Self { number: all.number * number, unit: if unit.is_empty() { all.unit } else { unit } })
        })
    }

    fn of_number(word: &'v str) -> Option<Self> {
        let is_in_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let end = word.find(|c| !is_in_number(c)).unwrap_or(word.len());
        let (number, rest) = word.split_at_checked(end)?;
        // `1e5px`, but not `1em`.
        let exponent = rest
            .strip_prefix('e')
            .map(|rest| rest.split(|c: char| !is_in_number(c)).next().unwrap_or_default());
        if let Some(exponent) = exponent.filter(|exponent| exponent.bytes().any(|byte| byte.is_ascii_digit()))
        {
            let whole = word.get(..number.len() + 1 + exponent.len())?;
            let unit = word.get(whole.len()..)?;
            return Some(Self { number: whole.parse().ok()?, unit });
        }
        Some(Self { number: number.parse().ok()?, unit: rest })
    }

    /// Returns true if nobody sees what is this long.
    pub(super) fn is_tiny(self) -> bool {
        let most = match self.unit {
            "px" => 1.0,
            "em" | "rem" => 0.05,
            _ => 0.0,
        };
        self.number <= most
    }

    /// Returns true if letters that are moved by it stand one upon another.
    pub(super) fn is_overlapping(self) -> bool {
        let most = if matches!(self.unit, "em" | "rem" | "ch") { -0.5 } else { -10.0 };
        self.number <= most
    }

    /// Returns true if what is moved by it is off the page.
    pub(super) fn is_far(self) -> bool {
        let most = match self.unit {
            "em" | "rem" | "ex" | "ch" => 60.0,
            "vw" | "vh" | "vmax" | "vmin" => 100.0,
            "%" => 200.0,
            "" => return false,
            _ => 480.0,
        };
        self.number <= -most || self.number >= 5.0 * most
    }
}

/// The keywords that every property takes.
const OF_ALL: [&str; 5] = ["inherit", "initial", "unset", "revert", "revert-layer"];
/// The keywords of properties that take a length.
const OF_LENGTHS: [&str; 9] = [
    "auto",
    "none",
    "normal",
    "min-content",
    "max-content",
    "fit-content",
    "stretch",
    "hanging",
    "each-line",
];
const UNITS: [&str; 29] = [
    "%", "px", "em", "rem", "vw", "vh", "pt", "ch", "ex", "vmin", "vmax", "svh", "svw", "lvh", "lvw", "dvh",
    "dvw", "vi", "vb", "lh", "rlh", "cap", "ic", "cm", "mm", "in", "pc", "q", "cqw",
];

/// Returns true if a value is one of some words, or one that every property may have: a keyword, a function.
pub(super) fn is_one_of(value: &str, wanted: &[&str]) -> bool {
    wanted.contains(&value) || OF_ALL.contains(&value) || value.contains('(')
}

/// Returns true if browsers take a value for a number.
pub(super) fn is_number(value: &str) -> bool {
    let number = Length::of(value).filter(|length| matches!(length.unit, "" | "%"));
    number.is_some() || is_one_of(value, &[])
}

/// Returns true if browsers take a value for lengths.
pub(super) fn are_lengths(value: &str) -> bool {
    let is_length = |word: &str| match Length::of(word) {
        Some(Length { number, unit: "" }) => number == 0.0,
        Some(length) => UNITS.contains(&length.unit),
        None => word.starts_with('-') || OF_LENGTHS.contains(&word),
    };
    !value.is_empty() && (is_one_of(value, &[]) || value.split(' ').all(is_length))
}

/// The lengths that a value has.
pub(super) fn lengths(value: &str) -> impl Iterator<Item = Length<'_>> {
    let has_function = value.contains('(');
    value.split(move |c| c == ' ' && !has_function).filter_map(Length::of)
}

/// The words of a value, parted by blanks, commas, slashes and parentheses.
pub(super) fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', ',', '/', '(', ')']).filter(|word| !word.is_empty())
}

/// The arguments of a function that a value is or has.
pub(super) fn arguments<'v>(value: &'v str, function: &str) -> Option<&'v str> {
    let at = value.find(function)?;
    let rest = value.get(at + function.len()..)?.strip_prefix('(')?;
    rest.split(')').next()
}
