//! The header filter: nginx calls it once for the head of each response, whoever made it.

use std::ptr;

use ngx::ffi::{
    NGX_OK, ngx_http_output_header_filter_pt, ngx_http_request_t, ngx_http_top_header_filter, ngx_int_t,
};

use super::guard::guard;
use super::request::HttpRequest;
use crate::response;

/// The filter that nginx calls after ours.
static mut NEXT: ngx_http_output_header_filter_pt = None;

/// Puts our filter before those that are there already; each filter calls the one that was added before it.
///
/// Nginx makes the chain anew whenever it reads a configuration, in the order of its list of modules. We ask for a place
/// before its headers filter (`ngx_module_order`), so that filter runs first, and what `add_header` adds is there.
pub(super) fn add() {
    // SAFETY: nginx reads its configuration in one thread, which calls no filter meanwhile.
    unsafe {
        NEXT = ptr::read(&raw const ngx_http_top_header_filter);
        ngx_http_top_header_filter = Some(on_headers);
    }
}

unsafe extern "C" fn on_headers(request: *mut ngx_http_request_t) -> ngx_int_t {
    guard((), || {
        // SAFETY: nginx passes the request whose response it sends.
        if let Some(request) = unsafe { HttpRequest::new(request) }.filter(|request| request.is_main()) {
            response::on_headers(request);
        }
    });
    // SAFETY: `add` set it to a filter of nginx, before any request; the request is the one that was passed.
    unsafe { NEXT.map_or(NGX_OK as ngx_int_t, |next| next(request)) }
}
