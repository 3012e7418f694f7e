//! The body of a response that the module takes the place of.
//!
//! The module is a filter after those that make a page (`sub_filter`, SSI) and before those that compress it. If it wants the
//! body of a response, the head waits: the filter collects the body, has it converted, and sends head and body then. A large
//! body is converted in nginx's thread pool, so that the event loop goes on. If the body has to be sent as it came, what was
//! collected goes out first, and the rest passes. If the client leaves, the body goes at once, unless a thread has it.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use ngx::core::Status;
use ngx::ffi::{
    NGX_HTTP_VERSION_20, ngx_buf_t, ngx_chain_t, ngx_http_cleanup_add, ngx_http_request_t, ngx_int_t,
    ngx_uint_t,
};

use super::answer::{new_buffer, send_bytes};
use super::module::Module;
use super::panics::guard;
use super::pool;
use super::request::Request;
use super::request_bits::{is_client_gone, set_waiting};
use super::threads::{Returned, Work};
use super::types::{Exported, ModuleTypes};

mod filter;

use filter::unconverted;
pub(super) use filter::{filter, give_up};

/// A body that is collected, to be converted as a whole.
pub(crate) trait Body: Send + 'static {
    /// The result of a conversion.
    type Converted: Send + 'static;
    /// The bytes to send.
    type Bytes: AsRef<[u8]> + Send + 'static;

    /// Takes the next bytes; false if there are too many. It takes all of them or, if it returns false or panics, none.
    fn push(&mut self, bytes: &[u8]) -> bool;

    /// Returns true if the conversion would keep the event loop waiting.
    fn is_large(&self) -> bool;

    /// Converts the collected bytes, in any thread. Once `is_wanted` returns false, nobody looks at the result. `may_wait` is true if
    /// no event loop waits for the thread.
    fn convert(&self, is_wanted: &dyn Fn() -> bool, may_wait: bool) -> Self::Converted;

    /// The collected bytes.
    fn into_bytes(self) -> Self::Bytes;
}

/// The result of converting a module's body.
pub(super) type Converted<M> = <<M as ModuleTypes>::Body as Body>::Converted;

/// The bytes to send in the place of a module's body.
pub(super) type Bytes<M> = <<M as ModuleTypes>::Body as Body>::Bytes;

/// The progress of a response.
enum State<M: Exported> {
    /// The body is being collected.
    Collecting(M::Body),
    /// A thread converts it, or will. The work has the body, and returns it with [`Collected::take_back`].
    InThread(Arc<Work<M>>),
    /// A thread has converted it. The error is the message of a panic.
    Converted(M::Body, Result<Converted<M>, String>),
    /// The head is out, and all that comes passes.
    Passing,
    /// All is out: what comes is left out.
    Done,
    /// The client has left, before all was out.
    Gone,
}

/// A response whose body is collected. It is in the pool of its request; only the main thread uses it.
pub(super) struct Collected<M: Exported> {
    state: Cell<State<M>>,
    /// The bytes that are sent in its place, from when they are known until they are sent.
    bytes: Cell<Option<Bytes<M>>>,
    /// The buffer to send that with.
    buffer: NonNull<ngx_buf_t>,
    /// The request whose response it is.
    request: NonNull<ngx_http_request_t>,
    next: Next,
}

impl<M: Module + Exported> Collected<M> {
    /// Takes a body back from the thread that had it.
    ///
    /// # Safety
    ///
    /// This is the main thread. The request is live, and `this` is in its pool.
    pub(super) unsafe fn take_back(this: NonNull<Self>, returned: Returned<M>) {
        // SAFETY: the caller's promise.
        unsafe {
            let state = match returned {
                Returned::Converted(body, result) => State::Converted(body, result),
                Returned::Unwanted(body) => {
                    this.as_ref().abandon(body);
                    State::Gone
                }
            };
            this.as_ref().state.set(state);
            // If another response has taken the place of this one, no filter will come to this state.
            if this.as_ref().is_forgotten() {
                set_waiting(this.as_ref().request.as_ptr(), false);
            }
        }
    }

    /// Returns true if another response has taken the place of this one.
    ///
    /// # Safety
    ///
    /// The request is live.
    unsafe fn is_forgotten(&self) -> bool {
        // SAFETY: the caller's promise.
        unsafe { !ptr::eq(*slot::<M>(self.request.as_ptr()), ptr::from_ref(self).cast()) }
    }

    /// Ends a body for which nobody waits any more. `None`: it has ended before.
    ///
    /// # Safety
    ///
    /// This is the main thread. The request is live, and there is no handle of it.
    unsafe fn abandon(&self, body: Option<M::Body>) {
        let Some(body) = body else { return };
        // SAFETY: the caller's promise. Nothing ends the request before the call returns.
        unsafe {
            guard::<M, _>((), |main_thread| M::on_abandoned(&Request::new(self.request, main_thread), &body));
        }
    }

    /// Sends bytes, which it keeps until nginx has sent them all, or as long as the request's pool. It needs no memory for that: the
    /// head is out.
    ///
    /// # Safety
    ///
    /// The request is live, its head is out, `self` is in its pool, and this is the first call.
    unsafe fn keep_and_send(&self, raw: *mut ngx_http_request_t, bytes: Bytes<M>, is_whole: bool) -> Status {
        if bytes.as_ref().is_empty() && !is_whole {
            return Status::NGX_OK;
        }
        self.bytes.set(Some(bytes));
        // SAFETY: the caller's promise. The bytes stay where they are until `drop_sent` takes them.
        unsafe {
            let bytes = (*self.bytes.as_ptr()).as_ref().map_or(&[][..], AsRef::as_ref);
            send_bytes(raw, self.buffer, bytes, is_whole, self.next.body)
        }
    }

    /// Drops the bytes that were sent in the place of the body, if nginx has read all of them.
    ///
    /// # Safety
    ///
    /// `self` is in the pool of a live request.
    unsafe fn drop_sent(&self) {
        // SAFETY: the caller's promise: the buffer is in the same pool. Filters read what is between `pos` and `last`, and move `pos`
        // behind what they have read.
        unsafe {
            let buffer = self.buffer.as_ref();
            if buffer.pos == buffer.last {
                self.bytes.take();
            }
        }
    }
}

/// nginx ends a request: because all is out, because the client has left, or because the rest of the body cannot come. If the client
/// has left, nginx calls this at once, although it keeps the request until a thread that has the body returns it.
unsafe extern "C" fn on_end<M: Module + Exported>(collected: *mut c_void) {
    // SAFETY: nginx calls this in its main thread, before it destroys the pool of the request, in which this is. `done` was not
    // called for a work in this state, because it puts another one in its place.
    unsafe {
        let collected = &*collected.cast::<Collected<M>>();
        let (state, raw) = (&collected.state, collected.request.as_ptr());
        match state.replace(State::Gone) {
            // The other response is the one that counts.
            State::Collecting(_) if collected.is_forgotten() => {}
            // Nobody would take back the frames of HTTP/2 and HTTP/3, if nginx is about to free the request.
            State::Collecting(body)
                if !is_client_gone(raw) && (*raw).http_version >= NGX_HTTP_VERSION_20 as ngx_uint_t =>
            {
                drop(unconverted::<M>(raw, body));
            }
            State::Collecting(body) if !is_client_gone(raw) => {
                // As of any body that breaks off, the client gets what came. nginx calls no filter for that: it does not know that
                // the head has waited.
                state.set(State::Collecting(body));
                give_up::<M>(raw, ptr::null_mut(), collected);
            }
            State::Collecting(body) | State::Converted(body, _) => collected.abandon(Some(body)),
            State::InThread(work) => {
                // If a thread has it, `take_back` ends it.
                collected.abandon(work.abandon());
                state.set(State::InThread(work));
            }
            State::Passing => state.set(State::Passing),
            State::Done => state.set(State::Done),
            State::Gone => {}
        }
    }
}

/// Calls the filters that come after this one.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) header: unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t,
    pub(super) body: unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_chain_t) -> ngx_int_t,
}

impl<M: Module + Exported> Request<'_, M> {
    /// Starts to collect the body of the response. False if there is no memory.
    pub(super) fn collect(&mut self, body: M::Body, next: Next) -> bool {
        self.set_filter_need_in_memory();
        // SAFETY: the request is live, and so is its pool. nginx calls a handler of its own list before it destroys the pool.
        unsafe {
            let cleanup = ngx_http_cleanup_add(self.as_ptr(), 0);
            let Some(buffer) = new_buffer((*self.as_ptr()).pool).filter(|_| !cleanup.is_null()) else {
                return false;
            };
            let state = Cell::new(State::Collecting(body));
            let request = NonNull::new_unchecked(self.as_ptr());
            let collected = || Collected::<M> { state, bytes: Cell::default(), buffer, request, next };
            let Some(kept) = pool::keep((*self.as_ptr()).pool, collected) else { return false };
            (*cleanup).data = kept.as_ptr().cast();
            (*cleanup).handler = Some(on_end::<M>);
            *slot::<M>(self.as_ptr()) = kept.as_ptr().cast();
        }
        true
    }
}

/// The place where nginx keeps a pointer for this module with a request.
///
/// # Safety
///
/// `request` is live.
unsafe fn slot<M: Exported>(request: *mut ngx_http_request_t) -> *mut *mut c_void {
    // SAFETY: a request has a pointer for each module, by its index.
    unsafe { (*request).ctx.add(M::ngx_module().ctx_index) }
}

/// Forgets the response that is collected: another one takes its place.
///
/// # Safety
///
/// `request` is live.
pub(super) unsafe fn forget<M: Exported>(request: *mut ngx_http_request_t) {
    // SAFETY: the caller's promise.
    unsafe { *slot::<M>(request) = ptr::null_mut() };
}

/// The response that is collected. Only [`Request::collect`] sets the pointer.
///
/// # Safety
///
/// `request` is live during `'r`.
#[inline]
pub(super) unsafe fn collected<'r, M: Exported>(
    request: *mut ngx_http_request_t,
) -> Option<&'r Collected<M>> {
    // SAFETY: the caller's promise. What the pointer points at lives as long as the request.
    unsafe { (*slot::<M>(request)).cast::<Collected<M>>().as_ref() }
}
