//! The parts of a configuration document that commands show, which the gates do without once it is compiled.

use crawlpike_core::Compiled;
use serde::Deserialize;

/// A document that was compiled.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Document {
    pub(crate) catalog: Option<String>,
    #[serde(default)]
    pub(crate) feeds: Vec<ConfiguredFeed>,
    #[serde(default)]
    pub(crate) agents: Vec<ConfiguredAgent>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ConfiguredFeed {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) url: Option<String>,
    pub(crate) format: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ConfiguredAgent {
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) keys: Vec<ConfiguredKeys>,
}

/// A directory of keys.
#[derive(Debug, Deserialize)]
pub(crate) struct ConfiguredKeys {
    pub(crate) directory: String,
    pub(crate) source: String,
}

impl Document {
    /// The document of a ruleset, whether it was compiled now or before.
    pub(crate) fn of(compiled: &Compiled) -> serde_json::Result<Self> {
        serde_json::from_slice(compiled.document())
    }

    /// The directories of an agent's keys.
    pub(crate) fn keys_of(&self, token: &str) -> impl Iterator<Item = &ConfiguredKeys> {
        let agents = self.agents.iter().filter(move |agent| agent.token.eq_ignore_ascii_case(token));
        agents.flat_map(|agent| &agent.keys)
    }
}
