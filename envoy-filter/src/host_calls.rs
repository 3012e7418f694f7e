//! Calls out of the sandbox, as far as the filter makes them.
//!
//! Bytes go in and out, and what the host refuses is an `Err` or a `None`: nothing panics on a status that is not expected,
//! as the wrappers of SDKs do. Calls, numbers and statuses are those of the Proxy-Wasm ABI 0.2.1.

#![expect(unsafe_code, reason = "imported functions; what they need is said at each call")]

use std::fmt;
use std::iter;
use std::ptr::null_mut;
use std::time::Duration;

use crawlward_core::measures::Kind;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_log(level: u32, message: *const u8, size: usize) -> u32;
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
    fn proxy_get_header_map_pairs(map: u32, data: *mut *mut u8, size: *mut usize) -> u32;
    fn proxy_add_header_map_value(
        map: u32,
        name: *const u8,
        name_size: usize,
        value: *const u8,
        value_size: usize,
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
    fn proxy_define_metric(kind: u32, name: *const u8, name_size: usize, id: *mut u32) -> u32;
    fn proxy_increment_metric(id: u32, by: i64) -> u32;
    fn proxy_record_metric(id: u32, value: u64) -> u32;
    fn proxy_get_shared_data(
        key: *const u8,
        key_size: usize,
        data: *mut *mut u8,
        size: *mut usize,
        version: *mut u32,
    ) -> u32;
    fn proxy_set_shared_data(
        key: *const u8,
        key_size: usize,
        value: *const u8,
        value_size: usize,
        version: u32,
    ) -> u32;
    fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
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
    Response = 2,
}

/// How much a line of the log matters, which Envoy may be told to leave out.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum LogLevel {
    Warn = 3,
    Error = 4,
    Critical = 5,
}

/// Writes a line to the log.
pub(crate) fn log(level: LogLevel, message: &str) {
    // SAFETY: the message is read during the call. There is no other place to tell that it was refused.
    unsafe { proxy_log(level as u32, message.as_ptr(), message.len()) };
}

/// The time, in seconds since the Unix epoch.
pub(crate) fn now() -> i64 {
    const NANOSECONDS: u64 = 1_000_000_000;
    let mut time = 0;
    // SAFETY: the pointer is to a u64 that outlives the call, which leaves it as it is where it fails.
    unsafe { proxy_get_current_time_nanoseconds(&raw mut time) };
    (time / NANOSECONDS).cast_signed()
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

/// Has the filter state `wasm.` with this name last as long as the request, internal redirects included, where the current
/// plugin sets it.
pub(crate) fn keep_filter_state(name: &str) -> Result<(), Refused> {
    const FUNCTION: &str = "declare_property";
    // Envoy's protocol buffer: the name is its field 1, a text, and the life span its field 5, whose 1 is the request's.
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    let arguments = [&[0x0a, length], name.as_bytes(), &[0x28, 1]].concat();
    // SAFETY: function and arguments are read during the call; where no place for results is given none is written to.
    let status = unsafe {
        proxy_call_foreign_function(
            FUNCTION.as_ptr(),
            FUNCTION.len(),
            arguments.as_ptr(),
            arguments.len(),
            null_mut(),
            null_mut(),
        )
    };
    carried_out(FUNCTION, status)
}

/// The value of a header's first line, by its lower-case name.
pub(crate) fn header(headers: Headers, name: &str) -> Option<Vec<u8>> {
    returned(|data, size| {
        // SAFETY: the name is read during the call; the others are to a pointer and a size that outlive it.
        unsafe { proxy_get_header_map_value(headers as u32, name.as_ptr(), name.len(), data, size) }
    })
}

/// All lines of all headers. This copies more than [`header`], but costs less than two calls that find something.
pub(crate) fn all_headers(headers: Headers) -> Result<HeaderMap, Refused> {
    let mut status = OK;
    let map = returned(|data, size| {
        // SAFETY: the pointers are to a pointer and a size that outlive the call.
        status = unsafe { proxy_get_header_map_pairs(headers as u32, data, size) };
        status
    });
    map.map(HeaderMap).ok_or(Refused { call: "proxy_get_header_map_pairs", status })
}

/// Adds a line of a header to those that are there.
pub(crate) fn add_header(headers: Headers, name: &str, value: &[u8]) -> Result<(), Refused> {
    // SAFETY: name and value are read during the call.
    let status = unsafe {
        proxy_add_header_map_value(headers as u32, name.as_ptr(), name.len(), value.as_ptr(), value.len())
    };
    carried_out("proxy_add_header_map_value", status)
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

/// A statistic of Envoy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatId(u32);

/// Defines a statistic, or finds the one that has the name. Each call costs Envoy memory for a new number.
pub(crate) fn define_stat(kind: Kind, name: &str) -> Result<StatId, Refused> {
    let kind = match kind {
        Kind::Counter => 0,
        Kind::Gauge => 1,
    };
    let mut id = 0;
    // SAFETY: the name is read during the call, and the last pointer is to a u32 that outlives it.
    let status = unsafe { proxy_define_metric(kind, name.as_ptr(), name.len(), &raw mut id) };
    carried_out("proxy_define_metric", status).map(|()| StatId(id))
}

/// Adds one to a counter.
pub(crate) fn increment(id: StatId) -> Result<(), Refused> {
    // SAFETY: numbers only.
    carried_out("proxy_increment_metric", unsafe { proxy_increment_metric(id.0, 1) })
}

/// Sets a gauge.
pub(crate) fn record(id: StatId, value: u64) -> Result<(), Refused> {
    // SAFETY: numbers only.
    carried_out("proxy_record_metric", unsafe { proxy_record_metric(id.0, value) })
}

/// What all virtual machines of the filter in this process share under a key, with its version.
pub(crate) fn shared(key: &str) -> Option<(Vec<u8>, u32)> {
    let mut version = 0;
    let value = returned(|data, size| {
        // SAFETY: the key is read during the call; the others are to places that outlive it.
        unsafe { proxy_get_shared_data(key.as_ptr(), key.len(), data, size, &raw mut version) }
    });
    value.map(|value| (value, version))
}

/// Sets what is shared, unless it has another version by now; version 0 is any.
pub(crate) fn share(key: &str, value: &[u8], version: u32) -> Result<(), Refused> {
    // SAFETY: key and value are read during the call.
    let status =
        unsafe { proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), version) };
    carried_out("proxy_set_shared_data", status)
}

/// Has `on_tick` of the current root context called again and again; never again where the period is zero.
pub(crate) fn tick_every(period: Duration) -> Result<(), Refused> {
    let milliseconds = u32::try_from(period.as_millis()).unwrap_or(u32::MAX);
    // SAFETY: a number only.
    let status = unsafe { proxy_set_tick_period_milliseconds(milliseconds) };
    carried_out("proxy_set_tick_period_milliseconds", status)
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
    // SAFETY: the host had `proxy_on_memory_allocate` make this buffer for us, of exactly `size` bytes by the same global
    // allocator, filled it, and knows it no more.
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

/// Headers, in the form that [`serialised`] gives.
pub(crate) struct HeaderMap(Vec<u8>);

impl HeaderMap {
    /// The lines, as name and value; names are in lower case.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        const NUMBER: usize = size_of::<u32>();
        let (count, rest) = self.0.split_first_chunk().unwrap_or((&[0; NUMBER], &[]));
        let count = u32::from_le_bytes(*count) as usize;
        // What is cut has no lines.
        let (sizes, mut texts) = rest.split_at_checked(count.saturating_mul(2 * NUMBER)).unwrap_or_default();
        let mut numbers = sizes.chunks_exact(NUMBER).filter_map(|bytes| bytes.first_chunk().copied());
        let mut text = move || {
            let size = u32::from_le_bytes(numbers.next()?) as usize;
            let (text, rest) = texts.split_at_checked(size)?;
            texts = rest.strip_prefix(b"\0")?;
            Some(text)
        };
        iter::from_fn(move || Some((text()?, text()?)))
    }

    /// The value of a header's first line, by its lower-case name.
    pub(crate) fn get(&self, name: &str) -> Option<&[u8]> {
        self.lines().find(|(header, _)| *header == name.as_bytes()).map(|(_, value)| value)
    }
}
