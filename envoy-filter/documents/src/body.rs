//! The callback for the bodies of responses.
//!
//! The SDK's has no value for "the filter has taken these bytes": it either lets them go on, or leaves them in Envoy's buffer,
//! and a page that exceeds the limit of that buffer becomes an error. It also keeps its contexts borrowed during the callback, so
//! that a stream that Envoy ends then is a panic. So this callback takes the place of the SDK's: `envoy-filter/trim`
//! gives it its name.

#![expect(unsafe_code, reason = "a function that is exported by its name")]

use crate::page;

/// Envoy passes the bytes on, and the head of the response before them.
const CONTINUE: u32 = 0;

/// Envoy waits for more bytes, and keeps none.
const STOP_WITHOUT_BUFFER: u32 = 3;

// SAFETY: no other function of the linked filter has this name; `envoy-filter/trim` gives it that of the SDK's. It takes numbers only.
#[unsafe(export_name = "own_proxy_on_response_body")]
extern "C" fn on_response_body(stream: u32, size: usize, is_last: u32) -> u32 {
    match page::collect(stream, size, is_last != 0) {
        true => STOP_WITHOUT_BUFFER,
        false => CONTINUE,
    }
}
