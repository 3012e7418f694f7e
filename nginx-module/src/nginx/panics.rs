//! No panic crosses into nginx.

#[cfg(not(feature = "faults-for-tests"))]
pub(super) use crawlpike_files::catch;
#[cfg(feature = "faults-for-tests")]
pub(super) use faults::catch;

use super::main_thread::MainThread;

#[cfg(feature = "faults-for-tests")]
#[path = "../../../tests/faults/panics.rs"]
mod faults;

/// A module's reaction to its own bugs.
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
