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
