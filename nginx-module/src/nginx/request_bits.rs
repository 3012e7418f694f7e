//! The bit fields of a request, which C reads and writes: see `request_bits.c`. The bindings' own methods for them, such as
//! `header_only()`, are wrong with some versions of nginx. `clippy.toml` forbids them.

use ngx::ffi::{ngx_http_request_t, ngx_uint_t};

use super::request::Request;
use super::types::ModuleTypes;

unsafe extern "C" {
    fn bits_error_page(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_header_only(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_is_encrypted(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_uri_changes(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_set_disable_not_modified(request: *mut ngx_http_request_t);
    fn bits_set_expect_tested(request: *mut ngx_http_request_t);
    fn bits_keepalive(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_set_main_filter_need_in_memory(request: *mut ngx_http_request_t);
    fn bits_forbid_ranges(request: *mut ngx_http_request_t);
    fn bits_forget_sent_uri(request: *mut ngx_http_request_t);
    fn bits_is_client_gone(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_from_cache(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn bits_end_connection(request: *mut ngx_http_request_t);
    fn bits_set_waiting(request: *mut ngx_http_request_t, is_waiting: ngx_uint_t);
}

/// Returns true if the response has no body.
///
/// # Safety
///
/// `request` is live.
pub(super) unsafe fn is_header_only(request: *const ngx_http_request_t) -> bool {
    // SAFETY: the caller's promise; C reads a field of it.
    unsafe { bits_header_only(request) != 0 }
}

/// Returns true if the client's connection stays open after the response.
///
/// # Safety
///
/// `request` is live.
pub(super) unsafe fn is_kept_alive(request: *const ngx_http_request_t) -> bool {
    // SAFETY: the caller's promise; C reads a field of it.
    unsafe { bits_keepalive(request) != 0 }
}

/// Returns true if the client has left, or nginx gives it up.
///
/// # Safety
///
/// `request` is live.
pub(super) unsafe fn is_client_gone(request: *const ngx_http_request_t) -> bool {
    // SAFETY: the caller's promise; C reads a field of its connection.
    unsafe { bits_is_client_gone(request) != 0 }
}

/// Has nginx end the client's connection after the response.
///
/// # Safety
///
/// `request` is live.
pub(super) unsafe fn end_connection(request: *mut ngx_http_request_t) {
    // SAFETY: the caller's promise; C writes a field of it.
    unsafe { bits_end_connection(request) };
}

/// Says whether a filter of the main request waits for something.
///
/// # Safety
///
/// `request` is live.
pub(super) unsafe fn set_waiting(request: *mut ngx_http_request_t, is_waiting: bool) {
    // SAFETY: the caller's promise; C writes a field of its connection.
    unsafe { bits_set_waiting(request, usize::from(is_waiting)) };
}

/// The part that nginx's own cache has in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FromCache {
    /// None: the upstream has sent it, or there is no cache.
    Nothing,
    /// All of it.
    Stored,
    /// All of it, after the upstream has said that it is current.
    Revalidated,
}

impl<M: ModuleTypes> Request<'_, M> {
    /// The part that nginx's own cache has in the response.
    pub(crate) fn cached(&self) -> FromCache {
        // SAFETY: the request is live; C reads a field of its upstream, if it has one.
        match unsafe { bits_from_cache(self.as_ptr()) } {
            1 => FromCache::Stored,
            2 => FromCache::Revalidated,
            _ => FromCache::Nothing,
        }
    }

    /// Returns true if an `error_page` is being served.
    pub(super) fn is_error_page(&self) -> bool {
        // SAFETY: the request is live; C reads a field of it.
        unsafe { bits_error_page(self.as_ptr()) != 0 }
    }

    /// Returns true if the response has no body, as for `HEAD`.
    pub(super) fn is_header_only(&self) -> bool {
        // SAFETY: the request is live; C reads a field of it.
        unsafe { bits_header_only(self.as_ptr()) != 0 }
    }

    /// Returns true if the client's connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        // SAFETY: the request is live, and has a connection; C reads a field of it.
        unsafe { bits_is_encrypted(self.as_ptr()) != 0 }
    }

    /// The number of internal redirects that the request may still have.
    pub(super) fn uri_changes(&self) -> usize {
        // SAFETY: the request is live; C reads a field of it.
        unsafe { bits_uri_changes(self.as_ptr()) }
    }

    /// Keeps nginx from evaluating the conditions of the request.
    pub(super) fn set_disable_not_modified(&mut self) {
        // SAFETY: the request is live; C writes a field of it.
        unsafe { bits_set_disable_not_modified(self.as_ptr()) };
    }

    /// Has nginx read files into memory for the filters.
    pub(super) fn set_filter_need_in_memory(&mut self) {
        // SAFETY: the request is live; C writes a field of it.
        unsafe { bits_set_main_filter_need_in_memory(self.as_ptr()) };
    }

    /// Keeps nginx from sending parts of the response.
    pub(super) fn forbid_ranges(&mut self) {
        // SAFETY: the request is live; C writes a field of it.
        unsafe { bits_forbid_ranges(self.as_ptr()) };
    }

    /// Keeps nginx from passing on the path as the client sent it.
    pub(super) fn forget_sent_uri(&mut self) {
        // SAFETY: the request is live; C writes a field of it.
        unsafe { bits_forget_sent_uri(self.as_ptr()) };
    }

    /// Keeps nginx from sending "100 Continue".
    pub(super) fn set_expect_tested(&mut self) {
        // SAFETY: the request is live; C writes a field of it.
        unsafe { bits_set_expect_tested(self.as_ptr()) };
    }
}
