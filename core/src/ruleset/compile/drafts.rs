//! The agents of the configuration, over those of the catalog, before their feeds are looked up.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Compiler;
use crate::catalog::{Catalog, CatalogAgent};
use crate::config::{AgentAction, AgentConfig, Config, Ranges};
use crate::source::position::Placed;

/// An agent before its feeds are looked up.
pub(super) struct AgentDraft {
    pub(super) token: String,
    pub(super) feeds: Vec<Placed<String>>,
    pub(super) ranges: Ranges,
    pub(super) services: Vec<String>,
    pub(super) purposes: Vec<String>,
    pub(super) action: AgentAction,
    pub(super) begins: bool,
    pub(super) is_control_token: bool,
    pub(super) declares: Vec<String>,
    pub(super) rdns: Vec<Placed<String>>,
}

impl Compiler<'_> {
    /// The agents of the configuration and of the catalog, those of the configuration first.
    pub(super) fn drafts(&mut self, config: &Config, catalog: &Catalog) -> Vec<AgentDraft> {
        self.check_tokens(config, catalog);
        // By their tokens in lower case; `None`: the configuration has the agent.
        let mut of_catalog: BTreeMap<String, Option<&CatalogAgent>> = BTreeMap::new();
        of_catalog.extend(catalog.agents.iter().map(|agent| (agent.token.to_ascii_lowercase(), Some(agent))));
        let mut drafts: Vec<AgentDraft> = Vec::new();
        for own in &config.agents {
            let known = of_catalog.insert(own.token.to_ascii_lowercase(), None);
            if known.is_some_and(|agent| agent.is_none()) {
                self.own.error(
                    own.token.position,
                    None,
                    format!("duplicate token `{}`; another agent has it already", *own.token),
                );
            }
            drafts.push(draft(own, known.flatten()));
        }
        for agent in &catalog.agents {
            if of_catalog.get(&agent.token.to_ascii_lowercase()).is_some_and(Option::is_some) {
                drafts.push(AgentDraft {
                    token: agent.token.clone(),
                    feeds: unplaced_all(&agent.feeds),
                    ranges: agent.ranges,
                    services: Vec::new(),
                    purposes: agent.purposes.clone(),
                    action: AgentAction::Policy,
                    begins: agent.begins,
                    is_control_token: agent.control_token,
                    declares: agent.declares.clone(),
                    rdns: unplaced_all(&agent.rdns),
                });
            }
        }
        drafts
    }
}

/// The configuration of an agent, over its entry in the catalog.
fn draft(own: &AgentConfig, known: Option<&CatalogAgent>) -> AgentDraft {
    AgentDraft {
        token: own.token.value.clone(),
        feeds: own
            .feeds
            .clone()
            .or_else(|| known.map(|known| unplaced_all(&known.feeds)))
            .unwrap_or_default(),
        ranges: own.ranges.or_else(|| known.map(|known| known.ranges)).unwrap_or_default(),
        services: own.services.clone().unwrap_or_default(),
        purposes: own
            .purposes
            .clone()
            .or_else(|| known.map(|known| known.purposes.clone()))
            .unwrap_or_default(),
        action: own.action.unwrap_or_default(),
        begins: known.is_some_and(|known| known.begins),
        is_control_token: known.is_some_and(|known| known.control_token),
        declares: known.map(|known| known.declares.clone()).unwrap_or_default(),
        rdns: own.rdns.clone().or_else(|| known.map(|known| unplaced_all(&known.rdns))).unwrap_or_default(),
    }
}

fn unplaced_all(names: &[String]) -> Vec<Placed<String>> {
    names.iter().cloned().map(Placed::default).collect()
}
