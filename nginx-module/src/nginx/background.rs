//! Work beside the event loop, in a thread of its own.

use std::ffi::c_void;
use std::io;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use super::guard::caught;

/// How much stack such a thread has, in bytes. Reading a feed takes a few tens of KiB; what is not touched costs nothing.
const STACK: usize = 1 << 20;

/// How long the end of a configuration or a worker waits for it: less than the time after which nginx's master kills a
/// worker that it told to end.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// Work that goes on while the event loop serves requests. Dropping it waits for its end, so that it does not run into that
/// of the process; but not for ever, since a network file system may never answer. Then the module's code stays where it is,
/// which nginx unloads with a configuration, for as long as the process lives.
#[derive(Debug)]
pub(crate) struct Background<T> {
    /// `None` once its result was taken.
    thread: Option<JoinHandle<Result<T, String>>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts work at the lowest priority.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread.
    pub(crate) fn start(work: impl FnOnce() -> T + Send + 'static) -> io::Result<Self> {
        // A thread begins with the signals of its parent: those that nginx handles are for the main thread alone.
        let blocked = BlockedSignals::all();
        let thread = Builder::new().name("crawlward".to_owned()).stack_size(STACK).spawn(move || {
            yield_to_requests();
            caught(work)
        });
        drop(blocked);
        Ok(Self { thread: Some(thread?) })
    }

    /// Whether it has come to its end, so that its result need not be waited for.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for its result; where it panicked, the error is what it said.
    pub(crate) fn result(mut self) -> Result<T, String> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Err(String::new()),
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
            // Nobody wants its result any more.
            let _ = thread.join();
        } else {
            keep_code();
        }
    }
}

/// Keeps this module's code loaded until the end of the process.
fn keep_code() {
    let code: *const c_void = (keep_code as fn()) as *const c_void;
    // SAFETY: `dladdr` fills the description of the file that has this function, whose name lives as long as the file is
    // loaded. `dlopen` counts one more user of it, whom nobody takes back; where the code is part of nginx itself, there is
    // nothing to keep.
    unsafe {
        let mut file: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(code, &raw mut file) != 0 && !file.dli_fname.is_null() {
            libc::dlopen(file.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        }
    }
}

/// On Linux every thread has a priority of its own; elsewhere the whole worker would get it.
fn yield_to_requests() {
    #[cfg(target_os = "linux")]
    // SAFETY: no memory is involved. Where it fails, the thread has the priority of the worker.
    unsafe {
        libc::nice(19);
    }
}

/// Keeps signals from the calling thread for as long as it lives.
struct BlockedSignals {
    before: libc::sigset_t,
}

impl BlockedSignals {
    fn all() -> Self {
        // SAFETY: both sets are plain memory of ours, which the calls fill.
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
        // SAFETY: the set is what `all` was given.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}
