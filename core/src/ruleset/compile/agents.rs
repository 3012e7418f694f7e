//! From drafts to compiled agents.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::Compiler;
use super::bindings::Binding;
use super::drafts::AgentDraft;
use super::feeds::Feeds;
use crate::config::Config;
use crate::http::domains::{Domains, domain};
use crate::ids::{AgentId, ByProduct, FeedId, Id, List, ProductId};
use crate::policy::robots::product_token;
use crate::ruleset::data::{Agent, LoadedFeed};
use crate::ruleset::sites::NamedPurposes;
use crate::sort::sort_and_dedup;
use crate::source::position::Placed;

impl Compiler<'_> {
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
                begins: draft.begins,
                is_control_token: draft.is_control_token,
                declares: self.declared_purposes(&draft.declares)?,
                domains: self.domains(&draft.rdns),
            };
            if let Err(full) = agents.push(agent) {
                self.own.error(None, None, format!("{full} agents"));
                return None;
            }
        }
        Some((agents, products))
    }

    /// The domains that have the names of an agent's addresses.
    fn domains(&mut self, texts: &[Placed<String>]) -> Option<Arc<Domains>> {
        let mut domains = Vec::new();
        for text in texts {
            match domain(text) {
                Ok(domain) => domains.push(domain),
                Err(why) => {
                    self.own.error(text.position, "RDNS-1", format!("`{}` in `rdns`: {why}", **text));
                }
            }
        }
        (!domains.is_empty()).then(|| Arc::new(Domains::new(domains)))
    }

    /// The purposes that count as declared in an agent's User-Agent; the outer `None`: there are too many.
    fn declared_purposes(&mut self, purposes: &[String]) -> Option<Option<Box<NamedPurposes>>> {
        if purposes.is_empty() {
            return Some(None);
        }
        let named = NamedPurposes::new(purposes.iter().map(String::as_str));
        named.map(|named| Some(Box::new(named))).map_err(|too_many| self.too_many_purposes(&too_many)).ok()
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

    /// The entries of a policy file for the products that it names, by their tokens in lower case.
    pub(super) fn select<'f, T: Copy>(
        &self,
        named: impl Iterator<Item = (&'f str, T)>,
        others: T,
    ) -> ByProduct<T> {
        ByProduct::new(named.filter_map(|(token, what)| Some((*self.0.get(token)?, what))), others)
    }
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
