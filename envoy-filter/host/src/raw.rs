//! Calls out of the sandbox. Only the log's macros make theirs through the SDK.
//!
//! The SDK panics on a status that it does not expect, and its `Status` lacks some of the ABI's values, so that reading one
//! of these is undefined behaviour. It gives a local response no details, and copies each header into a `String` and a
//! `Vec`, panicking where a name is not UTF-8. Here a status is a number, and every refusal is an `Err`. Calls and numbers
//! are those of the Proxy-Wasm ABI 0.2.1. No other file of the crate has `unsafe`.

#![expect(unsafe_code, reason = "imported functions that read slices by pointer and length")]

use std::ptr;
use std::time::Duration;

use crawlpike_envoy_gate::Change;
use proxy_wasm::types::{BufferType, LogLevel, MapType, MetricType, Status};

use crate::headers::{self, HeaderMap, Place};
use crate::host::Refused;
use crate::rooms::{self, HostBytes};

// SAFETY: these are the signatures of the ABI. The host reads and writes memory only during a call, and writes whole values
// to what references point to. So a function is safe to call unless it takes a slice by pointer and length.
#[link(wasm_import_module = "env")]
unsafe extern "C" {
    safe fn proxy_get_current_time_nanoseconds(time: &mut u64) -> u32;
    safe fn proxy_get_header_map_pairs(map: MapType, data: &mut *mut u8, size: &mut usize) -> u32;
    fn proxy_get_header_map_value(
        map: MapType,
        name: *const u8,
        name_size: usize,
        data: &mut *mut u8,
        size: &mut usize,
    ) -> u32;
    fn proxy_add_header_map_value(
        map: MapType,
        name: *const u8,
        name_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> u32;
    fn proxy_replace_header_map_value(
        map: MapType,
        name: *const u8,
        name_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> u32;
    fn proxy_remove_header_map_value(map: MapType, name: *const u8, name_size: usize) -> u32;
    safe fn proxy_get_buffer_bytes(
        buffer: BufferType,
        start: usize,
        size: usize,
        data: &mut *mut u8,
        data_size: &mut usize,
    ) -> u32;
    fn proxy_set_buffer_bytes(
        buffer: BufferType,
        start: usize,
        size: usize,
        data: *const u8,
        data_size: usize,
    ) -> u32;
    fn proxy_get_property(path: *const u8, path_size: usize, data: &mut *mut u8, size: &mut usize) -> u32;
    fn proxy_set_property(path: *const u8, path_size: usize, value: *const u8, value_size: usize) -> u32;
    fn proxy_send_local_response(
        status: u32,
        details: *const u8,
        details_size: usize,
        body: *const u8,
        body_size: usize,
        headers: *const u8,
        headers_size: usize,
        grpc_status: i32,
    ) -> u32;
    fn proxy_define_metric(kind: MetricType, name: *const u8, name_size: usize, id: &mut u32) -> u32;
    safe fn proxy_increment_metric(id: u32, by: i64) -> u32;
    safe fn proxy_record_metric(id: u32, value: u64) -> u32;
    safe fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
    fn proxy_get_shared_data(
        key: *const u8,
        key_size: usize,
        data: &mut *mut u8,
        size: &mut usize,
        version: &mut u32,
    ) -> u32;
    fn proxy_set_shared_data(
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
        version: u32,
    ) -> u32;
    fn proxy_log(level: LogLevel, line: *const u8, line_size: usize) -> u32;
    fn proxy_call_foreign_function(
        name: *const u8,
        name_size: usize,
        arguments: *const u8,
        arguments_size: usize,
        results: *mut *mut u8,
        results_size: *mut usize,
    ) -> u32;
}

/// The status of a call that was carried out.
const OK: u32 = Status::Ok as u32;

/// Leaves the gRPC status of a response to the host.
const NO_GRPC_STATUS: i32 = -1;

/// The time, in seconds since the Unix epoch.
pub fn now() -> Result<i64, Refused> {
    const MICROSECONDS: u64 = 1_000_000;
    Ok((microseconds()? / MICROSECONDS).cast_signed())
}

/// The time, in microseconds since the Unix epoch.
pub fn microseconds() -> Result<u64, Refused> {
    const NANOSECONDS: u64 = 1_000;
    let mut time = 0;
    carried_out("proxy_get_current_time_nanoseconds", proxy_get_current_time_nanoseconds(&mut time))?;
    Ok(time / NANOSECONDS)
}

/// All lines of all headers: one call that copies more than [`header`] does, but costs less than two calls that find one.
pub fn all_headers(map: MapType) -> Result<HeaderMap, Refused> {
    all_headers_shown(map, |_, _| {})
}

/// The same; shows each line on the way, by its name and the place of its value.
pub(crate) fn all_headers_shown(map: MapType, show: impl FnMut(&[u8], Place)) -> Result<HeaderMap, Refused> {
    const CALL: &str = "proxy_get_header_map_pairs";
    // SAFETY: the call returns bytes as the ABI says.
    let bytes = unsafe { returned(CALL, |data, size| proxy_get_header_map_pairs(map, data, size)) }?;
    HeaderMap::new(bytes, show).ok_or(Refused { call: CALL, status: Status::ParseFailure as u32 })
}

/// The value of a header's first line, by its lower-case name.
pub fn header(map: MapType, name: &str) -> Result<Option<HostBytes>, Refused> {
    // SAFETY: the name is valid for reads of its length, and the call returns bytes as the ABI says.
    found(unsafe {
        returned("proxy_get_header_map_value", |data, size| {
            proxy_get_header_map_value(map, name.as_ptr(), name.len(), data, size)
        })
    })
}

/// A property of the stream or of the plugin, by its path with NULs between the parts; `None` where there is none.
pub fn property(path: &str) -> Result<Option<HostBytes>, Refused> {
    // SAFETY: the path is valid for reads of its length, and the call returns bytes as the ABI says.
    found(unsafe {
        returned("proxy_get_property", |data, size| proxy_get_property(path.as_ptr(), path.len(), data, size))
    })
}

/// Changes a header, by its lower-case name.
pub fn change_header(map: MapType, name: &[u8], change: Change<'_>) -> Result<(), Refused> {
    let (data, size) = (name.as_ptr(), name.len());
    // SAFETY: the name and the value are valid for reads of their lengths.
    let (call, status) = unsafe {
        match change {
            Change::Add(value) => (
                "proxy_add_header_map_value",
                proxy_add_header_map_value(map, data, size, value.as_ptr(), value.len()),
            ),
            Change::Replace(value) => (
                "proxy_replace_header_map_value",
                proxy_replace_header_map_value(map, data, size, value.as_ptr(), value.len()),
            ),
            Change::Remove => {
                ("proxy_remove_header_map_value", proxy_remove_header_map_value(map, data, size))
            }
        }
    };
    carried_out(call, status)
}

/// The bytes of the response's body that the host has, at most so many.
pub fn response_body(most: usize) -> Result<HostBytes, Refused> {
    buffer(BufferType::HttpResponseBody, 0, most)
}

/// So many bytes of the plugin's configuration, from this one on.
pub fn configuration(start: usize, length: usize) -> Result<HostBytes, Refused> {
    let piece = buffer(BufferType::PluginConfiguration, start, length)?;
    match piece.len() == length {
        true => Ok(piece),
        false => Err(Refused { call: BUFFER, status: Status::InternalFailure as u32 }),
    }
}

/// The call for the bytes of a body and of the configuration.
const BUFFER: &str = "proxy_get_buffer_bytes";

fn buffer(buffer: BufferType, start: usize, most: usize) -> Result<HostBytes, Refused> {
    // SAFETY: the call returns bytes as the ABI says.
    unsafe { returned(BUFFER, |data, size| proxy_get_buffer_bytes(buffer, start, most, data, size)) }
}

/// Replaces the first so many bytes of what the host has of the response's body.
pub fn replace_response_body(size: usize, by: &[u8]) -> Result<(), Refused> {
    // SAFETY: the new bytes are valid for reads of their length.
    let status =
        unsafe { proxy_set_buffer_bytes(BufferType::HttpResponseBody, 0, size, by.as_ptr(), by.len()) };
    carried_out("proxy_set_buffer_bytes", status)
}

/// Sets the filter state `wasm.` with this name.
pub fn set_filter_state(name: &str, value: &[u8]) -> Result<(), Refused> {
    // SAFETY: the name and the value are valid for reads of their lengths.
    let status = unsafe { proxy_set_property(name.as_ptr(), name.len(), value.as_ptr(), value.len()) };
    carried_out("proxy_set_property", status)
}

/// Answers the request instead of the upstream; `details` is for `%RESPONSE_CODE_DETAILS%`.
pub fn respond(status: u16, details: &str, headers: &[(&[u8], &[u8])], body: &[u8]) -> Result<(), Refused> {
    let headers = headers::serialize(headers);
    // SAFETY: all slices are valid for reads of their lengths.
    let status = unsafe {
        proxy_send_local_response(
            u32::from(status),
            details.as_ptr(),
            details.len(),
            body.as_ptr(),
            body.len(),
            headers.as_ptr(),
            headers.len(),
            NO_GRPC_STATUS,
        )
    };
    carried_out("proxy_send_local_response", status)
}

/// Defines a metric, or finds the one of this name, and returns its number.
pub fn define_metric(kind: MetricType, name: &str) -> Result<u32, Refused> {
    let mut id = 0;
    // SAFETY: the name is valid for reads of its length.
    let status = unsafe { proxy_define_metric(kind, name.as_ptr(), name.len(), &mut id) };
    carried_out("proxy_define_metric", status).map(|()| id)
}

/// Adds to a counter.
pub fn increment_metric(id: u32, by: i64) -> Result<(), Refused> {
    carried_out("proxy_increment_metric", proxy_increment_metric(id, by))
}

/// Sets a gauge.
pub fn record_metric(id: u32, value: u64) -> Result<(), Refused> {
    carried_out("proxy_record_metric", proxy_record_metric(id, value))
}

/// Has the host call `on_tick` of the current plugin in this period; never again where it is zero.
pub fn tick_every(period: Duration) -> Result<(), Refused> {
    let milliseconds = period.as_millis().try_into().unwrap_or(u32::MAX);
    carried_out("proxy_set_tick_period_milliseconds", proxy_set_tick_period_milliseconds(milliseconds))
}

/// The value that all virtual machines share under a key, with its version; `None` where there is none.
pub fn shared_data(key: &str) -> Result<Option<(HostBytes, u32)>, Refused> {
    let mut version = 0;
    // SAFETY: the key is valid for reads of its length, and the call returns bytes as the ABI says.
    let value = found(unsafe {
        returned("proxy_get_shared_data", |data, size| {
            proxy_get_shared_data(key.as_ptr(), key.len(), data, size, &mut version)
        })
    })?;
    Ok(value.map(|value| (value, version)))
}

/// Sets that value; false if it no longer has this version. Without a version, it is set in any case.
pub fn set_shared_data(key: &str, value: &[u8], version: Option<u32>) -> Result<bool, Refused> {
    const CHANGED: u32 = Status::CasMismatch as u32;
    let version = version.unwrap_or_default();
    // SAFETY: the key and the value are valid for reads of their lengths.
    let status =
        unsafe { proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), version) };
    match status {
        CHANGED => Ok(false),
        _ => carried_out("proxy_set_shared_data", status).map(|()| true),
    }
}

/// Writes a line to Envoy's log.
pub fn log(level: LogLevel, line: &str) -> Result<(), Refused> {
    // SAFETY: the line is valid for reads of its length.
    carried_out("proxy_log", unsafe { proxy_log(level, line.as_ptr(), line.len()) })
}

/// Calls a function that is the host's own, not the ABI's, and wants no results.
pub fn call_foreign_function(name: &'static str, arguments: &[u8]) -> Result<(), Refused> {
    // SAFETY: the name and the arguments are valid for reads of their lengths; without a place for results, the host gives
    // none.
    let status = unsafe {
        proxy_call_foreign_function(
            name.as_ptr(),
            name.len(),
            arguments.as_ptr(),
            arguments.len(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    carried_out(name, status)
}

fn carried_out(call: &'static str, status: u32) -> Result<(), Refused> {
    if status == OK { Ok(()) } else { Err(Refused { call, status }) }
}

/// `None` where the host says that there is none.
fn found(value: Result<HostBytes, Refused>) -> Result<Option<HostBytes>, Refused> {
    const NOT_FOUND: u32 = Status::NotFound as u32;
    match value {
        Err(Refused { status: NOT_FOUND, .. }) => Ok(None),
        value => value.map(Some),
    }
}

/// Takes the place of the SDK's function. The host calls it for memory that a call returns.
// SAFETY: no other function of the linked filter has this name; `envoy-filter/trim` gives it that of the SDK's.
#[unsafe(export_name = "own_proxy_on_memory_allocate")]
extern "C" fn allocate(size: usize) -> *mut u8 {
    // The SDK, where it makes the call, takes what is returned for a boxed slice.
    let boxed = || Box::into_raw(Box::<[u8]>::new_uninit_slice(size)).cast();
    rooms::place_in_offer(size).unwrap_or_else(boxed)
}

/// The bytes that a call returns.
///
/// # Safety
///
/// `ask` makes a call of the host that returns bytes as the ABI says: if it is carried out, the pointer is null, or one that
/// [`allocate`] has returned during the call for so many bytes, which the host has written.
unsafe fn returned(
    call: &'static str,
    ask: impl FnOnce(&mut *mut u8, &mut usize) -> u32,
) -> Result<HostBytes, Refused> {
    let (mut data, mut size) = (ptr::null_mut(), 0);
    rooms::offer();
    let status = ask(&mut data, &mut size);
    let mut bytes = rooms::end_of_offer();
    if status == OK && !data.is_null() {
        // Of several places that a host asks for, only the last one exists.
        if data != bytes.as_mut_ptr() || size > bytes.capacity() {
            return Err(Refused { call, status: Status::InternalFailure as u32 });
        }
        // SAFETY: there is room for so many bytes, and the host has written them, by the caller's promise.
        unsafe { bytes.set_len(size) };
    } else {
        // Without an error, there is a value, and it is empty.
        bytes.clear();
    }
    let bytes = HostBytes::new(bytes);
    carried_out(call, status).map(|()| bytes)
}
