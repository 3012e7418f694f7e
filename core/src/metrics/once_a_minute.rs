//! Log messages that may come often, and are logged once a minute.

use core::sync::atomic::AtomicI64;
use core::sync::atomic::Ordering::Relaxed;

const MINUTE: i64 = 60;

/// When something was last logged.
#[derive(Debug)]
pub struct OnceAMinute(AtomicI64);

impl OnceAMinute {
    /// Nothing was logged yet.
    pub const fn new() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }

    /// Returns true if the message is to be logged at this time, in seconds since the Unix epoch; that counts as
    /// logged. If the clock was set back, the answer is yes: otherwise nothing would be logged until the old time
    /// returns.
    pub fn is_due(&self, now: i64) -> bool {
        let since = now.saturating_sub(self.0.load(Relaxed));
        let is_due = !(0..MINUTE).contains(&since);
        if is_due {
            self.0.store(now, Relaxed);
        }
        is_due
    }
}

impl Default for OnceAMinute {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_once_a_minute_wherever_the_clock_jumps() {
        let logged = OnceAMinute::new();
        let times = [(1000, true), (1000, false), (1059, false), (1060, true), (1119, false), (1120, true)];
        let after_jumps = [(600, true), (659, false), (660, true), (9999, true), (0, true), (59, false)];
        for (now, expected) in times.into_iter().chain(after_jumps) {
            assert_eq!(logged.is_due(now), expected, "{now}");
        }
        // A clock that was never set.
        assert!(OnceAMinute::new().is_due(0));
    }
}
