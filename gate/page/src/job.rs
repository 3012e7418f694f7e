//! A page on its way to a document.

use std::sync::LazyLock;
use std::time::Instant;

use crawlpike_core::{
    Conversion, DocumentForm, DocumentHeaders, DocumentOutcome, DocumentResult, DocumentUsage, Made,
};
use crawlpike_document::aidocument::{CacheStatus, Fetch, FreshnessPolicy, UsageInfo};
use crawlpike_document::{Document, Limits, Refusal, read};

use crate::coding::{Undecoded, decoded};
use crate::memory::{CONVERSION_FACTOR, Held, LEAST, NoRoom, Share};

/// The origin of a page.
#[derive(Clone, Debug, Default)]
pub struct PageSource {
    /// The absolute address, if it is known: an AIDocument needs it.
    pub url: Option<String>,
    /// When it was fetched, as RFC 3339 writes it.
    pub fetched_at: Option<String>,
    /// The part that the server's own cache had.
    pub cache: CacheStatus,
}

/// A page that becomes a document, if its body permits it.
#[derive(Debug)]
pub struct Job {
    conversion: Box<Conversion>,
    source: PageSource,
    body: Held,
    /// The reason why the page is to be sent as it is, once [`Self::push`] has refused bytes.
    refusal: Option<DocumentOutcome>,
}

/// A job that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The changes to the head.
    pub headers: DocumentHeaders,
    /// The document that takes the place of the page; empty if the status becomes 304. `None`: the page is sent as it is.
    pub document: Option<Held>,
    /// The result, to be counted and shown.
    pub result: DocumentResult,
}

impl From<NoRoom> for DocumentOutcome {
    fn from(no_room: NoRoom) -> Self {
        match no_room {
            NoRoom::Page => Self::Size,
            NoRoom::All => Self::Busy,
        }
    }
}

impl From<Undecoded> for DocumentOutcome {
    fn from(undecoded: Undecoded) -> Self {
        match undecoded {
            Undecoded::Broken => Self::Broken,
            Undecoded::NoRoom(no_room) => no_room.into(),
        }
    }
}

impl Job {
    /// A job without a body. All memory that it takes is claimed in `share`.
    pub fn new(conversion: Box<Conversion>, source: PageSource, share: Share) -> Self {
        Self { conversion, source, body: Held::new(share), refusal: None }
    }

    /// Takes the next bytes of the body, as they came; false if there would be more than a limit, and then takes none. The
    /// page is then to be sent as it is, with [`Self::page`].
    #[must_use]
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        // A page that finds no room for its conversion would have been collected in vain.
        let pushed = self.body.push(bytes, self.conversion.max_bytes, CONVERSION_FACTOR);
        self.refusal = pushed.err().map(DocumentOutcome::from);
        pushed.is_ok()
    }

    /// The collected part of the body.
    pub fn body(&self) -> &[u8] {
        self.body.as_ref()
    }

    /// The address of the page, if it is known.
    pub fn url(&self) -> Option<&str> {
        self.source.url.as_deref()
    }

    /// The collected part of the body, without the job.
    pub fn into_body(self) -> Held {
        self.body
    }

    /// The end of a job whose page cannot be read: [`Self::push`] has refused bytes, or the page broke off.
    pub fn refused(&self) -> Finished {
        self.as_page(self.refusal.unwrap_or(DocumentOutcome::Broken))
    }

    /// The result of a job whose page is not complete: the client has left, or else the origin has broken off, and the client gets
    /// something else.
    pub fn abandoned(&self, is_client_gone: bool) -> DocumentResult {
        let outcome = if is_client_gone { DocumentOutcome::Gone } else { DocumentOutcome::Broken };
        DocumentResult::unread(self.conversion.form(), outcome)
    }

    fn as_page(&self, reason: DocumentOutcome) -> Finished {
        Finished {
            headers: self.conversion.page_headers(reason, false),
            document: None,
            result: DocumentResult::unread(self.conversion.form(), reason),
        }
    }

    /// The result, when the body is complete. If `is_wanted` returns false meanwhile, nobody waits for it any more, and it need
    /// not be made. It is called in the thread that calls this. `wait`, if that thread may, waits a moment: as long as
    /// other conversions hold the memory for this one. `clock` counts microseconds.
    pub fn finish(
        &self,
        is_wanted: &dyn Fn() -> bool,
        wait: Option<fn()>,
        clock: impl Fn() -> u64,
    ) -> Finished {
        let start = clock();
        let mut finished = self.made(is_wanted, wait).unwrap_or_else(|reason| self.as_page(reason));
        finished.result.microseconds = clock().saturating_sub(start);
        finished
    }

    fn made(&self, is_wanted: &dyn Fn() -> bool, wait: Option<fn()>) -> Result<Finished, DocumentOutcome> {
        let conversion = &*self.conversion;
        // Slices of a page can lack parts in nginx, which takes them for whole.
        if conversion.length.is_some_and(|length| length != self.body().len() as u64) {
            return Err(DocumentOutcome::Broken);
        }
        let share = || self.body.share().another();
        let go_on = || if is_wanted() { Ok(()) } else { Err(DocumentOutcome::Gone) };
        let html = decoded(self.body(), conversion.coding, conversion.max_bytes, share())?;
        if html.as_ref().is_empty() {
            return Err(DocumentOutcome::Broken);
        }
        // In force until the document is there, which is a part of what the conversion takes.
        let mut conversion_share = share();
        let bytes = html.as_ref().len().saturating_mul(CONVERSION_FACTOR).max(LEAST);
        if !conversion_share.claim_for_conversion(bytes, wait) {
            return Err(DocumentOutcome::Busy);
        }
        go_on()?;
        let limits = Limits { bytes: conversion.max_bytes, ..Limits::default() };
        // The bytes are as the origin sent them. Only names of encodings matter in this header, which are ASCII.
        let content_type = String::from_utf8_lossy(&conversion.content_type);
        let page_bytes = html.as_ref().len();
        let document = read(html.as_ref(), &limits, Some(&content_type), self.source.url.as_deref());
        drop(html);
        go_on()?;
        let depends_on_agent = document.forbids_some();
        let finished = |headers, document, outcome, document_bytes| {
            let result = DocumentResult::unread(conversion.form(), outcome);
            Finished { headers, document, result: DocumentResult { page_bytes, document_bytes, ..result } }
        };
        let as_page = |reason| finished(conversion.page_headers(reason, depends_on_agent), None, reason, 0);
        if let Some(refusal) = document.refusal(conversion.token.as_deref().as_slice()) {
            return Ok(as_page(outcome(refusal)));
        }
        let tokens = document.markdown_tokens();
        let Some((body, reference)) = self.written(document) else {
            return Ok(as_page(DocumentOutcome::Broken));
        };
        let content = reference.as_deref().map_or(&*body, str::as_bytes);
        let length = body.len();
        let headers = conversion.document_headers(&Made { length, tokens, content, depends_on_agent });
        let body = if headers.status.is_some() { Vec::new() } else { body };
        let body = Held::existing(body, &mut conversion_share);
        Ok(finished(headers, Some(body), DocumentOutcome::Made, length))
    }

    /// The bytes of the document, and what identifies its content if these bytes do not.
    fn written(&self, document: Document) -> Option<(Vec<u8>, Option<String>)> {
        if self.conversion.form() == DocumentForm::Markdown {
            return Some((document.into_markdown().into_bytes(), None));
        }
        let fetch = Fetch {
            fetched_at: self.source.fetched_at.clone(),
            status_code: Some(200),
            freshness_policy: FreshnessPolicy::CacheFirst,
            cache: self.source.cache,
            usage: self.conversion.usage.clone().map(usage_info),
        };
        let document = document.to_ai_document(&fetch)?;
        let body = serde_json::to_vec(&document).ok()?;
        Some((body, document.schema.reference))
    }
}

fn usage_info(DocumentUsage { preferences, licenses }: DocumentUsage) -> UsageInfo {
    UsageInfo { preferences, licenses }
}

/// The system's clock, in microseconds since its first call.
pub fn clock() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_micros()).unwrap_or(u64::MAX)
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
