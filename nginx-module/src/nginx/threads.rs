//! Work in nginx's thread pool, for a response that waits for it: see `threads.c`.
//!
//! The work belongs to one thread at a time. `post` gives it away; a thread of the pool has it until its end; then nginx calls
//! `done` in the main thread, which takes it back. Meanwhile the main thread has no pointer to it.

use std::ffi::c_void;
use std::ptr::NonNull;

use ngx::core::Status;
use ngx::ffi::{ngx_conf_t, ngx_http_request_t, ngx_int_t};

use super::body::{Body, Collected, Converted};
use super::panics::catch;
use super::types::Exported;

unsafe extern "C" {
    fn threads_need(cf: *mut ngx_conf_t) -> ngx_int_t;
    fn threads_post(
        request: *mut ngx_http_request_t,
        work: *mut c_void,
        run: unsafe extern "C" fn(*mut c_void),
        done: unsafe extern "C" fn(*mut ngx_http_request_t, *mut c_void),
    ) -> ngx_int_t;
}

/// A body on its way to a thread and back.
struct Work<M: Exported> {
    body: M::Body,
    result: Option<Result<Converted<M>, String>>,
    /// The response that waits. Only the main thread follows this.
    collected: NonNull<Collected<M>>,
}

/// Makes sure that workers have threads for large bodies, if this nginx has threads.
///
/// # Safety
///
/// nginx is reading the configuration `cf`.
pub(super) unsafe fn need(cf: *mut ngx_conf_t) -> Status {
    // SAFETY: the caller's promise.
    Status(unsafe { threads_need(cf) })
}

/// Has a thread convert a body. Gives it back if no thread is available.
///
/// # Safety
///
/// This is the main thread. The request is live, and `collected` is in its pool.
pub(super) unsafe fn post<M: Exported>(
    request: *mut ngx_http_request_t,
    body: M::Body,
    collected: NonNull<Collected<M>>,
) -> Result<(), M::Body> {
    let work = Box::into_raw(Box::new(Work::<M> { body, result: None, collected }));
    // SAFETY: the caller's promise. If nginx accepts the work, it calls `run` once and then `done` once. Otherwise it calls
    // neither, and the work is still ours.
    unsafe {
        if Status(threads_post(request, work.cast(), run::<M>, done::<M>)).is_ok() {
            return Ok(());
        }
        Err(Box::from_raw(work).body)
    }
}

/// Converts a body, in a thread of the pool.
unsafe extern "C" fn run<M: Exported>(work: *mut c_void) {
    // SAFETY: `post` gave the work away, and `done` has not been called: nobody else has a pointer to it that is used.
    let work = unsafe { &mut *work.cast::<Work<M>>() };
    work.result = Some(catch(|| work.body.convert()));
}

/// Takes the work back, in the main thread.
unsafe extern "C" fn done<M: Exported>(request: *mut ngx_http_request_t, work: *mut c_void) {
    // SAFETY: `post` made the work from a `Box`, and `run` has returned. nginx keeps the request and its pool, in which the
    // response is, until this call.
    unsafe {
        let Work { body, result, collected } = *Box::from_raw(work.cast::<Work<M>>());
        let result = result.unwrap_or_else(|| Err("the thread did not run".to_owned()));
        Collected::take_back(collected, request, body, result);
    }
}
