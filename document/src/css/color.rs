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
        let is_one = value.contains('(') || words(value).next() == Some(value);
        let color = if is_one { Paint::of(value).color } else { Self::Unknown };
        (color != Self::Unknown || is_one_of(value, &SYSTEM_COLORS, COLORS)).then_some(color)
    }

    /// The color that an attribute of an old page names, if it is plain: there, digits need no sign before them.
    pub(crate) fn of_attribute(value: &str) -> Self {
        let word = value.trim().to_ascii_lowercase();
        let digits = word.strip_prefix('#').unwrap_or(&word);
        match Self::of_word(&word) {
            Self::Unknown if matches!(digits.len(), 3 | 6) => Paint::of_digits(digits).color,
            Self::Transparent => Self::Unknown,
            color => color,
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

    fn of_word(word: &str) -> Self {
        if word == "transparent" {
            return Self::Transparent;
        }
        let named = NAMED_COLORS.binary_search_by_key(&word, |(name, _)| *name).ok();
        let named = named.and_then(|at| NAMED_COLORS.get(at));
        named.map_or(Self::Unknown, |(_, digits)| {
            let [_, red, green, blue] = digits.to_be_bytes();
            Self::Rgb([red, green, blue])
        })
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

/// The names of colors, in their order, and the digits that they stand for.
#[rustfmt::skip]
const NAMED_COLORS: [(&str, u32); 148] = [
    ("aliceblue", 0xf0f8ff), ("antiquewhite", 0xfaebd7), ("aqua", 0x00ffff), ("aquamarine", 0x7fffd4),
    ("azure", 0xf0ffff), ("beige", 0xf5f5dc), ("bisque", 0xffe4c4), ("black", 0x000000), ("blanchedalmond", 0xffebcd),
    ("blue", 0x0000ff), ("blueviolet", 0x8a2be2), ("brown", 0xa52a2a), ("burlywood", 0xdeb887),
    ("cadetblue", 0x5f9ea0), ("chartreuse", 0x7fff00), ("chocolate", 0xd2691e), ("coral", 0xff7f50),
    ("cornflowerblue", 0x6495ed), ("cornsilk", 0xfff8dc), ("crimson", 0xdc143c), ("cyan", 0x00ffff),
    ("darkblue", 0x00008b), ("darkcyan", 0x008b8b), ("darkgoldenrod", 0xb8860b), ("darkgray", 0xa9a9a9),
    ("darkgreen", 0x006400), ("darkgrey", 0xa9a9a9), ("darkkhaki", 0xbdb76b), ("darkmagenta", 0x8b008b),
    ("darkolivegreen", 0x556b2f), ("darkorange", 0xff8c00), ("darkorchid", 0x9932cc), ("darkred", 0x8b0000),
    ("darksalmon", 0xe9967a), ("darkseagreen", 0x8fbc8f), ("darkslateblue", 0x483d8b), ("darkslategray", 0x2f4f4f),
    ("darkslategrey", 0x2f4f4f), ("darkturquoise", 0x00ced1), ("darkviolet", 0x9400d3), ("deeppink", 0xff1493),
    ("deepskyblue", 0x00bfff), ("dimgray", 0x696969), ("dimgrey", 0x696969), ("dodgerblue", 0x1e90ff),
    ("firebrick", 0xb22222), ("floralwhite", 0xfffaf0), ("forestgreen", 0x228b22), ("fuchsia", 0xff00ff),
    ("gainsboro", 0xdcdcdc), ("ghostwhite", 0xf8f8ff), ("gold", 0xffd700), ("goldenrod", 0xdaa520),
    ("gray", 0x808080), ("green", 0x008000), ("greenyellow", 0xadff2f), ("grey", 0x808080), ("honeydew", 0xf0fff0),
    ("hotpink", 0xff69b4), ("indianred", 0xcd5c5c), ("indigo", 0x4b0082), ("ivory", 0xfffff0), ("khaki", 0xf0e68c),
    ("lavender", 0xe6e6fa), ("lavenderblush", 0xfff0f5), ("lawngreen", 0x7cfc00), ("lemonchiffon", 0xfffacd),
    ("lightblue", 0xadd8e6), ("lightcoral", 0xf08080), ("lightcyan", 0xe0ffff), ("lightgoldenrodyellow", 0xfafad2),
    ("lightgray", 0xd3d3d3), ("lightgreen", 0x90ee90), ("lightgrey", 0xd3d3d3), ("lightpink", 0xffb6c1),
    ("lightsalmon", 0xffa07a), ("lightseagreen", 0x20b2aa), ("lightskyblue", 0x87cefa), ("lightslategray", 0x778899),
    ("lightslategrey", 0x778899), ("lightsteelblue", 0xb0c4de), ("lightyellow", 0xffffe0), ("lime", 0x00ff00),
    ("limegreen", 0x32cd32), ("linen", 0xfaf0e6), ("magenta", 0xff00ff), ("maroon", 0x800000),
    ("mediumaquamarine", 0x66cdaa), ("mediumblue", 0x0000cd), ("mediumorchid", 0xba55d3), ("mediumpurple", 0x9370db),
    ("mediumseagreen", 0x3cb371), ("mediumslateblue", 0x7b68ee), ("mediumspringgreen", 0x00fa9a),
    ("mediumturquoise", 0x48d1cc), ("mediumvioletred", 0xc71585), ("midnightblue", 0x191970), ("mintcream", 0xf5fffa),
    ("mistyrose", 0xffe4e1), ("moccasin", 0xffe4b5), ("navajowhite", 0xffdead), ("navy", 0x000080),
    ("oldlace", 0xfdf5e6), ("olive", 0x808000), ("olivedrab", 0x6b8e23), ("orange", 0xffa500),
    ("orangered", 0xff4500), ("orchid", 0xda70d6), ("palegoldenrod", 0xeee8aa), ("palegreen", 0x98fb98),
    ("paleturquoise", 0xafeeee), ("palevioletred", 0xdb7093), ("papayawhip", 0xffefd5), ("peachpuff", 0xffdab9),
    ("peru", 0xcd853f), ("pink", 0xffc0cb), ("plum", 0xdda0dd), ("powderblue", 0xb0e0e6), ("purple", 0x800080),
    ("rebeccapurple", 0x663399), ("red", 0xff0000), ("rosybrown", 0xbc8f8f), ("royalblue", 0x4169e1),
    ("saddlebrown", 0x8b4513), ("salmon", 0xfa8072), ("sandybrown", 0xf4a460), ("seagreen", 0x2e8b57),
    ("seashell", 0xfff5ee), ("sienna", 0xa0522d), ("silver", 0xc0c0c0), ("skyblue", 0x87ceeb),
    ("slateblue", 0x6a5acd), ("slategray", 0x708090), ("slategrey", 0x708090), ("snow", 0xfffafa),
    ("springgreen", 0x00ff7f), ("steelblue", 0x4682b4), ("tan", 0xd2b48c), ("teal", 0x008080), ("thistle", 0xd8bfd8),
    ("tomato", 0xff6347), ("turquoise", 0x40e0d0), ("violet", 0xee82ee), ("wheat", 0xf5deb3), ("white", 0xffffff),
    ("whitesmoke", 0xf5f5f5), ("yellow", 0xffff00), ("yellowgreen", 0x9acd32),
];

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
        match name.rsplit([' ', ',']).next().unwrap_or_default() {
            "rgb" | "rgba" => Self::of_numbers(inside),
            "hsl" | "hsla" => Self::of_lightness(inside, |share| share(2, 100.0)),
            "hwb" => {
                Self::of_lightness(inside, |share| Some((share(1, 100.0)? + 1.0 - share(2, 100.0)?) / 2.0))
            }
            "lab" | "lch" => Self::of_lightness(inside, |share| share(0, 100.0)),
            "oklab" | "oklch" => Self::of_lightness(inside, |share| share(0, 1.0)),
            "color" => {
                // It names the space of its numbers first. Only a color that nobody sees is known.
                let numbers = inside.split_once(' ').map_or(inside, |(_, numbers)| numbers);
                Some(Self::of_numbers(numbers))
                    .filter(|paint| paint.color == Color::Transparent)
                    .unwrap_or(Self::UNKNOWN)
            }
            _ => Self::UNKNOWN,
        }
    }

    /// A color that is as opaque as the last number says, from 0 to 1.
    fn with_alpha(rgb: [u8; 3], alpha: f32) -> Self {
        // Nobody sees less, or sees more than less.
        const LEAST: f32 = 0.02;
        const MOST: f32 = 0.9;
        let color = if alpha <= LEAST { Color::Transparent } else { Color::Rgb(rgb) };
        Self { color, is_translucent: alpha > LEAST && alpha < MOST }
    }

    /// A color by its lightness, if it is white or black. A share is a percentage, or that of a number in its whole.
    fn of_lightness(
        inside: &str,
        lightness: impl Fn(&dyn Fn(usize, f32) -> Option<f32>) -> Option<f32>,
    ) -> Self {
        let numbers: Vec<Option<Length>> = words(inside).take(4).map(Length::of).collect();
        let share = |at: usize, whole| Some(numbers.get(at).copied().flatten()?.share_of(whole));
        let alpha = share(3, 1.0).unwrap_or(1.0);
        match lightness(&share) {
            _ if alpha <= 0.0 => Self { color: Color::Transparent, is_translucent: false },
            Some(0.97..) => Self::with_alpha([255; 3], alpha),
            Some(..=0.03) => Self::with_alpha([0; 3], alpha),
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
