//! The outcome of a lookup of the client's name, which the host passes to a decision.

use core::net::IpAddr;

use crate::ids::AgentId;
use crate::json::typed::json_words;

json_words! {
    /// The outcome of a lookup.
    pub enum NameOutcome {
        /// A name of the address is one of the agent's, and has the address.
        Confirmed = "confirmed",
        /// DNS has answered, and no name of the address is one of the agent's and has the address.
        Refuted = "refuted",
        /// DNS has not answered, or not in time.
        Unknown = "unknown",
        /// DNS was not asked.
        Unasked = "unasked",
    }
}

/// The outcome of the lookup for an agent at an address. It says nothing about any other agent or address, nor in any
/// other ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameFact {
    agent: AgentId,
    address: IpAddr,
    /// The outcome of the lookup.
    pub outcome: NameOutcome,
}

impl NameFact {
    /// The outcome of the lookup for an agent at an address, in the form of [`IpAddr::to_canonical`].
    pub(crate) const fn new(agent: AgentId, address: IpAddr, outcome: NameOutcome) -> Self {
        Self { agent, address, outcome }
    }

    /// Returns true if it verifies the agent at the address.
    pub(crate) fn proves(&self, agent: AgentId, address: Option<IpAddr>) -> bool {
        self.outcome == NameOutcome::Confirmed && self.is_about(agent, address)
    }

    /// Returns true if DNS was not asked for the name of this agent at this address.
    pub(crate) fn is_unasked(&self, agent: AgentId, address: Option<IpAddr>) -> bool {
        self.outcome == NameOutcome::Unasked && self.is_about(agent, address)
    }

    /// Returns true if the lookup was for this agent at this address.
    pub(crate) fn is_about(&self, agent: AgentId, address: Option<IpAddr>) -> bool {
        self.agent == agent && address.is_some_and(|address| self.address == address.to_canonical())
    }
}
