//! The names under which Envoy looks up the hooks of a [`Module`](super::Module).

/// Exports the hooks of a module. All but the last five are mandatory, those that do nothing included.
macro_rules! http_filter {
    ($module:ty) => {
        #[expect(unsafe_code, reason = "the hooks that Envoy looks up by their names")]
        mod exported {
            use std::ffi::c_char;

            use $crate::envoy::entries::{
                self, BodyStatus, Buffer, EnvoyPtr, Header, HeadersStatus, ModulePtr, StreamRoom,
            };

            type Module = $module;

            thread_local! {
                static ROOM: StreamRoom<Module> = const { StreamRoom::new() };
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_program_init() -> *const c_char {
                entries::program_init::<Module>()
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_config_new(
                envoy: EnvoyPtr,
                name: Buffer,
                text: Buffer,
            ) -> ModulePtr {
                // SAFETY: Envoy is making this configuration.
                unsafe { entries::config_new::<Module>(envoy, name, text) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_config_destroy(configuration: ModulePtr) {
                // SAFETY: Envoy drops a configuration once, after its streams and its hooks.
                unsafe { entries::config_destroy::<Module>(configuration) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_new(
                configuration: ModulePtr,
                _: EnvoyPtr,
            ) -> ModulePtr {
                // SAFETY: Envoy passes the object of a configuration that it keeps longer than the stream.
                unsafe { entries::stream_new::<Module>(configuration, &ROOM) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_destroy(stream: ModulePtr) {
                // SAFETY: Envoy drops a stream once, in its worker, and enters no other hook of it afterwards.
                unsafe { entries::stream_destroy::<Module>(stream, &ROOM) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_request_headers(
                envoy: EnvoyPtr,
                stream: ModulePtr,
                _end: bool,
            ) -> HeadersStatus {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::request_headers::<Module>(envoy, stream) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_response_headers(
                envoy: EnvoyPtr,
                stream: ModulePtr,
                is_end: bool,
            ) -> HeadersStatus {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::response_headers::<Module>(envoy, stream, is_end) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_stream_complete(
                envoy: EnvoyPtr,
                stream: ModulePtr,
            ) {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::stream_complete::<Module>(envoy, stream) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_request_body(
                _: EnvoyPtr,
                _: ModulePtr,
                _end: bool,
            ) -> u32 {
                0
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_request_trailers(
                envoy: EnvoyPtr,
                stream: ModulePtr,
            ) -> u32 {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::request_trailers::<Module>(envoy, stream) };
                0
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_response_body(
                envoy: EnvoyPtr,
                stream: ModulePtr,
                is_end: bool,
            ) -> BodyStatus {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::response_body::<Module>(envoy, stream, is_end) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_response_trailers(
                envoy: EnvoyPtr,
                stream: ModulePtr,
            ) -> u32 {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::response_trailers::<Module>(envoy, stream) };
                0
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_scheduled(
                envoy: EnvoyPtr,
                stream: ModulePtr,
                _event: u64,
            ) {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::stream_scheduled::<Module>(envoy, stream) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_http_callout_done(
                _: EnvoyPtr,
                _: ModulePtr,
                _callout: u64,
                _result: u32,
                _headers: *const Header,
                _headers_count: usize,
                _body: *const Buffer,
                _body_count: usize,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_headers(
                _: EnvoyPtr,
                _: ModulePtr,
                _stream: u64,
                _headers: *const Header,
                _headers_count: usize,
                _end: bool,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_data(
                _: EnvoyPtr,
                _: ModulePtr,
                _stream: u64,
                _data: *const Buffer,
                _data_count: usize,
                _end: bool,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_trailers(
                _: EnvoyPtr,
                _: ModulePtr,
                _stream: u64,
                _trailers: *const Header,
                _trailers_count: usize,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_complete(
                _: EnvoyPtr,
                _: ModulePtr,
                _stream: u64,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_http_stream_reset(
                _: EnvoyPtr,
                _: ModulePtr,
                _stream: u64,
                _reason: u32,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(
                _: EnvoyPtr,
                _: ModulePtr,
            ) {
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(
                _: EnvoyPtr,
                _: ModulePtr,
            ) {
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_local_reply(
                envoy: EnvoyPtr,
                stream: ModulePtr,
                _status: u32,
                _details: Buffer,
                _is_reset: bool,
            ) -> u32 {
                // SAFETY: Envoy calls the hooks of a stream in its worker, between its creation and its end.
                unsafe { entries::local_reply::<Module>(envoy, stream) };
                0
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_config_scheduled(
                envoy: EnvoyPtr,
                configuration: ModulePtr,
                event: u64,
            ) {
                // SAFETY: Envoy calls this in the main thread, while the configuration lives.
                unsafe { entries::config_scheduled::<Module>(envoy, configuration, event) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_config_http_callout_done(
                envoy: EnvoyPtr,
                configuration: ModulePtr,
                callout: u64,
                result: u32,
                headers: *const Header,
                headers_count: usize,
                body: *const Buffer,
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
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_per_route_config_new(
                _name: Buffer,
                text: Buffer,
            ) -> ModulePtr {
                // SAFETY: Envoy's buffer is valid during the call.
                unsafe { entries::route_new::<Module>(text) }
            }
            #[unsafe(no_mangle)]
            unsafe extern "C" fn envoy_dynamic_module_on_http_filter_per_route_config_destroy(route: ModulePtr) {
                // SAFETY: Envoy drops a configuration once, after the streams that use it.
                unsafe { entries::route_destroy::<Module>(route) }
            }
        }
    };
}
pub(crate) use http_filter;
