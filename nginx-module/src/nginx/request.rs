//! A request, as the gate sees it.

use std::ffi::c_void;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::{self, NonNull};

use crawlward_core::response::HeaderName;
use ngx::ffi::{
    AF_INET, AF_INET6, NGX_HTTP_CLIENT_CLOSED_REQUEST, NGX_HTTP_CLOSE, NGX_HTTP_REQUEST_TIME_OUT, NGX_OK,
    ngx_http_complex_value, ngx_http_core_loc_conf_t, ngx_http_core_module, ngx_http_err_page_t,
    ngx_http_finalize_request, ngx_http_request_t, ngx_pool_cleanup_add, ngx_str_t, ngx_time, sockaddr_in,
    sockaddr_in6,
};

use super::conf::{ComplexValue, LogLevel, bytes, log_line};
use super::guard::guard;
use super::headers;
use super::module::{POOL_ALIGNMENT, module_index};
use crate::directives::{LocationConf, MainConf};
use crate::gate::State;

/// A request that nginx has handed to one of our handlers, which has not returned.
#[derive(Clone, Copy)]
pub(crate) struct HttpRequest<'r> {
    raw: NonNull<ngx_http_request_t>,
    // One handler's call: what is borrowed from the request lives in its pool, which outlives the call.
    life: std::marker::PhantomData<&'r ngx_http_request_t>,
}

impl<'r> HttpRequest<'r> {
    /// # Safety
    ///
    /// `raw` is the request that nginx passed to a handler, and `'r` ends before that handler returns.
    pub(super) unsafe fn new(raw: *mut ngx_http_request_t) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, life: std::marker::PhantomData })
    }

    /// The request that the client sent, where this is a subrequest of it.
    pub(crate) fn main(self) -> Self {
        // SAFETY: `main` of a live request is a live request with the same pool.
        unsafe { Self::new(self.get().main) }.unwrap_or(self)
    }

    /// Whether this is what a client sent, and no subrequest.
    pub(crate) fn is_main(self) -> bool {
        ptr::eq(self.get().main, self.raw.as_ptr())
    }

    pub(super) fn as_ptr(self) -> *mut ngx_http_request_t {
        self.raw.as_ptr()
    }

    fn get(self) -> &'r ngx_http_request_t {
        // SAFETY: see `new`; no `&mut` to the whole request is ever made.
        unsafe { self.raw.as_ref() }
    }

    /// The configuration of the `http` block.
    pub(crate) fn main_conf(self) -> Option<&'r MainConf> {
        self.conf(self.get().main_conf, module_index())
    }

    /// The configuration of the location that serves the request now.
    pub(crate) fn location_conf(self) -> Option<&'r LocationConf> {
        self.conf(self.get().loc_conf, module_index())
    }

    fn conf<T>(self, confs: *mut *mut c_void, index: usize) -> Option<&'r T> {
        if confs.is_null() {
            return None;
        }
        // SAFETY: nginx keeps one pointer a module, at its ctx_index; ours is what our `create_*_conf` made, or null.
        unsafe { (*confs.add(index)).cast::<T>().as_ref() }
    }

    /// The client's address, after `realip`. `None` over a unix socket.
    pub(crate) fn client_address(self) -> Option<IpAddr> {
        // Raw pointers all the way: a reference to a `sockaddr` would not reach the end of the longer structures.
        // SAFETY: a request has a connection, and a connection the address of its peer, or null.
        let address = unsafe { self.get().connection.as_ref()? }.sockaddr;
        if address.is_null() {
            return None;
        }
        // SAFETY: every address begins with its family.
        match u32::from(unsafe { (*address).sa_family }) {
            AF_INET => {
                // SAFETY: the family says which structure it is.
                let v4 = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
                Some(IpAddr::V4(Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes())))
            }
            AF_INET6 => {
                // SAFETY: as above; an in6_addr is sixteen bytes, whatever a C library calls its fields.
                let octets: [u8; 16] = unsafe {
                    (&raw const (*address.cast::<sockaddr_in6>()).sin6_addr).cast::<[u8; 16]>().read()
                };
                Some(IpAddr::V6(Ipv6Addr::from(octets)))
            }
            _ => None,
        }
    }

    /// The host of the request line or of the Host header, without port, in lower case.
    pub(crate) fn host(self) -> Option<&'r [u8]> {
        Some(bytes(&self.get().headers_in.server)).filter(|host| !host.is_empty())
    }

    /// The time of the current event, in seconds since the Unix epoch.
    pub(crate) fn now() -> i64 {
        ngx_time()
    }

    /// The method as the client sent it, whatever an `error_page` or an `X-Accel-Redirect` made of it.
    pub(crate) fn method(self) -> &'r [u8] {
        // nginx writes a line for HTTP/2 and HTTP/3, too.
        bytes(&self.get().request_line).split(|byte| *byte == b' ').next().unwrap_or_default()
    }

    /// The path and query as the client sent them, whatever `rewrite` made of them.
    pub(crate) fn target(self) -> &'r [u8] {
        let target = bytes(&self.get().unparsed_uri);
        // `GET http://example.com?a` asks for `/?a`, which nginx serves; a rule on `/` has to see it so.
        if target.starts_with(b"?") {
            return self.keep(&[b"/", target].concat()).map_or(target, |copy| bytes(&copy));
        }
        target
    }

    /// The lines of a header, by its lower-case name.
    pub(crate) fn header_lines(self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        headers::iterate(&self.get().headers_in.headers)
            .filter(move |header| headers::is_named(header, name))
            .map(|header| bytes(&header.value))
    }

    /// The lines of a header joined by `,`, as Envoy joins those of the User-Agent.
    pub(crate) fn joined_header(self, name: &str) -> Option<&'r [u8]> {
        let mut lines = self.header_lines(name);
        let first = lines.next()?;
        let Some(second) = lines.next() else {
            return Some(first);
        };
        let all: Vec<&[u8]> = [first, second].into_iter().chain(lines).collect();
        self.keep(&all.join(&b',')).map(|copy| bytes(&copy))
    }

    /// Copies bytes into the request's pool.
    pub(super) fn keep(self, value: &[u8]) -> Option<ngx_str_t> {
        headers::copy(self.get().pool, value).ok()
    }

    /// Removes request headers, so that upstreams don't see them.
    pub(crate) fn remove_headers(self, is_unwanted: impl Fn(&[u8]) -> bool) -> Result<(), ()> {
        headers::remove(self.request_headers(), is_unwanted)
    }

    /// Adds a request header, for upstreams.
    pub(crate) fn add_header(
        self,
        name: &'static str,
        lowercase: &'static str,
        value: &str,
    ) -> Result<(), ()> {
        headers::push(self.request_headers(), name, lowercase, value.as_bytes()).map(drop)
    }

    fn request_headers(self) -> &'r mut ngx::ffi::ngx_list_t {
        // SAFETY: nginx runs one handler at a time, and we hold no other reference to the list: `header` borrows
        // only what the elements point at, which stays where it is.
        unsafe { &mut (*self.raw.as_ptr()).headers_in.headers }
    }

    /// The names and values of the response's headers, as far as they are in the list: nginx keeps some of its own apart.
    pub(crate) fn response_headers(self) -> impl Iterator<Item = (&'r [u8], &'r [u8])> {
        let sent = headers::sent(&self.get().headers_out.headers);
        sent.map(|header| (bytes(&header.key), bytes(&header.value)))
    }

    /// Puts lines of a response's header in the place of all there are.
    pub(crate) fn replace_response_header(self, name: HeaderName, lines: &[Box<[u8]>]) -> Result<(), ()> {
        // SAFETY: as in `request_headers`.
        let list = unsafe { &mut (*self.raw.as_ptr()).headers_out.headers };
        headers::replace(list, name.sent, name.lowercase, lines)
    }

    /// Evaluates a directive's value.
    pub(crate) fn evaluate(self, value: ComplexValue) -> Option<&'r [u8]> {
        let mut result = headers::string(b"");
        // SAFETY: the value was compiled in the configuration that this request uses.
        let status = unsafe { ngx_http_complex_value(self.raw.as_ptr(), value.0.as_ptr(), &raw mut result) };
        (status == NGX_OK as isize).then(|| bytes(&result))
    }

    /// What we keep of the client's request, through internal redirects (which forget modules' contexts) and in
    /// subrequests. `None` where [`Self::begin`] was not called: nginx refused the request while it read it.
    pub(crate) fn state(self) -> Option<&'r State> {
        // SAFETY: the chain of a live pool's cleanups is valid, and those with our handler hold our State.
        unsafe {
            let mut cleanup = (*self.get().pool).cleanup;
            while let Some(entry) = cleanup.as_ref() {
                if entry.handler.is_some_and(|handler| ptr::fn_addr_eq(handler, DROP_STATE)) {
                    return entry.data.cast::<State>().as_ref();
                }
                cleanup = entry.next;
            }
        }
        None
    }

    /// Keeps the state with the request, to whose end it lives. Without memory for it, the request passes undecided.
    pub(crate) fn begin(self, state: State) {
        const { assert!(align_of::<State>() <= POOL_ALIGNMENT, "a pool does not align for this type") };
        // SAFETY: the pool is live, and the cleanup gives aligned memory (see above) for a State.
        unsafe {
            if let Some(entry) = ngx_pool_cleanup_add(self.get().pool, size_of::<State>()).as_mut() {
                entry.data.cast::<State>().write(state);
                entry.handler = Some(DROP_STATE);
            }
        }
    }

    /// Whether a status is one that nginx answers in its own way: with the operator's `error_page`, or by closing the
    /// connection, as for 444.
    pub(crate) fn is_nginx_to_answer(self, status: u16) -> bool {
        const CLOSING: [u32; 3] = [NGX_HTTP_REQUEST_TIME_OUT, NGX_HTTP_CLOSE, NGX_HTTP_CLIENT_CLOSED_REQUEST];
        CLOSING.contains(&u32::from(status)) || self.has_error_page(status)
    }

    /// Whether the operator has an `error_page` for a status where the request is served.
    fn has_error_page(self, status: u16) -> bool {
        // As nginx does: no page of a page's own error, unless `recursive_error_pages` left this unset.
        if self.is_error_page() || self.uri_changes() == 0 {
            return false;
        }
        // SAFETY: the index is that of nginx's core module, whose location configuration has this type; its
        // `error_pages` is null or an array of this type.
        let pages = unsafe {
            let index = ngx_http_core_module.ctx_index;
            self.conf::<ngx_http_core_loc_conf_t>(self.get().loc_conf, index)
                .and_then(|conf| conf.error_pages.as_ref())
                .map(|pages| pages.as_slice::<ngx_http_err_page_t>())
        };
        pages
            .is_some_and(|pages| pages.iter().any(|page| page.status == isize::try_from(status).unwrap_or(0)))
    }

    /// Ends the request as nginx would with this status: with its own page or the operator's `error_page`.
    pub(crate) fn finish_with_status(self, status: u16) {
        // SAFETY: the phase handler that calls this gives `NGX_DONE` and touches the request no more.
        unsafe { ngx_http_finalize_request(self.raw.as_ptr(), isize::try_from(status).unwrap_or(500)) };
    }

    /// Writes a line to the error log, where its level asks for it; nginx adds the client, the server and the request.
    pub(crate) fn log(self, level: LogLevel, message: impl FnOnce() -> String) {
        // SAFETY: a request has a connection, and a connection a log, which lives as long.
        let log = unsafe { self.get().connection.as_ref().and_then(|connection| connection.log.as_ref()) };
        if let Some(log) = log.filter(|log| log.log_level >= level.number()) {
            log_line(level.number(), ptr::from_ref(log).cast_mut(), &message());
        }
    }
}

/// The end of a request's State; it also marks the cleanup entry that holds one.
unsafe extern "C" fn drop_state(data: *mut c_void) {
    // SAFETY: the cleanup was made for this very value, and runs once.
    guard((), || unsafe { ptr::drop_in_place(data.cast::<State>()) });
}

const DROP_STATE: unsafe extern "C" fn(*mut c_void) = drop_state;
