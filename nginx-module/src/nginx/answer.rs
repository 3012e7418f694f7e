//! A response that the module sends itself, as nginx's own handlers send theirs.

use std::ptr::{self, NonNull};

use ngx::allocator::allocate;
use ngx::core::{Pool, Status};
use ngx::ffi::{
    NGX_HTTP_CLIENT_CLOSED_REQUEST, NGX_HTTP_CLOSE, NGX_HTTP_NOT_MODIFIED, NGX_HTTP_REQUEST_TIME_OUT,
    ngx_array_create, ngx_array_push, ngx_array_t, ngx_buf_t, ngx_chain_t, ngx_http_core_loc_conf_t,
    ngx_http_discard_request_body, ngx_http_err_page_t, ngx_http_output_filter, ngx_http_request_t,
    ngx_http_send_header, ngx_int_t, ngx_pool_t, ngx_table_elt_t, off_t,
};
use ngx::http::{HTTPStatus, HttpModule, HttpModuleConfExt, NgxHttpCoreModule};

use super::request::Request;
use super::types::ModuleTypes;

/// The proof that a request has its answer. nginx ends the request when the function returns it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Answered(pub(super) Status);

/// A response.
#[derive(Debug)]
pub(crate) struct Response<'a, H> {
    pub(crate) status: u16,
    /// Names and values, apart from what nginx itself knows (`Content-Length`, `Date`).
    pub(crate) headers: H,
    /// Not sent to a `HEAD`, but its length is.
    pub(crate) body: &'a [u8],
}

impl<M: ModuleTypes> Request<'_, M> {
    /// Leaves the answer to nginx: its own page for this status, or the operator's `error_page`.
    pub(crate) fn finish_with_status(self, status: u16) -> Answered {
        Answered(HTTPStatus(usize::from(status)).into())
    }

    /// Sends a response.
    pub(crate) fn answer<'a, H>(mut self, response: Response<'a, H>) -> Answered
    where
        H: Iterator<Item = (&'static str, &'a str)>,
    {
        // Without memory for the response, nginx's own page has to do, which needs none of the module's.
        let instead = match response.status {
            status @ 400.. => HTTPStatus(usize::from(status)),
            _ => HTTPStatus::INTERNAL_SERVER_ERROR,
        };
        Answered(self.send(response).unwrap_or(instead.into()))
    }

    /// Returns true if nginx answers a status in its own way: with the operator's `error_page`, or by closing the connection
    /// as for 444.
    pub(crate) fn is_answered_by_nginx(&self, status: u16) -> bool {
        const CLOSING: [u32; 3] = [NGX_HTTP_REQUEST_TIME_OUT, NGX_HTTP_CLOSE, NGX_HTTP_CLIENT_CLOSED_REQUEST];
        CLOSING.contains(&u32::from(status)) || self.has_error_page(status)
    }

    /// Returns true if the operator has an `error_page` for a status where the request is served.
    fn has_error_page(&self, status: u16) -> bool {
        // As nginx does: no page for a page's own error, unless `recursive_error_pages` has left this unset.
        if self.is_error_page() || self.uri_changes() == 0 {
            return false;
        }
        // SAFETY: the location configuration of nginx's core module has this type. Its `error_pages` is null or an array of
        // this type.
        let pages = unsafe {
            (*self.as_ptr())
                .http_location_conf_unchecked::<ngx_http_core_loc_conf_t>(NgxHttpCoreModule::module())
                .and_then(|conf| (*conf.as_ptr()).error_pages.as_ref())
                .map(|pages| pages.as_slice::<ngx_http_err_page_t>())
        };
        let status = Status::from(HTTPStatus(usize::from(status)));
        pages.is_some_and(|pages| pages.iter().any(|page| page.status == status.0))
    }

    /// Removes from the response what nginx put there from that of an upstream with `X-Accel-Redirect`. It belongs to what
    /// was to be sent, and would let a cache keep what is sent instead.
    pub(crate) fn forget_upstream(&mut self) {
        const CARRIED: [&str; 5] =
            ["Set-Cookie", "Content-Disposition", "Cache-Control", "Expires", "Accept-Ranges"];
        // SAFETY: the request is live.
        if unsafe { (*self.as_ptr()).upstream.is_null() } {
            return;
        }
        let is_carried =
            |name: &[u8]| CARRIED.iter().any(|carried| name.eq_ignore_ascii_case(carried.as_bytes()));
        self.response_header_list().withdraw(is_carried);
        let head = self.head();
        head.cache_control.forget();
        head.expires = ptr::null_mut();
        head.accept_ranges = ptr::null_mut();
        head.override_charset = ptr::null_mut();
    }

    /// Removes headers of the response, and what nginx would make them of when it sends it.
    pub(crate) fn remove_response_headers(&mut self, is_unwanted: impl Fn(&[u8]) -> bool) {
        self.response_header_list().withdraw(&is_unwanted);
        let head = self.head();
        if !head.expires.is_null() && is_unwanted(b"expires") {
            head.expires = ptr::null_mut();
        }
        if !head.etag.is_null() && is_unwanted(b"etag") {
            head.etag = ptr::null_mut();
        }
        let has_date = !head.last_modified.is_null() || head.last_modified_time != -1;
        if has_date && is_unwanted(b"last-modified") {
            head.last_modified = ptr::null_mut();
            head.last_modified_time = -1;
        }
    }

    /// Sends a response, and returns the status for nginx. `None` if there is no memory; nothing is sent then.
    fn send<'a>(
        &mut self,
        response: Response<'a, impl Iterator<Item = (&'static str, &'a str)>>,
    ) -> Option<Status> {
        let Response { status, headers, body } = response;
        let raw = self.as_ptr();
        // A client that waits for "100 Continue" need not send a body that nobody reads.
        self.set_expect_tested();
        // SAFETY: the request is live.
        let discarded = Status(unsafe { ngx_http_discard_request_body(raw) });
        if !discarded.is_ok() {
            return Some(discarded);
        }
        // The response takes the conditions of the request into account already.
        self.set_disable_not_modified();
        self.set_status(status, body.len())?;
        for (name, value) in headers {
            self.set_header(name, value)?;
        }
        let body = self.copy(body)?;
        // SAFETY: the request is live, and so is its pool.
        let buffer = unsafe { new_buffer((*raw).pool)? };
        // SAFETY: the request is live.
        let sent = Status(unsafe { ngx_http_send_header(raw) });
        if sent == Status::NGX_ERROR || sent > Status::NGX_OK || self.is_header_only() {
            return Some(sent);
        }
        // SAFETY: the request is live, its head is out, and buffer and body are in its pool.
        Some(unsafe { send_bytes(raw, buffer, body.as_bytes(), true, ngx_http_output_filter) })
    }

    /// Starts the head of a response, without the type of a body.
    fn set_status(&mut self, status: u16, length: usize) -> Option<()> {
        // A 304 has no length: that of the body that it stands for is not known.
        let has_length = u32::from(status) != NGX_HTTP_NOT_MODIFIED;
        let length = if has_length { off_t::try_from(length).ok()? } else { -1 };
        // An `error_page` that led here would put its own status in the place of this one.
        // SAFETY: the request is live.
        unsafe { (*self.as_ptr()).err_status = 0 };
        let head = self.empty_head(usize::from(status));
        head.content_length_n = length;
        Some(())
    }

    /// Adds a header where nginx's filters look for it: they compress by the type, weaken or remove validators, and replace
    /// `Cache-Control` as `expires` says.
    fn set_header(&mut self, name: &'static str, value: &str) -> Option<()> {
        if name == "Content-Type" {
            let (media_type, parameters) = value.split_once(';').unwrap_or((value, ""));
            let charset = parameters.trim_start().strip_prefix("charset=").unwrap_or("");
            let (content_type, charset) = (self.copy(value.as_bytes())?, self.copy(charset.as_bytes())?);
            let head = self.head();
            head.content_type = content_type;
            head.content_type_len = media_type.len();
            head.charset = charset;
            return Some(());
        }
        let line = self.response_header_list().append(name, value.as_bytes()).ok()?;
        let pool = self.pool();
        let head = self.head();
        match name {
            "Cache-Control" => head.cache_control.register(&pool, line)?,
            "ETag" => head.etag = line.as_ptr(),
            "Last-Modified" => head.last_modified = line.as_ptr(),
            _ => (),
        }
        Some(())
    }

    fn pool(&self) -> Pool {
        // SAFETY: the request is live, and so is its pool. The handle does not leave this file.
        unsafe { Pool::from_ngx_pool((*self.as_ptr()).pool) }
    }
}

/// A buffer for [`send_bytes`]. It is made before the head is out, when the response can still be another one.
///
/// # Safety
///
/// `pool` is live.
pub(super) unsafe fn new_buffer(pool: *mut ngx_pool_t) -> Option<NonNull<ngx_buf_t>> {
    // SAFETY: the caller's promise. A buffer may be zeroed.
    unsafe { allocate(std::mem::zeroed::<ngx_buf_t>(), &Pool::from_ngx_pool(pool)).ok() }
}

/// Sends bytes through `filter` and those after it. If they are the last ones, the response is complete.
///
/// # Safety
///
/// The request is live, and its head is out. The bytes stay where they are as long as its pool. [`new_buffer`] has made the buffer in
/// that pool, and nothing has been sent with it. `filter` is a body filter of nginx.
pub(super) unsafe fn send_bytes(
    raw: *mut ngx_http_request_t,
    buffer: NonNull<ngx_buf_t>,
    bytes: &[u8],
    is_last: bool,
    filter: unsafe extern "C" fn(*mut ngx_http_request_t, *mut ngx_chain_t) -> ngx_int_t,
) -> Status {
    // SAFETY: the caller's promise. Filters only read what is in `memory`. The link of the chain need not outlive the call.
    unsafe {
        let filled = &mut *buffer.as_ptr();
        filled.pos = bytes.as_ptr().cast_mut();
        filled.last = filled.pos.add(bytes.len());
        // An empty buffer that claims memory counts as a bug, and nginx closes the connection.
        filled.set_memory(u32::from(!bytes.is_empty()));
        // The rest may never come.
        filled.set_flush(u32::from(!is_last));
        filled.set_last_buf(u32::from(is_last));
        filled.set_last_in_chain(u32::from(is_last));
        let mut chain = ngx_chain_t { buf: buffer.as_ptr(), next: ptr::null_mut() };
        Status(filter(raw, &raw mut chain))
    }
}

/// The place where nginx keeps the lines of a header that can have several: an array, from 1.23 on a linked list.
trait Lines {
    /// Makes a line the only one that nginx knows.
    fn register(&mut self, pool: &Pool, line: NonNull<ngx_table_elt_t>) -> Option<()>;

    /// Makes nginx know none.
    fn forget(&mut self);
}

impl Lines for ngx_array_t {
    fn register(&mut self, pool: &Pool, line: NonNull<ngx_table_elt_t>) -> Option<()> {
        // SAFETY: a `Pool` is live. The array is for pointers to lines.
        unsafe {
            *self = *ngx_array_create(pool.as_ptr(), 1, size_of::<*mut ngx_table_elt_t>()).as_ref()?;
            let slot: NonNull<*mut ngx_table_elt_t> = NonNull::new(ngx_array_push(self).cast())?;
            slot.write(line.as_ptr());
        }
        Some(())
    }

    fn forget(&mut self) {
        // SAFETY: all zero is the array that nginx has not made yet.
        *self = unsafe { std::mem::zeroed() };
    }
}

impl Lines for *mut ngx_table_elt_t {
    fn register(&mut self, _: &Pool, line: NonNull<ngx_table_elt_t>) -> Option<()> {
        *self = line.as_ptr();
        Some(())
    }

    fn forget(&mut self) {
        *self = ptr::null_mut();
    }
}
