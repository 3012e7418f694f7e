//! The plan for the responses to a request, whoever makes them: one plan, which every gate carries out.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::config::RobotsTagSyntax;
use crate::decide::decision::{Action, Decision};
use crate::http::header_name::HeaderName;
use crate::identity::acting_agent;
use crate::policy::robots_tag::{LineRead, ReadyTag, RobotsTag, SiteTags, Syntax};
use crate::response::usage::{Lines, USAGE, UsageLines, UsageRules};
use crate::ruleset::data::Ruleset;

/// The headers that tell crawlers what they may do with a response.
pub(super) const ROBOTS: [HeaderName; 2] = [
    HeaderName { sent: "Robots-Tag", lowercase: "robots-tag" },
    HeaderName { sent: "X-Robots-Tag", lowercase: "x-robots-tag" },
];

const ROBOTS_AND_USAGE: [HeaderName; 5] = {
    let ([robots_tag, x_robots_tag], [content_usage, link, vary]) = (ROBOTS, USAGE);
    [robots_tag, x_robots_tag, content_usage, link, vary]
};

const NO_STORE: &str = "no-store";

const CACHE_CONTROL: HeaderName = HeaderName { sent: "Cache-Control", lowercase: "cache-control" };

/// The headers that let a cache keep a response, or update one that it has kept, beside `Cache-Control`.
const FOR_CACHES: [&str; 7] =
    ["age", "edge-control", "etag", "expires", "last-modified", "surrogate-control", "x-accel-expires"];

/// The end of the names of the headers that are meant for one kind of caches (RFC 9213 2.2).
const TARGETED: &str = "cdn-cache-control";

/// The plan for the responses to a request.
#[derive(Clone, Copy, Debug)]
pub struct ResponsePlan<'r> {
    robots: Option<RobotsRules<'r>>,
    usage: Option<UsageRules<'r>>,
    /// True if the request is denied: then nobody else may get the response, whatever stands in the denial's place.
    is_denied: bool,
}

/// A site's rules for crawlers.
#[derive(Clone, Copy, Debug)]
pub(super) struct RobotsRules<'r> {
    tags: &'r SiteTags,
    ready: &'r ReadyTag,
}

/// The changes to the headers of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderEdits<'r> {
    robots: [Option<Lines<'r>>; 2],
    usage: [Option<Lines<'r>>; 3],
    cache_control: Option<Lines<'r>>,
}

impl HeaderEdits<'_> {
    /// The headers to be replaced, with the lines that take the place of all there are; no lines: the header goes.
    pub fn replaced(&self) -> impl Iterator<Item = (HeaderName, &[Box<[u8]>])> {
        let lines = self.robots.iter().chain(&self.usage).chain([&self.cache_control]).map(Option::as_deref);
        let names = ROBOTS.into_iter().chain(USAGE).chain([CACHE_CONTROL]);
        names.zip(lines).filter_map(|(name, lines)| Some((name, lines?)))
    }
}

impl Ruleset {
    /// The plan for the responses to a request that was decided about; `None`: they are left as they are, because
    /// nothing is denied and no site has the host, or because the mode is `off`.
    pub fn response_plan(&self, decision: &Decision) -> Option<ResponsePlan<'_>> {
        let is_denied = decision.action == Action::Deny && decision.enforced;
        let robots = self.robots_rules(decision);
        let usage = self.usage_rules(decision).filter(|_| !is_denied);
        let is_needed = is_denied || robots.is_some() || usage.is_some();
        is_needed.then_some(ResponsePlan { robots, usage, is_denied })
    }

    pub(super) fn robots_rules(&self, decision: &Decision) -> Option<RobotsRules<'_>> {
        let tags = &self.sites.get(decision.site?)?.tags;
        Some(RobotsRules { tags, ready: tags.ready(decision.tag?)? })
    }

    /// The meaning of the site's rules for the client (TAG-7): the product token that it is known by, if it is by any,
    /// and the sum of the rules for that token and of those for all, as in `noindex, nosnippet`; empty where there are
    /// none.
    pub fn effective_rules(&self, decision: &Decision) -> Option<(Option<&str>, Vec<u8>)> {
        let rules = self.robots_rules(decision)?;
        let agent = acting_agent(self, decision.agent, decision.evidence);
        let token = agent.and_then(|id| self.agents.get(id)).map(|agent| &*agent.token);
        let mut own = RobotsTag::default();
        rules.add_to(&mut own);
        Some((token, own.effective(token)))
    }
}

impl<'r> ResponsePlan<'r> {
    /// The headers on which the edits depend; `None`: on all of them. Where a response has none of these, there is no need
    /// to read the others.
    pub fn watched(self) -> Option<&'static [HeaderName]> {
        match (self.is_denied, &self.usage) {
            (true, _) => None,
            (false, None) => Some(&ROBOTS),
            (false, Some(_)) => Some(&ROBOTS_AND_USAGE),
        }
    }

    /// Returns true if a response stays as it is unless it has one of the [watched](Self::watched) headers.
    pub fn only_mends(self) -> bool {
        let adds_tags = self.robots.is_some_and(|rules| rules.any());
        !self.is_denied && !adds_tags && self.usage.is_none()
    }

    /// Returns true if the edits may depend on a header of this name: see [`Self::watched`].
    pub fn watches(self, name: &[u8]) -> bool {
        self.watched().is_none_or(|watched| watched.iter().any(|header| header.is(name)))
    }

    /// Returns true if a header of this name goes, whatever its lines.
    pub fn removes(self, name: &[u8]) -> bool {
        self.is_denied && is_for_caches(name)
    }

    /// The changes to a response with these header lines, each a name and a value: at least all those that are
    /// [watched](Self::watched).
    pub fn header_edits<'u>(self, response: impl Iterator<Item = (&'u [u8], &'u [u8])>) -> HeaderEdits<'r> {
        let mut robots: [Vec<&[u8]>; 2] = Default::default();
        let mut usage = UsageLines::default();
        let mut cache_control = CacheControl::default();
        for (name, value) in response {
            if let Some((_, lines)) = ROBOTS.iter().zip(&mut robots).find(|(header, _)| header.is(name)) {
                lines.push(value);
            } else if self.usage.is_some() && usage.add(name, value) {
                // It is kept there.
            } else if self.is_denied && CACHE_CONTROL.is(name) {
                cache_control.add(value);
            }
        }
        let [robots_tag, x_robots_tag] = &robots;
        let robots = self.robots.map(|rules| rules.edits([robots_tag, x_robots_tag])).unwrap_or_default();
        let may_be_stored = self.is_denied && cache_control != CacheControl::NoStore;
        let cache_control = may_be_stored.then(|| Cow::Owned([NO_STORE.as_bytes().into()].into()));
        let usage = self.usage.map(|rules| rules.edits(&usage)).unwrap_or_default();
        HeaderEdits { robots, usage, cache_control }
    }
}

/// The statements of the `Cache-Control` lines in a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CacheControl {
    /// There is no line.
    #[default]
    Nothing,
    /// The only line is [`NO_STORE`].
    NoStore,
    Other,
}

impl CacheControl {
    fn add(&mut self, line: &[u8]) {
        *self = match self {
            Self::Nothing if line == NO_STORE.as_bytes() => Self::NoStore,
            _ => Self::Other,
        };
    }
}

fn is_for_caches(name: &[u8]) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let end = name.len().checked_sub(TARGETED.len()).and_then(|start| name.get(start..));
    FOR_CACHES.iter().any(|known| is(known))
        || end.is_some_and(|end| end.eq_ignore_ascii_case(TARGETED.as_bytes()))
}

impl<'r> RobotsRules<'r> {
    /// Returns true if there are any.
    pub(super) fn any(&self) -> bool {
        !self.ready.robots_tag.is_empty()
    }

    /// Adds the rules to others.
    pub(super) fn add_to<'a>(&self, sum: &mut RobotsTag<'a>)
    where
        'r: 'a,
    {
        self.tags.add_to(sum, self.ready);
    }

    /// The edits of a response that has these lines of [`ROBOTS`].
    ///
    /// Both headers say the same afterwards: what the response said under either name, then the site's rules, each thing
    /// once. A header that says just that already is left alone. What lies past
    /// [`LIMIT`](crate::policy::robots_tag::LIMIT) goes into a line of its own under the name that it came with.
    fn edits(self, upstream: [&[&[u8]]; 2]) -> [Option<Lines<'r>>; 2] {
        if upstream.iter().all(|lines| lines.is_empty()) {
            let set = |lines: &'r Vec<Box<[u8]>>| (!lines.is_empty()).then_some(Cow::Borrowed(&**lines));
            return [set(&self.ready.robots_tag), set(&self.ready.x_robots_tag)];
        }
        let [robots_tag, x_robots_tag] = upstream.map(Header::read);
        let mut union = RobotsTag::default();
        union.add(&robots_tag.tag);
        union.add(&x_robots_tag.tag);
        self.add_to(&mut union);
        let fits_robots_tag = |syntax| match self.tags.syntax {
            RobotsTagSyntax::Draft00 | RobotsTagSyntax::Draft00Abnf => {
                matches!(syntax, Syntax::Plain | Syntax::Draft00)
            }
            RobotsTagSyntax::Structured => syntax == Syntax::Structured,
        };
        let fits_x_robots_tag = |syntax| matches!(syntax, Syntax::Plain | Syntax::Deployed);
        // There is no way to say in `X-Robots-Tag` that a token has no rules.
        let is_right = [
            robots_tag.is_in(fits_robots_tag) && robots_tag.tag.says_once(&union, true),
            x_robots_tag.is_in(fits_x_robots_tag) && x_robots_tag.tag.says_once(&union, false),
        ];
        let value = union.write(self.tags.syntax);
        let robots_tag_lines = (!value.is_empty()).then(|| value.into()).into_iter().collect();
        let [is_right, x_is_right] = is_right;
        let lines = [
            (!is_right).then(|| robots_tag.replaced_by(robots_tag_lines)),
            (!x_is_right).then(|| x_robots_tag.replaced_by(union.deployed_lines())),
        ];
        lines.map(Option::flatten)
    }
}

/// The values of a response under one name.
struct Header<'u> {
    tag: RobotsTag<'u>,
    lines: Vec<LineRead<'u>>,
}

impl<'u> Header<'u> {
    fn read(lines: &[&'u [u8]]) -> Self {
        let mut tag = RobotsTag::default();
        let lines = lines.iter().map(|line| tag.add_line(line)).collect();
        Self { tag, lines }
    }

    fn is_in(&self, fits: impl Fn(Syntax) -> bool) -> bool {
        self.lines.iter().all(|line| fits(line.syntax))
    }

    /// The lines that take the place of these, with what was not read; `None` where there are neither.
    fn replaced_by(&self, mut new: Vec<Box<[u8]>>) -> Option<Lines<'static>> {
        new.extend(self.lines.iter().filter_map(|line| line.rest).map(|rest| rest.line()));
        (!new.is_empty() || !self.lines.is_empty()).then_some(Cow::Owned(new))
    }
}

#[cfg(test)]
mod tests;
