//! A page on its way to a document.

use crawlpike_core::{Conversion, DocumentForm, DocumentHeaders, DocumentOutcome, Made};
use crawlpike_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy};
use crawlpike_document::{Document, Limits, Refusal, read};

use crate::coding::decoded;

/// The origin of a page.
#[derive(Clone, Debug, Default)]
pub struct PageSource {
    /// The absolute address, if it is known: an AIDocument needs it.
    pub url: Option<String>,
    /// When it was fetched, as RFC 3339 writes it.
    pub fetched_at: Option<String>,
}

/// A page that becomes a document, if its body permits it.
#[derive(Debug)]
pub struct Job {
    conversion: Box<Conversion>,
    source: PageSource,
    body: Vec<u8>,
}

/// The result of a job.
#[derive(Debug)]
pub enum Outcome {
    /// A document takes the place of the page.
    Document {
        /// The changes to the head.
        headers: DocumentHeaders,
        /// The document; empty if the status becomes 304.
        body: Vec<u8>,
    },
    /// The page is sent as it is.
    Page {
        /// The changes to the head.
        headers: DocumentHeaders,
    },
}

impl Job {
    /// A job without a body.
    pub fn new(conversion: Box<Conversion>, source: PageSource) -> Self {
        Self { conversion, source, body: Vec::new() }
    }

    /// Takes the next bytes of the body, as they came; false if there would be more than the limit, and then takes none. The
    /// page is then to be sent as it is, with [`Self::page`].
    #[must_use]
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.conversion.max_bytes.saturating_sub(self.body.len());
        if fits {
            self.body.extend_from_slice(bytes);
        }
        fits
    }

    /// The collected part of the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// The same, without the job.
    pub fn into_body(self) -> Vec<u8> {
        self.body
    }

    /// The changes to the head if the page is sent as it is.
    pub fn page(&self) -> DocumentHeaders {
        self.conversion.page_headers(false)
    }

    /// The result, when the body is complete.
    pub fn finish(&self) -> Outcome {
        let conversion = &*self.conversion;
        let Some(html) =
            decoded(&self.body, conversion.coding, conversion.max_bytes).filter(|html| !html.is_empty())
        else {
            // Also a page that is too large without its coding: the decoder ends there.
            return Outcome::Page { headers: self.page().refused(Some(DocumentOutcome::Broken)) };
        };
        let limits = Limits { bytes: conversion.max_bytes, ..Limits::default() };
        // The bytes are as the origin sent them. Only names of encodings matter in this header, which are ASCII.
        let content_type = String::from_utf8_lossy(&conversion.content_type);
        let document = read(&html, &limits, Some(&content_type), self.source.url.as_deref());
        drop(html);
        let depends_on_agent = document.forbids_some();
        let as_page = |refusal| Outcome::Page {
            headers: conversion.page_headers(depends_on_agent).refused(Some(refusal)),
        };
        if let Some(refusal) = document.refusal(conversion.token.as_deref().as_slice()) {
            return as_page(outcome(refusal));
        }
        let tokens = document.markdown_tokens();
        let Some((body, reference)) = self.written(document) else {
            return as_page(DocumentOutcome::Broken);
        };
        let content = reference.as_deref().map_or(&*body, str::as_bytes);
        let headers =
            conversion.document_headers(&Made { length: body.len(), tokens, content, depends_on_agent });
        let body = if headers.status.is_some() { Vec::new() } else { body };
        Outcome::Document { headers, body }
    }

    /// The bytes of the document, and what identifies its content if these bytes do not.
    fn written(&self, document: Document) -> Option<(Vec<u8>, Option<String>)> {
        if self.conversion.form == DocumentForm::Markdown {
            return Some((document.into_markdown().into_bytes(), None));
        }
        let fetch = Fetch {
            fetched_at: self.source.fetched_at.clone(),
            status_code: Some(200),
            freshness_policy: FreshnessPolicy::CacheFirst,
            cache: CacheStatus::Miss,
        };
        let document = document.to_ai_document(&fetch)?;
        let body = serde_json::to_vec(&document).ok()?;
        Some((body, document.schema.reference))
    }
}

/// The outcome for a page that was read and makes no document.
fn outcome(refusal: Refusal) -> DocumentOutcome {
    match refusal {
        Refusal::NoIndex => DocumentOutcome::NoIndex,
        Refusal::NoSnippet => DocumentOutcome::NoSnippet,
        Refusal::Depth => DocumentOutcome::Depth,
        Refusal::Thin => DocumentOutcome::Thin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_one_word() {
        for refusal in [Refusal::NoIndex, Refusal::NoSnippet, Refusal::Depth, Refusal::Thin] {
            assert_eq!(outcome(refusal).as_str(), refusal.as_str());
        }
    }
}
