//! The catalog of well-known agents: their tokens, operators, purposes, and the feeds that prove them.
//!
//! One catalog is built in; a user may give a file of the same format instead (`core/data/README.md` describes it).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::Ranges;
use crate::feed::{FeedFormat, Shape};
use crate::http::domains::domain;
use crate::json::typed::{FromJson, Node, Reader, json_object};
use crate::source::diagnostic::Diagnostics;
use crate::source::position::Placed;
use crate::user_agent;

/// Agents and the feeds that prove them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The feeds that agents name; names are unique.
    pub feeds: Vec<CatalogFeed>,
    /// The agents; tokens are unique without regard to case.
    pub agents: Vec<CatalogAgent>,
}

json_object! {
    /// A catalog of agents and the feeds that prove them.
    struct Document {
        /// The feeds that agents name.
        pub feeds: Vec<Placed<CatalogFeed>> = { Vec::new() },
        /// The agents.
        pub agents: Vec<Placed<CatalogAgent>> = required,
    }
    ignored {
        /// The origin of the catalog, for its readers.
        "source": String,
    }
}

json_object! {
    /// A published list of IP ranges.
    pub struct CatalogFeed {
        /// The name by which agents refer to it.
        pub name: String = required,
        /// The publisher.
        pub operator: String = { String::new() },
        /// The URL at which it is published.
        pub url: String = required,
        /// Its earlier URLs: a configuration may still use them.
        pub former_urls: Vec<String> = { Vec::new() },
        /// The format in which it is written.
        pub format: FeedFormat = { FeedFormat::Jafar },
        /// The paths of its prefixes, if its format alone does not give them.
        pub shape: Option<Shape> = { None },
    }
}

json_object! {
    /// One automated client, as its operator names it.
    pub struct CatalogAgent {
        /// The product token (RFC 9309) in its User-Agent and in robots.txt.
        pub token: String = required,
        /// The operator.
        pub operator: String = { String::new() },
        /// The purposes for which it fetches pages.
        pub purposes: Vec<String> = { Vec::new() },
        /// Names of the feeds that prove it; any of them does.
        pub feeds: Vec<String> = { Vec::new() },
        /// True if all that it sends comes from the ranges in its feeds.
        pub ranges: Ranges = { Ranges::default() },
        /// True if the token counts only where the User-Agent begins with it.
        pub begins: bool = { false },
        /// True if no client sends the token: only policies name it.
        pub control_token: bool = { false },
        /// Purposes that count as declared if they stand alone in the agent's User-Agent.
        pub declares: Vec<String> = { Vec::new() },
        /// The operator's page about it.
        pub docs: Option<String> = { None },
        /// Domains that have the names of its addresses (reverse DNS), each with all names below it.
        pub rdns: Vec<String> = { Vec::new() },
        /// URLs of the directories that have the keys of its signatures.
        pub keys: Vec<String> = { Vec::new() },
    }
}

impl CatalogFeed {
    /// The URL at which it is published, and its earlier ones.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        core::iter::once(&self.url).chain(&self.former_urls).map(String::as_str)
    }
}

impl Catalog {
    /// The catalog that is compiled into the core: its name for diagnostics, and the document. It lacks what only people
    /// read: the operators and their pages.
    pub fn builtin() -> (&'static str, &'static [u8]) {
        ("catalog.json (built in)", include_bytes!("../data/catalog.compact.json"))
    }

    /// Reads a catalog; `None` when there was an error, after reporting all of them.
    pub fn parse(bytes: &[u8], diagnostics: &mut Diagnostics) -> Option<Self> {
        let errors_before = diagnostics.errors();
        let mut reader = Reader::new(bytes, diagnostics);
        let document = Node::document(bytes, &mut reader)?;
        let Document { feeds, agents } = Document::from_json(&document, &mut reader)?;
        check_feeds(&feeds, diagnostics);
        check_agents(&agents, &feeds, diagnostics);
        (diagnostics.errors() == errors_before)
            .then(|| Self { feeds: without_positions(feeds), agents: without_positions(agents) })
    }
}

fn without_positions<T>(items: Vec<Placed<T>>) -> Vec<T> {
    items.into_iter().map(|item| item.value).collect()
}

fn check_feeds(feeds: &[Placed<CatalogFeed>], diagnostics: &mut Diagnostics) {
    let mut names = BTreeSet::new();
    for Placed { value: feed, position } in feeds {
        let name = &feed.name;
        let mut error = |message: String| diagnostics.error(*position, None, message);
        if name.trim().is_empty() {
            error("the feed's name is empty".into());
        } else if !names.insert(name) {
            error(format!("duplicate feed `{name}`"));
        }
        let is_web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        if !feed.urls().all(is_web) {
            error(format!("the url of the feed `{name}` must begin with https:// or http://"));
        }
    }
}

fn check_agents(
    agents: &[Placed<CatalogAgent>],
    feeds: &[Placed<CatalogFeed>],
    diagnostics: &mut Diagnostics,
) {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    known.extend(feeds.iter().map(|feed| feed.name.as_str()));
    let mut tokens = BTreeSet::new();
    for Placed { value: agent, position } in agents {
        let CatalogAgent { token, feeds, purposes, rdns, .. } = agent;
        let mut error = |message: String| diagnostics.error(*position, None, message);
        if let Err(problem) = user_agent::check_token(token) {
            error(format!("token {token:?}: {problem}"));
        } else if !tokens.insert(token.to_ascii_lowercase()) {
            error(format!("duplicate agent `{token}`; tokens are compared without regard to case"));
        }
        for feed in feeds.iter().filter(|feed| !known.contains(feed.as_str())) {
            error(format!("the agent `{token}` names the feed `{feed}`, which is not in `feeds`"));
        }
        if purposes.iter().any(|purpose| purpose.trim().is_empty()) {
            error(format!("the agent `{token}` has an empty purpose"));
        }
        for text in rdns {
            if let Err(why) = domain(text) {
                error(format!("`{text}` in `rdns` of the agent `{token}`: {why}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::diagnostic::Load;
    use alloc::string::ToString;

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert!(parse("\u{feff}{ \"agents\": [ { \"token\": \"A\" } ] }").is_ok());
        let [message] = &parse("\u{feff}[]").unwrap_err()[..] else { panic!("one message") };
        assert_eq!(message, "c.json:1:1: error: expected an object, found an array");
    }

    fn parse(text: &str) -> Result<Catalog, Vec<String>> {
        let mut diagnostics = Diagnostics::new("c.json", Load);
        let catalog = Catalog::parse(text.as_bytes(), &mut diagnostics);
        catalog.ok_or_else(|| diagnostics.items().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_builtin_catalog_is_read_without_a_word() {
        let (name, bytes) = Catalog::builtin();
        let mut diagnostics = Diagnostics::new(name, Load);
        let catalog = Catalog::parse(bytes, &mut diagnostics).unwrap();
        assert_eq!(diagnostics.items(), []);
        assert_eq!((catalog.feeds.len(), catalog.agents.len()), (43, 267));
        let agent = |token| catalog.agents.iter().find(|agent| agent.token == token).unwrap();
        assert_eq!(agent("Googlebot").feeds, ["google-googlebot"]);
        assert_eq!(agent("Googlebot").purposes, ["search"]);
        assert_eq!(agent("ChatGPT-User").feeds, ["openai-chatgpt-user"]);
        assert_eq!(agent("Linguee Bot").feeds, [""; 0]);
        for token in ["ClaudeBot", "Claude-User", "Claude-SearchBot"] {
            assert_eq!(agent(token).feeds, ["anthropic-bots"]);
        }
        assert_eq!(agent("ClaudeBot").ranges, Ranges::Complete);
        assert_eq!(agent("Claude-User").ranges, Ranges::Partial);
    }

    #[test]
    fn the_lists_that_google_moved_are_known_by_all_their_addresses() {
        let mut diagnostics = Diagnostics::new("c", Load);
        let catalog = Catalog::parse(Catalog::builtin().1, &mut diagnostics).unwrap();
        for (before, now) in [
            ("googlebot", "common-crawlers"),
            ("special-crawlers", "special-crawlers"),
            ("user-triggered-agents", "user-triggered-agents"),
            ("user-triggered-fetchers", "user-triggered-fetchers"),
            ("user-triggered-fetchers-google", "user-triggered-fetchers-google"),
        ] {
            let url = format!("https://developers.google.com/static/crawling/ipranges/{now}.json");
            let feed = catalog.feeds.iter().find(|feed| feed.url == url).unwrap();
            for folder in ["static/search/apis", "search/apis"] {
                let former = format!("https://developers.google.com/{folder}/ipranges/{before}.json");
                assert!(feed.urls().any(|url| url == former), "{former}");
            }
        }
    }

    #[test]
    fn only_token_name_and_url_are_required() {
        let catalog = parse(
            r#"{"feeds":[{"name":"f","url":"https://f.example/f.json"}],"agents":[{"token":"T","feeds":["f"]}]}"#,
        )
        .unwrap();
        assert_eq!((catalog.agents[0].token.as_str(), &*catalog.agents[0].purposes), ("T", &[][..]));
    }

    #[test]
    fn every_mistake_is_reported_at_its_place() {
        let errors = parse(
            r#"{
  "feeds": [
    {"name": "f", "url": "ftp://f.example/"},
    {"name": "f", "url": "https://f.example/"}
  ],
  "agents": [
    {"token": "A", "feed": []},
    {"operator": "B"},
    {"token": "C", "feeds": ["g"]},
    {"token": "c", "purposes": [" "]},
    {"token": ""}
  ]
}"#,
        )
        .unwrap_err();
        let expected = [
            "c.json:7:20: error: unknown key `agents[0].feed` (did you mean `feeds`?)",
            "c.json:8:5: error: `agents[1]`: missing key `token`",
            "c.json:3:5: error: the url of the feed `f` must begin with https:// or http://",
            "c.json:4:5: error: duplicate feed `f`",
            "c.json:9:5: error: the agent `C` names the feed `g`, which is not in `feeds`",
            "c.json:10:5: error: duplicate agent `c`; tokens are compared without regard to case",
            "c.json:10:5: error: the agent `c` has an empty purpose",
            "c.json:11:5: error: token \"\": it is empty",
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn syntax_is_reported_with_line_and_column() {
        assert_eq!(
            parse("{\n \"agents\": [}").unwrap_err(),
            ["c.json:2:13: error: not JSON: expected value"]
        );
        assert_eq!(parse("[]").unwrap_err().len(), 1);
        assert_eq!(parse(r#"{"agents":[],"agent":[]}"#).unwrap_err().len(), 1);
        assert!(parse(r#"{"agents":[],"source":"a list"}"#).is_ok());
        assert_eq!(
            parse(r#"{"agents":[],"source":["a list"]}"#).unwrap_err(),
            ["c.json:1:23: error: `source`: expected a string, found an array"]
        );
        let mut diagnostics = Diagnostics::new("c.json", Load);
        assert_eq!(Catalog::parse(b"{\n\"\xff", &mut diagnostics), None);
        let message = diagnostics.items()[0].to_string();
        assert!(message.starts_with("c.json:2:2: error: not UTF-8 from here on"), "{message}");
    }
}
