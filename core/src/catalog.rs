//! The catalog of well-known agents: their tokens, operators, purposes, and the feeds that prove them.
//!
//! One catalog is built in; a user may give a file of the same format instead (`core/data/README.md` describes it).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::diagnostic::{Diagnostics, Locator};
use crate::json;
use crate::source_text::{self, BYTE_ORDER_MARK, Expected};
use crate::user_agent;

/// Agents and the feeds that prove them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    /// The feeds that agents name; names are unique.
    pub feeds: Vec<CatalogFeed>,
    /// The agents; tokens are unique without regard to case.
    pub agents: Vec<CatalogAgent>,
}

/// A published list of IP ranges.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogFeed {
    /// The name by which agents refer to it.
    pub name: String,
    /// Who publishes it.
    #[serde(default)]
    pub operator: String,
    /// Where it is published.
    pub url: String,
}

/// One automated client, as its operator names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogAgent {
    /// The product token (RFC 9309) in its User-Agent and in robots.txt.
    pub token: String,
    /// Who runs it.
    #[serde(default)]
    pub operator: String,
    /// What it fetches pages for.
    #[serde(default)]
    pub purposes: Vec<String>,
    /// Names of the feeds that prove it; any of them does.
    #[serde(default)]
    pub feeds: Vec<String>,
    /// The operator's page about it.
    #[serde(default)]
    pub docs: Option<String>,
    /// Domains of its addresses' reverse DNS names. For reports: no decision waits for DNS.
    #[serde(default)]
    pub rdns: Vec<String>,
}

/// The document, with each feed and agent left as text, so that one bad entry doesn't hide the mistakes of the
/// next ones.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `feeds` and `agents`")]
struct Document<'a> {
    #[serde(default, rename = "source")]
    _source: Option<String>,
    #[serde(borrow, default)]
    feeds: Vec<&'a RawValue>,
    #[serde(borrow)]
    agents: Vec<&'a RawValue>,
}

impl Catalog {
    /// The catalog that is compiled into the core: its name for diagnostics, and the document.
    pub fn builtin() -> (&'static str, &'static [u8]) {
        ("catalog.json (built in)", include_bytes!("../data/catalog.json"))
    }

    /// Reads a catalog; `None` when there was an error, after reporting all of them.
    pub fn parse(bytes: &[u8], diagnostics: &mut Diagnostics) -> Option<Self> {
        let errors_before = diagnostics.errors();
        let text = source_text::read(bytes, Expected { what: "JSON", requirement: None }, diagnostics)?;
        let mut reader = Reader { text, locator: Locator::new(bytes), diagnostics };
        let document: Document<'_> = reader.read(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))?;
        let feeds = reader.feeds(&document.feeds);
        let agents = reader.agents(&document.agents, &feeds);
        (diagnostics.errors() == errors_before).then_some(Self { feeds, agents })
    }
}

/// Reads parts of one text and reports what is wrong with them at their place.
struct Reader<'a, 'd> {
    text: &'a str,
    locator: Locator<'a>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Reader<'a, '_> {
    fn feeds(&mut self, raws: &[&'a RawValue]) -> Vec<CatalogFeed> {
        let mut feeds: Vec<CatalogFeed> = Vec::with_capacity(raws.len());
        for raw in raws {
            let Some(feed) = self.read::<CatalogFeed>(raw.get()) else { continue };
            if feed.name.trim().is_empty() {
                self.error(raw, "the feed's name is empty");
            } else if feeds.iter().any(|other| other.name == feed.name) {
                self.error(raw, format!("feed \"{}\" is listed twice; remove one", feed.name));
            }
            if !(feed.url.starts_with("https://") || feed.url.starts_with("http://")) {
                let message = format!("url of feed \"{}\" must begin with https:// or http://", feed.name);
                self.error(raw, message);
            }
            feeds.push(feed);
        }
        feeds
    }

    fn agents(&mut self, raws: &[&'a RawValue], feeds: &[CatalogFeed]) -> Vec<CatalogAgent> {
        let mut agents = Vec::with_capacity(raws.len());
        let mut tokens = BTreeSet::new();
        for raw in raws {
            let Some(agent) = self.read::<CatalogAgent>(raw.get()) else { continue };
            let token = &agent.token;
            if let Err(problem) = user_agent::check_token(token) {
                self.error(raw, format!("token {token:?}: {problem}"));
            } else if !tokens.insert(token.to_ascii_lowercase()) {
                let message = format!("token \"{token}\" is listed twice (case aside); merge the two agents");
                self.error(raw, message);
            }
            for feed in agent.feeds.iter().filter(|feed| feeds.iter().all(|known| known.name != **feed)) {
                let message =
                    format!("agent \"{token}\" names feed \"{feed}\", which \"feeds\" lacks; list it");
                self.error(raw, message);
            }
            if agent.purposes.iter().any(|purpose| purpose.trim().is_empty()) {
                self.error(raw, format!("agent \"{token}\" has an empty purpose; remove it"));
            }
            agents.push(agent);
        }
        agents
    }

    /// Reads one part of the text; a mistake is reported at its own place, not at the part's.
    fn read<T: Deserialize<'a>>(&mut self, part: &'a str) -> Option<T> {
        match serde_json::from_str(part) {
            Ok(value) => Some(value),
            Err(error) => {
                let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
                let position = self.locator.position(start + json::offset(part, &error));
                self.diagnostics.error(position, None, json::reason(&error));
                None
            }
        }
    }

    fn error(&mut self, raw: &'a RawValue, message: impl Into<String>) {
        let position = self.locator.position_of(raw.get().as_bytes());
        self.diagnostics.error(position, None, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Strictness;
    use alloc::string::ToString;

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert!(parse("\u{feff}{ \"agents\": [ { \"token\": \"A\" } ] }").is_ok());
        let [message] = &parse("\u{feff}[]").unwrap_err()[..] else { panic!("one message") };
        assert!(message.contains("an object with `feeds` and `agents`"), "{message}");
    }

    fn parse(text: &str) -> Result<Catalog, Vec<String>> {
        let mut diagnostics = Diagnostics::new("c.json", Strictness::Load);
        let catalog = Catalog::parse(text.as_bytes(), &mut diagnostics);
        catalog.ok_or_else(|| diagnostics.items().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_builtin_catalog_is_read_without_a_word() {
        let (name, bytes) = Catalog::builtin();
        let mut diagnostics = Diagnostics::new(name, Strictness::Lint);
        let catalog = Catalog::parse(bytes, &mut diagnostics).unwrap();
        assert_eq!(diagnostics.items(), []);
        assert_eq!((catalog.feeds.len(), catalog.agents.len()), (15, 149));
        let agent = |token| catalog.agents.iter().find(|agent| agent.token == token).unwrap();
        assert_eq!(agent("Googlebot").feeds, ["google-googlebot"]);
        assert_eq!(agent("Googlebot").purposes, ["search"]);
        assert_eq!(agent("ChatGPT-User").feeds, ["openai-chatgpt-user"]);
        assert_eq!(agent("Linguee Bot").feeds, [""; 0]);
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
            "c.json:3:5: error: url of feed \"f\" must begin with https:// or http://",
            "c.json:4:5: error: feed \"f\" is listed twice; remove one",
            "c.json:7:25: error: unknown field `feed`, expected one of `token`, `operator`, `purposes`, `feeds`, `docs`, `rdns`",
            "c.json:8:21: error: missing field `token`",
            "c.json:9:5: error: agent \"C\" names feed \"g\", which \"feeds\" lacks; list it",
            "c.json:10:5: error: token \"c\" is listed twice (case aside); merge the two agents",
            "c.json:10:5: error: agent \"c\" has an empty purpose; remove it",
            "c.json:11:5: error: token \"\": it is empty",
        ];
        assert_eq!(errors, expected);
    }

    #[test]
    fn syntax_is_reported_with_line_and_column() {
        assert_eq!(parse("{\n \"agents\": [}").unwrap_err(), ["c.json:2:13: error: expected value"]);
        assert_eq!(parse("[]").unwrap_err().len(), 1);
        assert_eq!(parse(r#"{"agents":[],"agent":[]}"#).unwrap_err().len(), 1);
        let mut diagnostics = Diagnostics::new("c.json", Strictness::Load);
        assert_eq!(Catalog::parse(b"{\n\"\xff", &mut diagnostics), None);
        let message = diagnostics.items()[0].to_string();
        assert!(message.starts_with("c.json:2:2: error: not UTF-8 from here on"), "{message}");
    }
}
