//! Who sent a request, and what that rests on.
//!
//! A proof is a kind of [`Evidence`]. Today there is one, an IP range; each has a file of its own here.

mod doubt;
mod ip_range;

pub use doubt::Doubt;
pub(crate) use ip_range::IpRange;

use crate::http::request::Request;
use crate::ids::{AgentId, ValueId};
use crate::json::typed::json_words;
use crate::ruleset::data::Ruleset;
use crate::user_agent::Speaker;
use ip_range::Ranges;

json_words! {
    /// How well the request's claim holds.
    pub enum Identity {
        /// Claims an agent, and a proof holds: the address is in one of the agent's feeds, with a right service.
        Verified = "verified",
        /// Claims an agent all of whose ranges are known, and the address is in none of them.
        Spoofed = "spoofed",
        /// Claims an agent of which not all ranges are known, and the address is in none that are.
        Unverified = "unverified",
        /// Claims no agent, but the address is in an IP-range feed.
        Undeclared = "undeclared",
        /// Claims no agent, in no feed, but its User-Agent is that of automation.
        Generic = "generic",
        /// Anything else: people.
        None = "none",
    }
}

json_words! {
    /// What verified the agent.
    pub enum Proof {
        /// The address is in an IP-range feed of the agent.
        IpRange = "ip-range",
    }
}

/// What an identity rests on: the proof of a verified agent, or what gives away an undeclared one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The address is in an IP-range feed.
    IpRange(IpRange),
}

impl Evidence {
    /// What it proves an agent by.
    pub(crate) const fn proof(self) -> Proof {
        match self {
            Self::IpRange(_) => Proof::IpRange,
        }
    }

    /// The IP range, if it is one.
    pub(crate) const fn ip_range(self) -> Option<IpRange> {
        match self {
            Self::IpRange(range) => Some(range),
        }
    }
}

/// Who sent a request, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identification {
    pub(crate) identity: Identity,
    /// The agent that the User-Agent claims.
    pub(crate) agent: Option<AgentId>,
    pub(crate) evidence: Option<Evidence>,
    /// What a geofeed says of the address.
    pub(crate) place: Option<ValueId>,
    /// Whether the User-Agent is that of automation.
    pub(crate) is_automation: bool,
}

impl Identification {
    /// A person, or somebody whom nobody asked.
    pub(crate) const PERSON: Self =
        Self { identity: Identity::None, agent: None, evidence: None, place: None, is_automation: false };
}

/// Finds out who sent the request.
pub(crate) fn identify(ruleset: &Ruleset, request: &impl Request) -> Identification {
    let speaker = ruleset.claims.speaker(request.user_agent());
    let ranges = Ranges::new(ruleset, request);
    let place = ranges.place();
    if let Speaker::Agent(token) = speaker
        && let Some(id) = ruleset.agents.id_at(token)
        && let Some(agent) = ruleset.agents.get(id)
    {
        let proof = ranges.proof_of(agent);
        let identity = match proof {
            Some(_) => Identity::Verified,
            None if ranges.condemn(agent) => Identity::Spoofed,
            None => Identity::Unverified,
        };
        return Identification {
            identity,
            agent: Some(id),
            evidence: proof.map(Evidence::IpRange),
            place,
            is_automation: true,
        };
    }
    let is_automation = speaker == Speaker::Automation;
    match ranges.any() {
        Some(range) => Identification {
            identity: Identity::Undeclared,
            agent: None,
            evidence: Some(Evidence::IpRange(range)),
            place,
            is_automation,
        },
        None if is_automation => {
            Identification { identity: Identity::Generic, place, is_automation, ..Identification::PERSON }
        }
        None => Identification::PERSON,
    }
}

/// The agent whose rules a client is under: the one that it claims, or the only one that names the feed.
pub(crate) fn acting_agent(
    ruleset: &Ruleset,
    claimed: Option<AgentId>,
    evidence: Option<Evidence>,
) -> Option<AgentId> {
    claimed.or_else(|| {
        let range = evidence.and_then(Evidence::ip_range)?;
        ruleset.feeds.get(range.feed)?.sole_agent
    })
}
