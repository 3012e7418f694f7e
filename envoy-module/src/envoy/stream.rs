//! The handle of a stream.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::{mem, slice};

use super::abi::{BodyKind, Buffer, EnvoyPtr, Header, HeaderKind, SOURCE_ADDRESS};
use super::configuration::StreamScheduler;
use super::kept::enterable;
use super::metrics::Metrics;
use super::module::Module;
use super::{callbacks, routes};

/// A call that Envoy did not carry out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    call: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envoy refused {}", self.call)
    }
}

impl Refused {
    pub(super) const fn of(call: &'static str) -> Self {
        Self { call }
    }
}

fn carried_out(call: &'static str, done: bool) -> Result<(), Refused> {
    if done { Ok(()) } else { Err(Refused { call }) }
}

/// The headers or the trailers of a request or of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderSet {
    Request,
    RequestTrailers,
    Response,
    ResponseTrailers,
}

/// The place at which bytes are added to the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyPlace {
    /// To those that have just come, in the hook for bodies.
    Received,
    /// To those that Envoy keeps, in the hook for trailers.
    Kept,
}

impl From<HeaderSet> for HeaderKind {
    fn from(headers: HeaderSet) -> Self {
        match headers {
            HeaderSet::Request => Self::Request,
            HeaderSet::RequestTrailers => Self::RequestTrailers,
            HeaderSet::Response => Self::Response,
            HeaderSet::ResponseTrailers => Self::ResponseTrailers,
        }
    }
}

/// The route has a configuration that is not of this module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherModule;

/// A stream, in a hook.
#[derive(Debug)]
pub(crate) struct StreamHandle<'h> {
    pub(super) stream: EnvoyPtr,
    hook: PhantomData<&'h mut ()>,
}

impl StreamHandle<'_> {
    /// # Safety
    ///
    /// Envoy has called a hook of this stream, which lasts as long as the handle.
    pub(super) unsafe fn new(stream: EnvoyPtr) -> Self {
        Self { stream, hook: PhantomData }
    }

    /// A scheduler, which calls the stream's hook for events. `None`: Envoy has none.
    pub(crate) fn scheduler(&self) -> Option<StreamScheduler> {
        // SAFETY: a hook of the stream is running.
        unsafe { StreamScheduler::new(self.stream) }
    }

    /// All header lines.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn headers(&self, headers: HeaderSet) -> Result<Lines<'_>, Refused> {
        let (callbacks, kind) = (callbacks(), headers.into());
        // SAFETY: a hook of the stream is running.
        let count = unsafe { (callbacks.http_get_headers_size)(self.stream, kind) };
        let mut lines = ROOM.take();
        lines.clear();
        lines.reserve(count);
        if count > 0 {
            // SAFETY: a hook of the stream is running, and there is room for so many lines.
            let done = unsafe { (callbacks.http_get_headers)(self.stream, kind, lines.as_mut_ptr()) };
            carried_out("http_get_headers", done)?;
            // SAFETY: Envoy has written so many lines.
            unsafe { lines.set_len(count) };
        }
        Ok(Lines { lines, handle: PhantomData })
    }

    /// Replaces all lines of a header by one; `None` removes it.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn set_header(
        &mut self,
        headers: HeaderSet,
        name: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), Refused> {
        // An empty slice has a pointer, too, so that Envoy can distinguish an empty value from none.
        let value = value.map_or(Buffer::NULL, Buffer::of);
        // SAFETY: a hook of the stream is running, and Envoy copies both.
        let done =
            unsafe { (callbacks().http_set_header)(self.stream, headers.into(), Buffer::of(name), value) };
        carried_out("http_set_header", done)
    }

    /// Adds a line of a header.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn add_header(
        &mut self,
        headers: HeaderSet,
        name: &[u8],
        value: &[u8],
    ) -> Result<(), Refused> {
        // SAFETY: a hook of the stream is running, and Envoy copies both.
        let done = unsafe {
            (callbacks().http_add_header)(self.stream, headers.into(), Buffer::of(name), Buffer::of(value))
        };
        carried_out("http_add_header", done)
    }

    /// The client's address as text, as Envoy has computed it; `None` if it has none.
    pub(crate) fn source_address(&self) -> Option<&[u8]> {
        let mut value = Buffer::NULL;
        // SAFETY: a hook of the stream is running, and Envoy writes the value before it returns.
        let is_there = unsafe {
            (callbacks().http_filter_get_attribute_string)(self.stream, SOURCE_ADDRESS, &raw mut value)
        };
        // SAFETY: Envoy keeps the text with the stream, which lives as long as the handle.
        is_there.then(|| unsafe { bytes(value) })
    }

    /// Sets a string in the filter state.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn set_filter_state(&mut self, key: &str, value: &[u8]) -> Result<(), Refused> {
        // SAFETY: a hook of the stream is running, and Envoy copies both.
        let done = unsafe {
            (callbacks().http_set_filter_state_bytes)(
                self.stream,
                Buffer::of(key.as_bytes()),
                Buffer::of(value),
            )
        };
        carried_out("http_set_filter_state_bytes", done)
    }

    /// Sets a string in the dynamic metadata.
    pub(crate) fn set_metadata(&mut self, namespace: &str, key: &str, value: &str) {
        let [namespace, key, value] = [namespace, key, value].map(|text| Buffer::of(text.as_bytes()));
        // SAFETY: a hook of the stream is running, and Envoy copies all of them.
        unsafe { (callbacks().http_set_dynamic_metadata_string)(self.stream, namespace, key, value) };
    }

    /// Answers the request, which the hook then returns as its result. No other hook for headers is called, and outside of the
    /// hook for request headers the stream may end in this call: see [`super`].
    pub(crate) fn respond(&mut self, status: u16, headers: &[(&[u8], &[u8])], body: &[u8], details: &str) {
        let line =
            |(name, value): &(&[u8], &[u8])| Header { name: Buffer::of(name), value: Buffer::of(value) };
        let headers: Vec<Header> = headers.iter().map(line).collect();
        // SAFETY: a hook of the stream is running, and Envoy copies all of them.
        enterable(|| unsafe {
            (callbacks().http_send_response)(
                self.stream,
                u32::from(status),
                headers.as_ptr(),
                headers.len(),
                Buffer::of(body),
                Buffer::of(details.as_bytes()),
            );
        });
    }

    /// Has Envoy choose the route again, by the headers as they are now.
    pub(crate) fn choose_route_again(&mut self) {
        // SAFETY: a hook of the stream is running.
        unsafe { (callbacks().http_clear_route_cache)(self.stream) };
    }

    /// The bytes of the response's body that have just come, in pieces. Only the hook for bodies has any.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn received(&self) -> Result<Vec<&[u8]>, Refused> {
        let callbacks = callbacks();
        // SAFETY: a hook of the stream is running.
        let count = unsafe { (callbacks.http_get_body_chunks_size)(self.stream, BodyKind::ReceivedResponse) };
        let mut pieces = vec![Buffer::NULL; count];
        // SAFETY: a hook of the stream is running, and there is room for so many pieces.
        let done = count == 0
            || unsafe {
                (callbacks.http_get_body_chunks)(self.stream, BodyKind::ReceivedResponse, pieces.as_mut_ptr())
            };
        carried_out("http_get_body_chunks", done)?;
        // SAFETY: the pieces are valid until the body is changed, which needs a `&mut` of the handle.
        Ok(pieces.into_iter().map(|piece| unsafe { bytes(piece) }).collect())
    }

    /// Removes the bytes that have just come.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn take_received(&mut self) -> Result<(), Refused> {
        // SAFETY: a hook of the stream is running.
        let done = enterable(|| unsafe {
            (callbacks().http_drain_body)(self.stream, BodyKind::ReceivedResponse, usize::MAX)
        });
        carried_out("http_drain_body", done)
    }

    /// Adds bytes to those of the response's body that have just come; in the hook for trailers, to those that Envoy keeps.
    ///
    /// # Errors
    ///
    /// Envoy refuses.
    pub(crate) fn append(&mut self, at: BodyPlace, bytes: &[u8]) -> Result<(), Refused> {
        let kind = match at {
            BodyPlace::Received => BodyKind::ReceivedResponse,
            BodyPlace::Kept => BodyKind::BufferedResponse,
        };
        // SAFETY: a hook of the stream is running, and Envoy copies the bytes.
        let done =
            enterable(|| unsafe { (callbacks().http_append_body)(self.stream, kind, Buffer::of(bytes)) });
        carried_out("http_append_body", done)
    }

    /// Returns false if no route has ever had a configuration of the module.
    pub(crate) fn routes_differ(&self) -> bool {
        routes::ever_existed()
    }

    /// The configuration of the module for the route; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The configuration is of another module, or of another file of this one.
    pub(crate) fn route<M: Module>(&self) -> Result<Option<&M::Route>, OtherModule> {
        if !routes::ever_existed() {
            return Ok(None);
        }
        // SAFETY: a hook of the stream is running.
        let route = unsafe { (callbacks().get_most_specific_route_config)(self.stream) };
        if route.is_null() {
            return Ok(None);
        }
        if !routes::has(route) {
            return Err(OtherModule);
        }
        // SAFETY: `route_new` of this file made the object. Envoy keeps it as long as the route, which the stream holds.
        Ok(unsafe { route.cast_const().cast::<M::Route>().as_ref() })
    }

    /// The metrics of the stream's configuration.
    pub(crate) fn metrics(&self) -> Metrics<'_> {
        // SAFETY: a hook of the stream is running as long as the handle lives.
        unsafe { Metrics::of_stream(self.stream) }
    }
}

/// Header lines that Envoy has given. They are Envoy's own memory, so a change of the headers ends them.
#[derive(Debug)]
pub(crate) struct Lines<'s> {
    lines: Vec<Header>,
    handle: PhantomData<&'s ()>,
}

thread_local! {
    /// Room for the next lines: that of the last ones.
    static ROOM: Cell<Vec<Header>> = const { Cell::new(Vec::new()) };
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        /// Few requests have more headers.
        const KEPT: usize = 128;
        let lines = mem::take(&mut self.lines);
        if lines.capacity() <= KEPT {
            ROOM.set(lines);
        }
    }
}

impl<'s> Lines<'s> {
    /// The lines, as name and value; names are in lower case.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'s [u8], &'s [u8])> {
        // SAFETY: the lines are valid until the headers are changed, which needs a `&mut` of the handle that `'s` borrows.
        self.lines.iter().map(|line| unsafe { (bytes(line.name), bytes(line.value)) })
    }

    /// The lines whose names have lengths that count. All others are skipped in a few instructions each.
    pub(crate) fn with_name_length(
        &self,
        counts: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (&'s [u8], &'s [u8])> {
        let found = self.lines.iter().filter(move |line| counts(line.name.length));
        // SAFETY: as for all lines.
        found.map(|line| unsafe { (bytes(line.name), bytes(line.value)) })
    }
}

/// # Safety
///
/// Envoy has given these bytes, and they are valid as long as the result lives.
pub(super) unsafe fn bytes<'s>(buffer: Buffer) -> &'s [u8] {
    if buffer.data.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(buffer.data.cast(), buffer.length) }
}
