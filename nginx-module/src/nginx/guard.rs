//! The border: no panic crosses it, and a bug lets the request pass, loudly but not often.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicI64, Ordering};

use crawlward_core::measures::Counters;
use ngx::ffi::{NGX_LOG_ALERT, ngx_cycle, ngx_time};

use super::conf::log_line;
use super::zone::with_counters;

/// Seconds between two log lines about the same thing.
const QUIET: i64 = 60;

/// When a worker last logged an internal error.
static LAST_LOGGED: Seldom = Seldom::new();

/// Something that is said at most once a minute and worker, however often there is cause.
pub(crate) struct Seldom {
    /// When it was last said, in seconds since the epoch.
    last: AtomicI64,
}

impl Seldom {
    pub(crate) const fn new() -> Self {
        Self { last: AtomicI64::new(i64::MIN) }
    }

    /// Whether it is to be said now.
    pub(crate) fn is_due(&self) -> bool {
        let now = ngx_time();
        let is_due = now.saturating_sub(self.last.load(Ordering::Relaxed)) >= QUIET;
        if is_due {
            self.last.store(now, Ordering::Relaxed);
        }
        is_due
    }
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs an entry from nginx; if it panics, logs that and gives `instead`.
pub(super) fn guard<T>(instead: T, entry: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    // The default hook would print a line for each panic, into nginx's error log.
    HOOK.call_once(|| {
        set_hook(Box::new(|info| {
            let _ = LAST_PANIC.try_with(|last| {
                if let Ok(mut last) = last.try_borrow_mut() {
                    *last = info.to_string();
                }
            });
        }));
    });
    match catch_unwind(AssertUnwindSafe(entry)) {
        Ok(value) => value,
        Err(_) => {
            let last = LAST_PANIC.try_with(|last| last.try_borrow().map(|last| last.clone()).ok());
            internal_error(&last.ok().flatten().unwrap_or_default());
            instead
        }
    }
}

/// Counts an internal error, and logs it at most once a minute and worker.
pub(super) fn internal_error(what: &str) {
    with_counters(Counters::count_error);
    if !LAST_LOGGED.is_due() {
        return;
    }
    // SAFETY: nginx sets ngx_cycle before it calls any module, and its log lives as long as the cycle.
    let log = unsafe { ngx_cycle.as_ref() }.map(|cycle| cycle.log);
    if let Some(log) = log {
        log_line(
            NGX_LOG_ALERT as usize,
            log,
            &format!("crawlward: internal error, the request passes: {what}"),
        );
    }
}
