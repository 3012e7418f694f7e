//! The wish of a request if its site sends documents.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::conversion::Coding;
use super::entity_tag::{Condition, Edition};
use super::form::{DocumentForm, names_html, takes_html};
use super::headers::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, COOKIE, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    IF_RANGE, RANGE,
};
use super::outcome::DocumentOutcome;
use crate::decide::decision::Decision;
use crate::http::accept::members_that_stay;
use crate::http::authority::is_host;
use crate::http::header_name::HeaderName;
use crate::path::page::page_of;
use crate::policy::robots_tag::Forbidden;
use crate::request::{Request, Scheme, joined_lines};
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::SiteDocuments;

/// The wish of a request if its site sends documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentWish {
    pub(super) preferred: Option<Edition>,
    /// The reason why it gets the page as it is all the same.
    pub(super) declined: Option<Declined>,
    /// True if the origin is asked for a page because its markdown's own path was asked for.
    pub(super) is_at_page: bool,
    /// True if it names HTML, as requests for pages do and those for their parts don't.
    pub(super) names_html: bool,
    pub(super) is_head: bool,
}

/// The reason why a request that prefers a document gets the page as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declined {
    /// It has credentials, so that the page may not be public (AIWI-21).
    Credentials,
    /// It forbids transformations (RFC 9111 5.2.1.6).
    NoTransform,
    /// The site's own rules forbid it.
    Rules(Forbidden),
}

impl From<Declined> for DocumentOutcome {
    fn from(declined: Declined) -> Self {
        match declined {
            Declined::Credentials => Self::Credentials,
            Declined::NoTransform => Self::NoTransform,
            Declined::Rules(forbidden) => forbidden.into(),
        }
    }
}

/// The changes to a request on its way to the origin, which knows pages only.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RequestEdits {
    replaced: Vec<(HeaderName, Option<Vec<u8>>)>,
    /// Documents that the client has, and that the origin does not know of: for [`super::DocumentPlan::treat`].
    pub known: Vec<Box<[u8]>>,
}

impl RequestEdits {
    /// The headers to be replaced, with the line that takes the place of all there are; `None`: the header goes.
    pub fn replaced(&self) -> impl Iterator<Item = (HeaderName, Option<&[u8]>)> {
        self.replaced.iter().map(|(name, value)| (*name, value.as_deref()))
    }
}

impl Ruleset {
    /// The wish of a request that was decided about. `None`: its site sends no documents, or none for such a request.
    ///
    /// `is_at_page` is true if the origin is asked for the page of [`Self::added_to_page`].
    pub fn document_wish(
        &self,
        decision: &Decision,
        request: &impl Request,
        is_at_page: bool,
    ) -> Option<DocumentWish> {
        self.documents_of(decision)?;
        let is_head = match request.method() {
            b"GET" => false,
            b"HEAD" => true,
            _ => return None,
        };
        let accept = joined_line(request, &ACCEPT).unwrap_or_default();
        let form = match is_at_page {
            true => Some(DocumentForm::Markdown),
            false => DocumentForm::preferred(&accept),
        };
        let preferred = form.map(|form| {
            Edition::new(
                form,
                self.usage_rules(decision).and_then(|rules| rules.of_document(form, &[])).as_ref(),
            )
        });
        let declined = preferred.and_then(|_| self.declined(decision, request));
        Some(DocumentWish { preferred, declined, is_at_page, names_html: names_html(&accept), is_head })
    }

    /// The settings of the site of a request for documents.
    pub(super) fn documents_of(&self, decision: &Decision) -> Option<SiteDocuments> {
        let documents = self.sites.get(decision.site?)?.documents?;
        (!decision.is_off() && !decision.is_answered()).then_some(documents)
    }

    fn declined(&self, decision: &Decision, request: &impl Request) -> Option<Declined> {
        let has = |name: HeaderName| request.header(name.lowercase).is_some();
        if has(AUTHORIZATION) || has(COOKIE) {
            return Some(Declined::Credentials);
        }
        if request.header_lines(CACHE_CONTROL.lowercase).any(|line| has_directive(line, "no-transform")) {
            return Some(Declined::NoTransform);
        }
        self.on_documents(decision).forbidden.map(Declined::Rules)
    }
}

impl DocumentWish {
    /// The form that the client gets if the response permits it.
    pub fn form(self) -> Option<DocumentForm> {
        self.edition().map(|edition| edition.form)
    }

    pub(super) fn edition(self) -> Option<Edition> {
        self.preferred.filter(|_| self.declined.is_none())
    }

    /// The changes to the request: the origin has to send the page as a whole, unless the client has a document of it,
    /// and must not refuse to send HTML.
    pub fn request_edits(self, request: &impl Request) -> RequestEdits {
        let mut edits = RequestEdits::default();
        let Some(edition) = self.edition() else { return edits };
        for name in [RANGE, IF_RANGE] {
            if request.header(name.lowercase).is_some() {
                edits.replaced.push((name, None));
            }
        }
        if let Some(tags) = joined_line(request, &IF_NONE_MATCH) {
            let condition = Condition::of(edition, &tags);
            edits.replaced.push((IF_NONE_MATCH, condition.of_pages));
            edits.known = condition.generated;
            // RFC 9110 section 13.1.3: it does not count beside tags, also once they are left out.
            if request.header(IF_MODIFIED_SINCE.lowercase).is_some() {
                edits.replaced.push((IF_MODIFIED_SINCE, None));
            }
        }
        if let Some(accept) = joined_line(request, &ACCEPT).filter(|accept| !takes_html(accept)) {
            let others = members_that_stay(&accept, |media_type| !names_html(media_type));
            let separator: &[u8] = if others.is_empty() { b"" } else { b", " };
            edits.replaced.push((ACCEPT, Some([&*others, separator, b"text/html;q=0.5"].concat())));
        }
        // A page in another coding could not be read. A wildcard stands for others, too.
        if let Some(codings) = joined_line(request, &ACCEPT_ENCODING) {
            let known = members_that_stay(&codings, |name| Coding::of_name(name).is_some());
            let value = if known.is_empty() { b"identity".to_vec() } else { known };
            if value != *codings {
                edits.replaced.push((ACCEPT_ENCODING, Some(value)));
            }
        }
        edits
    }
}

/// The absolute address of the page that a request asks for. `None` if the host is not valid, or the target
/// is not UTF-8.
pub fn page_url(request: &impl Request, is_at_page: bool) -> Option<String> {
    let host = request.authority().filter(|authority| is_host(authority))?;
    let target = request.path();
    let (path, query) = page_of(target).filter(|_| is_at_page).unwrap_or((target, b""));
    let scheme = request.scheme().unwrap_or(Scheme::Https).as_str();
    String::from_utf8([scheme.as_bytes(), b"://", host, path, query].concat()).ok()
}

/// Returns true if a line of `Cache-Control` has a directive, with a value or without.
pub(super) fn has_directive(line: &[u8], directive: &str) -> bool {
    line.split(|byte| *byte == b',').any(|part| {
        let name = part.split(|byte| *byte == b'=').next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(directive.as_bytes())
    })
}

/// The lines of a header as one value.
///
/// Few requests get here, so this takes the lines by a pointer. Otherwise the compiler would have this share its code with the reading
/// of the User-Agent, and nearly every request would pay for a call.
fn joined_line<'r>(request: &'r impl Request, header: &HeaderName) -> Option<Cow<'r, [u8]>> {
    let lines: &mut dyn Iterator<Item = &'r [u8]> = &mut request.header_lines(header.lowercase);
    joined_lines(lines)
}
