//! Colors.

use super::value::{COLORS, Length, is_one_of, words};

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
        let is_known = match value.strip_prefix('#') {
            Some(digits) => {
                matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            }
            None => {
                is_one_of(value, &["-webkit-text", "-webkit-link"], COLORS)
                    || Self::of_word(value) != Self::Unknown
                    || NAMES.split(' ').any(|name| name == value)
            }
        };
        is_known.then(|| Paint::of(value).color)
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
            "ghostwhite" => Self::Rgb([248, 248, 255]),
            "mintcream" => Self::Rgb([245, 255, 250]),
            "ivory" => Self::Rgb([255, 255, 240]),
            "whitesmoke" => Self::Rgb([245; 3]),
            "transparent" => Self::Transparent,
            _ => Self::Unknown,
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

/// The names of colors, and the words that stand for one.
const NAMES: &str = "aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood \
    cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod \
    darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon \
    darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray \
    dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green \
    greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon \
    lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon \
    lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen magenta \
    maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen \
    mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive \
    olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru \
    pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen \
    seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato \
    turquoise violet wheat white whitesmoke yellow yellowgreen transparent currentcolor accentcolor accentcolortext \
    activetext buttonborder buttonface buttontext canvas canvastext field fieldtext graytext highlight highlighttext \
    linktext mark marktext selecteditem selecteditemtext visitedtext windowtext window";

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
        if let Some((name, rest)) = value.split_once('(') {
            return Self::of_function(value, name, rest);
        }
        let of_word = |word: &str| match word.strip_prefix('#') {
            Some(digits) => Self::of_digits(digits),
            None => Self { color: Color::of_word(word), is_translucent: false },
        };
        words(value).map(of_word).find(|paint| paint.color != Color::Unknown).unwrap_or(Self::UNKNOWN)
    }

    /// The color of a value with a function, whose name and first parenthesis are before the rest.
    fn of_function(value: &str, name: &str, rest: &str) -> Self {
        if value.contains("url(") || value.contains("gradient") || value.contains("var(") {
            return Self::UNKNOWN;
        }
        let inside = rest.split(')').next().unwrap_or_default();
        let color = if name.ends_with("hsl") || name.ends_with("hsla") {
            Self::of_lightness(inside)
        } else {
            Self::of_numbers(inside)
        };
        // In the other notations, only a color that nobody sees is known.
        let is_known = ["rgb", "rgba", "hsl", "hsla"].iter().any(|known| name.ends_with(known))
            || color.color == Color::Transparent;
        if is_known { color } else { Self::UNKNOWN }
    }

    /// A color that is as opaque as the last number says, from 0 to 1.
    fn with_alpha(rgb: [u8; 3], alpha: f32) -> Self {
        // Nobody sees less, or sees more than less.
        const LEAST: f32 = 0.02;
        const MOST: f32 = 0.9;
        let color = if alpha <= LEAST { Color::Transparent } else { Color::Rgb(rgb) };
        Self { color, is_translucent: alpha > LEAST && alpha < MOST }
    }

    /// A color by its hue, saturation and lightness, if it is white or black.
    fn of_lightness(inside: &str) -> Self {
        let numbers: Vec<Option<Length>> = words(inside).take(4).map(Length::of).collect();
        let number = |at: usize| numbers.get(at).copied().flatten();
        let alpha = number(3)
            .map_or(1.0, |alpha| if alpha.unit == "%" { alpha.number / 100.0 } else { alpha.number });
        match number(2).map(|lightness| lightness.number) {
            _ if alpha <= 0.0 => Self { color: Color::Transparent, is_translucent: false },
            Some(97.0..) => Self::with_alpha([255; 3], alpha),
            Some(..=3.0) => Self::with_alpha([0; 3], alpha),
            _ => Self::UNKNOWN,
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
        let alpha = match digits.len() {
            3 | 6 => Some(255),
            4 | 8 => one(3),
            _ => None,
        };
        match (one(0), one(1), one(2), alpha) {
            (Some(red), Some(green), Some(blue), Some(alpha)) => {
                Self::with_alpha([red, green, blue], f32::from(alpha) / 255.0)
            }
            _ => Self::UNKNOWN,
        }
    }

    fn of_numbers(inside: &str) -> Self {
        let number = |word: &str, whole: f32| {
            let length = Length::of(word)?;
            Some(if length.unit == "%" { length.number / 100.0 * whole } else { length.number })
        };
        let mut numbers = words(inside);
        let mut byte = || {
            // A number from 0 to 255.
            numbers
                .next()
                .and_then(|word| number(word, 255.0))
                .map(|number| number.clamp(0.0, 255.0).round() as u8)
        };
        let rgb = (byte(), byte(), byte());
        let alpha = numbers.next().map_or(Some(1.0), |word| number(word, 1.0));
        match (rgb, alpha) {
            ((Some(red), Some(green), Some(blue)), Some(alpha)) => {
                Self::with_alpha([red, green, blue], alpha)
            }
            (_, Some(0.0)) => Self { color: Color::Transparent, is_translucent: false },
            _ => Self::UNKNOWN,
        }
    }
}
