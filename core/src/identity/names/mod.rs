//! The proof by name: forward-confirmed reverse DNS.
//!
//! Nothing here asks DNS. [`Ruleset::name_lookup`] says whether a lookup can help, and for which agent. The host asks for the names of
//! the address (PTR), then for the addresses (A, AAAA) of a name that is one of the agent's, and gives what came of it to
//! [`crate::decide()`] as a [`NameFact`].

mod cache;
mod desk;
#[cfg(test)]
mod desk_tests;
#[cfg(test)]
mod tests;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use core::net::IpAddr;

pub use cache::NameCache;
pub use desk::{NameDesk, NamePlaces, NameShares, NameStage};

use crate::http::authority::is_host_name;
use crate::http::domains::Domains;
use crate::ids::AgentId;
use crate::json::typed::json_words;
use crate::request::{NameFact, NameOutcome};
use crate::ruleset::data::Ruleset;

/// The largest number of names of an address, and of addresses of a name, that are looked at.
const MOST_NAMES: usize = 8;
const MOST_ADDRESSES: usize = 64;

json_words! {
    /// The result of a lookup, for the metrics: in more detail than decisions need.
    pub enum NameLookupResult {
        /// A name of the address is one of the agent's, and has the address.
        Confirmed = "confirmed",
        /// The address has names, and none of them is one of the agent's and has the address.
        Refuted = "refuted",
        /// The address has no name.
        NoName = "no-name",
        /// DNS has not answered in time.
        TimedOut = "timed-out",
        /// DNS has answered that it failed, or cannot be asked, or its answer cannot be read.
        Failed = "failed",
        /// Not asked: too many lookups were under way, of all clients, or of the network or for the domains.
        OverLimit = "over-limit",
        /// Not asked: the zone has not answered lately.
        BackedOff = "backed-off",
    }
}

impl NameLookupResult {
    /// The outcome that decides.
    pub const fn outcome(self) -> NameOutcome {
        match self {
            Self::Confirmed => NameOutcome::Confirmed,
            Self::Refuted | Self::NoName => NameOutcome::Refuted,
            Self::TimedOut | Self::Failed => NameOutcome::Unknown,
            Self::OverLimit | Self::BackedOff => NameOutcome::Unasked,
        }
    }
}

/// A lookup that may verify a client.
#[derive(Clone, Debug)]
pub struct NameLookup {
    agent: AgentId,
    address: IpAddr,
    domains: Arc<Domains>,
}

impl Ruleset {
    /// The domains that have the names of an agent's addresses.
    pub fn domains_of(&self, token: &str) -> impl Iterator<Item = &str> {
        let agent = self.agents.iter().find(|agent| *agent.token == *token);
        agent.and_then(|agent| agent.domains.as_deref()).into_iter().flat_map(Domains::iter)
    }
}

impl NameLookup {
    /// The lookup of a client at `address` that claims `agent`. `None` if the agent has no names, or `known` is the outcome of
    /// this lookup.
    pub(crate) fn of(
        ruleset: &Ruleset,
        agent: AgentId,
        address: IpAddr,
        known: Option<&NameFact>,
    ) -> Option<Self> {
        let domains = ruleset.agents.get(agent)?.domains.as_ref()?;
        let address = address.to_canonical();
        let is_known = known.is_some_and(|known| known.is_about(agent, Some(address)));
        (!is_known).then(|| Self { agent, address, domains: Arc::clone(domains) })
    }

    /// Returns true if whatever comes of one of them comes of the other, too.
    pub fn asks_as(&self, other: &Self) -> bool {
        self.address == other.address && self.domains == other.domains
    }

    /// The address whose names are to be asked for; IPv4 for an IPv4-mapped one.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Of the names of the address, in wire format's order and with dots between labels, those whose addresses are to be asked
    /// for: in lower case, without a dot at the end. All others prove nothing.
    pub fn candidates<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> impl Iterator<Item = String> {
        names.take(MOST_NAMES).filter_map(|name| self.candidate(name))
    }

    fn candidate(&self, name: &[u8]) -> Option<String> {
        // A name that could not be asked for again as it stands is not usable: a label can have any bytes, dots among
        // them.
        let name = core::str::from_utf8(name).ok().filter(|name| is_host_name(name.as_bytes()))?;
        let mut name = name.strip_suffix('.').unwrap_or(name).to_owned();
        name.make_ascii_lowercase();
        self.domains.contain(&name).then_some(name)
    }

    /// Returns true if the addresses of a candidate confirm it.
    pub fn is_confirmed_by(&self, addresses: impl Iterator<Item = IpAddr>) -> bool {
        addresses.take(MOST_ADDRESSES).any(|address| address.to_canonical() == self.address)
    }

    /// The outcome of this lookup as a fact, for [`crate::Overrides`].
    pub fn fact(&self, outcome: NameOutcome) -> NameFact {
        NameFact::new(self.agent, self.address, outcome)
    }
}
