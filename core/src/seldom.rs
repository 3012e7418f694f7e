//! Saying something at most once a minute, however often there is cause.

use core::sync::atomic::AtomicI64;
use core::sync::atomic::Ordering::Relaxed;

/// Seconds between two times.
const QUIET: i64 = 60;

/// When something was last said.
#[derive(Debug)]
pub struct Seldom(AtomicI64);

impl Seldom {
    /// Of something that was never said.
    pub const fn new() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }

    /// Whether it is to be said now, in seconds since the Unix epoch; if so, it is taken to have been said. Where the
    /// clock was set back it is to be said, too: it would be silent until the old time returns.
    pub fn is_due(&self, now: i64) -> bool {
        let since = now.saturating_sub(self.0.load(Relaxed));
        let is_due = !(0..QUIET).contains(&since);
        if is_due {
            self.0.store(now, Relaxed);
        }
        is_due
    }
}

impl Default for Seldom {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_a_minute_wherever_the_clock_jumps() {
        let seldom = Seldom::new();
        let said = [(1000, true), (1000, false), (1059, false), (1060, true), (1119, false), (1120, true)];
        let after_jumps = [(600, true), (659, false), (660, true), (9999, true), (0, true), (59, false)];
        for (now, expected) in said.into_iter().chain(after_jumps) {
            assert_eq!(seldom.is_due(now), expected, "{now}");
        }
        // A clock that was never set.
        assert!(Seldom::new().is_due(0));
    }
}
