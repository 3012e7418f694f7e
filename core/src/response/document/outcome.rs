//! The outcome of a request for a document.

use core::fmt;

use super::form::DocumentForm;
use crate::json::typed::json_words;
use crate::policy::robots_tag::Forbidden;

json_words! {
    /// The outcome of a request for a document: the document, or the reason why the page goes out as it is.
    pub enum DocumentOutcome {
        /// The document was sent.
        Made = "made",
        /// The status of the response is not 200.
        Status = "status",
        /// The response is not HTML.
        Type = "type",
        /// The page has more bytes than the site permits.
        Size = "size",
        /// The page has more elements, or deeper ones, than the limits permit, or more text than could be written.
        Depth = "depth",
        /// The response is for this client alone.
        Private = "private",
        /// The request has credentials.
        Credentials = "credentials",
        /// Rules of the response, the site or the page say `noindex` or `none`.
        NoIndex = "noindex",
        /// Rules of the response, the site or the page say `nosnippet` or `max-snippet:0`.
        NoSnippet = "nosnippet",
        /// The request or the response forbids transformations.
        NoTransform = "no-transform",
        /// The body has a coding that is not known.
        Coding = "coding",
        /// Implausibly little text would be left of the page.
        Thin = "thin",
        /// Other pages hold the memory for documents.
        Busy = "busy",
        /// The page broke off, is empty, or is not in the coding that it names.
        Broken = "broken",
        /// Nothing was sent: the client left before the document was made.
        Gone = "gone",
    }
}

impl From<Forbidden> for DocumentOutcome {
    fn from(forbidden: Forbidden) -> Self {
        match forbidden {
            Forbidden::Index => Self::NoIndex,
            Forbidden::Snippet => Self::NoSnippet,
        }
    }
}

/// The result of a request for a document, to be counted and shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentResult {
    /// The form that was asked for.
    pub form: DocumentForm,
    /// The outcome.
    pub outcome: DocumentOutcome,
    /// The bytes of the page without its coding; 0 if they were not read.
    pub page_bytes: usize,
    /// The bytes of the document; 0 if none was made of these bytes.
    pub document_bytes: usize,
    /// The time of the conversion.
    pub microseconds: u64,
}

impl DocumentResult {
    /// That of a page whose body was not read.
    pub const fn unread(form: DocumentForm, outcome: DocumentOutcome) -> Self {
        Self { form, outcome, page_bytes: 0, document_bytes: 0, microseconds: 0 }
    }

    /// The form that was sent, or the reason why the page went out as it is.
    pub const fn as_str(&self) -> &'static str {
        match self.outcome {
            DocumentOutcome::Made => self.form.as_str(),
            reason => reason.as_str(),
        }
    }
}

/// The line in the log of a gate.
impl fmt::Display for DocumentResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { form, outcome, page_bytes, document_bytes, microseconds } = self;
        let (form, outcome) = (form.as_str(), outcome.as_str());
        let (whole, part) = (microseconds / 1000, microseconds % 1000);
        write!(
            f,
            "{form} of a page: {outcome}, {page_bytes} bytes in, {document_bytes} bytes out, {whole}.{part:03} ms"
        )
    }
}
