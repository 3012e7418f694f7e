//! The headers of a response from a site that sends documents.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::form::DocumentForm;
use super::outcome::{DocumentOutcome, DocumentResult};
use crate::http::header_name::HeaderName;

/// The changes to the head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentHeaders {
    /// The status, if it becomes another one: a 304 has no body.
    pub status: Option<u16>,
    /// The result if the client asked for a document and its page is not read.
    pub result: Option<DocumentResult>,
    replaced: Vec<(HeaderName, Vec<Box<[u8]>>)>,
}

impl DocumentHeaders {
    /// The headers to be replaced, with the lines that take the place of all there are; no lines: the header goes.
    pub fn replaced(&self) -> impl Iterator<Item = (HeaderName, &[Box<[u8]>])> {
        self.replaced.iter().map(|(name, lines)| (*name, &**lines))
    }

    /// The headers and trailers that describe the bytes of the page.
    pub fn of_the_page() -> impl Iterator<Item = HeaderName> {
        OF_THE_PAGE.into_iter().chain([ETAG])
    }

    /// The same, with the outcome for a client that asked for a form.
    #[must_use]
    pub(super) fn with(self, form: Option<DocumentForm>, outcome: DocumentOutcome) -> Self {
        Self { result: form.map(|form| DocumentResult::unread(form, outcome)), ..self }
    }

    pub(super) fn set(&mut self, name: HeaderName, value: impl Into<Box<[u8]>>) {
        self.replaced.push((name, [value.into()].into()));
    }

    pub(super) fn set_lines(&mut self, name: HeaderName, lines: Vec<Box<[u8]>>) {
        self.replaced.push((name, lines));
    }

    pub(super) fn remove(&mut self, name: HeaderName) {
        self.replaced.push((name, Vec::new()));
    }
}

macro_rules! names {
    ($( $constant:ident = $sent:literal, $lowercase:literal; )*) => {
        $( pub(super) const $constant: HeaderName = HeaderName { sent: $sent, lowercase: $lowercase }; )*
    };
}

names! {
    ACCEPT = "Accept", "accept";
    ACCEPT_ENCODING = "Accept-Encoding", "accept-encoding";
    ACCEPT_RANGES = "Accept-Ranges", "accept-ranges";
    AUTHORIZATION = "Authorization", "authorization";
    CACHE_CONTROL = "Cache-Control", "cache-control";
    CONTENT_DIGEST = "Content-Digest", "content-digest";
    CONTENT_ENCODING = "Content-Encoding", "content-encoding";
    CONTENT_LENGTH = "Content-Length", "content-length";
    CONTENT_MD5 = "Content-MD5", "content-md5";
    CONTENT_TYPE = "Content-Type", "content-type";
    COOKIE = "Cookie", "cookie";
    DIGEST = "Digest", "digest";
    ETAG = "ETag", "etag";
    IF_MODIFIED_SINCE = "If-Modified-Since", "if-modified-since";
    IF_NONE_MATCH = "If-None-Match", "if-none-match";
    IF_RANGE = "If-Range", "if-range";
    LINK = "Link", "link";
    MARKDOWN_TOKENS = "X-Markdown-Tokens", "x-markdown-tokens";
    RANGE = "Range", "range";
    REPR_DIGEST = "Repr-Digest", "repr-digest";
    USER_AGENT = "User-Agent", "user-agent";
    VARY = "Vary", "vary";
}

/// The headers that describe the bytes of the page, and none of a document.
pub(super) const OF_THE_PAGE: [HeaderName; 7] =
    [ACCEPT_RANGES, CONTENT_DIGEST, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_MD5, DIGEST, REPR_DIGEST];
