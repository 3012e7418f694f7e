//! The border: no panic crosses it, and a bug lets the request pass, loudly but not often.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

use crawlward_core::measures::Counters;
use crawlward_core::seldom::Seldom;
use ngx::ffi::ngx_time;

use super::conf::{LogLevel, log};
use super::zone::with_counters;

/// When a worker last logged an internal error.
static LAST_LOGGED: Seldom = Seldom::new();

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs an entry from nginx; if it panics, logs that and gives `instead`.
pub(super) fn guard<T>(instead: T, entry: impl FnOnce() -> T) -> T {
    caught(entry).unwrap_or_else(|panic| {
        internal_error(&format!("the request passes: {panic}"));
        instead
    })
}

/// Runs something; if it panics, gives what the panic said.
pub(super) fn caught<T>(entry: impl FnOnce() -> T) -> Result<T, String> {
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
    catch_unwind(AssertUnwindSafe(entry)).map_err(|_| {
        let last = LAST_PANIC.try_with(|last| last.try_borrow().map(|last| last.clone()).ok());
        last.ok().flatten().unwrap_or_default()
    })
}

/// Counts an internal error, and logs it at most once a minute and worker.
pub(crate) fn internal_error(what: &str) {
    with_counters(Counters::count_error);
    if LAST_LOGGED.is_due(ngx_time()) {
        log(LogLevel::ALERT, &format!("crawlward: internal error, {what}"));
    }
}
