//! The bit fields of a request, which C has to read and to write: see `bits.c`. The bindings' own methods for them, such
//! as `header_only()`, are right with some versions of nginx only, and must not be used.

use ngx::ffi::{ngx_http_request_t, ngx_uint_t};

use super::request::HttpRequest;

unsafe extern "C" {
    fn crawlward_error_page(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn crawlward_header_only(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn crawlward_uri_changes(request: *const ngx_http_request_t) -> ngx_uint_t;
    fn crawlward_set_disable_not_modified(request: *mut ngx_http_request_t);
    fn crawlward_set_expect_tested(request: *mut ngx_http_request_t);
}

impl HttpRequest<'_> {
    /// Whether an `error_page` is being answered.
    pub(super) fn is_error_page(self) -> bool {
        // SAFETY: the request is live; C reads one field of it. So below.
        unsafe { crawlward_error_page(self.as_ptr()) != 0 }
    }

    /// Whether the response has no body, as for `HEAD`.
    pub(super) fn is_header_only(self) -> bool {
        // SAFETY: see above.
        unsafe { crawlward_header_only(self.as_ptr()) != 0 }
    }

    /// How many more redirects within nginx the request may have.
    pub(super) fn uri_changes(self) -> usize {
        // SAFETY: see above.
        unsafe { crawlward_uri_changes(self.as_ptr()) }
    }

    /// Keeps nginx from evaluating the conditions of the request.
    pub(super) fn set_disable_not_modified(self) {
        // SAFETY: see above; the field is written while no reference to the request is held.
        unsafe { crawlward_set_disable_not_modified(self.as_ptr()) };
    }

    /// Keeps nginx from sending "100 Continue".
    pub(super) fn set_expect_tested(self) {
        // SAFETY: see above.
        unsafe { crawlward_set_expect_tested(self.as_ptr()) };
    }
}
