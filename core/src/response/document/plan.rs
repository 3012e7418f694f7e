//! The plan for a response if its site sends documents.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::conversion::{Coding, Conversion};
use super::entity_tag::{self, Edition};
use super::form::is_html;
use super::headers::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE,
    DocumentHeaders, ETAG, LINK, OF_THE_PAGE, USER_AGENT, VARY,
};
use super::outcome::DocumentOutcome;
use super::wish::{Declined, DocumentWish, has_directive};
use crate::decide::decision::Decision;
use crate::http::header_name::HeaderName;
use crate::http::vary::vary_on;
use crate::identity::acting_agent;
use crate::path::page::{markdown_of, page_of};
use crate::policy::robots_tag::{OnDocuments, RobotsTag};
use crate::response::plan::{ROBOTS, RobotsRules};
use crate::response::usage::{CONTENT_USAGE, UsageRules};
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::SiteDocuments;

/// The plan for the response to a request with a [`DocumentWish`].
#[derive(Clone, Copy, Debug)]
pub struct DocumentPlan<'r> {
    wish: DocumentWish,
    documents: SiteDocuments,
    rules: Option<RobotsRules<'r>>,
    usage: Option<UsageRules<'r>>,
    /// The product token by which the client is known.
    token: Option<&'r str>,
}

/// The plan for a response.
#[derive(Debug)]
pub enum DocumentTreatment {
    /// It stays as it is.
    Unchanged,
    /// Its head changes.
    Headers(DocumentHeaders),
    /// Its body becomes a document, if the body permits it.
    Conversion(Box<Conversion>),
}

impl Ruleset {
    /// The plan for the response to a request that was decided about, and whose wish this is.
    pub fn document_plan(&self, decision: &Decision, wish: DocumentWish) -> Option<DocumentPlan<'_>> {
        let documents = self.documents_of(decision)?;
        Some(DocumentPlan {
            wish,
            documents,
            rules: self.robots_rules(decision),
            usage: self.usage_rules(decision),
            token: self.token_of(decision),
        })
    }

    /// The meaning of the site's own rules for documents.
    pub(super) fn on_documents(&self, decision: &Decision) -> OnDocuments {
        let Some(rules) = self.robots_rules(decision).filter(RobotsRules::any) else {
            return OnDocuments::default();
        };
        let mut own = RobotsTag::default();
        rules.add_to(&mut own);
        own.on_documents(self.token_of(decision))
    }

    /// The product token by which the client is known.
    fn token_of(&self, decision: &Decision) -> Option<&str> {
        let agent = acting_agent(self, decision.agent, decision.evidence)?;
        self.agents.get(agent).map(|agent| &*agent.token)
    }
}

/// The statements of a response that matter for documents.
#[derive(Debug, Default)]
struct Head<'u> {
    content_type: Option<&'u [u8]>,
    content_length: Option<&'u [u8]>,
    content_encoding: Vec<&'u [u8]>,
    cache_control: Vec<&'u [u8]>,
    etag: Option<&'u [u8]>,
    vary: Vec<&'u [u8]>,
    link: Vec<&'u [u8]>,
    robots: RobotsTag<'u>,
    usage: Vec<&'u [u8]>,
    /// Those of [`OF_THE_PAGE`].
    of_the_page: Vec<HeaderName>,
}

impl<'u> Head<'u> {
    fn read(lines: impl Iterator<Item = (&'u [u8], &'u [u8])>) -> Self {
        let mut head = Self::default();
        for (name, value) in lines {
            let is = |known: HeaderName| known.is(name);
            if let Some(known) = OF_THE_PAGE.into_iter().find(|known| is(*known))
                && !head.of_the_page.contains(&known)
            {
                head.of_the_page.push(known);
            }
            if is(CONTENT_TYPE) {
                head.content_type = Some(value);
            } else if is(CONTENT_LENGTH) {
                head.content_length = Some(value);
            } else if is(CONTENT_ENCODING) {
                head.content_encoding.push(value);
            } else if is(CACHE_CONTROL) {
                head.cache_control.push(value);
            } else if is(ETAG) {
                head.etag = Some(value);
            } else if is(VARY) {
                head.vary.push(value);
            } else if is(LINK) {
                head.link.push(value);
            } else if is(CONTENT_USAGE) {
                head.usage.push(value);
            } else if ROBOTS.into_iter().any(is) {
                head.robots.add_line(value);
            }
        }
        head
    }

    fn is_page(&self) -> bool {
        self.content_type.is_some_and(is_html)
    }

    /// The reason why it is for this client alone, or must stay as it is (RFC 9111 5.2.2.6 and 5.2.2.7).
    fn kept_from_documents(&self) -> Option<DocumentOutcome> {
        let has = |directive| self.cache_control.iter().any(|line| has_directive(line, directive));
        let is_fixed = || has("no-transform").then_some(DocumentOutcome::NoTransform);
        has("private").then_some(DocumentOutcome::Private).or_else(is_fixed)
    }

    /// The length of the body, if it is known.
    fn length(&self) -> Option<u64> {
        core::str::from_utf8(self.content_length?).ok()?.trim().parse().ok()
    }
}

const OK: u16 = 200;
const PARTIAL_CONTENT: u16 = 206;
const NOT_MODIFIED: u16 = 304;

impl DocumentPlan<'_> {
    /// The same, announcing the markdown of pages at paths of their own only if the gate serves it there.
    #[must_use]
    pub fn announcing_if(mut self, is_served: impl FnOnce() -> bool) -> Self {
        self.documents.md_paths = self.documents.md_paths && is_served();
        self
    }

    /// The plan for a response with this status and these header lines, each a name and a value.
    ///
    /// `target` is the path and query for which the client asked, `known` what [`RequestEdits::known`] is.
    ///
    /// [`RequestEdits::known`]: super::RequestEdits::known
    pub fn treat<'u>(
        self,
        status: u16,
        response: impl Iterator<Item = (&'u [u8], &'u [u8])>,
        target: &[u8],
        known: &[Box<[u8]>],
    ) -> DocumentTreatment {
        if !matches!(status, OK | PARTIAL_CONTENT | NOT_MODIFIED) {
            return self.unchanged(DocumentOutcome::Status);
        }
        let mut head = Head::read(response);
        if let Some(rules) = &self.rules {
            rules.add_to(&mut head.robots);
        }
        let on_documents = head.robots.on_documents(self.token);
        match (status, self.wish.edition()) {
            (NOT_MODIFIED, edition) => self.not_modified(&head, edition, on_documents),
            _ if !head.is_page() => self.unchanged(DocumentOutcome::Type),
            (OK, Some(edition)) => match self.coding(&head, on_documents) {
                Ok(coding) => {
                    let conversion = self.conversion(&head, edition, coding, on_documents, known);
                    match self.wish.is_head {
                        true => DocumentTreatment::Headers(conversion.head_headers()),
                        false => DocumentTreatment::Conversion(Box::new(conversion)),
                    }
                }
                Err(refusal) => {
                    let headers = self.page(&head, on_documents, None);
                    DocumentTreatment::Headers(headers.with(Some(edition.form), refusal))
                }
            },
            _ => {
                // A request for the markdown asks for a coding that can be read. The length of a part is not that of the page.
                let is_announced = self.documents.md_paths
                    && self.refusal(&head, on_documents).is_none()
                    && (status == PARTIAL_CONTENT || !self.is_too_large(&head));
                let own = if self.wish.is_at_page {
                    page_of(target).map(|(path, rest)| [path, rest].concat())
                } else {
                    None
                };
                let markdown = is_announced.then(|| markdown_of(own.as_deref().unwrap_or(target))).flatten();
                let headers = self.page(&head, on_documents, markdown);
                // A part of the page came, or the request itself permits no document.
                let reason = self.wish.declined.map_or(DocumentOutcome::Status, DocumentOutcome::from);
                DocumentTreatment::Headers(
                    headers.with(self.wish.preferred.map(|edition| edition.form), reason),
                )
            }
        }
    }

    /// A response that stays as it is, with the reason if a document was asked for.
    fn unchanged(&self, refusal: DocumentOutcome) -> DocumentTreatment {
        match self.wish.form() {
            form @ Some(_) => DocumentTreatment::Headers(DocumentHeaders::default().with(form, refusal)),
            None => DocumentTreatment::Unchanged,
        }
    }

    /// The coding of the body if a document may be made of it, otherwise the reason why not.
    fn coding(&self, head: &Head<'_>, on_documents: OnDocuments) -> Result<Coding, DocumentOutcome> {
        if let Some(refusal) = self.refusal(head, on_documents) {
            return Err(refusal);
        }
        if head.length() == Some(0) {
            return Err(DocumentOutcome::Broken);
        }
        if self.is_too_large(head) {
            return Err(DocumentOutcome::Size);
        }
        Coding::of(&head.content_encoding).ok_or(DocumentOutcome::Coding)
    }

    /// The reason why no document may be made of the page.
    fn refusal(&self, head: &Head<'_>, on_documents: OnDocuments) -> Option<DocumentOutcome> {
        on_documents.forbidden.map(DocumentOutcome::from).or_else(|| head.kept_from_documents())
    }

    fn is_too_large(&self, head: &Head<'_>) -> bool {
        head.length().is_some_and(|length| length > self.documents.max_bytes as u64)
    }

    /// The headers on which the choice of the form depends.
    fn vary(&self, on_documents: OnDocuments) -> Vec<HeaderName> {
        let mut names = [ACCEPT].to_vec();
        // A page for a client with credentials does not answer one without that prefers a document, and the other way round.
        if self.wish.declined == Some(Declined::Credentials) {
            names.extend([AUTHORIZATION, COOKIE]);
        }
        if self.wish.declined == Some(Declined::NoTransform) {
            names.push(CACHE_CONTROL);
        }
        if self.wish.preferred.is_some() && on_documents.depends_on_agent {
            names.push(USER_AGENT);
        }
        names
    }

    /// The head of the page as it is.
    fn page(&self, head: &Head<'_>, on_documents: OnDocuments, markdown: Option<Vec<u8>>) -> DocumentHeaders {
        let mut headers = DocumentHeaders::default();
        if let Some(vary) = vary_on(&head.vary, &self.vary(on_documents)) {
            headers.set(VARY, vary);
        }
        if let Some(target) = markdown {
            let own = [b"<", &*target, b">; rel=\"alternate\"; type=\"text/markdown\""].concat();
            let lines = head.link.iter().map(|line| (*line).into()).chain([own.into()]);
            headers.set_lines(LINK, lines.collect());
        }
        headers
    }

    /// The head of a 304. Its content type is hardly ever known.
    fn not_modified(
        &self,
        head: &Head<'_>,
        edition: Option<Edition>,
        on_documents: OnDocuments,
    ) -> DocumentTreatment {
        let Some(edition) = edition else {
            let may_be_page = head.content_type.map_or(self.wish.names_html, is_html);
            return match may_be_page || self.wish.preferred.is_some() {
                true => DocumentTreatment::Headers(self.page(head, on_documents, None)),
                false => DocumentTreatment::Unchanged,
            };
        };
        // Nobody has read the page, which may forbid documents to some agents.
        let on_documents = OnDocuments { depends_on_agent: true, ..on_documents };
        let mut headers = self.page(head, on_documents, None);
        head.of_the_page.iter().for_each(|name| headers.remove(*name));
        if let Some(etag) = head.etag.and_then(|etag| entity_tag::of_document(edition, etag)) {
            headers.set(ETAG, etag);
        }
        // A cache takes it for that of what it has.
        if head.is_page() {
            headers.set(CONTENT_TYPE, edition.form.content_type().as_bytes());
        }
        DocumentTreatment::Headers(headers.with(Some(edition.form), DocumentOutcome::Made))
    }

    fn conversion(
        &self,
        head: &Head<'_>,
        edition: Edition,
        coding: Coding,
        on_documents: OnDocuments,
        known: &[Box<[u8]>],
    ) -> Conversion {
        Conversion {
            edition,
            coding,
            max_bytes: self.documents.max_bytes,
            length: head.length(),
            content_type: head.content_type.unwrap_or_default().into(),
            token: self.token.map(Into::into),
            usage: self.usage.and_then(|rules| rules.of_document(edition.form, &head.usage)),
            etag: head.etag.and_then(|etag| entity_tag::of_document(edition, etag)),
            known: known.into(),
            of_the_page: head.of_the_page.clone(),
            vary: head.vary.iter().map(|line| (*line).into()).collect(),
            varies_on: self.vary(on_documents),
        }
    }
}
