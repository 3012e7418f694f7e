//! The border: no panic crosses it, and a bug lets the request pass, loudly but not often.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;
use std::sync::atomic::{AtomicI64, Ordering};

use ngx::ffi::{NGX_LOG_ALERT, ngx_cycle, ngx_time};

use super::conf::log_line;

/// Seconds between two log lines about internal errors.
const QUIET: i64 = 60;

/// When a worker last logged an internal error, in seconds since the epoch.
static LAST_LOGGED: AtomicI64 = AtomicI64::new(i64::MIN);

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs an entry from nginx; if it panics, logs that and gives `instead`.
pub(super) fn guard<T>(instead: T, entry: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    // The default hook would print a line for each panic, into nginx's error log.
    HOOK.call_once(|| {
        set_hook(Box::new(|info| {
            LAST_PANIC.with(|last| {
                if let Ok(mut last) = last.try_borrow_mut() {
                    *last = info.to_string();
                }
            });
        }));
    });
    match catch_unwind(AssertUnwindSafe(entry)) {
        Ok(value) => value,
        Err(_) => {
            let what = LAST_PANIC.with(|last| last.try_borrow().map(|last| last.clone()).unwrap_or_default());
            internal_error(&what);
            instead
        }
    }
}

/// Logs an internal error, at most once a minute and worker.
pub(super) fn internal_error(what: &str) {
    let now = ngx_time();
    let last = LAST_LOGGED.load(Ordering::Relaxed);
    if now.saturating_sub(last) < QUIET {
        return;
    }
    LAST_LOGGED.store(now, Ordering::Relaxed);
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
