//! The body of a response that the module takes the place of.
//!
//! The module is a filter after those that make a page (`sub_filter`, SSI) and before those that compress it. If it wants the
//! body of a response, the head waits: the filter collects the body, has it converted, and sends head and body then. A large
//! body is converted in nginx's thread pool, so that the event loop goes on. If the body has to be sent as it came, what was
//! collected goes out first, and the rest passes.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use ngx::allocator::allocate;
use ngx::core::{Pool, Status};
use ngx::ffi::{ngx_buf_t, ngx_chain_t, ngx_conf_t, ngx_http_request_t, ngx_int_t};

use super::module::Module;
use super::panics::{catch, guard};
use super::pool;
use super::request::Request;
use super::request_bits::{is_header_only, is_kept_alive, set_waiting};
use super::types::{Exported, ModuleTypes};

/// A body that is collected, to be converted as a whole.
pub(crate) trait Body: Send + 'static {
    /// What a conversion results in.
    type Converted: Send + 'static;

    /// Takes the next bytes; false if there are too many, and then takes none.
    fn push(&mut self, bytes: &[u8]) -> bool;

    /// Whether the conversion would keep the event loop waiting.
    fn is_large(&self) -> bool;

    /// Converts what was collected, in any thread.
    fn convert(&self) -> Self::Converted;
}

/// How far the response is.
enum State<M: ModuleTypes> {
    /// The body is being collected.
    Collecting(M::Body),
    /// A thread converts it. The box belongs to [`Work`] until the thread is done.
    InThread(NonNull<Work<M>>),
    /// The head is out, and all that comes passes.
    Passing,
    /// All is out: what comes is left out.
    Done,
}

/// What a thread gets.
struct Work<M: ModuleTypes> {
    body: M::Body,
    result: Option<Result<<M::Body as Body>::Converted, String>>,
}

/// What is kept of a response whose body is collected.
pub(super) struct Collected<M: ModuleTypes> {
    state: Cell<State<M>>,
}

impl<M: ModuleTypes> Drop for Collected<M> {
    fn drop(&mut self) {
        if let State::InThread(work) = self.state.replace(State::Done) {
            // SAFETY: `start` leaked it from a `Box`. nginx keeps the request until the thread is done.
            drop(unsafe { Box::from_raw(work.as_ptr()) });
        }
    }
}

/// Calls the filters that come after this one.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) header: unsafe extern "C" fn(*mut ngx_http_request_t) -> ngx_int_t,
    pub(super) body: unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_chain_t) -> ngx_int_t,
}

unsafe extern "C" {
    fn threads_need(cf: *mut ngx_conf_t) -> ngx_int_t;
    fn threads_post(
        request: *mut ngx_http_request_t,
        work: *mut c_void,
        run: unsafe extern "C" fn(*mut c_void),
    ) -> ngx_int_t;
}

/// Makes sure that workers have threads for large bodies, if this nginx has threads.
///
/// # Safety
///
/// nginx is reading the configuration `cf`.
pub(super) unsafe fn need_threads(cf: *mut ngx_conf_t) -> Status {
    // SAFETY: the caller's promise.
    Status(unsafe { threads_need(cf) })
}

impl<M: Exported> Request<'_, M> {
    /// Starts to collect the body of the response. False if there is no memory.
    pub(super) fn collect(&mut self, body: M::Body) -> bool {
        let collected = Collected::<M> { state: Cell::new(State::Collecting(body)) };
        self.set_filter_need_in_memory();
        // SAFETY: the request is live, and so is its pool.
        unsafe {
            let Some(kept) = pool::keep((*self.as_ptr()).pool, || collected) else { return false };
            *slot::<M>(self.as_ptr()) = kept.as_ptr().cast();
        }
        true
    }
}

/// Where nginx keeps a pointer for this module with a request.
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

/// What to send.
enum Sent {
    /// The whole body.
    Whole(Vec<u8>),
    /// Its beginning; the rest passes, of which this is the first part.
    Beginning(Vec<u8>, *mut ngx_chain_t),
}

/// Takes the next part of the body. No panic leaves the calls to the module.
///
/// # Safety
///
/// nginx is calling the body filter in its main thread, with this request, of which there is no handle, and this chain.
pub(super) unsafe fn filter<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
    collected: &Collected<M>,
    next: Next,
) -> ngx_int_t {
    // SAFETY: the caller's promise, for all of this function.
    unsafe {
        let sent = match collected.state.replace(State::Done) {
            State::Passing => {
                collected.state.set(State::Passing);
                return (next.body)(raw, chain);
            }
            State::Done => {
                consume(chain);
                return (next.body)(raw, ptr::null_mut());
            }
            State::InThread(work) if (*work.as_ptr()).result.is_none() => {
                consume(chain);
                collected.state.set(State::InThread(work));
                return Status::NGX_AGAIN.into();
            }
            State::InThread(work) => {
                set_waiting(raw, false);
                let Work { body, result } = *Box::from_raw(work.as_ptr());
                convert_head::<M>(raw, body, result)
            }
            State::Collecting(mut body) => match collect_chain(&mut body, raw, chain) {
                Progress::More => {
                    collected.state.set(State::Collecting(body));
                    return Status::NGX_OK.into();
                }
                Progress::Complete if body.is_large() => match start::<M>(raw, body, collected) {
                    None => return Status::NGX_AGAIN.into(),
                    Some(body) => convert_here::<M>(raw, body),
                },
                Progress::Complete => convert_here::<M>(raw, body),
                Progress::GivenUp(rest) => Sent::Beginning(given_up::<M>(raw, body), rest),
            },
        };
        let (bytes, rest) = match sent {
            Sent::Whole(bytes) => (bytes, None),
            Sent::Beginning(bytes, rest) => (bytes, Some(rest)),
        };
        collected.state.set(if rest.is_none() { State::Done } else { State::Passing });
        let head = Status((next.header)(raw));
        if head == Status::NGX_ERROR || head > Status::NGX_OK || is_header_only(raw) {
            return head.into();
        }
        let body = send_bytes(raw, bytes, rest.is_none(), next);
        match rest {
            Some(rest) if body != Status::NGX_ERROR => (next.body)(raw, rest),
            _ => body.into(),
        }
    }
}

/// How far the collection is after a chain.
enum Progress {
    More,
    Complete,
    /// From this link on, nothing was taken. The buffers before it are empty now, and nginx refuses to send such.
    GivenUp(*mut ngx_chain_t),
}

/// # Safety
///
/// `chain` is what nginx has passed to the body filter for this request.
unsafe fn collect_chain(
    body: &mut impl Body,
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
) -> Progress {
    let mut link = chain;
    let mut is_complete = false;
    // SAFETY: a chain is valid links to valid buffers, up to null. What a buffer has in memory is between `pos` and `last`.
    unsafe {
        while let Some(ngx_chain_t { buf, next }) = link.as_ref() {
            let buffer = &mut **buf;
            let is_in_memory = buffer.temporary() != 0 || buffer.memory() != 0 || buffer.mmap() != 0;
            if is_in_memory && buffer.last > buffer.pos {
                let length = buffer.last.offset_from(buffer.pos).unsigned_abs();
                if !body.push(std::slice::from_raw_parts(buffer.pos, length)) {
                    return Progress::GivenUp(link);
                }
                buffer.pos = buffer.last;
            } else if buffer.in_file() != 0 && buffer.file_last > buffer.file_pos {
                // No filter has read it, although this one asked for that.
                return Progress::GivenUp(link);
            } else if buffer.flush() != 0 && buffer.last_buf() == 0 && is_of_broken_upstream(raw) {
                return Progress::GivenUp(link);
            }
            is_complete |= buffer.last_buf() != 0;
            link = *next;
        }
    }
    if is_complete { Progress::Complete } else { Progress::More }
}

/// Whether an upstream has broken off: nginx then ends the connection to the client after what there is.
///
/// # Safety
///
/// `request` is live.
unsafe fn is_of_broken_upstream(request: *mut ngx_http_request_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let upstream = (*request).upstream;
        !upstream.is_null() && (*upstream).peer.connection.is_null() && !is_kept_alive(request)
    }
}

/// Marks a chain as sent.
///
/// # Safety
///
/// As for [`collect_chain`].
unsafe fn consume(mut chain: *mut ngx_chain_t) {
    // SAFETY: as in `collect_chain`.
    unsafe {
        while let Some(ngx_chain_t { buf, next }) = chain.as_ref() {
            (**buf).pos = (**buf).last;
            (**buf).file_pos = (**buf).file_last;
            chain = *next;
        }
    }
}

/// Has a thread convert the body. Gives it back if there is none.
///
/// # Safety
///
/// The request is live, and the state of its response is `collected`.
unsafe fn start<M: ModuleTypes>(
    raw: *mut ngx_http_request_t,
    body: M::Body,
    collected: &Collected<M>,
) -> Option<M::Body> {
    let work = NonNull::from(Box::leak(Box::new(Work::<M> { body, result: None })));
    // SAFETY: the work stays where it is until the state is taken, which waits for its result. nginx calls `run` once.
    unsafe {
        if Status(threads_post(raw, work.as_ptr().cast(), run::<M>)).is_ok() {
            set_waiting(raw, true);
            collected.state.set(State::InThread(work));
            return None;
        }
        Some(Box::from_raw(work.as_ptr()).body)
    }
}

/// Runs in a thread.
unsafe extern "C" fn run<M: ModuleTypes>(work: *mut c_void) {
    // SAFETY: `start` passed this work, which nobody else uses until nginx has called the main thread.
    let work = unsafe { &mut *work.cast::<Work<M>>() };
    let converted = catch(|| work.body.convert());
    work.result = Some(converted);
}

/// # Safety
///
/// As for [`filter`].
unsafe fn convert_here<M: Module + Exported>(raw: *mut ngx_http_request_t, body: M::Body) -> Sent {
    let result = catch(|| body.convert());
    // SAFETY: the caller's promise.
    unsafe { convert_head::<M>(raw, body, Some(result)) }
}

/// Has the module change the head of the response, whose body was converted.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn convert_head<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    body: M::Body,
    result: Option<Result<<M::Body as Body>::Converted, String>>,
) -> Sent {
    let convert = |request: &mut Request<'_, M>| match result {
        Some(Ok(converted)) => M::on_converted(request, body, converted),
        Some(Err(message)) => {
            M::on_panic(request.main_thread(), &message);
            M::on_unconverted(request, body)
        }
        None => M::on_unconverted(request, body),
    };
    // SAFETY: the caller's promise.
    Sent::Whole(unsafe { with_request::<M>(raw, convert) })
}

/// # Safety
///
/// As for [`filter`].
unsafe fn given_up<M: Module + Exported>(raw: *mut ngx_http_request_t, body: M::Body) -> Vec<u8> {
    // SAFETY: the caller's promise.
    unsafe { with_request::<M>(raw, |request| M::on_unconverted(request, body)) }
}

/// Has the module say what is to be sent: nothing, if it panics.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn with_request<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    call: impl FnOnce(&mut Request<'_, M>) -> Vec<u8>,
) -> Vec<u8> {
    // SAFETY: the caller's promise. Nothing ends the request before the call returns.
    unsafe {
        guard::<M, _>(Vec::new(), |main_thread| {
            call(&mut Request::new(NonNull::new_unchecked(raw), main_thread))
        })
    }
}

/// Sends bytes, which the pool of the request keeps.
///
/// # Safety
///
/// The request is live, and its head is out.
unsafe fn send_bytes(raw: *mut ngx_http_request_t, bytes: Vec<u8>, is_whole: bool, next: Next) -> Status {
    // SAFETY: a buffer may be zeroed. It points at bytes that stay where they are as long as the pool. The link of the chain
    // need not outlive the call.
    unsafe {
        let Some(kept) = pool::keep((*raw).pool, || bytes) else { return Status::NGX_ERROR };
        let bytes = kept.as_ref();
        if bytes.is_empty() && !is_whole {
            return Status::NGX_OK;
        }
        let mut buffer: ngx_buf_t = std::mem::zeroed();
        buffer.pos = bytes.as_ptr().cast_mut();
        buffer.last = buffer.pos.add(bytes.len());
        buffer.set_memory(u32::from(!bytes.is_empty()));
        buffer.set_last_buf(u32::from(is_whole));
        buffer.set_last_in_chain(u32::from(is_whole));
        let Ok(buffer) = allocate(buffer, &Pool::from_ngx_pool((*raw).pool)) else {
            return Status::NGX_ERROR;
        };
        let mut chain = ngx_chain_t { buf: buffer.as_ptr(), next: ptr::null_mut() };
        Status((next.body)(raw, &raw mut chain))
    }
}
