//! The hooks that Envoy calls, for any [`Module`]. No panic leaves them, because that would end Envoy.

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::ptr;
use std::thread::LocalKey;

use super::abi::{BodyStatus, Buffer, EnvoyPtr, Header, HeadersStatus, ModulePtr};
use super::kept::{Kept, Running, enterable};
use super::module::{Admission, Body, Head, Module};
use super::stream::bytes;
use super::{Answer, Configuring, Scheduled, StreamHandle, callbacks, catch, routes};

/// The module's object for a stream.
pub(crate) struct Stream<M: Module> {
    /// Envoy keeps the configuration longer than its streams.
    configuration: *const Kept<M::Configuration>,
    stream: M::Stream,
}

/// The memory of a stream.
type Memory<M> = Box<MaybeUninit<Kept<Stream<M>>>>;

/// Room for the next stream of a worker: that of the last one.
pub(crate) struct StreamRoom<M: Module>(Cell<Option<Memory<M>>>);

impl<M: Module> StreamRoom<M> {
    pub(crate) const fn new() -> Self {
        Self(Cell::new(None))
    }
}

/// Runs a hook. If it panics, reports that and returns `instead`.
fn guard<M: Module, T>(instead: T, hook: impl FnOnce() -> T) -> T {
    catch(hook).unwrap_or_else(|message| {
        // If that panics as well, nothing is left to report it.
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
        let made = M::configure(&handle, name, text);
        made.map_or(ptr::null_mut(), |made| Box::into_raw(Box::new(Kept::new(made))).cast())
    })
}

/// # Safety
///
/// `config_new` returned the configuration, or it is null. No stream uses it, and Envoy does not use it afterwards.
pub(crate) unsafe fn config_destroy<M: Module>(configuration: ModulePtr) {
    guard::<M, _>((), || {
        // SAFETY: the caller's promise.
        let stopped = unsafe { Kept::<M::Configuration>::value_of(configuration.cast_const().cast()) };
        if let Some(stopped) = stopped {
            M::on_dropped(stopped);
        }
        // SAFETY: the caller's promise. The reference above has ended.
        drop(unsafe { Kept::<M::Configuration>::take_back(configuration) });
    });
}

/// # Safety
///
/// Envoy calls in the main thread, with a configuration and the object that `config_new` made for it.
unsafe fn in_configuration<M: Module>(
    envoy: EnvoyPtr,
    configuration: ModulePtr,
    hook: impl FnOnce(&M::Configuration, &Scheduled<'_>),
) {
    guard::<M, _>((), || {
        // SAFETY: the caller's promise.
        let (scheduled, running) =
            unsafe { (Scheduled::new(envoy), Running::<M::Configuration>::start(configuration)) };
        if let Some(running) = running {
            hook(running.value(), &scheduled);
        }
    });
}

/// # Safety
///
/// See [`in_configuration`].
pub(crate) unsafe fn config_scheduled<M: Module>(envoy: EnvoyPtr, configuration: ModulePtr, event: u64) {
    let hook = |configuration: &_, scheduled: &Scheduled<'_>| {
        M::on_scheduled(configuration, scheduled, event);
    };
    // SAFETY: the caller's promise.
    unsafe { in_configuration::<M>(envoy, configuration, hook) }
}

/// # Safety
///
/// See [`in_configuration`] and [`Answer::new`].
pub(crate) unsafe fn config_callout_done<M: Module>(
    envoy: EnvoyPtr,
    configuration: ModulePtr,
    callout: u64,
    result: u32,
    headers: (*const Header, usize),
    body: (*const Buffer, usize),
) {
    let hook = |configuration: &_, scheduled: &Scheduled<'_>| {
        // SAFETY: the caller's promise.
        let answer = unsafe { Answer::new(callout, result, headers, body) };
        M::on_answer(configuration, scheduled, &answer);
    };
    // SAFETY: the caller's promise.
    unsafe { in_configuration::<M>(envoy, configuration, hook) }
}

/// # Safety
///
/// The buffer is valid.
pub(crate) unsafe fn route_new<M: Module>(text: Buffer) -> ModulePtr {
    let route = guard::<M, _>(None, || {
        // SAFETY: the caller's promise.
        let text = unsafe { bytes(text) };
        let made = Box::into_raw(Box::new(M::configure_route(text)?)).cast();
        routes::add(made);
        Some(made)
    });
    route.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// `route_new` returned the configuration, or it is null. No stream uses it, and Envoy does not use it afterwards.
pub(crate) unsafe fn route_destroy<M: Module>(route: ModulePtr) {
    guard::<M, _>((), || {
        if routes::remove(route) {
            // SAFETY: `route_new` made the object, as it was known, and the caller promises that nothing uses it.
            drop(unsafe { Box::from_raw(route.cast::<M::Route>()) });
        }
    });
}

/// A stream of the configuration. Never null, which would close the stream.
///
/// # Safety
///
/// `config_new` returned the configuration, and Envoy keeps it longer than the stream.
pub(crate) unsafe fn stream_new<M: Module>(
    configuration: ModulePtr,
    room: &'static LocalKey<StreamRoom<M>>,
) -> ModulePtr {
    // A panic of `default` is a bug that no request could survive: there is nothing that Envoy could pass to the hooks.
    guard::<M, _>(ptr::null_mut(), || {
        let stream =
            Stream::<M> { configuration: configuration.cast_const().cast(), stream: M::Stream::default() };
        let room = room.with(|room| room.0.take()).unwrap_or_else(Box::new_uninit);
        Box::into_raw(Box::write(room, Kept::new(stream))).cast()
    })
}

/// # Safety
///
/// `stream_new` returned the stream, or it is null. Envoy calls in its worker, and does not use it afterwards.
pub(crate) unsafe fn stream_destroy<M: Module>(stream: ModulePtr, room: &'static LocalKey<StreamRoom<M>>) {
    guard::<M, _>((), || {
        // SAFETY: the caller's promise.
        let Some(stream) = (unsafe { Kept::<Stream<M>>::take_back(stream) }) else { return };
        let stream = Box::into_raw(stream);
        // SAFETY: the pointer is of a box that nothing else uses. Of what is dropped, only the memory stays in use.
        let emptied = unsafe {
            ptr::drop_in_place(stream);
            Box::from_raw(stream.cast::<MaybeUninit<Kept<Stream<M>>>>())
        };
        room.with(|room| room.0.set(Some(emptied)));
    });
}

/// # Safety
///
/// Envoy calls a hook of a stream in its worker, with the object that `stream_new` returned for it. Other hooks of the stream may
/// be running.
unsafe fn in_stream<M: Module, T>(
    envoy: EnvoyPtr,
    stream: ModulePtr,
    instead: T,
    hook: impl FnOnce(&M::Configuration, &M::Stream, &mut StreamHandle<'_>) -> T,
) -> T {
    guard::<M, _>(None, || {
        // SAFETY: the caller's promise.
        let (mut handle, running) =
            unsafe { (StreamHandle::new(envoy), Running::<Stream<M>>::start(stream)?) };
        let Stream { configuration, stream } = running.value();
        // SAFETY: Envoy keeps the configuration longer than its streams, and those longer than their hooks.
        let configuration = unsafe { Kept::value_of(*configuration)? };
        Some(hook(configuration, stream, &mut handle))
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
pub(crate) unsafe fn request_trailers<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    unsafe { in_stream::<M, _>(envoy, stream, (), |_, _, handle| M::on_request_trailers(handle)) };
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn stream_scheduled<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    if unsafe { in_stream::<M, _>(envoy, stream, Admission::Continues, M::on_resumed) }
        == Admission::Continues
    {
        // SAFETY: Envoy has entered a hook of the stream, and keeps its own object until it returns.
        enterable(|| unsafe { (callbacks().http_filter_continue_decoding)(envoy) });
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
    let hook = |configuration: &_, stream: &_, handle: &mut StreamHandle<'_>| {
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
    let hook = |configuration: &_, stream: &_, handle: &mut StreamHandle<'_>| {
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
pub(crate) unsafe fn local_reply<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    unsafe { in_stream::<M, _>(envoy, stream, (), M::on_local_reply) };
}

/// # Safety
///
/// See [`in_stream`].
pub(crate) unsafe fn stream_complete<M: Module>(envoy: EnvoyPtr, stream: ModulePtr) {
    // SAFETY: the caller's promise.
    unsafe { in_stream::<M, _>(envoy, stream, (), M::on_complete) };
}
