//! The outcome of a request for a document.

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
