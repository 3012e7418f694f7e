//! No panic crosses into Envoy.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

thread_local! {
    static LAST_PANIC: Cell<String> = const { Cell::new(String::new()) };
}

/// Runs something. If it panics, returns the panic's message.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // The default hook would write each panic to standard error.
    HOOK.call_once(|| {
        set_hook(Box::new(|info| {
            // A thread that is ending has lost its variables, and with them the message.
            let _ = LAST_PANIC.try_with(|last| last.set(info.to_string()));
        }));
    });
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| match LAST_PANIC.try_with(Cell::take) {
        Ok(message) => message,
        Err(_) => "panicked while the thread was ending".to_owned(),
    })
}
