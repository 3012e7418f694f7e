//! Who sent a request, and what that rests on.
//!
//! A proof is a kind of [`Evidence`]: an IP range, a signature or a name; each has a file or a directory of its own here.

mod doubt;
mod ip_range;
pub(crate) mod names;
pub(crate) mod signature;

pub use doubt::Doubt;
pub(crate) use ip_range::IpRange;
pub use names::{NameCache, NameFact, NameLookup, NameLookupResult, NameOutcome};
pub use signature::{SignatureBudget, SignatureResult};

use crate::decide::judge::Overrides;
use crate::http::request::Request;
use crate::ids::{AgentId, ValueId};
use crate::json::typed::json_words;
use crate::ruleset::data::Ruleset;
use crate::user_agent::Speaker;
use ip_range::Ranges;
pub(crate) use signature::{Examined, SIGNATURE};

json_words! {
    /// How well the request's claim holds.
    pub enum Identity {
        /// A proof holds: the client claims an agent, and the address is in one of the agent's feeds, with a right service, or
        /// has a name of the agent's; or a key of the agent signed the request.
        Verified = "verified",
        /// Claims an agent all of whose ranges are known, and the address is in none of them; or names a key of an agent that
        /// did not sign the request.
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
        /// A key of the agent signed the request.
        Signature = "signature",
        /// The address has a name of the agent's, and the name has the address.
        Rdns = "rdns",
    }
}

/// What an identity rests on: the proof of a verified agent, or what gives away an undeclared or a spoofed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// The address is in an IP-range feed.
    IpRange(IpRange),
    /// A signature by a known key; a wrong one, if the agent is spoofed.
    Signature,
    /// A name of the address, which has the address.
    Name,
}

impl Evidence {
    /// What it proves an agent by.
    pub(crate) const fn proof(self) -> Proof {
        match self {
            Self::IpRange(_) => Proof::IpRange,
            Self::Signature => Proof::Signature,
            Self::Name => Proof::Rdns,
        }
    }

    /// The IP range, if it is one.
    pub(crate) const fn ip_range(self) -> Option<IpRange> {
        match self {
            Self::IpRange(range) => Some(range),
            Self::Signature | Self::Name => None,
        }
    }
}

/// Who sent a request, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identification {
    pub(crate) identity: Identity,
    /// The agent whose key the signature names, or else the one that the User-Agent claims.
    pub(crate) agent: Option<AgentId>,
    pub(crate) evidence: Option<Evidence>,
    /// What a geofeed says of the address.
    pub(crate) place: Option<ValueId>,
    /// Whether the User-Agent is that of automation.
    pub(crate) is_automation: bool,
    /// What came of the signatures; `None` where there is none, or where nobody looked.
    pub(crate) signature: Option<Examined>,
    /// An agent whose token the User-Agent has, but not where it counts.
    pub(crate) misplaced: Option<AgentId>,
}

impl Identification {
    /// A person, or somebody whom nobody asked.
    pub(crate) const PERSON: Self = Self {
        identity: Identity::None,
        agent: None,
        evidence: None,
        place: None,
        is_automation: false,
        signature: None,
        misplaced: None,
    };
}

/// Finds out who sent the request. The first proof that holds counts: the address, then a signature, then the address's name.
/// `known` is what the host knows of the last two. `read` says who the User-Agent says its client is.
pub(crate) fn identify(
    ruleset: &Ruleset,
    request: &impl Request,
    known: &Overrides,
    read: impl FnOnce(Option<&[u8]>) -> Speaker,
) -> Identification {
    // The first word of the table is on its way while the User-Agent is read.
    let address = request.address().and_then(|address| Some((address, ruleset.table.first_word(address)?)));
    let speaker = read(request.user_agent());
    let ranges = Ranges::new(ruleset, request, address);
    let (claimed, misplaced) = match speaker {
        Speaker::Agent(token) => (ruleset.agents.id_at(token), None),
        Speaker::Misplaced(token) => (None, ruleset.agents.id_at(token)),
        _ => (None, None),
    };
    let agent = claimed.and_then(|id| ruleset.agents.get(id));
    let unsigned = Identification {
        identity: Identity::None,
        agent: claimed,
        evidence: None,
        place: ranges.place(),
        is_automation: speaker != Speaker::Browser,
        signature: None,
        misplaced,
    };
    if let Some(range) = agent.and_then(|agent| ranges.proof_of(agent)) {
        let evidence = Some(Evidence::IpRange(range));
        return Identification { identity: Identity::Verified, evidence, ..unsigned };
    }
    let examined = match known.is_unsigned {
        true => None,
        false => signature::examine(&ruleset.keys, request, claimed),
    };
    let unsigned = Identification { signature: examined, ..unsigned };
    if let Some(Examined { result, agent: agent @ Some(_), .. }) = examined {
        let identity = match result {
            SignatureResult::Verified => Identity::Verified,
            _ => Identity::Spoofed,
        };
        let evidence = Some(Evidence::Signature);
        return Identification {
            identity,
            agent,
            evidence,
            is_automation: true,
            misplaced: None,
            ..unsigned
        };
    }
    if let Some(agent) = agent {
        let is_named =
            || known.name.zip(claimed).is_some_and(|(name, id)| name.proves(id, request.address()));
        let (identity, evidence) = if ranges.condemn(agent) {
            (Identity::Spoofed, None)
        } else if is_named() {
            (Identity::Verified, Some(Evidence::Name))
        } else {
            (Identity::Unverified, None)
        };
        return Identification { identity, evidence, ..unsigned };
    }
    match ranges.any() {
        Some(range) => {
            let evidence = Some(Evidence::IpRange(range));
            Identification { identity: Identity::Undeclared, evidence, ..unsigned }
        }
        None if unsigned.is_automation => Identification { identity: Identity::Generic, ..unsigned },
        None => Identification { place: None, ..unsigned },
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
