//! The way from bytes to a document.

use crate::addresses::Addresses;
use crate::content::Content;
use crate::head::Head;
use crate::limits::Limits;
use crate::markdown::{self, Heading, Image, Link, Written};
use crate::text::approximate_tokens;
use crate::thin::{TextAmount, is_thin};
use crate::{encoding, html};

/// The bytes of a page, as they come.
#[derive(Debug)]
pub struct Page {
    bytes: Vec<u8>,
    limits: Limits,
    is_over: bool,
}

impl Page {
    /// A page without bytes.
    pub fn new(limits: Limits) -> Self {
        Self { bytes: Vec::new(), limits, is_over: false }
    }

    /// Adds bytes; false if the page has more than its limit permits, which ends it.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let room = self.limits.bytes.saturating_sub(self.bytes.len());
        self.is_over |= bytes.len() > room;
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        !self.is_over
    }

    /// The bytes that have come.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads the page, with the `Content-Type` that it came with and the address that it came from.
    pub fn read(&self, content_type: Option<&str>, url: Option<&str>) -> Document {
        let document = read(&self.bytes, &self.limits, content_type, url);
        Document { is_cut: self.is_over || document.is_cut, ..document }
    }
}

/// Reads a page whose bytes are all there, with the `Content-Type` that it came with and the address that it came from.
pub fn read(bytes: &[u8], limits: &Limits, content_type: Option<&str>, url: Option<&str>) -> Document {
    let within = bytes.get(..limits.bytes).unwrap_or(bytes);
    let text = encoding::decode(within, content_type);
    let tree = html::parse(&text, limits);
    let is_cut = within.len() < bytes.len() || tree.is_cut;
    let page_tokens = approximate_tokens(&text);
    // The result is shorter than the page, unless the page is made to be otherwise.
    let room = 4096 + 2 * text.len();
    let head = Head::of(&tree);
    let addresses = Addresses::new(url, head.base.as_deref());
    let content = Content::of(&tree, head.content_type());
    let written = markdown::write(&tree, &content, &addresses, &head, room);
    let amount = content.amount(&tree);
    let is_thin = is_thin(amount, tree.has_scripts(), &written.markdown);
    Document { is_cut: is_cut || written.is_cut, page_tokens, head, addresses, written, amount, is_thin }
}

/// The reason why no document of a page is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A `meta` element says `noindex` or `none`.
    NoIndex,
    /// A `meta` element says `nosnippet` or `max-snippet:0`.
    NoSnippet,
    /// The page has more than its limits permit.
    Depth,
    /// Implausibly little text is left of the page.
    Thin,
}

impl Refusal {
    /// The word for it, as in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoIndex => "noindex",
            Self::NoSnippet => "nosnippet",
            Self::Depth => "depth",
            Self::Thin => "thin",
        }
    }
}

/// A page, read.
#[derive(Debug)]
pub struct Document {
    /// The tokens of the page as it is, approximately.
    pub(crate) page_tokens: u64,
    pub(crate) head: Head,
    pub(crate) addresses: Addresses,
    pub(crate) written: Written,
    is_cut: bool,
    amount: TextAmount,
    is_thin: bool,
}

impl Document {
    /// The title and the content of the page in markdown (CommonMark, with tables).
    pub fn markdown(&self) -> &str {
        &self.written.markdown
    }

    /// The same, without the document.
    pub fn into_markdown(self) -> String {
        self.written.markdown
    }

    /// The title, from `og:title`, the first `h1` or `title`.
    pub fn title(&self) -> Option<&str> {
        self.head.title.as_deref()
    }

    /// The headings of the content.
    pub fn headings(&self) -> &[Heading] {
        &self.written.headings
    }

    /// The links of the content.
    pub fn links(&self) -> &[Link] {
        &self.written.links
    }

    /// The images of the content.
    pub fn images(&self) -> &[Image] {
        &self.written.images
    }

    /// Returns true if the page forbids a document of it: a `meta` element in its `head` says `noindex` or `nosnippet` to all
    /// robots, or to one of these product tokens. The response's headers may forbid it as well.
    pub fn is_forbidden(&self, tokens: &[&str]) -> bool {
        self.forbidding_rule(tokens).is_some()
    }

    /// The rule that forbids it: `noindex`, `nosnippet`, `max-snippet:0` or `none`.
    fn forbidding_rule(&self, tokens: &[&str]) -> Option<&'static str> {
        self.head.forbidding_rule(tokens)
    }

    /// The reason why a gate sends the page as it is to a client with these product tokens.
    pub fn refusal(&self, tokens: &[&str]) -> Option<Refusal> {
        match self.forbidding_rule(tokens) {
            Some("nosnippet" | "max-snippet:0") => Some(Refusal::NoSnippet),
            Some(_) => Some(Refusal::NoIndex),
            // Nobody knows the contents of the part that a document lacks.
            None if self.is_cut => Some(Refusal::Depth),
            None => self.is_thin.then_some(Refusal::Thin),
        }
    }

    /// Returns true if the page forbids a document to some robots by their product tokens, whatever it says to all.
    pub fn forbids_some(&self) -> bool {
        self.head.forbids_some()
    }

    /// The text of the page, and how much of it is in the document.
    pub fn text_amount(&self) -> TextAmount {
        self.amount
    }

    /// Returns true if implausibly little text is left: a script loads the content, or the page asks for consent first.
    pub fn is_thin(&self) -> bool {
        self.is_thin
    }

    /// Returns true if the page has more than its limits permit, so that the document lacks a part.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}
