//! Colours.

use super::value::{Length, arguments, words};

/// A colour, as far as it can be compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// Red, green and blue.
    Rgb([u8; 3]),
    Transparent,
    /// An image, a gradient, a variable, a colour in another notation.
    Unknown,
}

impl Color {
    pub(crate) const WHITE: Self = Self::Rgb([255; 3]);

    /// The colour of a value, which may say more: `background`.
    pub(super) fn of(value: &str) -> Self {
        if value.contains("url(") || value.contains("gradient") || value.contains("var(") {
            return Self::Unknown;
        }
        for function in ["rgba", "rgb"] {
            if let Some(inside) = arguments(value, function) {
                return Self::of_numbers(inside);
            }
        }
        let known = words(value).map(Self::of_word).find(|color| *color != Self::Unknown);
        known.unwrap_or(Self::Unknown)
    }

    fn of_word(word: &str) -> Self {
        match word {
            "white" => Self::WHITE,
            "black" => Self::Rgb([0; 3]),
            "red" => Self::Rgb([255, 0, 0]),
            "lime" => Self::Rgb([0, 255, 0]),
            "blue" => Self::Rgb([0, 0, 255]),
            "yellow" => Self::Rgb([255, 255, 0]),
            "gray" | "grey" => Self::Rgb([128; 3]),
            "silver" => Self::Rgb([192; 3]),
            "snow" => Self::Rgb([255, 250, 250]),
            "ivory" => Self::Rgb([255, 255, 240]),
            "whitesmoke" => Self::Rgb([245; 3]),
            "transparent" => Self::Transparent,
            _ => word.strip_prefix('#').map_or(Self::Unknown, Self::of_digits),
        }
    }

    fn of_digits(digits: &str) -> Self {
        let digit = |at: usize| digits.as_bytes().get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let one = |at: usize| {
            let (high, low) = if digits.len() < 6 {
                (digit(at)?, digit(at)?)
            } else {
                (digit(2 * at)?, digit(2 * at + 1)?)
            };
            u8::try_from(16 * high + low).ok()
        };
        let has_alpha = matches!(digits.len(), 4 | 8);
        if !matches!(digits.len(), 3 | 4 | 6 | 8) {
            return Self::Unknown;
        }
        match (one(0), one(1), one(2), has_alpha.then(|| one(3))) {
            (Some(_), Some(_), Some(_), Some(Some(0))) => Self::Transparent,
            (Some(red), Some(green), Some(blue), None | Some(Some(_))) => Self::Rgb([red, green, blue]),
            _ => Self::Unknown,
        }
    }

    fn of_numbers(inside: &str) -> Self {
        let numbers: Vec<_> = words(inside).take(4).map(Length::of).collect();
        let byte = |at: usize| {
            let length = numbers.get(at).copied().flatten()?;
            let number = if length.unit == "%" { length.number * 2.55 } else { length.number };
            // A number from 0 to 255.
            Some(number.clamp(0.0, 255.0).round() as u8)
        };
        match (byte(0), byte(1), byte(2), numbers.get(3).copied().flatten()) {
            (.., Some(Length { number, .. })) if number <= 0.0 => Self::Transparent,
            (Some(red), Some(green), Some(blue), _) => Self::Rgb([red, green, blue]),
            _ => Self::Unknown,
        }
    }

    /// Returns true if nobody can tell text in this colour from its background.
    pub(crate) fn is_lost_on(self, background: Self) -> bool {
        // A contrast that no eye sees.
        const NEAR: u8 = 12;
        match (self, background) {
            (Self::Rgb(text), Self::Rgb(behind)) => {
                text.iter().zip(behind).all(|(one, other)| one.abs_diff(other) <= NEAR)
            }
            _ => false,
        }
    }
}
