//! The lines about denials in an error log, of which a flood of requests must not write as many as it has requests.

use core::array;
use core::cell::Cell;
use core::fmt;

use crate::reason::Reason;

/// When a worker last wrote a line about a denial, by reason: at most one a second, so that no reason hides another. It allocates
/// nothing.
#[derive(Debug)]
pub struct DenialLog([Cell<Written>; Reason::ALL.len()]);

#[derive(Clone, Copy, Debug)]
struct Written {
    /// In seconds since the Unix epoch.
    at: i64,
    /// The number of denials without a line since then.
    left_out: u64,
}

/// The number of denials that had no line since the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut(u64);

impl DenialLog {
    /// Nothing was written yet.
    pub fn new() -> Self {
        Self(array::from_fn(|_| Cell::new(Written { at: i64::MIN, left_out: 0 })))
    }

    /// Notes a denial at a time, in seconds since the Unix epoch. `Some`: a line is to be written, with the number of those that
    /// had none since the last line. If the clock was set back, a line is written.
    pub fn note(&self, reason: Reason, now: i64) -> Option<LeftOut> {
        let Some(place) = self.0.get(reason as usize) else { return Some(LeftOut(0)) };
        let Written { at, left_out } = place.get();
        if at == now {
            place.set(Written { at, left_out: left_out.saturating_add(1) });
            return None;
        }
        place.set(Written { at: now, left_out: 0 });
        Some(LeftOut(left_out))
    }
}

impl Default for DenialLog {
    fn default() -> Self {
        Self::new()
    }
}

/// At the end of the line: nothing, or `, and 407 more since the last line`.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            more => write!(f, ", and {more} more since the last line"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_reason_has_a_line_a_second_with_the_number_of_those_left_out() {
        let log = DenialLog::new();
        let (spoofed, robots) = (Reason::SpoofedAgent, Reason::RobotsDisallowed);
        for (reason, now, line) in [
            (spoofed, 1000, Some("")),
            (spoofed, 1000, None),
            (robots, 1000, Some("")),
            (spoofed, 1000, None),
            (spoofed, 1001, Some(", and 2 more since the last line")),
            (spoofed, 1001, None),
            (robots, 1005, Some("")),
            // The clock was set back.
            (spoofed, 7, Some(", and 1 more since the last line")),
            (spoofed, 8, Some("")),
        ] {
            assert_eq!(
                log.note(reason, now).map(|left| left.to_string()).as_deref(),
                line,
                "{reason:?} {now}"
            );
        }
    }
}
