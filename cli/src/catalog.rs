//! The catalog of agents as people read it: with operators and their pages, which the gates do without.

use crawlpike_core::Compiled;
use serde::Deserialize;

use crate::document::Document;
use crate::failure::Failure;

/// The built-in catalog.
const BUILT_IN: &[u8] = include_bytes!("../../core/data/catalog.json");

/// Agents, and the feeds that verify them.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Catalog {
    #[serde(default)]
    pub(crate) feeds: Vec<PublishedFeed>,
    pub(crate) agents: Vec<KnownAgent>,
}

/// A published list of IP ranges.
#[derive(Debug, Deserialize)]
pub(crate) struct PublishedFeed {
    pub(crate) name: String,
    pub(crate) url: String,
    #[serde(default = "jafar")]
    pub(crate) format: String,
}

fn jafar() -> String {
    "jafar".into()
}

/// An agent of the catalog.
#[derive(Debug, Deserialize)]
pub(crate) struct KnownAgent {
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) operator: String,
    #[serde(default)]
    pub(crate) purposes: Vec<String>,
    #[serde(default)]
    pub(crate) feeds: Vec<String>,
    #[serde(default = "complete")]
    pub(crate) ranges: String,
    pub(crate) docs: Option<String>,
    #[serde(default)]
    pub(crate) rdns: Vec<String>,
    #[serde(default)]
    pub(crate) keys: Vec<String>,
}

fn complete() -> String {
    "complete".into()
}

impl Catalog {
    /// The built-in catalog.
    pub(crate) fn built_in() -> Result<Self, Failure> {
        Ok(serde_json::from_slice(BUILT_IN)?)
    }

    /// The catalog that was compiled with a document.
    pub(crate) fn of(document: &Document, compiled: &Compiled) -> Result<Self, Failure> {
        match document.catalog.as_deref() {
            None | Some("builtin") => Self::built_in(),
            Some("none") => Ok(Self::default()),
            Some(path) => Ok(serde_json::from_slice(compiled.file(path).unwrap_or_default())?),
        }
    }

    /// An agent by its token.
    pub(crate) fn agent(&self, token: &str) -> Option<&KnownAgent> {
        self.agents.iter().find(|agent| agent.token.eq_ignore_ascii_case(token))
    }
}
