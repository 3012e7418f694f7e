//! Work in nginx's thread pool, for a response that waits for it: see `threads.c`.
//!
//! The main thread and a thread of the pool share a [`Work`]. Its stage, an atomic number, says whose the body is: the thread takes
//! it only where the main thread has not, and gives it back by its end, after which nginx calls `done` in the main thread.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use ngx::core::Status;
use ngx::ffi::{ngx_conf_t, ngx_http_request_t, ngx_int_t};

use super::body::{Body, Collected, Converted};
use super::memory;
use super::module::Module;
use super::panics::catch;
use super::types::Exported;

unsafe extern "C" {
    fn threads_need(cf: *mut ngx_conf_t) -> ngx_int_t;
    fn threads_post(
        request: *mut ngx_http_request_t,
        work: *const c_void,
        run: unsafe extern "C" fn(*const c_void),
        done: unsafe extern "C" fn(*const c_void),
    ) -> ngx_int_t;
}

/// No thread has taken the work: the body is the main thread's.
const WAITING: u8 = 0;
/// A thread has taken it: the body is that thread's, until nginx calls `done`.
const TAKEN: u8 = 1;
/// Nobody waits for it any more. Whose the body is does not change by this, but no thread takes it from now on.
const UNWANTED: u8 = 2;

/// A body on its way to a thread and back.
pub(super) struct Work<M: Exported> {
    stage: AtomicU8,
    content: UnsafeCell<Content<M>>,
    /// The response that waits. Only the main thread follows this.
    collected: NonNull<Collected<M>>,
}

struct Content<M: Exported> {
    /// `None`: the main thread has taken it back.
    body: Option<M::Body>,
    result: Option<Result<Converted<M>, String>>,
}

/// The way back of a work.
pub(super) enum Returned<M: Exported> {
    /// The thread has converted the body. The error is the message of a panic.
    Converted(M::Body, Result<Converted<M>, String>),
    /// Nobody waited for it any more. `None`: the body was dropped before.
    Unwanted(Option<M::Body>),
}

impl<M: Exported> Work<M> {
    /// Notes that nobody waits for this any more. Gives back the body if no thread has taken it.
    ///
    /// # Safety
    ///
    /// This is the main thread, and `done` has not been called.
    pub(super) unsafe fn abandon(&self) -> Option<M::Body> {
        match self.stage.swap(UNWANTED, AcqRel) {
            // SAFETY: no thread has taken the body, and none will: the exchange in `run` finds another stage.
            WAITING => unsafe { (*self.content.get()).body.take() },
            _ => None,
        }
    }
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
pub(super) unsafe fn post<M: Module + Exported>(
    request: *mut ngx_http_request_t,
    body: M::Body,
    collected: NonNull<Collected<M>>,
) -> Result<Arc<Work<M>>, M::Body> {
    let content = UnsafeCell::new(Content { body: Some(body), result: None });
    let work = Arc::new(Work::<M> { stage: AtomicU8::new(WAITING), content, collected });
    let posted = Arc::into_raw(Arc::clone(&work));
    // SAFETY: the caller's promise. If nginx accepts the work, it calls `run` once and then `done` once. Otherwise it calls
    // neither, so that this is the only reference.
    unsafe {
        if Status(threads_post(request, posted.cast(), run::<M>, done::<M>)).is_ok() {
            return Ok(work);
        }
        drop(Arc::from_raw(posted));
        (*work.content.get()).body.take().map_or(Ok(work), Err)
    }
}

/// Converts a body, in a thread of the pool.
unsafe extern "C" fn run<M: Exported>(work: *const c_void) {
    // SAFETY: `post` gave this reference away, and `done` has not been called, which gives it back. The thread follows no pointer
    // in it, and changes no number of references.
    let work = unsafe { &*work.cast::<Work<M>>() };
    if work.stage.compare_exchange(WAITING, TAKEN, AcqRel, Acquire).is_err() {
        return;
    }
    // SAFETY: the stage says that the content is this thread's until nginx calls `done`.
    let content = unsafe { &mut *work.content.get() };
    let is_wanted = || work.stage.load(Relaxed) == TAKEN;
    content.result = content.body.as_ref().map(|body| catch(|| body.convert(&is_wanted, true)));
    // Otherwise each thread would keep the memory that the largest page took there.
    memory::trim();
}

/// Takes the work back, in the main thread.
unsafe extern "C" fn done<M: Module + Exported>(work: *const c_void) {
    // SAFETY: `post` gave this reference away, and `run` has returned. nginx keeps the request and its pool, in which the response
    // is, until this call.
    unsafe {
        let work = Arc::from_raw(work.cast::<Work<M>>());
        let is_wanted = work.stage.load(Acquire) != UNWANTED;
        let content = &mut *work.content.get();
        let (body, result) = (content.body.take(), content.result.take());
        let returned = match (body, result) {
            (Some(body), Some(result)) if is_wanted => Returned::Converted(body, result),
            (body, _) => Returned::Unwanted(body),
        };
        Collected::take_back(work.collected, returned);
    }
}
