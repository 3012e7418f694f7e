//! Numbers and lengths in values.

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length<'v> {
    pub(super) number: f32,
    pub(super) unit: &'v str,
}

impl<'v> Length<'v> {
    /// The widths of a page by which a margin moves anything off it.
    const OUTSIDE: f32 = 4.0;

    /// The number at the start of a word, or the result of a function, if it is clear without knowing what the units are.
    pub(super) fn of(word: &'v str) -> Option<Self> {
        match word.strip_suffix(')').and_then(|call| call.split_once('(')) {
            Some(("calc", sum)) => Self::of_sum(sum),
            Some((function, lengths)) => Self::of_one(function, lengths),
            None => Self::of_number(word),
        }
    }

    /// The length that a value is, if it is one, in a unit that browsers know: nearly all values.
    pub(super) fn alone(value: &'v str) -> Option<Self> {
        Self::of_number(value).filter(|length| length.is_valid())
    }

    /// A sum of lengths in one unit.
    fn of_sum(sum: &'v str) -> Option<Self> {
        let signed = |(at, term)| {
            let Self { number, unit } = Self::of_product(term)?;
            Some(Self { number: if at == 0 { number } else { -number }, unit })
        };
        let mut terms = sum.split(" + ").flat_map(|terms| terms.split(" - ").enumerate()).map(signed);
        let first = terms.next()??;
        terms.try_fold(first, |all, term| {
            let term = term?;
            let unit = if all.number == 0.0 { term.unit } else { all.unit };
            let is_one_unit = term.number == 0.0 || term.unit == unit;
            is_one_unit.then_some(Self { number: all.number + term.number, unit })
        })
    }

    fn of_product(factors: &'v str) -> Option<Self> {
        let mut factors = factors.split('*').map(|factor| Self::of_number(factor.trim()));
        let first = factors.next()??;
        factors.try_fold(first, |all, factor| {
            let Self { number, unit } = factor?;
            Some(Self { number: all.number * number, unit: if unit.is_empty() { all.unit } else { unit } })
        })
    }

    /// The one of several lengths that a function chooses.
    fn of_one(function: &str, lengths: &'v str) -> Option<Self> {
        let least = |one: Self, other: Self| if other.number < one.number { other } else { one };
        let most = |one: Self, other: Self| if other.number > one.number { other } else { one };
        let lengths: Option<Vec<_>> =
            lengths.split(',').map(|length| Self::of_number(length.trim())).collect();
        let chosen = match (function, &*lengths?) {
            ("min", lengths) => lengths.iter().copied().reduce(least),
            ("max", lengths) => lengths.iter().copied().reduce(most),
            ("clamp", [from, usual, to]) => Some(most(*from, least(*usual, *to))),
            _ => None,
        };
        // Whatever the units are, a length that is not above zero is below one that is.
        chosen.filter(|chosen| chosen.number <= 0.0)
    }

    /// Returns true if browsers know the unit; only zero needs none.
    fn is_valid(self) -> bool {
        if self.unit.is_empty() { self.number == 0.0 } else { Unit::of(self.unit).is_some() }
    }

    fn of_number(word: &'v str) -> Option<Self> {
        if !matches!(word.as_bytes(), [b'0'..=b'9' | b'.' | b'-' | b'+', ..]) {
            return None;
        }
        // Most are whole, and short enough to be exact.
        const MOST_DIGITS: usize = 6;
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, unit) = word.split_at_checked(digits)?;
        if (1..=MOST_DIGITS).contains(&digits) && !unit.starts_with(['.', '-', '+', 'e']) {
            return Some(Self {
                number: whole.bytes().fold(0.0, |n, digit| n * 10.0 + f32::from(digit - b'0')),
                unit,
            });
        }
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
        self.number
            <= match Unit::of(self.unit) {
                Some(Unit::Pixels(pixels)) => 1.0 / pixels,
                Some(Unit::Letters | Unit::Screen) => 0.05,
                _ => 0.0,
            }
    }

    /// The number, or the share that a percentage is.
    pub(super) fn share(self) -> f32 {
        self.share_of(1.0)
    }

    /// The share of a whole that a number or a percentage is.
    pub(super) fn share_of(self, whole: f32) -> f32 {
        self.number / if self.unit == "%" { 100.0 } else { whole }
    }

    /// Returns true if nobody sees what is scaled by it.
    pub(super) fn is_no_scale(self) -> bool {
        self.share().abs() <= 0.02
    }

    /// Returns true if it is the width of what is around, or more.
    pub(super) fn is_width(self) -> bool {
        self.unit == "%" && self.number >= 100.0
    }

    /// Returns true if what is moved back by it is off the page.
    pub(super) fn is_far_before(self) -> bool {
        self.widths() <= -1.0
    }

    /// Returns true if what is moved back by it is off the page, wherever on the page it would be otherwise.
    pub(super) fn is_outside(self) -> bool {
        self.widths() <= -Self::OUTSIDE
    }

    /// Returns true if it is as wide as a page, or nearly so.
    pub(super) fn is_wide(self) -> bool {
        self.widths() >= 1.0
    }

    /// Returns true if it makes up for a margin that is outside of the page.
    pub(super) fn is_as_wide_as_outside(self) -> bool {
        self.widths() >= Self::OUTSIDE
    }

    /// Returns true if it is a share of the width of what is around.
    pub(super) fn is_share(self) -> bool {
        self.unit == "%" && self.number > 0.0
    }

    /// Returns true if it is nothing, or less.
    fn is_nothing(self) -> bool {
        self.number <= 0.0
    }

    /// Returns true if letters that are moved by it stand one upon another.
    pub(super) fn is_overlapping(self) -> bool {
        let most = if matches!(self.unit, "em" | "rem" | "ch") { -0.5 } else { -10.0 };
        self.number <= most
    }

    /// Returns true if what is moved by it to one side is off the page.
    pub(super) fn is_far(self) -> bool {
        self.is_far_before() || self.widths() >= 5.0
    }

    /// The least widths of a page that it is for sure.
    fn widths(self) -> f32 {
        let width = match Unit::of(self.unit) {
            Some(Unit::Pixels(pixels)) => 480.0 / pixels,
            Some(Unit::Letters) => 60.0,
            Some(Unit::Screen) => 100.0,
            Some(Unit::Share) => 200.0,
            None => f32::INFINITY,
        };
        self.number / width
    }
}

/// The sorts of units.
#[derive(Clone, Copy, Debug)]
enum Unit {
    /// So many pixels.
    Pixels(f32),
    /// The size of letters or lines.
    Letters,
    /// A hundredth of the screen, or of a part that says so.
    Screen,
    /// A hundredth of what is around.
    Share,
}

impl Unit {
    /// The sort of a unit that browsers know.
    fn of(unit: &str) -> Option<Self> {
        Some(match unit {
            "px" => Self::Pixels(1.0),
            "em" | "rem" | "ex" | "rex" | "ch" | "rch" | "cap" | "rcap" | "ic" | "ric" | "lh" | "rlh" => {
                Self::Letters
            }
            "%" => Self::Share,
            "pt" => Self::Pixels(4.0 / 3.0),
            "pc" => Self::Pixels(16.0),
            "in" => Self::Pixels(96.0),
            "cm" => Self::Pixels(96.0 / 2.54),
            "mm" => Self::Pixels(9.6 / 2.54),
            "q" => Self::Pixels(2.4 / 2.54),
            "cqw" | "cqh" | "cqi" | "cqb" | "cqmin" | "cqmax" => Self::Screen,
            other => match other.strip_prefix(['s', 'l', 'd']).unwrap_or(other) {
                "vw" | "vh" | "vi" | "vb" | "vmin" | "vmax" => Self::Screen,
                _ => return None,
            },
        })
    }
}

/// The keywords that every property takes.
const OF_ALL: [&str; 5] = ["inherit", "initial", "unset", "revert", "revert-layer"];

/// The functions that a value may have, by its sort.
pub(super) const MATH: &[&str] = &["calc", "min", "max", "clamp", "round", "abs"];
pub(super) const FILTERS: &[&str] = &[
    "blur",
    "brightness",
    "contrast",
    "drop-shadow",
    "grayscale",
    "hue-rotate",
    "invert",
    "opacity",
    "saturate",
    "sepia",
    "url",
];
pub(super) const SHAPES: &[&str] =
    &["inset", "circle", "ellipse", "polygon", "path", "rect", "xywh", "shape", "url"];
pub(super) const TRANSFORMS: &[&str] = &[
    "matrix",
    "matrix3d",
    "perspective",
    "rotate",
    "rotate3d",
    "rotatex",
    "rotatey",
    "rotatez",
    "scale",
    "scale3d",
    "scalex",
    "scaley",
    "scalez",
    "skew",
    "skewx",
    "skewy",
    "translate",
    "translate3d",
    "translatex",
    "translatey",
    "translatez",
];
pub(super) const COLORS: &[&str] = &[
    "rgb",
    "rgba",
    "hsl",
    "hsla",
    "hwb",
    "lab",
    "lch",
    "oklab",
    "oklch",
    "color",
    "color-mix",
    "light-dark",
];

/// Returns true if a value is a keyword of every property.
pub(super) fn is_of_all(value: &str) -> bool {
    OF_ALL.contains(&value)
}

/// Returns true if a value is one of some words or functions, a keyword of every property, or in a variable.
pub(super) fn is_one_of(value: &str, wanted: &[&str], functions: &[&str]) -> bool {
    const VARIABLES: [&str; 3] = ["var", "env", "attr"];
    let is_function = |(before, _): (&str, &str)| {
        let name = before.rsplit([' ', ',']).next().unwrap_or(before);
        VARIABLES.contains(&name) || functions.contains(&name)
    };
    wanted.contains(&value) || is_of_all(value) || value.split_once('(').is_some_and(is_function)
}

/// Returns true if browsers take a value for a number.
pub(super) fn is_number(value: &str) -> bool {
    let number = Length::of(value).filter(|length| matches!(length.unit, "" | "%"));
    number.is_some() || is_one_of(value, &[], MATH)
}

/// Returns true if browsers take a value for lengths: at most so many, or some keywords.
pub(super) fn are_lengths(value: &str, (keywords, most): (&[&str], usize)) -> bool {
    let is_length = |word: &str| match Length::of(word) {
        Some(length) => length.is_valid(),
        None => keywords.contains(&word),
    };
    let is_function = || value.contains('(') && is_one_of(value, &[], MATH);
    let are_words = || value.split(' ').count() <= most && value.split(' ').all(is_length);
    is_of_all(value) || is_function() || !value.is_empty() && are_words()
}

/// The lengths that a value has.
pub(super) fn lengths(value: &str) -> impl Iterator<Item = Length<'_>> {
    parts(value).filter_map(Length::of)
}

/// The parts of a value, parted by blanks outside of parentheses.
pub(super) fn parts(value: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    value.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    })
}

/// The values of a property of four sides: for the top, the right, the bottom and the left.
pub(super) fn sides(value: &str) -> [&str; 4] {
    let mut sides = parts(value);
    let top = sides.next().unwrap_or_default();
    let right = sides.next().unwrap_or(top);
    let bottom = sides.next().unwrap_or(top);
    [top, right, bottom, sides.next().unwrap_or(right)]
}

/// Returns true if lengths to the right, down and to the front move something off the page. A page goes on below.
pub(super) fn is_shifted_away<'v>(mut lengths: impl Iterator<Item = Length<'v>>) -> bool {
    lengths.next().is_some_and(Length::is_far) || lengths.next().is_some_and(Length::is_far_before)
}

/// The words of a value, parted by blanks, commas, slashes and parentheses.
pub(super) fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split([' ', ',', '/', '(', ')']).filter(|word| !word.is_empty())
}

/// The arguments of the first such function that a value is or has.
pub(super) fn arguments<'v>(value: &'v str, function: &str) -> Option<&'v str> {
    let inside = value.match_indices(function).find_map(|(at, _)| {
        let is_whole = value.get(..at)?.ends_with(|c: char| !c.is_ascii_alphanumeric()) || at == 0;
        value.get(at + function.len()..)?.strip_prefix('(').filter(|_| is_whole)
    });
    inside?.split(')').next()
}

/// Returns true if the arguments of a function are nothing.
pub(super) fn is_zero(arguments: Option<&str>) -> bool {
    arguments.and_then(|inside| Length::of(inside.trim())).is_some_and(|length| length.number <= 0.0)
}

/// Returns true if a value has a length that people see: one of two digits, a percentage, one in letters.
pub(super) fn has_room(value: &str) -> bool {
    let is_long = |pair: &[u8]| matches!(pair, [b'1'..=b'9', b'0'..=b'9' | b'%' | b'e' | b'r' | b'v' | b'.']);
    value.as_bytes().windows(2).any(is_long)
}

/// Returns true if nobody can read text through a blur.
pub(super) fn is_blurred(value: &str) -> bool {
    let radius = arguments(value, "blur").and_then(|inside| Length::of(inside.trim()));
    radius.is_some_and(|radius| match radius.unit {
        "px" => radius.number >= 20.0,
        "em" | "rem" => radius.number >= 1.5,
        _ => false,
    })
}

/// Returns true if a shape leaves nothing.
pub(super) fn clips_all(value: &str) -> bool {
    let inset = arguments(value, "inset").is_some_and(|inside| {
        let lengths = words(inside).map_while(Length::of);
        let lengths = lengths.take_while(|length| length.unit == "%" || length.number == 0.0);
        let sides: Vec<f32> = lengths.map(|length| length.number).collect();
        let side = |at: [usize; 3]| at.into_iter().find_map(|at| sides.get(at)).copied().unwrap_or_default();
        // Top and bottom, right and left: of those that are missing, the ones opposite count.
        side([0, 0, 0]) + side([2, 0, 0]) >= 100.0 || side([1, 0, 0]) + side([3, 1, 0]) >= 100.0
    });
    inset
        || ["circle", "ellipse"].into_iter().any(|function| is_zero(arguments(value, function)))
        || ["polygon", "rect", "xywh"].into_iter().any(|function| {
            arguments(value, function).is_some_and(|inside| are_all(inside, Length::is_nothing))
        })
}

/// Returns true if nobody sees what is moved, turned or shrunk so.
pub(super) fn moves_away(value: &str) -> bool {
    const SCALES: [&str; 4] = ["scale", "scale3d", "scalex", "scaley"];
    const SHIFTS: [&str; 3] = ["translate", "translatex", "translate3d"];
    let is_shifted = |inside: &str| is_shifted_away(words(inside).filter_map(Length::of));
    let is_above = |inside: &str| words(inside).filter_map(Length::of).any(Length::is_far_before);
    let is_flat = |inside: &str| {
        let mut first = words(inside).take(4).map(Length::of);
        first.all(|length| length.is_some_and(|length| length.number == 0.0))
    };
    let is_nothing = |inside: &str| words(inside).filter_map(Length::of).any(Length::is_no_scale);
    let any = |functions: &[&str], is_it: &dyn Fn(&str) -> bool| {
        functions.iter().filter_map(|function| arguments(value, function)).any(is_it)
    };
    any(&["rotatex", "rotatey"], &is_edge)
        || any(&["matrix"], &is_flat)
        || any(&SCALES, &is_nothing)
        || any(&SHIFTS, &is_shifted)
        || any(&["translatey"], &is_above)
}

/// Returns true if nobody sees what is turned so.
pub(super) fn is_edge(turn: &str) -> bool {
    matches!(turn.trim(), "90deg" | "-90deg" | "270deg" | "100grad" | "0.25turn" | ".25turn")
}

/// Returns true if there are lengths, and a property holds for all of them.
pub(super) fn are_all<'v>(inside: &'v str, is_it: fn(Length<'v>) -> bool) -> bool {
    let mut inside = words(inside).map(Length::of).peekable();
    inside.peek().is_some() && inside.all(|length| length.is_some_and(is_it))
}
