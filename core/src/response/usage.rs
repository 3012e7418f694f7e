//! The statements of responses about the usage of their content: `Content-Usage`, and the licences as `Link`.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::decision::Decision;
use crate::http::header_name::HeaderName;
use crate::http::vary::vary_on;
use crate::policy::usage::{Upstream, united};
use crate::response::document::DocumentForm;
use crate::ruleset::data::Ruleset;
use crate::ruleset::usage::{License, SentUsage, UsageSending};

/// The values of a header's lines.
pub(super) type Lines<'r> = Cow<'r, [Box<[u8]>]>;

const USER_AGENT: HeaderName = HeaderName { sent: "User-Agent", lowercase: "user-agent" };

pub(super) const CONTENT_USAGE: HeaderName = HeaderName { sent: "Content-Usage", lowercase: "content-usage" };

/// The headers that may change.
pub(super) const USAGE: [HeaderName; 3] = [
    CONTENT_USAGE,
    HeaderName { sent: "Link", lowercase: "link" },
    HeaderName { sent: "Vary", lowercase: "vary" },
];

/// The statement that a site sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsageRules<'r> {
    sending: &'r UsageSending,
    sent: SentUsage,
}

/// The statement about usage in a document of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentUsage {
    /// The value of `Content-Usage` of the response, if it has one.
    pub preferences: Option<String>,
    /// The URLs of the licences of the site.
    pub licenses: Vec<String>,
}

/// The lines of [`USAGE`] in a response.
#[derive(Debug, Default)]
pub(super) struct UsageLines<'u>([Vec<&'u [u8]>; 3]);

impl<'u> UsageLines<'u> {
    /// Adds a line; false: it is of another header.
    pub(super) fn add(&mut self, name: &[u8], value: &'u [u8]) -> bool {
        match USAGE.iter().zip(&mut self.0).find(|(header, _)| header.is(name)) {
            Some((_, lines)) => {
                lines.push(value);
                true
            }
            None => false,
        }
    }
}

impl Ruleset {
    /// The statement for the response, if the site sends any.
    pub(super) fn usage_rules(&self, decision: &Decision) -> Option<UsageRules<'_>> {
        let sent = decision.usage?;
        let sending = self.sites.get(decision.site?)?.usage.as_ref()?.sending.as_deref()?;
        let says_nothing = sent.statement.is_empty() && !sent.varies && sending.links.is_empty();
        (!says_nothing).then_some(UsageRules { sending, sent })
    }
}

impl<'r> UsageRules<'r> {
    /// The edits of a response that has these lines of [`USAGE`].
    pub(super) fn edits(self, upstream: &UsageLines<'_>) -> [Option<Lines<'r>>; 3] {
        let UsageLines([content_usage, link, vary]) = upstream;
        [self.content_usage(content_usage), self.link(link), self.vary(vary)]
    }

    /// The statement of a document of a page with these lines of `Content-Usage`, if it states anything. Markdown has no metadata.
    pub(super) fn of_document(self, form: DocumentForm, upstream: &[&[u8]]) -> Option<DocumentUsage> {
        if form == DocumentForm::Markdown {
            return None;
        }
        let preferences = match self.content_usage(upstream) {
            Some(lines) => lines.join(&b", "[..]),
            None => upstream.join(&b", "[..]),
        };
        let licenses: Vec<String> =
            self.sending.links.iter().map(|license| String::from(&*license.url)).collect();
        let preferences =
            (!preferences.is_empty()).then(|| String::from_utf8_lossy(&preferences).into_owned());
        let states_something = preferences.is_some() || !licenses.is_empty();
        states_something.then_some(DocumentUsage { preferences, licenses })
    }

    fn content_usage(self, upstream: &[&[u8]]) -> Option<Lines<'r>> {
        if upstream.is_empty() {
            let lines = self.sending.lines(self.sent.statement);
            return (!lines.is_empty()).then_some(Cow::Borrowed(lines));
        }
        let line = united(&Upstream::new(upstream), self.sent.statement)?;
        Some(Cow::Owned([line].into()))
    }

    /// The licences that the response does not name already are added to its links.
    fn link(self, upstream: &[&[u8]]) -> Option<Lines<'r>> {
        let is_there = |license: &License| upstream.iter().any(|line| names(line, license.url.as_bytes()));
        let missing: Vec<&License> = self.sending.links.iter().filter(|license| !is_there(license)).collect();
        if missing.is_empty() {
            return None;
        }
        let kept = upstream.iter().map(|line| Box::from(*line));
        Some(Cow::Owned(kept.chain(missing.into_iter().map(|license| license.line.clone())).collect()))
    }

    fn vary(self, upstream: &[&[u8]]) -> Option<Lines<'r>> {
        let line = self.sent.varies.then(|| vary_on(upstream, &[USER_AGENT])).flatten()?;
        Some(Cow::Owned([line].into()))
    }
}

/// Returns true if a `Link` line has a link to this URL that is a licence.
fn names(line: &[u8], url: &[u8]) -> bool {
    let is_target = |text: &[u8]| matches!(text, [b'<', inner @ .., b'>'] if inner == url);
    let length = url.len() + 2;
    let mut places = line.windows(length).enumerate().filter(|(_, text)| is_target(text));
    places.any(|(at, _)| {
        let rest = line.get(at + length..).unwrap_or_default();
        let end = rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len());
        let parameters = rest.get(..end).unwrap_or_default().to_ascii_lowercase();
        parameters.windows(b"license".len()).any(|text| text == b"license")
    })
}

#[cfg(test)]
mod tests;
