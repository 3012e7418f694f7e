//! The head of a response that is changed on its way, also where nginx keeps parts of it apart.

use std::ptr::{self, NonNull};

use ngx::ffi::{NGX_HTTP_NOT_MODIFIED, ngx_http_headers_out_t, ngx_http_set_exten, ngx_str_t, off_t};

use super::headers::{HeaderName, NoRoom};
use super::request::Request;
use super::types::ModuleTypes;

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

    /// Takes an ending off the path, as if the client had sent it without, for everything but `$request_uri` and the log.
    /// False if the path does not end so.
    pub(crate) fn shorten_path(&mut self, ending: &str) -> bool {
        // SAFETY: the request is live, and its strings are in its pool. nginx has not chosen a location yet.
        unsafe {
            let uri = &mut (*self.as_ptr()).uri;
            let Some(rest) = uri.as_bytes().strip_suffix(ending.as_bytes()).filter(|rest| !rest.is_empty())
            else {
                return false;
            };
            uri.len = rest.len();
            (*self.as_ptr()).exten = ngx_str_t::empty();
            ngx_http_set_exten(self.as_ptr());
        }
        self.forget_sent_uri();
        true
    }

    pub(super) fn head(&mut self) -> &mut ngx_http_headers_out_t {
        // SAFETY: the request is live, and the head of its response is used through this handle, which is borrowed
        // exclusively.
        unsafe { &mut (*self.as_ptr()).headers_out }
    }
}
