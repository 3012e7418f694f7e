//! Functions of nginx for its main thread alone.

use std::cell::Cell;
use std::marker::PhantomData;

use ngx::ffi::{ngx_exiting, ngx_quit, ngx_terminate, ngx_time};
use ngx::log::ngx_cycle_log;

use super::log::{self, LogLevel};

/// A proof that nginx called the code that runs, for `'t`, in its main thread: the one that reads the configuration and runs
/// the event loop. It can't get into another thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MainThread<'t>(PhantomData<(&'t (), *const ())>);

impl MainThread<'_> {
    /// # Safety
    ///
    /// nginx has called the code that runs, in its main thread, and the lifetime ends before the code returns.
    pub(super) unsafe fn assume() -> Self {
        Self(PhantomData)
    }

    /// The time of the current event, in seconds since the Unix epoch.
    pub(crate) fn now(self) -> i64 {
        ngx_time()
    }

    /// Writes a line to the error log of the server.
    pub(crate) fn log(self, level: LogLevel, message: &str) {
        // SAFETY: the log of the current cycle is live. nginx replaces the cycle in this thread only.
        unsafe { log::write(ngx_cycle_log(), level, || message.to_owned()) };
    }

    /// Returns true if this process accepts no more requests.
    pub(super) fn is_exiting(self) -> bool {
        // SAFETY: these are plain integers, which nginx writes in this thread only.
        unsafe { ngx_exiting != 0 || ngx_quit != 0 || ngx_terminate != 0 }
    }
}

/// A static variable of the main thread.
pub(super) struct MainThreadCell<T>(Cell<T>);

// SAFETY: every access takes a `MainThread`, which no other thread has.
unsafe impl<T> Sync for MainThreadCell<T> {}

impl<T: Copy> MainThreadCell<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(Cell::new(value))
    }

    pub(super) fn get(&self, _: MainThread<'_>) -> T {
        self.0.get()
    }

    pub(super) fn set(&self, _: MainThread<'_>, value: T) {
        self.0.set(value);
    }
}
