//! The hooks: what Envoy calls, for any [`Module`]. No panic gets out of them, because that would end Envoy.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::LocalKey;

use super::abi::{BodyStatus, Buffer, EnvoyPtr, Header, HeadersStatus, ModulePtr};
use super::module::{Admission, Body, Head, Module};
use super::stream::{HAS_ROUTES, bytes};
use super::{Answer, Configuring, Scheduled, StreamHandle, callbacks, catch};

/// What Envoy keeps for a stream.
pub(crate) struct Stream<M: Module> {
    /// Envoy keeps the configuration longer than its streams.
    configuration: *const M::Configuration,
    stream: M::Stream,
}

/// Room for the next stream of a worker: that of the last one.
pub(crate) type StreamRoom<M> = Cell<Option<Box<MaybeUninit<Stream<M>>>>>;

/// Runs a hook. If it panics, reports that and returns `instead`.
fn guard<M: Module, T>(instead: T, hook: impl FnOnce() -> T) -> T {
    catch(hook).unwrap_or_else(|message| {
        // If that panics as well, nobody is left to report it to.
        let _ = catch(|| M::on_panic(&message));
        instead
    })
}

pub(crate) fn program_init<M: Module>() -> *const c_char {
    guard::<M, _>(ptr::null(), || super::start(M::NAME).map_or(ptr::null(), CStr::as_ptr))
}

/// # Safety
///
/// Envoy is making this configuration, and the buffers are valid.
pub(crate) unsafe fn config_new<M: Module>(configuration: EnvoyPtr, name: Buffer, text: Buffer) -> ModulePtr {
    guard::<M, _>(ptr::null_mut(), || {
        // SAFETY: the caller's promise.
        let (handle, name, text) = unsafe { (Configuring::new(configuration), bytes(name), bytes(text)) };
        M::configure(&handle, name, text).map_or(ptr::null_mut(), |made| Box::into_raw(Box::new(made)).cast())
    })
}

/// # Safety
///
/// `config_new` returned the configuration, and no stream uses it.
pub(crate) unsafe fn config_destroy<M: Module>(configuration: ModulePtr) {
    guard::<M, _>((), || {
        if configuration.is_null() {
            return;
        }
        // SAFETY: the caller's promise.
        let configuration = unsafe { Box::from_raw(configuration.cast::<M::Configuration>()) };
        M::on_dropped(&configuration);
    });
}

/// # Safety
///
/// Envoy calls in the main thread, with a configuration and what `config_new` made for it.
pub(crate) unsafe fn config_scheduled<M: Module>(envoy: EnvoyPtr, configuration: ModulePtr, event: u64) {
    guard::<M, _>((), || {
        // SAFETY: the caller's promise.
        let (scheduled, configuration) =
            unsafe { (Scheduled::new(envoy), configuration.cast::<M::Configuration>().as_ref()) };
        if let Some(configuration) = configuration {
            M::on_scheduled(configuration, &scheduled, event);
        }
    });
}

/// # Safety
///
/// See [`config_scheduled`] and [`Answer::new`].
pub(crate) unsafe fn config_callout_done<M: Module>(
    envoy: EnvoyPtr,
    configuration: ModulePtr,
    callout: u64,
    result: u32,
    headers: (*const Header, usize),
    body: (*const Buffer, usize),
) {
    guard::<M, _>((), || {
        // SAFETY: the caller's promise.
        let (scheduled, configuration, answer) = unsafe {
            (
                Scheduled::new(envoy),
                configuration.cast::<M::Configuration>().as_ref(),
                Answer::new(callout, result, headers, body),
            )
        };
        if let Some(configuration) = configuration {
            M::on_answer(configuration, &scheduled, &answer);
        }
    });
}

/// # Safety
///
/// The buffer is valid.
pub(crate) unsafe fn route_new<M: Module>(text: Buffer) -> ModulePtr {
    let route = guard::<M, _>(None, || {
        // SAFETY: the caller's promise.
        let text = unsafe { bytes(text) };
        let made = M::configure_route(text)?;
        HAS_ROUTES.store(true, Relaxed);
        Some(Box::into_raw(Box::new(made)).cast())
    });
    route.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// `route_new` returned the configuration, and no stream uses it.
pub(crate) unsafe fn route_destroy<M: Module>(route: ModulePtr) {
    guard::<M, _>((), || {
        if !route.is_null() {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(route.cast::<M::Route>()) });
        }
    });
}

/// A stream of the configuration. Never null, which would close the stream.
pub(crate) fn stream_new<M: Module>(
    configuration: ModulePtr,
    room: &'static LocalKey<StreamRoom<M>>,
) -> ModulePtr {
    // A panic of `default` is a bug that no request could survive: there is nothing that Envoy could pass to the hooks.
    guard::<M, _>(ptr::null_mut(), || {
        let stream =
            Stream::<M> { configuration: configuration.cast_const().cast(), stream: M::Stream::default() };
        let room = room.take().unwrap_or_else(Box::new_uninit);
        Box::into_raw(Box::write(room, stream)).cast()
    })
}

/// # Safety
///
/// `stream_new` returned the stream, and no hook uses it.
pub(crate) unsafe fn stream_destroy<M: Module>(stream: ModulePtr, room: &'static LocalKey<StreamRoom<M>>) {
    guard::<M, _>((), || {
        if !stream.is_null() {
            let stream = stream.cast::<Stream<M>>();
            // SAFETY: the caller's promise.
            let emptied = unsafe {
                ptr::drop_in_place(stream);
                Box::from_raw(stream.cast::<MaybeUninit<Stream<M>>>())
            };
            room.set(Some(emptied));
        }
    });
}

/// # Safety
///
/// Envoy calls a hook of a stream, with what `stream_new` returned for it; no other hook of the stream runs.
unsafe fn in_stream<M: Module, T>(
    envoy: EnvoyPtr,
    stream: ModulePtr,
    instead: T,
    hook: impl FnOnce(&M::Configuration, &mut M::Stream, &mut StreamHandle<'_>) -> T,
) -> T {
    guard::<M, _>(None, || {
        // SAFETY: the caller's promise.
        let (mut handle, stream) =
            unsafe { (StreamHandle::new(envoy), stream.cast::<Stream<M>>().as_mut()?) };
        // SAFETY: Envoy keeps the configuration longer than its streams.
        let configuration = unsafe { stream.configuration.as_ref()? };
        Some(hook(configuration, &mut stream.stream, &mut handle))
    })
    .unwrap_or(instead)
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn request_headers<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) -> HeadersStatus {
    // SAFETY: the caller's promise.
    match unsafe { in_stream::<M, _>(envoy, stream, Admission::Continues, M::on_request) } {
        Admission::Continues => HeadersStatus::Continue,
        Admission::Answered => HeadersStatus::StopIteration,
        Admission::Waits => HeadersStatus::StopAllIterationAndWatermark,
    }
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn stream_scheduled<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    if unsafe { in_stream::<M, _>(envoy, stream, Admission::Continues, M::on_resumed) }
        == Admission::Continues
    {
        // SAFETY: a hook of the stream is running, and the last one that used its handle is over.
        unsafe { (callbacks().http_filter_continue_decoding)(envoy) };
    }
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn response_headers<M: Module>(
    envoy: EnvoyPtr,
    stream: ModulePtr,
    is_end: bool,
) -> HeadersStatus {
    let hook = |configuration: &_, stream: &mut _, handle: &mut StreamHandle<'_>| {
        M::on_response(configuration, stream, handle, !is_end)
    };
    // SAFETY: the caller's promise.
    match unsafe { in_stream::<M, _>(envoy, stream, Head::Continues, hook) } {
        Head::Continues => HeadersStatus::Continue,
        Head::Waits => HeadersStatus::StopIteration,
    }
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn response_body<M: Module>(
    envoy: EnvoyPtr,
    stream: ModulePtr,
    is_end: bool,
) -> BodyStatus {
    let hook = |configuration: &_, stream: &mut _, handle: &mut StreamHandle<'_>| {
        M::on_response_body(configuration, stream, handle, is_end)
    };
    // SAFETY: the caller's promise.
    match unsafe { in_stream::<M, _>(envoy, stream, Body::Continues, hook) } {
        Body::Continues => BodyStatus::Continue,
        Body::Taken => BodyStatus::StopIterationNoBuffer,
    }
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn response_trailers<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    unsafe { in_stream::<M, _>(envoy, stream, (), M::on_response_trailers) };
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn stream_complete<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    unsafe { in_stream::<M, _>(envoy, stream, (), M::on_complete) };
}
