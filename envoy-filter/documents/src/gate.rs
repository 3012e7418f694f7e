//! The state that all requests of a configuration share.

use std::rc::Rc;

use crawlpike_core::metrics::{Event, OnceAMinute};
use crawlpike_core::{Decision, DocumentOutcome, DocumentResult, Overrides, Ruleset};
use crawlpike_document_gate::{Finished, NO_ROOM};
use crawlpike_envoy_gate::{
    PageHead, PageRequest, finish_head, on_page_head, on_page_request, on_response, show_result,
};
use crawlpike_envoy_wasm::{Errors, HostStream, Refused, log_debug, metrics, raw};

use crate::page::Page;

/// A configuration of the filter.
pub(crate) struct Gate {
    ruleset: Ruleset,
    errors: Errors,
    /// When a page without room was last logged.
    refused: OnceAMinute,
}

/// A request that may get a document.
pub(crate) struct Asked {
    decision: Decision,
    page: Box<PageRequest>,
}

impl Gate {
    pub(crate) fn new(ruleset: Ruleset) -> Self {
        Self { ruleset, errors: Errors::default(), refused: OnceAMinute::new() }
    }

    /// Prepares the request of the current stream, if its site sends documents.
    pub(crate) fn request(&self) -> Option<Asked> {
        let asked = on_page_request(&mut HostStream::default(), &self.ruleset, Overrides::default());
        let (decision, page) = self.granted(asked).flatten()?;
        Some(Asked { decision, page })
    }

    /// The page that is to be collected, if the response may become a document. Otherwise the head of the response is as it is
    /// to be.
    pub(crate) fn response(self: &Rc<Self>, asked: &Asked, has_body: bool) -> Option<Page> {
        let Asked { decision, page } = asked;
        let head = on_page_head(&mut HostStream::default(), &self.ruleset, decision, page, has_body);
        match self.granted(head)? {
            PageHead::Stays(result) => {
                result.iter().for_each(|result| self.report(result, page.url()));
                None
            }
            PageHead::MayBecome(conversion) => Some(Page::new(Rc::clone(self), *decision, conversion, page)),
        }
    }

    /// Makes the headers of the response what policies say.
    pub(crate) fn apply_policies(&self, decision: &Decision) {
        self.granted(on_response(&mut HostStream::default(), &self.ruleset, decision));
    }

    /// The most bytes that all pages may hold.
    pub(crate) fn document_memory(&self) -> usize {
        self.ruleset.document_memory()
    }

    /// Makes the head of a response that of what is sent.
    pub(crate) fn change_head(&self, decision: &Decision, finished: &Finished) -> Result<(), Refused> {
        let Finished { headers, result, .. } = finished;
        finish_head(&mut HostStream::default(), &self.ruleset, decision, headers, Some(result))
    }

    /// Shows the result of a response whose head does not change any more.
    pub(crate) fn show(&self, decision: &Decision, result: &DocumentResult) {
        self.granted(show_result(&mut HostStream::default(), &self.ruleset, decision, result));
    }

    /// Counts the result of a request for a document, and logs it.
    pub(crate) fn report(&self, result: &DocumentResult, url: Option<&str>) {
        let mut events = Event::of_document(result);
        self.granted(events.try_for_each(|(event, added)| metrics::add(event, added)));
        // Without a clock, the first one is the only one in the log.
        if result.outcome == DocumentOutcome::Busy && self.refused.is_due(raw::now().unwrap_or_default()) {
            log::warn!("crawlpike: {NO_ROOM}");
        }
        self.granted(log_debug(&format!("crawlpike: {result}, {}", url.unwrap_or("-"))));
    }

    /// The value; an internal error is noted.
    pub(crate) fn granted<T>(&self, result: Result<T, Refused>) -> Option<T> {
        result.map_err(|refused| self.note(refused)).ok()
    }

    /// Notes an internal error.
    pub(crate) fn note(&self, refused: Refused) {
        self.errors.note(refused);
    }
}
