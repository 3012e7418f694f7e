//! Quantities with units, as the configuration writes them: `7d`, `50%`, `10x`.

use core::fmt;

use serde_json::Value;

use crate::json::typed::{FromJson, Node, Reader, insert, of_type};

/// A length of time in whole seconds: `90s`, `15m`, `24h`, `7d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub i64);

/// A share in whole percent, 0 to 100: `50%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(pub u8);

/// A factor from 1: `10x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Times(pub u32);

/// In the largest unit of which it is a whole number.
impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, unit) = match self.0 {
            days if days % DAY == 0 && days != 0 => (DAY, "d"),
            hours if hours % HOUR == 0 && hours != 0 => (HOUR, "h"),
            minutes if minutes % MINUTE == 0 && minutes != 0 => (MINUTE, "m"),
            _ => (1, "s"),
        };
        write!(f, "{}{unit}", self.0 / seconds)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.0)
    }
}

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Seconds {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let seconds: i64 = match unit {
            "s" => 1,
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            _ => return None,
        };
        i64::from(number).checked_mul(seconds).map(Self)
    }
}

impl Percent {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        u8::try_from(number).ok().filter(|number| unit == "%" && *number <= 100 && text.len() <= 4).map(Self)
    }
}

impl Times {
    fn parse(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        (unit == "x" && !text.starts_with('0')).then_some(Self(number))
    }
}

/// A number of at most nine plain digits, and what follows it.
fn split(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).filter(|end| *end <= 9)?;
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit))
}

/// Reads a string with `parse`, or reports what was expected.
macro_rules! quantity {
    ($name:ident, $expected:literal, $pattern:literal) => {
        impl FromJson for $name {
            #[inline(never)]
            fn from_json<'a>(node: &Node<'a>, reader: &mut Reader<'a, '_>) -> Option<Self> {
                let text = alloc::string::String::from_json(node, reader)?;
                let value = Self::parse(&text);
                if value.is_none() {
                    node.report(reader, alloc::format!("`{text}` is not {}", $expected));
                }
                value
            }

            fn to_json(&self) -> Value {
                Value::from(alloc::format!("{self}"))
            }

            fn schema() -> Value {
                let mut schema = of_type("string");
                insert(&mut schema, "pattern", Value::from($pattern));
                schema
            }
        }
    };
}

quantity!(Seconds, "a time such as `24h` or `7d` (s, m, h, d)", "^[0-9]{1,9}[smhd]$");
quantity!(Percent, "a share such as `50%`", "^(100|0?[0-9]{1,2})%$");
quantity!(Times, "a factor such as `10x`", "^[1-9][0-9]{0,8}x$");

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn quantities_are_written_as_they_are_read() {
        for text in ["7d", "36h", "90m", "1s", "0s", "61s"] {
            assert_eq!(Seconds::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Seconds(86_400).to_string(), "1d");
        assert_eq!((Percent(5).to_string(), Times(10).to_string()), ("5%".into(), "10x".into()));
    }

    #[test]
    fn quantities_are_a_number_and_a_unit() {
        assert_eq!(Seconds::parse("7d"), Some(Seconds(604_800)));
        assert_eq!(Seconds::parse("0s"), Some(Seconds(0)));
        assert_eq!(Percent::parse("100%"), Some(Percent(100)));
        assert_eq!(Times::parse("10x"), Some(Times(10)));
        for text in ["", "7", "d", "7 d", "-7d", "7w", "7dd", "1000000000s", "+7d", "7.5d", "٧d"] {
            assert_eq!(Seconds::parse(text), None, "{text}");
        }
        assert_eq!((Percent::parse("101%"), Percent::parse("5")), (None, None));
        assert_eq!((Percent::parse("050%"), Percent::parse("0050%")), (Some(Percent(50)), None));
        assert_eq!((Times::parse("0x"), Times::parse("010x"), Times::parse("10")), (None, None, None));
    }
}
