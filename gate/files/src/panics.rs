//! Panics of a gate, which must not reach its server.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

thread_local! {
    static LAST_PANIC: Cell<String> = const { Cell::new(String::new()) };
}

/// Runs something.
///
/// # Errors
///
/// It panics: the message of the panic, which is written nowhere else.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // The default hook would write each panic to standard error, which may be the server's log.
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
