//! A page that becomes a document.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::entity_tag::{self, Edition};
use super::form::DocumentForm;
use super::headers::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, DocumentHeaders, ETAG, MARKDOWN_TOKENS, USER_AGENT, VARY,
};
use super::outcome::DocumentOutcome;
use crate::http::header_name::HeaderName;
use crate::http::vary::vary_on;
use crate::response::usage::DocumentUsage;

/// The coding of the body of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// It is as it is.
    Identity,
    /// `gzip`.
    Gzip,
    /// `deflate`: zlib's format, or what some servers send instead.
    Deflate,
    /// `br`.
    Brotli,
}

impl Coding {
    /// The coding of this name. `None`: another one.
    pub(super) fn of_name(name: &[u8]) -> Option<Self> {
        let known = [
            ("identity", Self::Identity),
            ("gzip", Self::Gzip),
            ("x-gzip", Self::Gzip),
            ("deflate", Self::Deflate),
            ("br", Self::Brotli),
        ];
        known
            .into_iter()
            .find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()))
            .map(|(_, coding)| coding)
    }

    /// The coding that the lines of `Content-Encoding` name. `None`: another one, or several.
    pub(super) fn of(lines: &[&[u8]]) -> Option<Self> {
        let names = lines.iter().flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
        let mut codings = names
            .filter(|name| !name.is_empty())
            .map(Self::of_name)
            .filter(|coding| *coding != Some(Self::Identity));
        let coding = codings.next().unwrap_or(Some(Self::Identity));
        coding.filter(|_| codings.next().is_none())
    }
}

/// The result of converting a page, as far as its headers need it.
#[derive(Clone, Copy, Debug)]
pub struct Made<'d> {
    /// The bytes of the document.
    pub length: usize,
    /// The tokens of its markdown.
    pub tokens: u64,
    /// The identity of the content: the same for the same page.
    pub content: &'d [u8],
    /// True if the page forbids a document to some agents.
    pub depends_on_agent: bool,
}

/// A page that becomes a document, if its body permits it. It is independent of the request, so that another thread can do it.
#[derive(Debug)]
pub struct Conversion {
    pub(super) edition: Edition,
    /// The coding of the body of the response.
    pub coding: Coding,
    /// The largest page, in bytes, coded or not: a larger one is sent as it is.
    pub max_bytes: usize,
    /// The bytes of the body as it comes, if they are known.
    pub length: Option<u64>,
    /// The `Content-Type` of the page.
    pub content_type: Box<[u8]>,
    /// The product token by which the client is known: the page can forbid documents to it.
    pub token: Option<Box<str>>,
    /// The statement about usage that the response makes, if the site sends one.
    pub usage: Option<DocumentUsage>,
    pub(super) etag: Option<Box<[u8]>>,
    /// Tags of documents that the client has.
    pub(super) known: Box<[Box<[u8]>]>,
    pub(super) of_the_page: Vec<HeaderName>,
    pub(super) vary: Vec<Box<[u8]>>,
    pub(super) varies_on: Vec<HeaderName>,
}

impl Conversion {
    /// The form of the document.
    pub fn form(&self) -> DocumentForm {
        self.edition.form
    }

    /// The head of the response if the page is sent as it is for a reason. `depends_on_agent` is true if it forbids a document to
    /// some agents.
    pub fn page_headers(&self, reason: DocumentOutcome, depends_on_agent: bool) -> DocumentHeaders {
        let mut headers = self.common_headers(depends_on_agent);
        // The next request may get a document.
        if reason == DocumentOutcome::Busy {
            headers.set(CACHE_CONTROL, *b"no-store");
        }
        headers
    }

    /// The head of a response with the document or the page.
    fn common_headers(&self, depends_on_agent: bool) -> DocumentHeaders {
        let mut names = self.varies_on.clone();
        if depends_on_agent && !names.contains(&USER_AGENT) {
            names.push(USER_AGENT);
        }
        let mut headers = DocumentHeaders::default();
        let lines: Vec<&[u8]> = self.vary.iter().map(|line| &**line).collect();
        if let Some(vary) = vary_on(&lines, &names) {
            headers.set(VARY, vary);
        }
        headers
    }

    /// The head of the response to a `HEAD`, for which there is no page to read: without what only its body has.
    pub(super) fn head_headers(&self) -> DocumentHeaders {
        // Nobody has read the page, which may forbid documents to some agents.
        let mut headers = self.common_headers(true);
        self.of_the_page.iter().for_each(|name| headers.remove(*name));
        headers.set(CONTENT_TYPE, self.form().content_type().as_bytes());
        if let Some(etag) = &self.etag {
            headers.set(ETAG, etag.clone());
        }
        headers.with(Some(self.form()), DocumentOutcome::Made)
    }

    /// The head of the response with a document; its status is 304 if the client has it already.
    pub fn document_headers(&self, made: &Made<'_>) -> DocumentHeaders {
        let mut headers = self.common_headers(made.depends_on_agent);
        let of_page = self.of_the_page.iter().filter(|name| **name != CONTENT_LENGTH);
        of_page.for_each(|name| headers.remove(*name));
        let etag = self.etag.clone().unwrap_or_else(|| entity_tag::of_content(self.edition, made.content));
        if self.known.contains(&etag) {
            headers.status = Some(304);
        }
        headers.set(ETAG, etag);
        headers.set(CONTENT_TYPE, self.form().content_type().as_bytes());
        headers.set(CONTENT_LENGTH, format!("{}", made.length).into_bytes());
        if self.form() == DocumentForm::Markdown {
            headers.set(MARKDOWN_TOKENS, format!("{}", made.tokens).into_bytes());
        }
        headers
    }
}
