//! The head of a response that is changed on its way, also where nginx keeps parts of it apart.

use std::ptr::{self, NonNull};

use ngx::ffi::{
    NGX_HTTP_NOT_MODIFIED, ngx_http_core_main_conf_t, ngx_http_core_srv_conf_t, ngx_http_headers_out_t,
    ngx_http_set_exten, ngx_str_t, off_t,
};
use ngx::http::{HttpModule, HttpModuleConfExt, NgxHttpCoreModule};

use super::headers::{HeaderName, NoRoom};
use super::request::Request;
use super::types::ModuleTypes;

/// The target of a request at a time.
#[derive(Debug)]
pub(crate) struct DecodedTarget {
    path: Box<[u8]>,
    query: Box<[u8]>,
    /// True if nginx passes on the path as the client sent it.
    is_as_sent: bool,
}

impl<M: ModuleTypes> Request<'_, M> {
    /// The `Content-Type` of the response, as it is sent. `None` if there is none, or no memory.
    pub(crate) fn response_content_type(&self) -> Option<&[u8]> {
        // SAFETY: the request is live, and its strings are in its pool or in the configuration.
        let (content_type, bare, charset) = unsafe {
            let head = &(*self.as_ptr()).headers_out;
            (head.content_type.as_bytes(), head.content_type_len, head.charset.as_bytes())
        };
        if content_type.is_empty() {
            return None;
        }
        // As nginx's last filter does.
        match bare == content_type.len() && !charset.is_empty() {
            true => self.keep(&[content_type, b"; charset=", charset].concat()),
            false => Some(content_type),
        }
    }

    /// The `Content-Length` of the response, if it is known.
    pub(crate) fn response_length(&self) -> Option<u64> {
        // SAFETY: the request is live.
        u64::try_from(unsafe { (*self.as_ptr()).headers_out.content_length_n }).ok()
    }

    /// Makes the response a 304.
    pub(crate) fn set_not_modified(&mut self) {
        self.empty_head(NGX_HTTP_NOT_MODIFIED as usize);
        self.set_length(None);
    }

    /// Sets the status of the response, and removes the type of its body.
    pub(super) fn empty_head(&mut self, status: usize) -> &mut ngx_http_headers_out_t {
        let head = self.head();
        head.status = status;
        head.status_line = ngx_str_t::empty();
        head.content_type = ngx_str_t::empty();
        head.content_type_len = 0;
        head.content_type_lowcase = ptr::null_mut();
        head.charset = ngx_str_t::empty();
        head
    }

    /// Replaces all lines of a header of the response, which has this name in lower case; no lines: removes it.
    pub(crate) fn edit_response_header(
        &mut self,
        name: &'static str,
        lowercase: &str,
        lines: &[Box<[u8]>],
    ) -> Result<(), NoRoom> {
        match (lowercase, lines.first()) {
            ("content-type", Some(value)) => return self.set_content_type(value),
            ("content-length", value) => {
                let length =
                    value.and_then(|value| str::from_utf8(value).ok()).and_then(|value| value.parse().ok());
                self.set_length(length);
                return Ok(());
            }
            ("content-encoding", None) => self.head().content_encoding = ptr::null_mut(),
            ("accept-ranges", None) => {
                self.head().accept_ranges = ptr::null_mut();
                self.forbid_ranges();
            }
            ("etag", _) => self.head().etag = ptr::null_mut(),
            _ => {}
        }
        self.response_header_list().replace(name, lines.iter())?;
        if lowercase == "etag" && !lines.is_empty() {
            // The filters that compress weaken it.
            let line = self.response_header_list().last(name);
            self.head().etag = line.map_or(ptr::null_mut(), NonNull::as_ptr);
        }
        Ok(())
    }

    fn set_content_type(&mut self, value: &[u8]) -> Result<(), NoRoom> {
        let copy = self.copy(value).ok_or(NoRoom)?;
        let bare = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
        let head = self.head();
        head.content_type = copy;
        head.content_type_len = bare;
        head.content_type_lowcase = ptr::null_mut();
        head.charset = ngx_str_t::empty();
        Ok(())
    }

    /// Sets the `Content-Length` of the response, or makes it unknown.
    pub(super) fn set_length(&mut self, length: Option<u64>) {
        let head = self.head();
        head.content_length_n = length.and_then(|length| off_t::try_from(length).ok()).unwrap_or(-1);
        // SAFETY: it is null or a header of the response.
        if let Some(line) = unsafe { head.content_length.as_mut() } {
            line.hash = 0;
            head.content_length = ptr::null_mut();
        }
    }

    /// Replaces a header of the request, whose line nginx points at itself, by one line or by none.
    pub(crate) fn edit_request_header(
        &mut self,
        name: HeaderName,
        value: Option<&[u8]>,
    ) -> Result<(), NoRoom> {
        let lowercase = name.lowercase();
        self.remove_headers(|known| known.eq_ignore_ascii_case(lowercase.as_bytes()))?;
        let mut line = ptr::null_mut();
        if let Some(value) = value {
            self.add_header(name, value)?;
            line = self.request_headers().last(name.name()).map_or(ptr::null_mut(), NonNull::as_ptr);
        }
        // SAFETY: the request is live. nginx reads these while it makes the response.
        unsafe {
            let headers = &mut (*self.as_ptr()).headers_in;
            match lowercase {
                "if-modified-since" => headers.if_modified_since = line,
                "if-none-match" => headers.if_none_match = line,
                "if-range" => headers.if_range = line,
                "range" => headers.range = line,
                _ => {}
            }
        }
        Ok(())
    }

    /// The target of the request as nginx has decoded it.
    pub(crate) fn decoded_target(&self) -> DecodedTarget {
        // SAFETY: the request is live, and its strings are in its pool.
        let query = unsafe { (*self.as_ptr()).args.as_bytes() };
        DecodedTarget {
            path: self.decoded_path().into(),
            query: query.into(),
            is_as_sent: self.has_sent_uri(),
        }
    }

    fn decoded_path(&self) -> &[u8] {
        // SAFETY: the request is live, and its strings are in its pool.
        unsafe { (*self.as_ptr()).uri.as_bytes() }
    }

    /// Takes an ending off the path, as if the client had sent it without, for everything but `$request_uri` and the log.
    /// False if the path does not end so.
    pub(crate) fn shorten_path(&mut self, ending: &str) -> bool {
        let Some(rest) = self.decoded_path().strip_suffix(ending.as_bytes()).filter(|rest| !rest.is_empty())
        else {
            return false;
        };
        let length = rest.len();
        // SAFETY: the request is live.
        unsafe { (*self.as_ptr()).uri.len = length };
        self.set_extension();
        self.forget_sent_uri();
        true
    }

    /// Has the request the path again that it had before [`Self::shorten_path`]. False if it has yet another path, or there is no
    /// memory.
    pub(crate) fn restore_path(&mut self, before: &DecodedTarget, ending: &str) -> bool {
        if before.path.strip_suffix(ending.as_bytes()) != Some(self.decoded_path()) {
            return false;
        }
        let Some(path) = self.copy(&before.path) else { return false };
        // SAFETY: the request is live, and its pool has the path.
        unsafe { (*self.as_ptr()).uri = path };
        self.set_extension();
        // `set $args` may have changed the query meanwhile.
        if before.is_as_sent && *before.query == *self.decoded_target().query {
            self.trust_sent_uri();
        }
        true
    }

    /// Finds the extension of the path, for the media type of a file.
    fn set_extension(&mut self) {
        // SAFETY: the request is live, and its path is in its pool.
        unsafe {
            (*self.as_ptr()).exten = ngx_str_t::empty();
            ngx_http_set_exten(self.as_ptr());
        }
    }

    /// Has nginx choose the location again, once the handler returns that calls this in the phase in which a location rewrites.
    pub(super) fn choose_location(&mut self) {
        let core = NgxHttpCoreModule::module();
        // SAFETY: the request is live. The configurations of nginx's core module have these types. The phase that chooses a location
        // has one handler, right before those of this phase; nginx goes on with the one that follows `phase_handler`. It begins
        // with the configuration of the server, as after a rewrite.
        unsafe {
            let raw = &mut *self.as_ptr();
            let main = raw.http_main_conf_unchecked::<ngx_http_core_main_conf_t>(core);
            let server = raw.http_server_conf_unchecked::<ngx_http_core_srv_conf_t>(core);
            let (Some(main), Some(server)) = (main, server) else { return };
            let Some(before) = main.as_ref().phase_engine.location_rewrite_index.checked_sub(2) else {
                return;
            };
            raw.loc_conf = (*server.as_ref().ctx).loc_conf;
            raw.phase_handler = before.cast_signed();
        }
    }

    pub(super) fn head(&mut self) -> &mut ngx_http_headers_out_t {
        // SAFETY: the request is live, and the head of its response is used through this handle, which is borrowed
        // exclusively.
        unsafe { &mut (*self.as_ptr()).headers_out }
    }
}
