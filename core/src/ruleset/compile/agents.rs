//! From the configuration's agents and those of the catalog to compiled ones.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::Compiler;
use super::bindings::Binding;
use super::feeds::Feeds;
use crate::catalog::{Catalog, CatalogAgent};
use crate::config::{AgentAction, AgentConfig, Config, Ranges};
use crate::ids::{AgentId, ByProduct, FeedId, Id, List, ProductId};
use crate::policy::robots::product_token;
use crate::ruleset::data::{Agent, LoadedFeed};
use crate::sort::sort_and_dedup;
use crate::source::position::Placed;
use crate::user_agent::check_token;

/// An agent before its feeds are looked up.
pub(super) struct AgentDraft {
    pub(super) token: String,
    pub(super) feeds: Vec<Placed<String>>,
    ranges: Ranges,
    pub(super) services: Vec<String>,
    purposes: Vec<String>,
    action: AgentAction,
}

impl Compiler<'_> {
    /// The agents of the configuration and of the catalog, those of the configuration first.
    pub(super) fn drafts(&mut self, config: &Config, catalog: &Catalog) -> Vec<AgentDraft> {
        // By their tokens in lower case; `None`: the configuration has the agent.
        let mut of_catalog: BTreeMap<String, Option<&CatalogAgent>> = BTreeMap::new();
        of_catalog.extend(catalog.agents.iter().map(|agent| (agent.token.to_ascii_lowercase(), Some(agent))));
        let mut drafts: Vec<AgentDraft> = Vec::new();
        for own in &config.agents {
            self.check_token(&own.token);
            let known = of_catalog.insert(own.token.to_ascii_lowercase(), None);
            if known.is_some_and(|agent| agent.is_none()) {
                self.own.error(
                    own.token.position,
                    None,
                    format!("another agent has the token `{}`, too", *own.token),
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
                });
            }
        }
        drafts
    }

    /// The agents with the numbers of their feeds in the ruleset, and the products that they are.
    pub(super) fn agents(
        &mut self,
        config: &Config,
        drafts: Vec<AgentDraft>,
        bindings: &[Binding<'_>],
        feeds: &Feeds,
    ) -> Option<(List<AgentId, Agent>, Products)> {
        let mut numbers: BTreeMap<&str, FeedId> = BTreeMap::new();
        numbers.extend(feeds.loaded.enumerate().map(|(id, feed)| (&*feed.name, id)));
        let number = |feed: usize| numbers.get(config.feeds.get(feed)?.name.as_str()).copied();
        let (mut agents, mut products) = (List::new(), Products::default());
        for (draft, binding) in drafts.into_iter().zip(bindings) {
            let mut services: Vec<Box<str>> = draft.services.into_iter().map(Into::into).collect();
            sort_and_dedup(&mut services);
            let Some(product) = products.number(&draft.token) else {
                self.own.error(None, None, format!("more than {} agents", products.0.len()));
                return None;
            };
            let agent = Agent {
                token: draft.token.into(),
                product,
                feeds: binding.feeds().filter_map(number).collect(),
                lacking_feeds: binding.lacking.iter().map(|name| (*name).into()).collect(),
                ranges: draft.ranges,
                services,
                purposes: draft.purposes.into_iter().map(Into::into).collect(),
                action: draft.action,
            };
            if let Err(full) = agents.push(agent) {
                self.own.error(None, None, format!("{full} agents"));
                return None;
            }
        }
        Some((agents, products))
    }

    fn check_token(&mut self, token: &Placed<String>) {
        if let Err(why) = check_token(token) {
            self.own.error(token.position, None, format!("`{}` is no agent token: {why}", **token));
        }
    }
}

/// The products that the agents are, by their tokens in lower case.
#[derive(Default)]
pub(super) struct Products(BTreeMap<String, ProductId>);

impl Products {
    /// The number of an agent's product; `None`: there are too many.
    fn number(&mut self, agent: &str) -> Option<ProductId> {
        let token = product_token(agent).to_ascii_lowercase();
        let next = ProductId::from_index(self.0.len());
        self.0.get(&token).copied().or_else(|| {
            self.0.insert(token, next?);
            next
        })
    }

    /// What a policy file has for the products that it names, by their tokens in lower case.
    pub(super) fn select<'f, T: Copy>(
        &self,
        named: impl Iterator<Item = (&'f str, T)>,
        others: T,
    ) -> ByProduct<T> {
        ByProduct::new(named.filter_map(|(token, what)| Some((*self.0.get(token)?, what))), others)
    }
}

/// What the configuration says of an agent, over what the catalog says of it.
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
    }
}

fn unplaced_all(names: &[String]) -> Vec<Placed<String>> {
    names.iter().cloned().map(Placed::default).collect()
}

/// Notes in each feed the agent that names it, where it is the only one.
pub(super) fn name_sole_agents(feeds: &mut List<FeedId, LoadedFeed>, agents: &List<AgentId, Agent>) {
    let mut naming = vec![(0_usize, None); feeds.len()];
    for (id, agent) in agents.enumerate() {
        for feed in &agent.feeds {
            if let Some((count, last)) = naming.get_mut(feed.index()) {
                *count += 1;
                *last = Some(id);
            }
        }
    }
    for (feed, (count, last)) in feeds.iter_mut().zip(naming) {
        feed.sole_agent = last.filter(|_| count == 1);
    }
}
