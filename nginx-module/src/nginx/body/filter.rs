//! The filter for the bodies that are collected: it collects, has them converted, and sends the head and a body.

use std::ptr::{self, NonNull};

use ngx::core::Status;
use ngx::ffi::{ngx_chain_t, ngx_http_request_t, ngx_int_t};

use super::{Body, Bytes, Collected, Converted, State};
use crate::nginx::chain::{Progress, collect_chain, consume};
use crate::nginx::module::Module;
use crate::nginx::panics::{catch, guard};
use crate::nginx::request::Request;
use crate::nginx::request_bits::{end_connection, is_header_only, set_waiting};
use crate::nginx::threads;
use crate::nginx::types::Exported;

/// The bytes to send.
enum Sent<M: Exported> {
    /// The whole body.
    Whole(Bytes<M>),
    /// Its beginning; the rest passes, of which this is the first part.
    Beginning(Bytes<M>, *mut ngx_chain_t),
}

/// Takes the next part of the body. After a panic in a call to the module, the body goes out as it came.
///
/// # Safety
///
/// nginx calls the body filter in its main thread, with this request and this chain. There is no handle of the request.
pub(in crate::nginx) unsafe fn filter<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
    collected: &Collected<M>,
) -> ngx_int_t {
    // SAFETY: the caller's promise, for all of this function.
    unsafe {
        let sent: Option<Sent<M>> = match collected.state.replace(State::Done) {
            State::Converted(body, result) => {
                set_waiting(raw, false);
                converted::<M>(raw, body, result).map(Sent::Whole)
            }
            State::Collecting(mut body) => match collect_chain::<M>(&mut body, raw, chain) {
                Progress::More => {
                    collected.state.set(State::Collecting(body));
                    return Status::NGX_OK.into();
                }
                Progress::Complete => match start::<M>(raw, body, collected) {
                    Ok(()) => return Status::NGX_AGAIN.into(),
                    Err(body) => {
                        let result = catch(|| body.convert(&|| true, false));
                        converted::<M>(raw, body, result).map(Sent::Whole)
                    }
                },
                Progress::GivenUp(rest) => {
                    unconverted::<M>(raw, body).map(|bytes| Sent::Beginning(bytes, rest))
                }
            },
            other => return without_body(raw, chain, collected, other),
        };
        send(raw, collected, sent)
    }
}

/// Has the body go out as it came, after a panic before [`filter`] took anything, or at the end of a request whose body breaks
/// off. After a panic later on, the request ends.
///
/// # Safety
///
/// As for [`filter`].
pub(in crate::nginx) unsafe fn give_up<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
    collected: &Collected<M>,
) -> ngx_int_t {
    // SAFETY: the caller's promise, for all of this function.
    unsafe {
        match collected.state.replace(State::Done) {
            State::Collecting(body) => {
                let sent = unconverted::<M>(raw, body).map(|bytes| Sent::Beginning(bytes, chain));
                send(raw, collected, sent)
            }
            State::Converted(body, _) => {
                set_waiting(raw, false);
                send(raw, collected, unconverted::<M>(raw, body).map(Sent::Whole))
            }
            // The panic came after [`filter`] had taken something.
            State::Done => Status::NGX_ERROR.into(),
            other => without_body(raw, chain, collected, other),
        }
    }
}

/// Continues in a state that has no body to send, and restores that state.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn without_body<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
    collected: &Collected<M>,
    state: State<M>,
) -> ngx_int_t {
    // SAFETY: the caller's promise, for all of this function.
    unsafe {
        let (answer, rest) = match &state {
            State::Passing => (None, chain),
            State::Done => {
                consume(chain);
                (None, ptr::null_mut())
            }
            State::InThread(_) => {
                consume(chain);
                (Some(Status::NGX_AGAIN), ptr::null_mut())
            }
            State::Gone | State::Collecting(_) | State::Converted(..) => {
                set_waiting(raw, false);
                (Some(Status::NGX_ERROR), ptr::null_mut())
            }
        };
        collected.state.set(state);
        let sent = answer.map_or_else(|| (collected.next.body)(raw, rest), ngx_int_t::from);
        collected.drop_sent();
        sent
    }
}

/// Sends the head, and what there is of the body.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn send<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    collected: &Collected<M>,
    sent: Option<Sent<M>>,
) -> ngx_int_t {
    // SAFETY: the caller's promise, for all of this function.
    unsafe {
        let (bytes, rest) = match sent {
            Some(Sent::Whole(bytes)) => (bytes, None),
            Some(Sent::Beginning(bytes, rest)) => (bytes, Some(rest)),
            None => return Status::NGX_ERROR.into(),
        };
        collected.state.set(if rest.is_none() { State::Done } else { State::Passing });
        let length = usize::try_from((*raw).headers_out.content_length_n).ok();
        if rest.is_none() && length.is_some_and(|length| length != bytes.as_ref().len()) {
            // The client would wait for the rest.
            end_connection(raw);
        }
        let head = Status((collected.next.header)(raw));
        if head == Status::NGX_ERROR || head > Status::NGX_OK || is_header_only(raw) {
            return head.into();
        }
        let body = collected.keep_and_send(raw, bytes, rest.is_none());
        let sent = match rest {
            Some(rest) if body != Status::NGX_ERROR && !rest.is_null() => (collected.next.body)(raw, rest),
            _ => body.into(),
        };
        collected.drop_sent();
        sent
    }
}

/// Has a thread convert the body if it is large. Gives it back if it is small or no thread is available.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn start<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    body: M::Body,
    collected: &Collected<M>,
) -> Result<(), M::Body> {
    // SAFETY: the caller's promise. nginx calls nothing of the module before this returns.
    unsafe {
        if !guard::<M, _>(false, |_| body.is_large()) {
            return Err(body);
        }
        let work = threads::post::<M>(raw, body, NonNull::from(collected))?;
        set_waiting(raw, true);
        collected.state.set(State::InThread(work));
        Ok(())
    }
}

/// Has the module change the head of a response whose body was converted. Returns what is sent as its body.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn converted<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    body: M::Body,
    result: Result<Converted<M>, String>,
) -> Option<Bytes<M>> {
    let convert = |request: &mut Request<'_, M>, body: &M::Body| match result {
        Ok(converted) => M::on_converted(request, body, converted),
        Err(message) => {
            M::on_panic(request.main_thread(), &message);
            M::on_unconverted(request, body);
            None
        }
    };
    // SAFETY: the caller's promise.
    unsafe { with_request::<M>(raw, body, convert) }
}

/// Has the module change the head of a response that is sent as it came. Returns what was collected of its body.
///
/// # Safety
///
/// As for [`filter`].
pub(super) unsafe fn unconverted<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    body: M::Body,
) -> Option<Bytes<M>> {
    let leave = |request: &mut Request<'_, M>, body: &M::Body| {
        M::on_unconverted(request, body);
        None
    };
    // SAFETY: the caller's promise.
    unsafe { with_request::<M>(raw, body, leave) }
}

/// Calls the module for a request. Returns the bytes that it puts in the place of the body, else those of the body. `None` if there
/// are none of either, after a panic.
///
/// # Safety
///
/// As for [`filter`].
unsafe fn with_request<M: Module + Exported>(
    raw: *mut ngx_http_request_t,
    body: M::Body,
    call: impl FnOnce(&mut Request<'_, M>, &M::Body) -> Option<Bytes<M>>,
) -> Option<Bytes<M>> {
    // SAFETY: the caller's promise. Nothing ends the request before the calls return, and the first handle is gone when the
    // second is made.
    unsafe {
        let raw = NonNull::new_unchecked(raw);
        let replaced =
            guard::<M, _>(None, |main_thread| Some(call(&mut Request::new(raw, main_thread), &body)));
        if replaced.is_none() {
            // The head may be half changed. The length in it may be that of other bytes.
            guard::<M, _>((), |main_thread| Request::<M>::new(raw, main_thread).set_length(None));
        }
        replaced.flatten().or_else(|| guard::<M, _>(None, |_| Some(body.into_bytes())))
    }
}
