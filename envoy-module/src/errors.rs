//! Internal errors: the request passes, the error is counted, and the log has a line at most once a minute.

use std::fmt;

use crawlpike_core::metrics::{Event, OnceAMinute};

use crate::envoy::{LogLevel, log};
use crate::statistics;

/// When an internal error was last logged, by any worker.
static LOGGED: OnceAMinute = OnceAMinute::new();

/// Counts an internal error, and logs it at most once a minute.
pub(crate) fn note(error: &dyn fmt::Display) {
    statistics::count_event(Event::Error);
    if LOGGED.is_due(crawlpike_files::now()) {
        log(LogLevel::Error, &format!("crawlpike: internal error: {error}"));
    }
}
