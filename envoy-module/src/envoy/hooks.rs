//! The hooks: what Envoy calls, for any [`Module`]. No panic gets out of them, because that would end Envoy.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

use super::abi::{BodyStatus, Buffer, EnvoyPtr, Header, HeadersStatus, ModulePtr};
use super::module::{Admission, Body, Head, Module};
use super::stream::{HAS_ROUTES, bytes};
use super::{Answer, Configuring, Scheduled, StreamHandle, callbacks, catch};

/// What Envoy keeps for a stream.
struct Stream<M: Module> {
    /// Envoy keeps the configuration longer than its streams.
    configuration: *const M::Configuration,
    stream: M::Stream,
}

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
pub(crate) fn stream_new<M: Module>(configuration: ModulePtr) -> ModulePtr {
    // A panic of `default` is a bug that no request could survive: there is nothing that Envoy could pass to the hooks.
    let stream = guard::<M, _>(None, || Some(M::Stream::default()));
    stream.map_or(ptr::null_mut(), |stream| {
        Box::into_raw(Box::new(Stream::<M> { configuration: configuration.cast_const().cast(), stream }))
            .cast()
    })
}

/// # Safety
///
/// `stream_new` returned the stream, and no hook uses it.
pub(crate) unsafe fn stream_destroy<M: Module>(stream: ModulePtr) {
    guard::<M, _>((), || {
        if !stream.is_null() {
            // SAFETY: the caller's promise.
            drop(unsafe { Box::from_raw(stream.cast::<Stream<M>>()) });
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

pub(crate) use super::abi::{
    BodyStatus as HookBodyStatus, Buffer as HookBuffer, EnvoyPtr as HookEnvoyPtr, Header as HookHeader,
};
pub(crate) use super::abi::{HeadersStatus as HookStatus, ModulePtr as HookModulePtr};

/// Exports the hooks of a module. All but the last four are mandatory, those that do nothing included.
macro_rules! http_filter {
    ($module:ty) => {
        #[expect(unsafe_code, reason = "the hooks that Envoy looks up by their names")]
        mod exported {
            use std::ffi::c_char;

            use $crate::envoy::entries::{
                self, HookBodyStatus, HookBuffer, HookEnvoyPtr, HookHeader, HookModulePtr, HookStatus,
            };

            type Module = $module;

            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_program_init() -> *const c_char {
                entries::program_init::<Module>()
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_config_new(
                envoy: HookEnvoyPtr,
                name: HookBuffer,
                text: HookBuffer,
            ) -> HookModulePtr {
                // SAFETY: Envoy is making this configuration.
                unsafe { entries::config_new::<Module>(envoy, name, text) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_config_destroy(configuration: HookModulePtr) {
                // SAFETY: Envoy drops a configuration after its streams, and once.
                unsafe { entries::config_destroy::<Module>(configuration) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_new(
                configuration: HookModulePtr,
                _: HookEnvoyPtr,
            ) -> HookModulePtr {
                entries::stream_new::<Module>(configuration)
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_destroy(stream: HookModulePtr) {
                // SAFETY: Envoy drops a stream after its last hook, and once.
                unsafe { entries::stream_destroy::<Module>(stream) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_request_headers(
                envoy: HookEnvoyPtr,
                stream: HookModulePtr,
                _end: bool,
            ) -> HookStatus {
                // SAFETY: a stream is in one worker, which runs one hook at a time.
                unsafe { entries::request_headers::<Module>(envoy, stream) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_response_headers(
                envoy: HookEnvoyPtr,
                stream: HookModulePtr,
                is_end: bool,
            ) -> HookStatus {
                // SAFETY: a stream is in one worker, which runs one hook at a time.
                unsafe { entries::response_headers::<Module>(envoy, stream, is_end) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_stream_complete(
                envoy: HookEnvoyPtr,
                stream: HookModulePtr,
            ) {
                // SAFETY: a stream is in one worker, which runs one hook at a time.
                unsafe { entries::stream_complete::<Module>(envoy, stream) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_request_body(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _end: bool,
            ) -> u32 {
                0
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_request_trailers(
                _: HookEnvoyPtr,
                _: HookModulePtr,
            ) -> u32 {
                0
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_response_body(
                envoy: HookEnvoyPtr,
                stream: HookModulePtr,
                is_end: bool,
            ) -> HookBodyStatus {
                // SAFETY: a stream is in one worker, which runs one hook at a time.
                unsafe { entries::response_body::<Module>(envoy, stream, is_end) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_response_trailers(
                envoy: HookEnvoyPtr,
                stream: HookModulePtr,
            ) -> u32 {
                // SAFETY: a stream is in one worker, which runs one hook at a time.
                unsafe { entries::response_trailers::<Module>(envoy, stream) };
                0
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_scheduled(
                envoy: HookEnvoyPtr,
                stream: HookModulePtr,
                _event: u64,
            ) {
                // SAFETY: a stream is in one worker, which runs one hook at a time.
                unsafe { entries::stream_scheduled::<Module>(envoy, stream) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_http_callout_done(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _callout: u64,
                _result: u32,
                _headers: *const HookHeader,
                _headers_count: usize,
                _body: *const HookBuffer,
                _body_count: usize,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_headers(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _stream: u64,
                _headers: *const HookHeader,
                _headers_count: usize,
                _end: bool,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_data(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _stream: u64,
                _data: *const HookBuffer,
                _data_count: usize,
                _end: bool,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_trailers(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _stream: u64,
                _trailers: *const HookHeader,
                _trailers_count: usize,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_complete(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _stream: u64,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_reset(
                _: HookEnvoyPtr,
                _: HookModulePtr,
                _stream: u64,
                _reason: u32,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(
                _: HookEnvoyPtr,
                _: HookModulePtr,
            ) {
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(
                _: HookEnvoyPtr,
                _: HookModulePtr,
            ) {
            }

            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_config_scheduled(
                envoy: HookEnvoyPtr,
                configuration: HookModulePtr,
                event: u64,
            ) {
                // SAFETY: Envoy calls this in the main thread, while the configuration lives.
                unsafe { entries::config_scheduled::<Module>(envoy, configuration, event) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_config_http_callout_done(
                envoy: HookEnvoyPtr,
                configuration: HookModulePtr,
                callout: u64,
                result: u32,
                headers: *const HookHeader,
                headers_count: usize,
                body: *const HookBuffer,
                body_count: usize,
            ) {
                let (headers, body) = ((headers, headers_count), (body, body_count));
                // SAFETY: Envoy calls this in the main thread, while the configuration lives, with the parts of the answer.
                unsafe {
                    entries::config_callout_done::<Module>(
                        envoy,
                        configuration,
                        callout,
                        result,
                        headers,
                        body,
                    )
                }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_per_route_config_new(
                _name: HookBuffer,
                text: HookBuffer,
            ) -> HookModulePtr {
                // SAFETY: Envoy's buffer is valid during the call.
                unsafe { entries::route_new::<Module>(text) }
            }
            #[unsafe(no_mangle)]
            extern "C" fn envoy_dynamic_module_on_http_filter_per_route_config_destroy(route: HookModulePtr) {
                // SAFETY: Envoy drops a configuration after the streams that use it, and once.
                unsafe { entries::route_destroy::<Module>(route) }
            }
        }
    };
}
pub(crate) use http_filter;
