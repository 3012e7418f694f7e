//! A request that nginx serves.

use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ptr::{self, NonNull};

use ngx::core::Status;
use ngx::ffi::{
    AF_INET, AF_INET6, ngx_http_complex_value, ngx_http_core_srv_conf_t, ngx_http_request_t, ngx_str_t,
    sockaddr, sockaddr_in, sockaddr_in6,
};
use ngx::http::{HttpModule, HttpModuleConfExt, NgxHttpCoreModule};

use super::conf::ComplexValue;
use super::headers::{Header, HeaderList, HeaderName, Headers, NoRoom};
use super::log::{self, LogLevel};
use super::main_conf::main_conf;
use super::main_thread::MainThread;
use super::pool;
use super::types::{Exported, ModuleTypes};

/// A request that nginx has passed to a function of the module `M`, whose call lasts for `'r`.
///
/// It is not `ngx::http::Request`, which is a `&mut` to nginx's own structure: nginx and re-entered functions of the module use
/// that structure meanwhile.
#[derive(Debug)]
pub(crate) struct Request<'r, M> {
    raw: NonNull<ngx_http_request_t>,
    main_thread: MainThread<'r>,
    call: PhantomData<&'r M>,
}

/// A location of the configuration, to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocationId(*const ());

impl<'r, M: ModuleTypes> Request<'r, M> {
    /// # Safety
    ///
    /// nginx passed `raw` to a function of the module `M`, which runs for `'r`, and ends the request after that at the
    /// earliest. There is no other handle for this call.
    pub(super) unsafe fn new(raw: NonNull<ngx_http_request_t>, main_thread: MainThread<'r>) -> Self {
        Self { raw, main_thread, call: PhantomData }
    }

    pub(super) fn as_ptr(&self) -> *mut ngx_http_request_t {
        self.raw.as_ptr()
    }

    pub(crate) fn main_thread(&self) -> MainThread<'r> {
        self.main_thread
    }

    /// Returns true if this is the request of a client, not a subrequest.
    pub(super) fn is_main(&self) -> bool {
        // SAFETY: the request is live.
        unsafe { ptr::eq((*self.as_ptr()).main, self.as_ptr()) }
    }

    /// The client's address, after `realip`. `None` over a unix socket.
    pub(crate) fn client_address(&self) -> Option<IpAddr> {
        // SAFETY: a request has a connection, and a connection the address of its peer, or null.
        unsafe { address_of((*self.as_ptr()).connection.as_ref()?.sockaddr) }
    }

    /// The host and port of the request line, else of the Host header, as the client sent them.
    pub(crate) fn authority(&self) -> Option<&[u8]> {
        // nginx refuses a request with several headers.
        // SAFETY: the request is live.
        let header = || unsafe { (*self.as_ptr()).headers_in.host.as_ref() };
        self.authority_of_line().or_else(|| header().map(|host| host.value.as_bytes()))
    }

    /// The host and port of the request line, as the client sent them.
    fn authority_of_line(&self) -> Option<&[u8]> {
        // SAFETY: the request is live. If the request line has a host, these point at it in what nginx has read, which stays
        // where it is as long as the request; in HTTP/3 they have the port, and the line is another string.
        unsafe {
            let request = self.as_ptr();
            let (start, end) = ((*request).host_start, (*request).host_end);
            if start.is_null() || end.is_null() {
                return None;
            }
            let line = (*request).request_line.as_bytes();
            let behind = (end as usize).checked_sub(line.as_ptr() as usize).and_then(|end| line.get(end..));
            let length = usize::try_from(end.offset_from(start)).ok()?;
            Some(std::slice::from_raw_parts(start, length + port_length(behind.unwrap_or_default())))
        }
    }

    /// Makes the host of the request line that of the Host header. No proxy may pass on another one (RFC 9112 3.2.2), which
    /// `$http_host` would do: the decision is about the request line.
    pub(crate) fn settle_host(&mut self) {
        let Some(authority) = self.authority_of_line() else { return };
        let value = ngx_str_t { len: authority.len(), data: authority.as_ptr().cast_mut() };
        // SAFETY: the request is live, and nobody else uses the header. nginx does not write to its value.
        if let Some(host) = unsafe { (*self.as_ptr()).headers_in.host.as_mut() } {
            host.value = value;
        }
    }

    /// The method as the client sent it, whatever an `error_page` or an `X-Accel-Redirect` has made of it.
    pub(crate) fn method(&self) -> &[u8] {
        // nginx writes a request line for HTTP/2 and HTTP/3, too.
        // SAFETY: the request is live, and its strings are in its pool.
        let line = unsafe { (*self.as_ptr()).request_line.as_bytes() };
        line.split(|byte| *byte == b' ').next().unwrap_or(line)
    }

    /// The path and query as the client sent them, whatever `rewrite` has made of them.
    pub(crate) fn target(&self) -> &[u8] {
        // SAFETY: the request is live, and its strings are in its pool.
        let target = unsafe { (*self.as_ptr()).unparsed_uri.as_bytes() };
        // `GET http://example.com?a` asks for `/?a`, which nginx serves. A rule for `/` has to see it like that. If there is no
        // memory for the copy, nginx has none to serve the request either.
        if target.starts_with(b"?") {
            return self.keep(&[b"/", target].concat()).unwrap_or(target);
        }
        target
    }

    /// The status of the response, once nginx has begun one.
    pub(crate) fn response_status(&self) -> Option<usize> {
        // SAFETY: the request is live.
        let status = unsafe { (*self.as_ptr()).headers_out.status };
        (status != 0).then_some(status)
    }

    /// The lines of a header, by its lower-case name.
    #[inline]
    pub(crate) fn header_lines<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.headers().filter(move |header| header.is_named(name)).map(Header::value)
    }

    /// The first line of `User-Agent`.
    pub(crate) fn first_user_agent(&self) -> Option<&[u8]> {
        // SAFETY: the request is live. nginx points at a line of its headers, or at none.
        unsafe { (*self.as_ptr()).headers_in.user_agent.as_ref() }.map(|line| line.value.as_bytes())
    }

    /// The header lines.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Header<'_>> {
        // SAFETY: the request is live. What changes its headers borrows this handle exclusively.
        unsafe { Headers::of(&raw const (*self.as_ptr()).headers_in.headers) }
    }

    /// Copies bytes into the request's pool. `None` if there is no memory.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Option<&[u8]> {
        let copy = self.copy(bytes)?;
        // SAFETY: the copy is in the request's pool, and nobody writes to it.
        Some(unsafe { &*ptr::from_ref(copy.as_bytes()) })
    }

    /// Copies bytes into the request's pool, for nginx. `None` if there is no memory.
    pub(super) fn copy(&self, bytes: &[u8]) -> Option<ngx_str_t> {
        if bytes.is_empty() {
            return Some(ngx_str_t::empty());
        }
        // SAFETY: the request is live, and so is its pool.
        unsafe { ngx_str_t::from_bytes((*self.as_ptr()).pool, bytes) }
    }

    /// Removes headers of the request, so that upstreams don't see them.
    pub(crate) fn remove_headers(&mut self, is_unwanted: impl Fn(&[u8]) -> bool) -> Result<(), NoRoom> {
        self.request_headers().remove(is_unwanted)
    }

    /// Adds a header to the request, for upstreams.
    pub(crate) fn add_header(&mut self, name: HeaderName, value: &[u8]) -> Result<(), NoRoom> {
        self.request_headers().add(name, value)
    }

    pub(super) fn request_headers(&mut self) -> HeaderList<'_> {
        // SAFETY: the request is live, and headers are read through this handle, which is borrowed exclusively.
        unsafe { HeaderList::of(NonNull::new_unchecked(&raw mut (*self.as_ptr()).headers_in.headers)) }
    }

    /// The names and values of the response's headers, as far as they are in the list: nginx keeps some of its own apart.
    pub(crate) fn response_headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        // SAFETY: the request is live. What changes its headers borrows this handle exclusively.
        let headers = unsafe { Headers::of(&raw const (*self.as_ptr()).headers_out.headers) };
        headers.filter(|header| header.is_sent()).map(|header| (header.name(), header.value()))
    }

    /// Replaces all lines of a response's header.
    pub(crate) fn replace_response_header(
        &mut self,
        name: &'static str,
        lines: impl Iterator<Item: AsRef<[u8]>>,
    ) -> Result<(), NoRoom> {
        self.response_header_list().replace(name, lines)
    }

    pub(super) fn response_header_list(&mut self) -> HeaderList<'_> {
        // SAFETY: the request is live, and headers are read through this handle, which is borrowed exclusively.
        unsafe { HeaderList::of(NonNull::new_unchecked(&raw mut (*self.as_ptr()).headers_out.headers)) }
    }

    /// Evaluates the value of a directive. `None` if nginx can't.
    pub(crate) fn evaluate(&self, value: ComplexValue<'r>) -> Option<&[u8]> {
        let mut result = ngx_str_t::empty();
        // SAFETY: the value comes from the configuration of this request: that is where the lifetime is from. Functions that
        // evaluate variables, those of this module among them, leave alone what is borrowed from the request.
        let status = unsafe { ngx_http_complex_value(self.as_ptr(), value.as_ptr(), &raw mut result) };
        // SAFETY: the result is in the pool of the request or of the configuration.
        Status(status).is_ok().then(|| unsafe { &*ptr::from_ref(result.as_bytes()) })
    }

    /// Keeps a value with the client's request, through internal redirects (which clear the contexts of modules) and in
    /// subrequests. If there is no memory, nothing is kept.
    pub(crate) fn keep_state(&mut self, make: impl FnOnce() -> M::RequestState) {
        // SAFETY: the request is live, and so is its pool.
        unsafe { pool::keep((*self.as_ptr()).pool, make) };
    }

    /// The value that is kept with the client's request.
    pub(crate) fn state(&self) -> Option<&'r M::RequestState> {
        // SAFETY: the pool lives until the request ends, which is after `'r`.
        unsafe { pool::find((*self.as_ptr()).pool) }
    }

    /// Writes a line to the error log, if its level asks for it. nginx adds the client, the server and the request.
    pub(crate) fn log(&self, level: LogLevel, message: impl FnOnce() -> String) {
        // SAFETY: a request has a connection, and a connection has a log, which lives as long. A handle is in the main
        // thread.
        unsafe {
            if let Some(log) = NonNull::new((*(*self.as_ptr()).connection).log) {
                log::write(log, level, message);
            }
        }
    }
}

impl<'r, M: Exported> Request<'r, M> {
    /// The configuration of the `http` block.
    pub(crate) fn main_conf(&self) -> Option<&'r M::Main> {
        // SAFETY: a request keeps the configuration that serves it, which is read.
        unsafe { main_conf::<M>(&*self.as_ptr()) }.map(|main| &main.conf)
    }

    /// The configuration of the location that serves the request now.
    pub(crate) fn location_conf(&self) -> Option<&'r M::Location<'r>> {
        // SAFETY: `create_loc_conf` made the configurations of this module. A request keeps those that serve it, and nobody
        // changes them once they are read.
        unsafe {
            let conf = (*self.as_ptr()).http_location_conf_unchecked::<M::Location<'r>>(M::ngx_module())?;
            Some(conf.as_ref())
        }
    }

    /// The configuration of the `server` block that serves the request.
    pub(crate) fn server_conf(&self) -> Option<&'r M::Location<'r>> {
        // SAFETY: as for `location_conf`. The configuration of nginx's core module for a server has this type, and leads to those of
        // all modules for it.
        unsafe {
            let server = (*self.as_ptr())
                .http_server_conf_unchecked::<ngx_http_core_srv_conf_t>(NgxHttpCoreModule::module())?;
            let conf = server.as_ref().http_location_conf_unchecked::<M::Location<'r>>(M::ngx_module())?;
            Some(conf.as_ref())
        }
    }

    /// The location that serves the request now.
    pub(crate) fn location_id(&self) -> LocationId {
        LocationId(self.location_conf().map_or(ptr::null(), |conf| ptr::from_ref(conf).cast()))
    }
}

/// The length of a port with its colon, if this begins with one. Not all versions of nginx say where it ends.
fn port_length(behind_host: &[u8]) -> usize {
    let Some((b':', digits)) = behind_host.split_first() else { return 0 };
    1 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The IP address that a structure of C has, if it has one.
///
/// # Safety
///
/// `address` is null, or as long as its family says.
pub(super) unsafe fn address_of(address: *const sockaddr) -> Option<IpAddr> {
    // Raw pointers all the way: a reference to a `sockaddr` would not reach the end of the longer structures.
    if address.is_null() {
        return None;
    }
    // SAFETY: every address starts with its family.
    match u32::from(unsafe { (*address).sa_family }) {
        AF_INET => {
            // SAFETY: the family says which structure it is.
            let v4 = unsafe { address.cast::<sockaddr_in>().read_unaligned() };
            Some(IpAddr::V4(Ipv4Addr::from(v4.sin_addr.s_addr.to_ne_bytes())))
        }
        AF_INET6 => {
            // SAFETY: as above. An in6_addr is sixteen bytes, whatever a C library calls its fields.
            let octets: [u8; 16] =
                unsafe { (&raw const (*address.cast::<sockaddr_in6>()).sin6_addr).cast::<[u8; 16]>().read() };
            Some(IpAddr::V6(Ipv6Addr::from(octets)))
        }
        _ => None,
    }
}
