//! Threads, which the system may refuse to start; `std::thread::spawn` would panic.

use std::io;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Starts work in a thread of its own.
///
/// # Errors
///
/// If the system has no thread to give.
pub fn start<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    Builder::new().spawn(work).map_err(cannot_start)
}

/// Starts work in a thread that ends with a scope.
///
/// # Errors
///
/// If the system has no thread to give.
pub fn start_in<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> io::Result<ScopedJoinHandle<'s, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(cannot_start)
}

fn cannot_start(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot start a thread: {error}"))
}
