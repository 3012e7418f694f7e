//! The responses that a gate sends and the edits that it makes, made here once so that all gates do the same.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::decide::decision::{Action, Decision};
use crate::http::date;
use crate::http::representation::{Condition, Representation};
use crate::reason::{FORBIDDEN, problem};
use crate::request::Request;
use crate::ruleset::data::Ruleset;

/// The time for which a client may act by a policy that it has read. Without a limit caches guess one, from the age of
/// the file, and a new policy is enforced at once: who obeys it should see it soon.
const POLICY_LIFETIME: &str = "max-age=3600";

/// The time after which another try is worth it where too much came in this second, in seconds.
const RETRY_AFTER: &str = "1";

/// A response that a gate sends itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<'r> {
    /// The status code.
    pub status: u16,
    /// The `Content-Type`, where there is content.
    pub content_type: Option<&'static str>,
    /// The `Cache-Control`, where one is sent.
    pub cache_control: Option<&'static str>,
    /// The `Retry-After`, if the same request may have another answer then.
    pub retry_after: Option<&'static str>,
    /// The `Vary`, where the request's headers chose the body.
    pub vary: Option<&'static str>,
    /// The `ETag`.
    pub etag: Option<&'r str>,
    /// The `Last-Modified`.
    pub last_modified: Option<String>,
    /// The body. A `HEAD` request is answered with its length and without it.
    pub body: Cow<'r, [u8]>,
}

impl Reply<'_> {
    /// The headers, apart from what the server itself knows (`Content-Length`, `Date`).
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let headers = [
            ("Content-Type", self.content_type),
            ("Cache-Control", self.cache_control),
            ("Retry-After", self.retry_after),
            ("Vary", self.vary),
            ("ETag", self.etag),
            ("Last-Modified", self.last_modified.as_deref()),
        ];
        headers.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl Ruleset {
    /// The answer of a gate; `None` unless [`Decision::is_answered`]. `status` is what the operator chose instead of
    /// 403.
    pub fn reply(
        &self,
        decision: &Decision,
        request: &impl Request,
        status: Option<u16>,
    ) -> Option<Reply<'_>> {
        if !decision.is_answered() {
            return None;
        }
        let site = decision.site.and_then(|id| self.sites.get(id));
        match decision.action {
            Action::Allow => None,
            Action::Serve => decision.served?.of(site?).map(|policy| Reply::policy(policy, request)),
            Action::Deny => {
                let rule = self.rule(decision).filter(|_| site.is_none_or(|site| site.explain));
                let usual = decision.status()?;
                let status = status.filter(|_| usual == FORBIDDEN).unwrap_or(usual);
                let document = problem::body(&self.denials, decision.reason, rule, status);
                let retry_after = decision.is_passing().then_some(RETRY_AFTER);
                Some(Reply { retry_after, ..Reply::denial(document, status) })
            }
        }
    }
}

impl<'r> Reply<'r> {
    /// The denial of a request, which no cache keeps.
    pub(crate) fn denial(document: Cow<'r, [u8]>, status: u16) -> Self {
        Self {
            content_type: Some("application/problem+json"),
            cache_control: Some("no-store"),
            body: document,
            ..Self::empty(status)
        }
    }

    /// A policy of the site, or as much of it as a conditional request asks for.
    pub(crate) fn policy(policy: &'r Representation, request: &impl Request) -> Self {
        let validated =
            Self { cache_control: Some(POLICY_LIFETIME), etag: Some(&policy.etag), ..Self::empty(200) };
        match policy.condition(request) {
            Condition::Failed => Self::empty(412),
            // With the tag, the date is not needed (RFC 9110 15.4.5).
            Condition::NotModified => Self { status: 304, ..validated },
            Condition::Holds => Self {
                content_type: Some("text/plain; charset=utf-8"),
                last_modified: policy.last_modified(request.now()).and_then(date::format),
                body: (&*policy.bytes).into(),
                ..validated
            },
        }
    }

    /// The status alone.
    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            content_type: None,
            cache_control: None,
            retry_after: None,
            vary: None,
            etag: None,
            last_modified: None,
            body: Cow::default(),
        }
    }
}
