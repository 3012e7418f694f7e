//! What becomes of the responses to a request, whoever makes them: one plan, which every gate carries out.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::Ruleset;
use crate::config::RobotsTagSyntax;
use crate::decide::decision::{Action, Decision};
use crate::http::header_name::HeaderName;
use crate::identity::acting_agent;
use crate::policy::robots_tag::{LineRead, ReadyTag, RobotsTag, SiteTags, Syntax};

/// The headers that tell crawlers what they may do with a response.
pub(super) const ROBOTS: [HeaderName; 2] = [
    HeaderName { sent: "Robots-Tag", lowercase: "robots-tag" },
    HeaderName { sent: "X-Robots-Tag", lowercase: "x-robots-tag" },
];

const NO_STORE: &str = "no-store";

const CACHE_CONTROL: HeaderName = HeaderName { sent: "Cache-Control", lowercase: "cache-control" };

/// What says that a cache may keep a response, or update one that it has kept, beside `Cache-Control`.
const FOR_CACHES: [&str; 7] =
    ["age", "edge-control", "etag", "expires", "last-modified", "surrogate-control", "x-accel-expires"];

/// How the names of the headers end that are meant for one kind of caches (RFC 9213 2.2).
const TARGETED: &str = "cdn-cache-control";

/// The values of a header's lines.
type Lines<'r> = Cow<'r, [Box<[u8]>]>;

/// What becomes of the responses to a request.
#[derive(Clone, Copy, Debug)]
pub struct ResponsePlan<'r> {
    robots: Option<RobotsRules<'r>>,
    /// Whether the request is denied: then nobody else may get the response, whatever stands in the denial's place.
    is_denied: bool,
}

/// A site's rules for crawlers.
#[derive(Clone, Copy, Debug)]
pub(super) struct RobotsRules<'r> {
    tags: &'r SiteTags,
    ready: &'r ReadyTag,
}

/// What to change in the headers of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderEdits<'r> {
    robots: [Option<Lines<'r>>; 2],
    cache_control: Option<Lines<'r>>,
}

impl HeaderEdits<'_> {
    /// The headers to be replaced, with the lines that take the place of all there are; no lines: the header goes.
    pub fn replaced(&self) -> impl Iterator<Item = (HeaderName, &[Box<[u8]>])> {
        let lines = self.robots.iter().chain([&self.cache_control]).map(Option::as_deref);
        ROBOTS.into_iter().chain([CACHE_CONTROL]).zip(lines).filter_map(|(name, lines)| Some((name, lines?)))
    }
}

impl Ruleset {
    /// The plan for the responses to a request that was decided about; `None`: they are left as they are, because
    /// nothing is denied and no site has the host, or because the mode is `off`.
    pub fn response_plan(&self, decision: &Decision) -> Option<ResponsePlan<'_>> {
        let is_denied = decision.action == Action::Deny && decision.enforced;
        let robots = self.robots_rules(decision);
        (is_denied || robots.is_some()).then_some(ResponsePlan { robots, is_denied })
    }

    pub(super) fn robots_rules(&self, decision: &Decision) -> Option<RobotsRules<'_>> {
        let tags = &self.sites.get(decision.site?)?.tags;
        Some(RobotsRules { tags, ready: tags.ready(decision.tag?)? })
    }

    /// What the site's rules mean to the client (TAG-7): the product token that it is known by, if it is by any, and the
    /// sum of the rules for that token and of those for all, as in `noindex, nosnippet`; empty where there are none.
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
        (!self.is_denied).then_some(&ROBOTS)
    }

    /// Whether a header of this name goes, whatever its lines.
    pub fn removes(self, name: &[u8]) -> bool {
        self.is_denied && is_for_caches(name)
    }

    /// What to change in a response with these header lines, each a name and a value: at least all those that are
    /// [watched](Self::watched).
    pub fn header_edits<'u>(self, response: impl Iterator<Item = (&'u [u8], &'u [u8])>) -> HeaderEdits<'r> {
        let mut robots: [Vec<&[u8]>; 2] = Default::default();
        let mut cache_control = CacheControl::default();
        for (name, value) in response {
            if let Some((_, lines)) = ROBOTS.iter().zip(&mut robots).find(|(header, _)| header.is(name)) {
                lines.push(value);
            } else if self.is_denied && CACHE_CONTROL.is(name) {
                cache_control.add(value);
            }
        }
        let [robots_tag, x_robots_tag] = &robots;
        let robots = self.robots.map(|rules| rules.edits([robots_tag, x_robots_tag])).unwrap_or_default();
        let may_be_stored = self.is_denied && cache_control != CacheControl::NoStore;
        let cache_control = may_be_stored.then(|| Cow::Owned([NO_STORE.as_bytes().into()].into()));
        HeaderEdits { robots, cache_control }
    }
}

/// What the lines of `Cache-Control` in a response say.
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
    /// Whether there are any.
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

    /// What to do with a response that has these lines of [`ROBOTS`].
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

/// What a response says under one name.
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
mod tests {
    use super::*;
    use crate::http::request::tests::Asked;
    use crate::{NoFiles, Overrides, decide};
    use alloc::format;
    use alloc::string::{String, ToString};

    const DOCUMENT: &str = r#"{
      "catalog": "none",
      "sites": [
        { "hosts": ["tagged.test"], "modes": [ { "scope": "/off", "mode": "off" } ], "robots_tag": [
            { "scope": "/drafts/", "rules": "noindex; ExampleBot=" },
            { "scope": "/drafts/old", "rules": "nofollow" },
            { "scope": "/*.pdf$", "rules": "ExampleBot=nosnippet" },
            { "scope": "/*draft", "rules": "nofollow" } ] },
        { "hosts": ["list.test"], "robots_tag_syntax": "structured", "robots_tag": [ { "rules": "noindex; ExampleBot=nosnippet" } ] },
        { "hosts": ["plain.test"] }
      ]
    }"#;

    fn ruleset() -> Ruleset {
        Ruleset::compile("c.json", DOCUMENT.as_bytes(), &NoFiles).ruleset.unwrap()
    }

    fn decision(ruleset: &Ruleset, host: &str, path: &str) -> Decision {
        decide(ruleset, &Asked { host, path, ..Asked::default() }, Overrides::default())
    }

    fn site_value(host: &str, path: &str) -> Option<String> {
        let ruleset = ruleset();
        let decision = decision(&ruleset, host, path);
        ruleset.robots_rules(&decision)?.ready.text().map(str::to_string)
    }

    fn owned(lines: [&[&str]; 2]) -> [Vec<String>; 2] {
        lines.map(|lines| lines.iter().map(ToString::to_string).collect())
    }

    /// What a response with these lines has afterwards, and whether another pass leaves it alone.
    fn edited(host: &str, path: &str, lines: [&[&str]; 2]) -> [Vec<String>; 2] {
        let ruleset = ruleset();
        let decision = decision(&ruleset, host, path);
        let mut response = owned(lines);
        let Some(plan) = ruleset.response_plan(&decision) else { return response };
        assert_eq!(plan.watched(), Some(&ROBOTS[..]));
        let edit = |response: &[Vec<String>; 2]| {
            let lines = ROBOTS
                .iter()
                .zip(response)
                .flat_map(|(name, lines)| lines.iter().map(|line| (name.sent.as_bytes(), line.as_bytes())));
            let edits = plan.header_edits(lines);
            assert_eq!(edits.cache_control, None);
            let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
            edits
                .robots
                .map(|lines| lines.map(|lines| lines.iter().map(|line| text(line)).collect::<Vec<_>>()))
        };
        for (lines, new) in edit(&response).into_iter().enumerate() {
            response[lines] = new.unwrap_or_else(|| response[lines].clone());
        }
        assert_eq!(edit(&response), [None, None], "{response:?}");
        response
    }

    #[test]
    fn all_rules_whose_scope_matches_are_united() {
        let value = |path| site_value("tagged.test", path);
        assert_eq!(value("/"), None);
        assert_eq!(value("/drafts/").as_deref(), Some("noindex, nofollow; ExampleBot="));
        assert_eq!(value("/%64rafts/a.pdf").as_deref(), Some("noindex, nofollow; ExampleBot=nosnippet"));
        assert_eq!(value("/a.pdf").as_deref(), Some("ExampleBot=nosnippet"));
        assert_eq!(value("/a.pdf?x"), None);
        assert_eq!(value("/a/draft").as_deref(), Some("nofollow"));
        assert_eq!(value("/off/a.pdf"), None);
        // Whatever the spelling, as many of the rules hold as for any that a server may resolve it to.
        for path in ["//drafts/old", "/drafts/x/../old", "/drafts%2Fold", "/drafts/old/../../.."] {
            assert_eq!(value(path).as_deref(), Some("noindex, nofollow; ExampleBot="), "{path}");
        }
        assert_eq!(site_value("list.test", "/").as_deref(), Some("*;noindex, ExampleBot;nosnippet"));
        assert_eq!(site_value("other.test", "/drafts/"), None);
    }

    #[test]
    fn tag_3_both_headers_say_the_union() {
        let none: [&[&str]; 2] = [&[], &[]];
        let is = |found, expected| assert_eq!(found, owned(expected));
        is(edited("tagged.test", "/a.pdf", none), [&["ExampleBot=nosnippet"], &["ExampleBot: nosnippet"]]);
        is(edited("tagged.test", "/", none), none);
        is(
            edited(
                "tagged.test",
                "/drafts/",
                [&["*;x, ExampleBot;NoSnippet"], &["noindex", "examplebot: nosnippet"]],
            ),
            [
                &["x, noindex, nofollow; ExampleBot=NoSnippet"],
                &["x, noindex, nofollow", "ExampleBot: NoSnippet"],
            ],
        );
        is(
            edited("list.test", "/", [&[], &["max-snippet:20"]]),
            [
                &["*;max-snippet=20;noindex, ExampleBot;nosnippet"],
                &["max-snippet:20, noindex", "ExampleBot: nosnippet"],
            ],
        );
        // A site without rules unites what the response says itself, too.
        is(edited("plain.test", "/", [&[], &["noindex"]]), [&["noindex"], &["noindex"]]);
        is(edited("plain.test", "/", [&["ExampleBot="], &[]]), [&["ExampleBot="], &[]]);
        is(
            edited("plain.test", "/", [&["ExampleBot="], &["noindex, ExampleBot: nosnippet"]]),
            [&["noindex; ExampleBot=nosnippet"], &["noindex, ExampleBot: nosnippet"]],
        );
    }

    #[test]
    fn what_says_it_already_is_left_as_it_is() {
        for [robots_tag, x_robots_tag] in [
            [
                &["ExampleBot=nosnippet;  *=noindex,nofollow;"][..],
                &["NOINDEX,nofollow", "examplebot:nosnippet"][..],
            ],
            [&["noindex"], &["NoIndex"]],
            [&[""], &[""]],
        ] {
            let lines = [robots_tag, x_robots_tag];
            assert_eq!(edited("plain.test", "/", lines), owned(lines));
        }
        // No site, or the mode is off: whatever it says.
        for (host, path) in [("other.test", "/"), ("tagged.test", "/off/a.pdf")] {
            let lines: [&[&str]; 2] = [&["noindex", "noindex"], &["x"]];
            assert_eq!(edited(host, path, lines), owned(lines));
        }
    }

    #[test]
    fn tag_5_the_rest_goes_where_it_came_from() {
        let long = format!("nosnippet, {}", "a".repeat(8192));
        let [robots_tag, x_robots_tag] =
            edited("plain.test", "/", [&["noindex"], &[&format!("Bot: {long}")]]);
        assert_eq!(robots_tag, ["noindex; Bot=nosnippet"]);
        assert_eq!(x_robots_tag[..2], ["noindex".to_string(), "Bot: nosnippet".to_string()]);
        assert_eq!(x_robots_tag[2..], [format!("Bot: {}", "a".repeat(8192))]);
    }

    #[test]
    fn tag_7_effective_rules() {
        let ruleset = ruleset();
        let decision = decision(&ruleset, "tagged.test", "/drafts/");
        assert_eq!(ruleset.effective_rules(&decision), Some((None, b"noindex, nofollow".to_vec())));
    }

    #[test]
    fn what_stands_in_a_denials_place_is_stored_nowhere() {
        let document = br#"{ "mode": "enforce", "catalog": "none", "agents": [ { "token": "BadBot", "action": "deny" } ],
            "sites": [ { "modes": [ { "scope": "/observed", "mode": "observe" } ],
                         "robots_tag": [ { "rules": "noindex" } ] } ] }"#;
        let ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.unwrap();
        let edited = |user_agent: &str, path: &str, response: &[(&str, &str)]| {
            let request = Asked { user_agent, path, ..Asked::default() };
            let plan = ruleset.response_plan(&decide(&ruleset, &request, Overrides::default())).unwrap();
            let lines = response.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            let edits = plan.header_edits(lines);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            let replaced: Vec<String> = edits
                .replaced()
                .map(|(name, lines)| format!("{}: {}", name.sent, text(&lines.join(&b',')[..])))
                .collect();
            let names = response.iter().map(|(name, _)| *name);
            (
                replaced,
                names.filter(|name| plan.removes(name.as_bytes())).map(str::to_string).collect::<Vec<_>>(),
            )
        };
        let page = [
            ("Cache-Control", "public, max-age=3600"),
            ("cache-control", "s-maxage=9"),
            ("Expires", "Thu, 01 Jan 2032 00:00:00 GMT"),
            ("ETag", "\"a\""),
            ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Age", "5"),
            ("Surrogate-Control", "max-age=9"),
            ("X-Accel-Expires", "9"),
            ("CDN-Cache-Control", "max-age=9"),
            ("Example-CDN-Cache-Control", "max-age=9"),
            ("X-Cache-Control", "stays"),
            ("Content-Type", "text/html"),
        ];
        let (replaced, removed) = edited("BadBot/1", "/", &page);
        assert_eq!(replaced, ["Robots-Tag: noindex", "X-Robots-Tag: noindex", "Cache-Control: no-store"]);
        assert_eq!(removed, page[2..10].iter().map(|(name, _)| *name).collect::<Vec<_>>());
        let own = [("cache-control", "no-store"), ("robots-tag", "noindex"), ("x-robots-tag", "noindex")];
        assert_eq!(edited("BadBot/1", "/", &own), (Vec::new(), Vec::new()));
        // Nobody is denied here.
        for (user_agent, path) in [("BadBot/1", "/observed"), ("GoodBot/1", "/")] {
            let (replaced, removed) = edited(user_agent, path, &page);
            assert_eq!((replaced.len(), removed.len()), (2, 0), "{user_agent} at {path}");
        }
    }
}
