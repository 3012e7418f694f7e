//! Documents: the changes of a request that may get one, and of the head of its response.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crawlpike_core::{
    Conversion, Decision, DocumentHeaders, DocumentOutcome, DocumentResult, DocumentTreatment, DocumentWish,
    Fact, NetworkKey, Overrides, Request, RequestEdits, Ruleset, page_url,
};

use crate::response::replace_lines;
use crate::stream::{Change, ChangedHeaders, HeaderLines, Stream};

/// The header in which Envoy keeps the path that the client sent, if it sends another one on. Its access log shows it.
const ORIGINAL_PATH: &[u8] = b"x-envoy-original-path";

/// A request to a site that sends documents.
#[derive(Debug)]
pub struct PageRequest {
    wish: DocumentWish,
    /// The path and query for which the client asked.
    target: Vec<u8>,
    url: Option<String>,
    network: NetworkKey,
    /// Documents that the client has.
    known: Vec<Box<[u8]>>,
}

/// A page by the head of its response.
#[derive(Debug)]
pub enum PageHead {
    /// It stays as it is. The result, if a document was asked for.
    Stays(Option<DocumentResult>),
    /// It may become a document: its head then changes with [`finish_head`].
    MayBecome(Box<Conversion>),
}

/// The changes of a request before the origin gets it.
pub(crate) struct PageEdits {
    edits: RequestEdits,
    /// The path of the page, if the client asked for that of its markdown.
    path: Option<Vec<u8>>,
}

impl PageRequest {
    /// The absolute address of the page, if it is known.
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The client's network.
    pub const fn network(&self) -> NetworkKey {
        self.network
    }

    /// Notes what a request asks for that was decided about. `None`: its site sends no documents.
    pub(crate) fn new(
        ruleset: &Ruleset,
        decision: &Decision,
        request: &impl Request,
        overrides: Overrides,
    ) -> Option<(Box<Self>, Box<PageEdits>)> {
        let path = page_path(ruleset, request, overrides);
        let is_at_page = path.is_some();
        let wish = ruleset.document_wish(decision, request, is_at_page)?;
        let mut edits = wish.request_edits(request);
        let known = core::mem::take(&mut edits.known);
        let (url, network) = match wish.form() {
            Some(_) => (page_url(request, is_at_page), NetworkKey::of(ruleset.client_address(request))),
            None => Default::default(),
        };
        let page = Self { wish, target: request.path().into(), url, network, known };
        Some((Box::new(page), Box::new(PageEdits { edits, path })))
    }
}

impl PageEdits {
    /// Changes the request for a page.
    pub(crate) fn carry_out<S: Stream>(&self, page: &PageRequest, stream: &mut S) -> Result<(), S::Error> {
        for (name, value) in self.edits.replaced() {
            let change = value.map_or(Change::Remove, Change::Replace);
            stream.change(ChangedHeaders::Request, name.lowercase.as_bytes(), change)?;
        }
        match &self.path {
            Some(path) => {
                stream.change(ChangedHeaders::Request, ORIGINAL_PATH, Change::Replace(&page.target))?;
                stream.change_path(path)
            }
            None => Ok(()),
        }
    }
}

/// The path and query of the page whose markdown a request asks for at its own path.
pub fn page_path(ruleset: &Ruleset, request: &impl Request, overrides: Overrides) -> Option<Vec<u8>> {
    ruleset.added_to_page(request, overrides).and_then(|added| without(request.path(), added))
}

/// A target whose path lacks what was added to it.
fn without(target: &[u8], added: &str) -> Option<Vec<u8>> {
    let end = target.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(target.len());
    let (path, rest) = target.split_at_checked(end)?;
    Some([path.strip_suffix(added.as_bytes())?, rest].concat())
}

/// Decides about a response by its head, and changes the head of one whose body stays.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn on_page_head<S: Stream>(
    stream: &mut S,
    ruleset: &Ruleset,
    decision: &Decision,
    page: &PageRequest,
    has_body: bool,
) -> Result<PageHead, S::Error> {
    let Some(plan) = ruleset.document_plan(decision, page.wish) else { return Ok(PageHead::Stays(None)) };
    let response = stream.lines(ChangedHeaders::Response)?;
    let status = response.lines().find(|(name, _)| *name == b":status").map(|(_, value)| value);
    let status = status.and_then(|status| core::str::from_utf8(status).ok()?.parse().ok()).unwrap_or(0);
    let treatment = plan.treat(status, response.lines(), &page.target, &page.known);
    drop(response);
    match treatment {
        DocumentTreatment::Unchanged => Ok(PageHead::Stays(None)),
        DocumentTreatment::Headers(headers) => {
            finish_head(stream, ruleset, decision, &headers, headers.result.as_ref())?;
            Ok(PageHead::Stays(headers.result))
        }
        DocumentTreatment::Conversion(conversion) if !has_body => {
            let result = DocumentResult::unread(conversion.form(), DocumentOutcome::Broken);
            finish_head(
                stream,
                ruleset,
                decision,
                &conversion.page_headers(result.outcome, false),
                Some(&result),
            )?;
            Ok(PageHead::Stays(Some(result)))
        }
        DocumentTreatment::Conversion(conversion) => Ok(PageHead::MayBecome(conversion)),
    }
}

/// Changes the head of a response, and shows the result as [`show_result`] does.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn finish_head<S: Stream>(
    stream: &mut S,
    ruleset: &Ruleset,
    decision: &Decision,
    headers: &DocumentHeaders,
    result: Option<&DocumentResult>,
) -> Result<(), S::Error> {
    result.map_or(Ok(()), |result| show_result(stream, ruleset, decision, result))?;
    change_head(stream, headers)
}

/// Removes the trailers that describe the bytes of a page, since a document is sent in its place.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn finish_trailers<S: Stream>(stream: &mut S) -> Result<(), S::Error> {
    DocumentHeaders::of_the_page().try_for_each(|name| {
        stream.change(ChangedHeaders::ResponseTrailers, name.lowercase.as_bytes(), Change::Remove)
    })
}

/// Shows the result if the site wants it in the filter state. Envoy takes it once.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn show_result<S: Stream>(
    stream: &mut S,
    ruleset: &Ruleset,
    decision: &Decision,
    result: &DocumentResult,
) -> Result<(), S::Error> {
    match ruleset.shows_document(decision) {
        true => stream.show(Some(Fact::Document.as_str()), result.as_str()),
        false => Ok(()),
    }
}

fn change_head<S: Stream>(stream: &mut S, headers: &DocumentHeaders) -> Result<(), S::Error> {
    for (name, lines) in headers.replaced() {
        replace_lines(stream, name.lowercase, lines)?;
    }
    match headers.status {
        // A response without a body, whose length Envoy would take from this header.
        Some(304) => {
            stream.change(ChangedHeaders::Response, b":status", Change::Replace(b"304"))?;
            stream.change(ChangedHeaders::Response, b"content-length", Change::Remove)
        }
        _ => Ok(()),
    }
}
