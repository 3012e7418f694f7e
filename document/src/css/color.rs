//! Colors.

use csscolorparser::NAMED_COLORS;

use super::value::{COLORS, is_one_of, words};

/// A color, as far as it can be compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// Red, green and blue.
    Rgb([u8; 3]),
    /// A background that others show through.
    Veil([u8; 3]),
    Transparent,
    /// An image, a gradient, a variable, a color in another notation.
    Unknown,
}

impl Color {
    pub(crate) const WHITE: Self = Self::Rgb([255; 3]);

    /// The color of text; none if browsers pass over it.
    pub(super) fn of(value: &str) -> Option<Self> {
        let is_one = value.contains('(') || !value.contains(' ');
        let color = if is_one { Paint::of(value).color } else { Self::Unknown };
        (color != Self::Unknown || is_one_of(value, &SYSTEM_COLORS, COLORS)).then_some(color)
    }

    /// The color that an attribute of an old page names, if it is plain: there, digits need no sign before them.
    pub(crate) fn of_attribute(value: &str) -> Self {
        match csscolorparser::parse(value) {
            Ok(color) if color.a >= 1.0 && !value.contains('(') => {
                let [red, green, blue, _] = color.to_rgba8();
                Self::Rgb([red, green, blue])
            }
            _ => Self::Unknown,
        }
    }

    /// The color of a background, whose value may say more.
    pub(super) fn of_background(value: &str) -> Self {
        if matches!(value, "none" | "initial" | "unset" | "0" | "0 0") {
            return Self::Transparent;
        }
        let paint = Paint::of(value);
        match paint.color {
            Self::Rgb(rgb) if paint.is_translucent => Self::Veil(rgb),
            color => color,
        }
    }

    /// The color that people see if this one is a background in front of another.
    pub(crate) fn before(self, behind: Option<Self>) -> Option<Self> {
        match self {
            Self::Transparent => behind,
            Self::Veil(rgb) => behind.filter(|behind| Self::Rgb(rgb).is_lost_on(*behind)),
            own => Some(own),
        }
    }

    /// Returns true if nobody can tell text in this color from its background.
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

/// The words that stand for a color which the browser or the page chooses.
const SYSTEM_COLORS: [&str; 24] = [
    "currentcolor",
    "accentcolor",
    "accentcolortext",
    "activetext",
    "buttonborder",
    "buttonface",
    "buttontext",
    "canvas",
    "canvastext",
    "field",
    "fieldtext",
    "graytext",
    "highlight",
    "highlighttext",
    "linktext",
    "mark",
    "marktext",
    "selecteditem",
    "selecteditemtext",
    "visitedtext",
    "window",
    "windowtext",
    "-webkit-link",
    "-webkit-text",
];

/// A color as it is written.
#[derive(Clone, Copy, Debug)]
struct Paint {
    color: Color,
    /// The background shows through.
    is_translucent: bool,
}

impl Paint {
    const UNKNOWN: Self = Self { color: Color::Unknown, is_translucent: false };

    fn of(value: &str) -> Self {
        if let Some((before, rest)) = value.split_once('(') {
            return Self::of_function(value, before, rest).unwrap_or(Self::UNKNOWN);
        }
        words(value).find_map(Self::of_word).unwrap_or(Self::UNKNOWN)
    }

    fn of_word(word: &str) -> Option<Self> {
        match word {
            "transparent" => Some(Self::with_alpha([0; 3], 0.0)),
            // Without the sign, the parser takes digits for a color, too.
            _ if word.starts_with('#') => Self::parse(word),
            _ => NAMED_COLORS.get(word.into()).map(|rgb| Self::with_alpha(*rgb, 1.0)),
        }
    }

    /// The color of a value with a function, by what is before and behind its first parenthesis.
    fn of_function(value: &str, before: &str, rest: &str) -> Option<Self> {
        if value.contains("url(") || value.contains("gradient") || value.contains("var(") {
            return None;
        }
        let name = before.rsplit([' ', ',']).next().filter(|name| COLORS.contains(name))?;
        let end = before.len() + "(".len() + rest.find(')')? + ")".len();
        Self::parse(value.get(before.len() - name.len()..end)?)
    }

    fn parse(color: &str) -> Option<Self> {
        let color = csscolorparser::parse(color).ok()?;
        let [red, green, blue, _] = color.to_rgba8();
        Some(Self::with_alpha([red, green, blue], color.a))
    }

    /// A color that is as opaque as this number, from 0 to 1.
    fn with_alpha(rgb: [u8; 3], alpha: f32) -> Self {
        // Nobody sees less, or sees more than less.
        const LEAST: f32 = 0.02;
        const MOST: f32 = 0.9;
        let color = if alpha <= LEAST { Color::Transparent } else { Color::Rgb(rgb) };
        Self { color, is_translucent: alpha > LEAST && alpha < MOST }
    }
}
