//! A dynamic module of Envoy that does nothing: what every module costs. Envoy calls these functions by their names, and loads
//! no module that lacks one.

#![expect(unsafe_code, reason = "exported names: nothing else here can go wrong")]
#![expect(missing_docs, reason = "Envoy's header describes them")]

use std::ffi::{c_char, c_void};
use std::ptr;

/// The value that Envoy gets for objects of the module that have no state: any pointer but null.
const NO_STATE: *const c_void = ptr::dangling();

/// Goes on with the next filter.
const CONTINUE: u32 = 0;

#[repr(C)]
pub struct Buffer {
    bytes: *const c_char,
    length: usize,
}

/// Exports a function of which Envoy expects nothing but a value.
macro_rules! export {
    ($($name:ident($($argument:ty),*) $(-> $result:ty = $value:expr)?;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($(_: $argument),*) $(-> $result)? {
                $($value)?
            }
        )*
    };
}

type Envoy = *const c_void;
type Ours = *const c_void;
type Parts = *const c_void;

export! {
    envoy_dynamic_module_on_program_init() -> *const c_char = c"v0.2.0".as_ptr();
    envoy_dynamic_module_on_http_filter_config_new(Envoy, Buffer, Buffer) -> Ours = NO_STATE;
    envoy_dynamic_module_on_http_filter_config_destroy(Ours);
    envoy_dynamic_module_on_http_filter_new(Ours, Envoy) -> Ours = NO_STATE;
    envoy_dynamic_module_on_http_filter_destroy(Ours);
    envoy_dynamic_module_on_http_filter_request_headers(Envoy, Ours, bool) -> u32 = CONTINUE;
    envoy_dynamic_module_on_http_filter_request_body(Envoy, Ours, bool) -> u32 = CONTINUE;
    envoy_dynamic_module_on_http_filter_request_trailers(Envoy, Ours) -> u32 = CONTINUE;
    envoy_dynamic_module_on_http_filter_response_headers(Envoy, Ours, bool) -> u32 = CONTINUE;
    envoy_dynamic_module_on_http_filter_response_body(Envoy, Ours, bool) -> u32 = CONTINUE;
    envoy_dynamic_module_on_http_filter_response_trailers(Envoy, Ours) -> u32 = CONTINUE;
    envoy_dynamic_module_on_http_filter_stream_complete(Envoy, Ours);
    envoy_dynamic_module_on_http_filter_scheduled(Envoy, Ours, u64);
    envoy_dynamic_module_on_http_filter_http_callout_done(Envoy, Ours, u64, u32, Parts, usize, Parts, usize);
    envoy_dynamic_module_on_http_filter_http_stream_headers(Envoy, Ours, u64, Parts, usize, bool);
    envoy_dynamic_module_on_http_filter_http_stream_data(Envoy, Ours, u64, Parts, usize, bool);
    envoy_dynamic_module_on_http_filter_http_stream_trailers(Envoy, Ours, u64, Parts, usize);
    envoy_dynamic_module_on_http_filter_http_stream_complete(Envoy, Ours, u64);
    envoy_dynamic_module_on_http_filter_http_stream_reset(Envoy, Ours, u64, u32);
    envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(Envoy, Ours);
    envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(Envoy, Ours);
}
