//! Work in a thread of its own: beside the event loop, or beside the heap that requests are served from.

use std::ffi::c_void;
use std::io;
use std::thread::{Builder, JoinHandle, ScopedJoinHandle, scope, sleep};
use std::time::{Duration, Instant};

use super::panics::catch;

/// The stack of such a thread, in bytes. Pages that are not touched cost nothing.
const STACK: usize = 1 << 20;

/// The time that the owner waits for a thread when it is dropped: less than the time after which nginx's master kills a worker
/// that is to exit.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Work that goes on while the event loop serves requests. Dropping it waits for the end of the work, so that it does not run
/// into the end of the process. It does not wait forever, since a network file system may never answer. In that case the
/// module's code stays loaded, which nginx would unload with the configuration, for as long as the process lives.
#[derive(Debug)]
pub(crate) struct Background<T> {
    /// `None` once the result is taken.
    thread: Option<JoinHandle<Result<T, String>>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts work at the lowest priority, in a thread of this name.
    ///
    /// # Errors
    ///
    /// If the system has no thread to give.
    pub(crate) fn start(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        // A thread inherits its parent's mask of signals. Those that nginx handles are for the main thread alone.
        let blocked = BlockedSignals::all();
        let thread = Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
            yield_to_requests();
            catch(work)
        });
        drop(blocked);
        Ok(Self { thread: Some(thread?) })
    }

    /// Returns true if the work is done, so that [`Self::result`] does not wait.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the result. If the work panicked, the error is the panic's message.
    pub(crate) fn result(mut self) -> Result<T, String> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Err("the thread panicked outside of its work".to_owned()),
        }
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let deadline = Instant::now() + LAST_WAIT;
        while !thread.is_finished() && Instant::now() < deadline {
            sleep(Duration::from_millis(1));
        }
        if thread.is_finished() {
            // Nobody wants the result any more.
            let _ = thread.join();
        } else {
            keep_code();
        }
    }
}

/// Does something, and waits for it. What it allocates and frees leaves no holes in the heap from which requests are served:
/// glibc would look through them for each request, which takes hundreds of instructions. A thread has a heap of its own.
///
/// # Errors
///
/// The message of a panic.
pub(crate) fn beside_the_heap<T: Send>(work: impl Fn() -> T + Sync) -> Result<T, String> {
    let caught = || catch(&work);
    scope(|scope| {
        let blocked = BlockedSignals::all();
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, caught);
        drop(blocked);
        match thread.map(ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err("the thread panicked outside of its work".to_owned()),
            // The system has no thread to give: slower requests are better than none.
            Err(_) => caught(),
        }
    })
}

/// Keeps the code of this library loaded until the end of the process.
fn keep_code() {
    let code: *const c_void = (keep_code as fn()) as *const c_void;
    // SAFETY: `dladdr` describes the file that has this function. The name of the file lives as long as the file is loaded.
    // `dlopen` counts one more user of it, and nobody takes that back. If the code is part of nginx itself, there is nothing to
    // keep.
    unsafe {
        let mut file: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(code, &raw mut file) != 0 && !file.dli_fname.is_null() {
            libc::dlopen(file.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        }
    }
}

/// On Linux every thread has a priority of its own. Elsewhere the whole worker would get it.
fn yield_to_requests() {
    #[cfg(target_os = "linux")]
    // SAFETY: no memory is involved. If it fails, the thread has the priority of the worker.
    unsafe {
        libc::nice(19);
    }
}

/// Keeps signals from the calling thread as long as this value lives.
struct BlockedSignals {
    before: libc::sigset_t,
}

impl BlockedSignals {
    fn all() -> Self {
        // SAFETY: both sets are plain memory on the stack, which the calls fill.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Self { before }
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set is the one that `all` has saved.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
