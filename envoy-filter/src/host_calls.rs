//! Calls out of the sandbox, as far as the filter makes them.
//!
//! The SDK's own wrappers panic on a status that they do not expect, read a status as an `enum` that has not all of its
//! values, and give a response no details. So the filter calls the host itself: bytes go in and out, and what the host
//! refuses is an `Err` or a `None`. Calls, numbers and statuses are those of the Proxy-Wasm ABI 0.2.1; this is the one
//! file of the crate with `unsafe`.

#![expect(unsafe_code, reason = "imported functions; what they need is said at each call")]

use std::fmt;
use std::ptr::null_mut;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_get_current_time_nanoseconds(time: *mut u64) -> u32;
    fn proxy_get_buffer_bytes(
        buffer: u32,
        start: usize,
        most: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    fn proxy_get_property(path: *const u8, path_size: usize, data: *mut *mut u8, size: *mut usize) -> u32;
    fn proxy_set_property(path: *const u8, path_size: usize, value: *const u8, value_size: usize) -> u32;
    fn proxy_get_header_map_value(
        map: u32,
        name: *const u8,
        name_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
    ) -> u32;
    fn proxy_replace_header_map_value(
        map: u32,
        name: *const u8,
        name_size: usize,
        value: *const u8,
        value_size: usize,
    ) -> u32;
    fn proxy_remove_header_map_value(map: u32, name: *const u8, name_size: usize) -> u32;
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
}

/// The status of a call that was carried out.
const OK: u32 = 0;

/// The buffer with the plugin's configuration.
const PLUGIN_CONFIGURATION: u32 = 7;

/// Leaves the gRPC status of a response to the host.
const NO_GRPC_STATUS: i32 = -1;

/// A call that the host did not carry out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    call: &'static str,
    status: u32,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the host refused {} with status {}", self.call, self.status)
    }
}

/// The headers of one direction.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum Headers {
    Request = 0,
}

/// The time, in nanoseconds since the Unix epoch.
pub(crate) fn current_time() -> Option<u64> {
    let mut time = 0;
    // SAFETY: the pointer is to a u64 that outlives the call.
    let status = unsafe { proxy_get_current_time_nanoseconds(&raw mut time) };
    (status == OK).then_some(time)
}

/// Up to `most` bytes of the plugin's configuration from `start` on; empty at its end.
pub(crate) fn plugin_configuration(start: usize, most: usize) -> Option<Vec<u8>> {
    returned(|data, size| {
        // SAFETY: the pointers are to a pointer and a size that outlive the call.
        unsafe { proxy_get_buffer_bytes(PLUGIN_CONFIGURATION, start, most, data, size) }
    })
}

/// A property of the stream; the parts of its path are separated by `\0`.
pub(crate) fn property(path: &str) -> Option<Vec<u8>> {
    returned(|data, size| {
        // SAFETY: the path is read during the call; the others are to a pointer and a size that outlive it.
        unsafe { proxy_get_property(path.as_ptr(), path.len(), data, size) }
    })
}

/// Sets the filter state `wasm.` with this name.
pub(crate) fn set_filter_state(name: &str, value: &[u8]) -> Result<(), Refused> {
    // SAFETY: name and value are read during the call.
    let status = unsafe { proxy_set_property(name.as_ptr(), name.len(), value.as_ptr(), value.len()) };
    carried_out("proxy_set_property", status)
}

/// The value of a header's first line, by its lower-case name.
pub(crate) fn header(headers: Headers, name: &str) -> Option<Vec<u8>> {
    returned(|data, size| {
        // SAFETY: the name is read during the call; the others are to a pointer and a size that outlive it.
        unsafe { proxy_get_header_map_value(headers as u32, name.as_ptr(), name.len(), data, size) }
    })
}

/// Sets a header, instead of all its lines.
pub(crate) fn replace_header(headers: Headers, name: &str, value: &[u8]) -> Result<(), Refused> {
    // SAFETY: name and value are read during the call.
    let status = unsafe {
        proxy_replace_header_map_value(headers as u32, name.as_ptr(), name.len(), value.as_ptr(), value.len())
    };
    carried_out("proxy_replace_header_map_value", status)
}

/// Removes all lines of a header.
pub(crate) fn remove_header(headers: Headers, name: &str) -> Result<(), Refused> {
    // SAFETY: the name is read during the call.
    let status = unsafe { proxy_remove_header_map_value(headers as u32, name.as_ptr(), name.len()) };
    carried_out("proxy_remove_header_map_value", status)
}

/// Answers the request in place of the upstream; `details` is for `%RESPONSE_CODE_DETAILS%`.
pub(crate) fn respond(
    status: u16,
    details: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<(), Refused> {
    let headers = serialised(headers);
    // SAFETY: all slices are read during the call.
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

fn carried_out(call: &'static str, status: u32) -> Result<(), Refused> {
    if status == OK { Ok(()) } else { Err(Refused { call, status }) }
}

/// The bytes that a call returns; `None` where it returns none.
fn returned(call: impl FnOnce(*mut *mut u8, *mut usize) -> u32) -> Option<Vec<u8>> {
    let (mut data, mut size) = (null_mut(), 0);
    if call(&raw mut data, &raw mut size) != OK {
        return None;
    }
    if data.is_null() {
        // What is there and empty.
        return Some(Vec::new());
    }
    // SAFETY: the host had `proxy_on_memory_allocate` of the SDK make this buffer for us, a boxed slice of exactly `size`
    // bytes of the same global allocator, filled it, and knows it no more.
    Some(unsafe { Vec::from_raw_parts(data, size, size) })
}

/// The ABI's form of a list of headers: how many, the sizes of each name and value, then both, each with a NUL.
fn serialised(headers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // No list of ours comes near 2³².
    let number = |bytes: &mut Vec<u8>, count: usize| {
        bytes.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    };
    number(&mut bytes, headers.len());
    for (name, value) in headers {
        number(&mut bytes, name.len());
        number(&mut bytes, value.len());
    }
    for (name, value) in headers {
        for part in [name, value] {
            bytes.extend_from_slice(part.as_bytes());
            bytes.push(0);
        }
    }
    bytes
}
