//! A response of ours, sent as nginx's own handlers send theirs.

use std::ptr::{self, NonNull};

use crawlward_core::reply::Reply;
use ngx::ffi::{
    NGX_ERROR, NGX_HTTP_NOT_ALLOWED, NGX_HTTP_NOT_FOUND, NGX_OK, ngx_array_create, ngx_array_push,
    ngx_array_t, ngx_buf_t, ngx_chain_t, ngx_http_discard_request_body, ngx_http_finalize_request,
    ngx_http_headers_out_t, ngx_http_output_filter, ngx_http_send_header, ngx_pcalloc, ngx_pool_t,
    ngx_table_elt_t,
};

use super::headers;
use super::request::HttpRequest;

impl HttpRequest<'_> {
    /// Takes out of the response what nginx put there from that of an upstream with `X-Accel-Redirect`: it belongs to what
    /// was to be sent, and would let a cache keep what is sent instead.
    pub(crate) fn forget_upstream(self) {
        const CARRIED: [&str; 5] =
            ["Set-Cookie", "Content-Disposition", "Cache-Control", "Expires", "Accept-Ranges"];
        // SAFETY: nginx runs one handler at a time, and we hold no other reference to the response's head.
        let (upstream, out) = unsafe { ((*self.as_ptr()).upstream, &mut (*self.as_ptr()).headers_out) };
        if upstream.is_null() {
            return;
        }
        headers::withdraw(&mut out.headers, &CARRIED);
        out.cache_control.forget();
        out.expires = ptr::null_mut();
        out.accept_ranges = ptr::null_mut();
        out.override_charset = ptr::null_mut();
    }

    /// Ends the request with a response of ours.
    pub(crate) fn finish_with_reply(self, reply: &Reply<'_>) {
        let status = self.respond(reply);
        // SAFETY: the phase handler that calls this gives `NGX_DONE` and touches the request no more.
        unsafe { ngx_http_finalize_request(self.as_ptr(), status) };
    }

    /// Sends a response of ours, and gives the status that a content handler returns.
    pub(crate) fn respond(self, reply: &Reply<'_>) -> isize {
        self.send(reply).unwrap_or(NGX_ERROR as isize)
    }

    /// The status with which a content handler refuses a method, with the methods that it knows in `Allow`.
    pub(crate) fn refuse_method(self, known: &'static str) -> isize {
        // SAFETY: nginx runs one handler at a time, and we hold no other reference to the list.
        let out = unsafe { &mut (*self.as_ptr()).headers_out.headers };
        match headers::push(out, "Allow", "allow", known.as_bytes()) {
            Ok(_) => NGX_HTTP_NOT_ALLOWED as isize,
            Err(()) => NGX_ERROR as isize,
        }
    }

    /// The status with which a content handler says that there is nothing.
    pub(crate) fn not_found(self) -> isize {
        NGX_HTTP_NOT_FOUND as isize
    }

    fn send(self, reply: &Reply<'_>) -> Option<isize> {
        let raw = self.as_ptr();
        // SAFETY: the request is live; each field is set as nginx's own handlers set it, and the strings live in the
        // request's pool or in this module.
        unsafe {
            // Whoever waits for "100 Continue" need not send a body that nobody reads.
            self.set_expect_tested();
            let status = ngx_http_discard_request_body(raw);
            if status != NGX_OK as isize {
                return Some(status);
            }
            // An `error_page` that led here would put its own status in the place of ours.
            (*raw).err_status = 0;
            // The core has evaluated the conditions of the request, for both gates alike.
            self.set_disable_not_modified();
            set_headers(&mut (*raw).headers_out, (*raw).pool, reply)?;
            let status = ngx_http_send_header(raw);
            if status == NGX_ERROR as isize || status > NGX_OK as isize || self.is_header_only() {
                return Some(status);
            }
            let body = self.keep(&reply.body)?;
            let buffer =
                NonNull::new(ngx_pcalloc((*raw).pool, size_of::<ngx_buf_t>()).cast::<ngx_buf_t>())?.as_ptr();
            (*buffer).pos = body.data;
            (*buffer).last = body.data.add(body.len);
            // An empty buffer that claims memory counts as a bug, and the connection is closed.
            (*buffer).set_memory(u32::from(body.len > 0));
            (*buffer).set_last_buf(1);
            (*buffer).set_last_in_chain(1);
            let mut chain = ngx_chain_t { buf: buffer, next: ptr::null_mut() };
            Some(ngx_http_output_filter(raw, &raw mut chain))
        }
    }
}

/// Sets the head of the response so that nginx's filters find what they look for: the type and charset apart, the
/// validators where compression weakens or removes them, `Cache-Control` where `expires` replaces it.
fn set_headers(out: &mut ngx_http_headers_out_t, pool: *mut ngx_pool_t, reply: &Reply<'_>) -> Option<()> {
    const NOT_MODIFIED: u16 = 304;
    out.status = usize::from(reply.status);
    out.status_line = headers::string(b"");
    let content_type = reply.content_type.unwrap_or_default();
    let media_type = content_type.split_once(';').map_or(content_type, |(media_type, _)| media_type);
    let charset = content_type.split_once("charset=").map_or("", |(_, charset)| charset);
    out.content_type = headers::string(content_type.as_bytes());
    out.content_type_len = media_type.len();
    out.content_type_lowcase = ptr::null_mut();
    out.charset = headers::string(charset.as_bytes());
    // A 304 has no length: that of the body which it stands for is not told.
    out.content_length_n = match reply.status {
        NOT_MODIFIED => -1,
        _ => i64::try_from(reply.body.len()).ok()?,
    };
    if let Some(value) = reply.cache_control {
        let element =
            headers::push(&mut out.headers, "Cache-Control", "cache-control", value.as_bytes()).ok()?;
        out.cache_control.register(pool, element)?;
    }
    if let Some(value) = reply.vary {
        headers::push(&mut out.headers, "Vary", "vary", value.as_bytes()).ok()?;
    }
    if let Some(value) = reply.etag {
        out.etag = headers::push(&mut out.headers, "ETag", "etag", value.as_bytes()).ok()?.as_ptr();
    }
    if let Some(value) = &reply.last_modified {
        let element =
            headers::push(&mut out.headers, "Last-Modified", "last-modified", value.as_bytes()).ok()?;
        out.last_modified = element.as_ptr();
    }
    Some(())
}

/// Where nginx keeps the lines of a header that can have several: in an array, from 1.23 on in a linked list.
trait Lines {
    /// Makes a line the only one that nginx knows.
    fn register(&mut self, pool: *mut ngx_pool_t, line: NonNull<ngx_table_elt_t>) -> Option<()>;

    /// Makes nginx know none.
    fn forget(&mut self);
}

impl Lines for ngx_array_t {
    fn register(&mut self, pool: *mut ngx_pool_t, line: NonNull<ngx_table_elt_t>) -> Option<()> {
        // SAFETY: the array is the request's, for pointers to lines; the pool is the request's.
        unsafe {
            *self = *ngx_array_create(pool, 1, size_of::<*mut ngx_table_elt_t>()).as_ref()?;
            let slot = NonNull::new(ngx_array_push(self))?.cast::<*mut ngx_table_elt_t>();
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
    fn register(&mut self, _: *mut ngx_pool_t, line: NonNull<ngx_table_elt_t>) -> Option<()> {
        *self = line.as_ptr();
        Some(())
    }

    fn forget(&mut self) {
        *self = ptr::null_mut();
    }
}
