//! What a gate does with a response, whoever made it: one union of Robots-Tag rules, under both names.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::Ruleset;
use crate::config::RobotsTagSyntax;
use crate::decision::Decision;
use crate::robots_tag::{LineRead, ReadyTag, RobotsTag, Syntax};

/// A response header, in the spelling that is sent and in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderName {
    /// `Robots-Tag`.
    pub sent: &'static str,
    /// `robots-tag`.
    pub lowercase: &'static str,
}

/// The headers that are read and edited.
pub const HEADERS: [HeaderName; 2] = [
    HeaderName { sent: "Robots-Tag", lowercase: "robots-tag" },
    HeaderName { sent: "X-Robots-Tag", lowercase: "x-robots-tag" },
];

/// The values of a header's lines.
pub type Lines<'r> = Cow<'r, [Box<[u8]>]>;

/// The rules of a site for the responses to a request.
#[derive(Clone, Copy, Debug)]
pub struct ResponseRules<'r> {
    syntax: RobotsTagSyntax,
    ready: &'r ReadyTag,
}

/// What to do with a response: for each of [`HEADERS`], the lines that take the place of all there are, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseEdits<'r> {
    lines: [Option<Lines<'r>>; 2],
}

impl<'r> ResponseEdits<'r> {
    /// The headers to be replaced, with their new lines; no lines: the header goes.
    pub fn replaced(&self) -> impl Iterator<Item = (HeaderName, &[Box<[u8]>])> {
        let lines = self.lines.iter().map(Option::as_deref);
        HEADERS.into_iter().zip(lines).filter_map(|(name, lines)| Some((name, lines?)))
    }

    /// Whether the response is right as it is.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(Option::is_none)
    }
}

impl Ruleset {
    /// The rules for the responses to a request that was decided about, whatever was decided; `None`: they are left as
    /// they are, because no site has the host or because the mode is `off`.
    pub fn response_rules(&self, decision: &Decision) -> Option<ResponseRules<'_>> {
        let tags = &self.sites.get(decision.site?)?.tags;
        Some(ResponseRules { syntax: tags.syntax, ready: tags.ready(decision.tag?)? })
    }

    /// What the site's rules mean to the client (TAG-7): the product token that it is known by, if it is by any, and the
    /// sum of the rules for that token and of those for all, as in `noindex, nosnippet`; empty where there are none.
    pub fn effective_rules(&self, decision: &Decision) -> Option<(Option<&str>, Vec<u8>)> {
        let rules = self.response_rules(decision)?;
        let agent = self.acting_agent(decision.agent, decision.feed);
        let token = agent.and_then(|id| self.agents.get(usize::from(id))).map(|agent| &*agent.token);
        Some((token, rules.ready.tag.effective(token)))
    }
}

impl<'r> ResponseRules<'r> {
    /// What the site's own rules say, in its syntax; `None` where there are none for the path.
    pub fn site_value(self) -> Option<&'r str> {
        self.ready.text.as_deref()
    }

    /// What to do with a response that has these lines of [`HEADERS`].
    ///
    /// Both headers say the same afterwards: what the response said under either name, then the site's rules, each thing
    /// once. A header that says just that already is left alone. What lies past
    /// [`LIMIT`](crate::robots_tag::LIMIT) goes into a line of its own under the name that it came with.
    pub fn edits(self, upstream: [&[&[u8]]; 2]) -> ResponseEdits<'r> {
        if upstream.iter().all(|lines| lines.is_empty()) {
            let set = |lines: &'r Vec<Box<[u8]>>| (!lines.is_empty()).then_some(Cow::Borrowed(&**lines));
            return ResponseEdits { lines: [set(&self.ready.robots_tag), set(&self.ready.x_robots_tag)] };
        }
        let [robots_tag, x_robots_tag] = upstream.map(Header::read);
        let mut union = RobotsTag::default();
        union.add(&robots_tag.tag);
        union.add(&x_robots_tag.tag);
        union.add(&self.ready.tag);
        let fits_robots_tag = |syntax| match self.syntax {
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
        let value = union.write(self.syntax);
        let robots_tag_lines = (!value.is_empty()).then(|| value.into()).into_iter().collect();
        let [is_right, x_is_right] = is_right;
        let lines = [
            (!is_right).then(|| robots_tag.replaced_by(robots_tag_lines)),
            (!x_is_right).then(|| x_robots_tag.replaced_by(union.deployed_lines())),
        ];
        ResponseEdits { lines: lines.map(Option::flatten) }
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
    use crate::request::tests::Asked;
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
        ruleset.response_rules(&decision)?.site_value().map(str::to_string)
    }

    fn owned(lines: [&[&str]; 2]) -> [Vec<String>; 2] {
        lines.map(|lines| lines.iter().map(ToString::to_string).collect())
    }

    /// What a response with these lines has afterwards, and whether another pass leaves it alone.
    fn edited(host: &str, path: &str, lines: [&[&str]; 2]) -> [Vec<String>; 2] {
        let ruleset = ruleset();
        let decision = decision(&ruleset, host, path);
        let mut response = owned(lines);
        let Some(rules) = ruleset.response_rules(&decision) else { return response };
        let edit = |response: &[Vec<String>; 2]| {
            let [robots_tag, x_robots_tag] =
                response.each_ref().map(|lines| lines.iter().map(String::as_bytes).collect::<Vec<_>>());
            let edits = rules.edits([&robots_tag, &x_robots_tag]);
            assert_eq!(edits.is_empty(), edits.replaced().next().is_none());
            let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
            edits
                .lines
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
}
