//! Internal errors: calls that the host refused.

use crawlpike_core::metrics::{Event, OnceAMinute};

use crate::host::Refused;
use crate::{metrics, raw};

/// The internal errors of one configuration.
#[derive(Debug, Default)]
pub struct Errors {
    /// When one was last logged.
    logged: OnceAMinute,
}

impl Errors {
    /// Counts an internal error, and logs it at most once a minute.
    pub fn note(&self, refused: Refused) {
        // If the host refuses to count it, the log is all there is.
        let _ = metrics::count_event(Event::Error);
        // Without a clock, the first error is the only one in the log.
        if self.logged.is_due(raw::now().unwrap_or_default()) {
            log::error!("crawlpike: internal error: {refused}");
        }
    }
}
