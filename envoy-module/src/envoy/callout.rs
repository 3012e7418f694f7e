//! Requests to a cluster, in the main thread.

use std::time::Duration;

use super::abi::{Buffer, CALLOUT_ANSWERED, CALLOUT_SENT, Header};
use super::configuration::Scheduled;
use super::kept::enterable;
use super::stream::bytes;
use super::{Refused, callbacks};

/// The number of a request to a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalloutId(u64);

/// A request to a cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callout<'c> {
    pub(crate) cluster: &'c str,
    /// Among them those that begin with a colon. Names are in lower case.
    pub(crate) headers: &'c [(&'c str, &'c str)],
    pub(crate) body: &'c [u8],
    pub(crate) patience: Duration,
}

impl Scheduled<'_> {
    /// Sends a request. Its answer comes to [`super::Module::on_answer`], which Envoy can call before this returns.
    ///
    /// # Errors
    ///
    /// Envoy refuses: it has no such cluster, or cannot send to it now. No answer comes.
    pub(crate) fn call_out(&self, callout: &Callout<'_>) -> Result<CalloutId, Refused> {
        let line = |(name, value): &(&str, &str)| Header {
            name: Buffer::of(name.as_bytes()),
            value: Buffer::of(value.as_bytes()),
        };
        let headers: Vec<Header> = callout.headers.iter().map(line).collect();
        let mut id = 0;
        // SAFETY: a hook of the configuration is running in the main thread, and Envoy copies the buffers before it returns.
        let status = enterable(|| unsafe {
            (callbacks().http_filter_config_http_callout)(
                self.configuration,
                &raw mut id,
                Buffer::of(callout.cluster.as_bytes()),
                headers.as_ptr(),
                headers.len(),
                Buffer::of(callout.body),
                // At most a minute, so it fits.
                u64::try_from(callout.patience.as_millis()).unwrap_or(u64::MAX).max(1),
            )
        });
        match status {
            CALLOUT_SENT => Ok(CalloutId(id)),
            _ => Err(Refused::of("http_filter_config_http_callout")),
        }
    }
}

/// The result of a request to a cluster.
#[derive(Debug)]
pub(crate) struct Answer<'h> {
    pub(crate) id: CalloutId,
    /// The header lines and the body; `None` if there was no answer, or not in time.
    message: Option<(&'h [Header], &'h [Buffer])>,
}

impl<'h> Answer<'h> {
    /// # Safety
    ///
    /// Envoy calls the hook for this answer, which lasts as long as the result. The arrays have so many elements.
    pub(super) unsafe fn new(
        id: u64,
        result: u32,
        (headers, headers_count): (*const Header, usize),
        (body, body_count): (*const Buffer, usize),
    ) -> Self {
        // SAFETY: the caller's promise.
        let message = unsafe { (slice(headers, headers_count), slice(body, body_count)) };
        Self { id: CalloutId(id), message: (result == CALLOUT_ANSWERED).then_some(message) }
    }

    /// The first line of a header, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&'h [u8]> {
        let (headers, _) = self.message?;
        // SAFETY: Envoy has given these bytes, which are valid during the hook.
        let mut lines = headers.iter().map(|line| unsafe { (bytes(line.name), bytes(line.value)) });
        lines.find(|(known, _)| *known == name.as_bytes()).map(|(_, value)| value)
    }

    /// The body, unless it is longer than `most` bytes.
    pub(crate) fn body(&self, most: usize) -> Option<Vec<u8>> {
        let (_, pieces) = self.message?;
        // SAFETY: as above.
        let pieces = pieces.iter().map(|piece| unsafe { bytes(*piece) });
        let length = pieces.clone().try_fold(0_usize, |sum, piece| sum.checked_add(piece.len()))?;
        (length <= most).then(|| pieces.collect::<Vec<_>>().concat())
    }
}

/// # Safety
///
/// The array has so many elements, and lives as long as the result.
unsafe fn slice<'h, T>(first: *const T, count: usize) -> &'h [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count) }
}
