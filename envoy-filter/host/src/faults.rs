//! Calls of the host that fail on demand, in filters that are built with the feature `faults-for-tests`. `envoy-filter/trim`
//! has each call that is named here ask first if it has to fail.
//!
//! A virtual machine has no file and no memory that a test could write to. So a request carries the plan: the filter
//! answers it with the name of the call that failed, and then begins to count.

#![expect(unsafe_code, reason = "functions that are exported by their names")]

use std::cell::Cell;

use proxy_wasm::types::{Action, MapType};

use crate::raw;

thread_local! {
    /// The number of calls up to the one that fails; 0 if none does.
    static LEFT: Cell<u32> = const { Cell::new(0) };

    /// The call that failed; empty if none did.
    static FAILED: Cell<&'static str> = const { Cell::new("") };
}

/// Answers the current request if it has the header with the number of the call that has to fail.
pub fn answer(header: &str) -> Option<Action> {
    // The calls of the plan itself do not count.
    let left = LEFT.replace(0);
    let Ok(Some(number)) = raw::header(MapType::HttpRequestHeaders, header) else {
        LEFT.set(left);
        return None;
    };
    let is_sent = raw::respond(200, "faults", &[], FAILED.replace("").as_bytes());
    LEFT.set(str::from_utf8(&number).ok().and_then(|number| number.parse().ok()).unwrap_or_default());
    is_sent.ok().map(|()| Action::Pause)
}

/// Counts a call. 1 if it has to fail, 0 otherwise.
fn due(call: &'static str) -> u32 {
    let left = LEFT.get();
    LEFT.set(left.saturating_sub(1));
    let is_due = left == 1;
    if is_due {
        FAILED.set(call);
    }
    u32::from(is_due)
}

/// Has calls fail on demand.
macro_rules! fallible {
    ($($call:ident)*) => {$(
        // SAFETY: no other function of the linked filter has this name.
        #[unsafe(export_name = concat!("due_", stringify!($call)))]
        extern "C" fn $call() -> u32 {
            due(stringify!($call))
        }
    )*};
}

fallible! {
    proxy_add_header_map_value
    proxy_call_foreign_function
    proxy_define_metric
    proxy_get_buffer_bytes
    proxy_get_current_time_nanoseconds
    proxy_get_header_map_pairs
    proxy_get_header_map_value
    proxy_get_property
    proxy_get_shared_data
    proxy_increment_metric
    proxy_record_metric
    proxy_remove_header_map_value
    proxy_replace_header_map_value
    proxy_send_local_response
    proxy_set_buffer_bytes
    proxy_set_property
    proxy_set_shared_data
    proxy_set_tick_period_milliseconds
}
