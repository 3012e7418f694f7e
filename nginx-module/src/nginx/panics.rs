//! No panic crosses into nginx.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

use super::main_thread::MainThread;

thread_local! {
    static LAST_PANIC: Cell<String> = const { Cell::new(String::new()) };
}

/// What a module does about its own bugs.
pub(crate) trait PanicHandler {
    /// Code that nginx called has panicked. nginx continues as if the module had declined.
    fn on_panic(main_thread: MainThread<'_>, message: &str);
}

/// Runs an entry from nginx. If it panics, reports that and returns `instead`.
///
/// # Safety
///
/// nginx is calling, in its main thread.
pub(super) unsafe fn guard<P: PanicHandler, T>(instead: T, entry: impl FnOnce(MainThread<'_>) -> T) -> T {
    // SAFETY: the caller's promise.
    let main_thread = unsafe { MainThread::assume() };
    catch(|| entry(main_thread)).unwrap_or_else(|message| {
        // If the handler panics as well, nobody is left to report that to.
        let _ = catch(|| P::on_panic(main_thread, &message));
        instead
    })
}

/// Runs something. If it panics, returns the panic's message.
pub(super) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    // The default hook would write each panic to standard error, which is nginx's error log.
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
