//! A configuration with two feeds, files in memory, and requests.

use std::collections::HashMap;

use crawlpike_core::{
    Compiled, Decision, FeedFile, FeedState, Files, FoundFile, Identity, Overrides, PlainRequest, Ruleset,
    Scheme, decide,
};

pub(crate) const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [
    { "name": "a", "format": "jafar", "source": "a.json", "max_age": "7d" },
    { "name": "b", "format": "jafar", "source": "b.json" }
  ],
  "agents": [ { "token": "ABot", "feeds": ["a"] }, { "token": "BBot", "feeds": ["b"] } ]
}"#;

/// When the feeds here were made: 2026-01-01.
const MADE: i64 = 1_767_225_600;
pub(crate) const DAY: i64 = 24 * 60 * 60;

/// When their files were written: years after, as with publishers that never touch `creationTime`.
pub(crate) const MODIFIED: i64 = MADE + 3 * 365 * DAY;

/// Prefixes 10.SECOND.0.0/24 to 10.SECOND.(count-1).0/24.
pub(crate) fn jafar(second: u8, count: u8) -> String {
    let prefixes: Vec<String> =
        (0..count).map(|third| format!(r#"{{"ipv4Prefix":"11.{second}.{third}.0/24"}}"#)).collect();
    format!(
        r#"{{"formatVersion":"1.0","synctoken":"1","creationTime":"2026-01-01T00:00:00Z","prefixes":[{}]}}"#,
        prefixes.join(",")
    )
}

/// Files, and the versions that were good.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    pub(crate) files: HashMap<String, String>,
    pub(crate) good: HashMap<String, Vec<u8>>,
    /// The versions that were good before the changes of the last days.
    pub(crate) earlier: HashMap<String, Vec<u8>>,
    /// True if some days pass between any two versions.
    pub(crate) is_some_days_later: bool,
    pub(crate) accepted: Vec<String>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        let mut memory = Self::default();
        memory.put("a.json", jafar(1, 40));
        memory.put("b.json", jafar(2, 50));
        memory
    }

    pub(crate) fn put(&mut self, path: &str, text: impl Into<String>) {
        self.files.insert(path.to_string(), text.into());
    }

    /// Compiles, and keeps what is good, as a host does.
    pub(crate) fn load(&mut self) -> Compiled {
        self.load_document(DOCUMENT)
    }

    /// As [`Self::load`], with another document.
    pub(crate) fn load_document(&mut self, document: &str) -> Compiled {
        let compiled = Ruleset::compile("c.json", document.as_bytes(), self);
        for good in &compiled.good_feeds {
            let former = self.good.insert(good.path.clone(), good.bytes.clone());
            match former.filter(|_| !good.is_accepted && !self.is_some_days_later) {
                Some(former) => _ = self.earlier.entry(good.path.clone()).or_insert(former),
                None => _ = self.earlier.remove(&good.path),
            }
        }
        compiled
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let file = self.files.get(path);
        Ok(file.map(|text| FoundFile { bytes: text.clone().into_bytes(), modified: Some(MODIFIED) }))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.good.get(path).map(|bytes| FoundFile { bytes: bytes.clone(), modified: Some(MODIFIED - DAY) })
    }

    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        let bytes = self.earlier.get(path)?.clone();
        Some(FoundFile { bytes, modified: None }.into())
    }

    fn accepts(&self, feed: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted == feed)
    }
}

pub(crate) fn asked_at(ruleset: &Ruleset, address: &str, user_agent: &'static str, now: i64) -> Decision {
    decide(ruleset, &request_at(address, user_agent, now), Overrides::default())
}

/// A request for `/`.
pub(crate) fn request_at<'a>(address: &str, user_agent: &'a str, now: i64) -> PlainRequest<'a> {
    PlainRequest {
        address: Some(address.parse().unwrap()),
        scheme: Some(Scheme::Https),
        user_agent: Some(user_agent.as_bytes()),
        now,
        ..PlainRequest::default()
    }
}

pub(crate) fn identity(compiled: &Compiled, address: &str, user_agent: &'static str) -> Identity {
    asked_at(compiled.ruleset.as_ref().unwrap(), address, user_agent, MODIFIED).identity
}

pub(crate) fn states(compiled: &Compiled, now: i64) -> Vec<FeedState> {
    compiled.ruleset.as_ref().unwrap().feeds(now).map(|feed| feed.state).collect()
}

pub(crate) fn said(compiled: &Compiled) -> String {
    compiled.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}
