//! The state of a feed.

use core::fmt;

use crate::json::typed::json_words;

json_words! {
    /// The state of a feed.
    pub enum FeedState {
        /// The newest version is in force.
        Ok = "ok",
        /// The newest version is in force. It has entries that cannot be read, so it verifies clients and condemns nobody.
        Incomplete = "incomplete",
        /// The feed is older than `max_age`. It verifies and condemns nobody.
        Stale = "stale",
        /// The newest version was not accepted. The last good one is in force, if there is one.
        Held = "held",
        /// No version was ever loaded.
        Missing = "missing",
    }
}

/// A duration in seconds, shown in at most two units and rounded down: `7d`, `1d 12h`, `90s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Age(pub(crate) i64);

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(seconds) = *self;
        let (unit, below) = match seconds {
            ..120 => return write!(f, "{seconds}s"),
            120..7_200 => ((60, 'm'), (1, 's')),
            7_200..86_400 => ((60 * 60, 'h'), (60, 'm')),
            _ => ((24 * 60 * 60, 'd'), (60 * 60, 'h')),
        };
        write!(f, "{}{}", seconds / unit.0, unit.1)?;
        match seconds % unit.0 / below.0 {
            0 => Ok(()),
            rest => write!(f, " {rest}{}", below.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn ages_have_two_units_at_most() {
        for (seconds, text) in [
            (0, "0s"),
            (90, "90s"),
            (150, "2m 30s"),
            (3_600, "60m"),
            (86_399, "23h 59m"),
            (90_000, "1d 1h"),
            (604_800, "7d"),
            (616_000, "7d 3h"),
            (-5, "-5s"),
        ] {
            assert_eq!(Age(seconds).to_string(), text);
        }
    }
}
