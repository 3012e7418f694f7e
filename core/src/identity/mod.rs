//! The identity of a client, and its evidence.
//!
//! A proof is a kind of [`Evidence`]: an IP range, a signature or a name; each has a file or a directory of its own here.

pub(crate) mod address;
pub(crate) mod doubts;
mod ip_range;
pub(crate) mod names;
pub(crate) mod signature;

pub(crate) use ip_range::IpRange;
pub use names::{NameCache, NameDesk, NameLookup, NameLookupResult, NamePlaces, NameShares, NameStage};
pub use signature::SignatureResult;

use crate::ids::{AgentId, FeedId, ValueId};
use crate::json::typed::json_words;
use crate::request::{Overrides, Request};
use crate::ruleset::data::Ruleset;
use crate::ruleset::exempt::Exemption;
use crate::user_agent::Speaker;
use ip_range::Ranges;
pub(crate) use signature::{Examined, SIGNATURE};

json_words! {
    /// The identity of the client: how well its claim is supported.
    pub enum Identity {
        /// A proof holds: the client claims an agent, and the address is in one of the agent's feeds, with a right service, or
        /// has a name of the agent's; or a key of the agent signed the request.
        Verified = "verified",
        /// Claims an agent all of whose ranges are known, and the address is in none of them; or names a key of an agent that
        /// did not sign the request.
        Spoofed = "spoofed",
        /// Claims an agent of which not all ranges are known, and the address is in none that are; or the address says nothing
        /// of a claim. See [`Doubt`].
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
    /// The kind of proof that verified the agent.
    pub enum Proof {
        /// The address is in an IP-range feed of the agent.
        IpRange = "ip-range",
        /// A key of the agent signed the request.
        Signature = "signature",
        /// The address has a name of the agent's, and the name has the address.
        Rdns = "rdns",
    }
}

json_words! {
    /// The reason why a claim without a proof is not called a forgery.
    pub enum Doubt {
        /// The address is one that no client on the Internet has: private, loopback, link-local, unique-local or of carrier NAT.
        PrivateAddress = "private-address",
        /// The address is that of 6to4, behind which relays send for others.
        SixToFour = "6to4",
        /// The address is that of Teredo, behind which relays send for others.
        Teredo = "teredo",
        /// The address is unknown.
        UnknownAddress = "unknown-address",
        /// No feed has ranges of the agent.
        NoFeed = "no-feed",
        /// The agent also runs outside its published ranges.
        PartialRanges = "partial-ranges",
        /// The configuration lacks a feed that has ranges of the agent.
        LackingFeed = "lacking-feed",
        /// A feed of the agent is missing, stale or incomplete, or held without a good version.
        FeedState = "feed-state",
        /// Too many signatures that did not hold came in the same second, so that the request's was not examined.
        SignatureNotExamined = "signature-not-examined",
        /// Too many lookups were under way, or the zone has not answered before, so that the address's name was not looked up.
        NameNotLookedUp = "name-not-looked-up",
    }
}

impl Doubt {
    /// Returns true if the same request may be verified a second later.
    pub const fn is_passing(self) -> bool {
        matches!(self, Self::SignatureNotExamined | Self::NameNotLookedUp)
    }

    /// The remedy, for the log of a gate, if the operator of the server has one.
    pub const fn advice(self) -> Option<&'static str> {
        match self {
            Self::PrivateAddress => Some(
                "requests claim agents from private addresses, which neither verify nor refute a claim; if a proxy is in \
                 front, set the client's real address: `set_real_ip_from` and `real_ip_header` in nginx, \
                 `xff_num_trusted_hops` in Envoy",
            ),
            _ => None,
        }
    }
}

/// The basis of an identity: the proof of a verified agent, or what gives away an undeclared or a spoofed one.
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
    /// The kind of proof that it is for an agent.
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

/// The sender of a request, and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identification {
    pub(crate) identity: Identity,
    /// The agent whose key the signature names, or else the one that the User-Agent claims.
    pub(crate) agent: Option<AgentId>,
    pub(crate) evidence: Option<Evidence>,
    /// The reason why the claim is not called a forgery, if it is unverified.
    pub(crate) doubt: Option<Doubt>,
    /// The entry that exempts the client from all rules.
    pub(crate) exempt: Option<Exemption>,
    /// True if the claim is a forgery unless what was not examined verifies it.
    pub(crate) is_refuted_else: bool,
    /// The place of the address, by a geofeed.
    pub(crate) place: Option<ValueId>,
    /// True if the User-Agent is that of automation.
    pub(crate) is_automation: bool,
    /// The result of the signatures; `None` if there are none, or if they were not examined.
    pub(crate) signature: Option<Examined>,
    /// An agent whose token the User-Agent has, but not where it counts.
    pub(crate) misplaced: Option<AgentId>,
}

impl Identification {
    /// A person, or a client without any claim.
    pub(crate) const PERSON: Self = Self {
        identity: Identity::None,
        agent: None,
        evidence: None,
        doubt: None,
        exempt: None,
        is_refuted_else: false,
        place: None,
        is_automation: false,
        signature: None,
        misplaced: None,
    };
}

/// Finds out who sent the request. The first proof that holds counts: the address, then a signature, then the address's name.
/// `known` is what the host knows of the last two, `exempt` has the feeds whose addresses are exempt. `read` says who the User-Agent says its client is.
pub(crate) fn identify(
    ruleset: &Ruleset,
    request: &impl Request,
    known: &Overrides,
    exempt: &[FeedId],
    read: impl FnOnce(Option<&[u8]>) -> Speaker,
) -> Identification {
    // The first word of the table is on its way while the User-Agent is read.
    let address = ruleset.client_address(request);
    let first_word = address.and_then(|address| ruleset.table.first_word(address));
    let speaker = read(request.user_agent());
    let ranges = Ranges::new(ruleset, request, address, first_word);
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
        doubt: None,
        exempt: ranges.exemption(exempt),
        is_refuted_else: false,
        place: ranges.place(),
        is_automation: speaker != Speaker::Browser,
        signature: None,
        misplaced,
    };
    let provable = agent.filter(|agent| !agent.is_control_token);
    if let Some(range) = provable.and_then(|agent| ranges.proof_of(agent)) {
        let evidence = Some(Evidence::IpRange(range));
        return Identification { identity: Identity::Verified, evidence, ..unsigned };
    }
    let examined = match known.is_unsigned {
        true => None,
        false => signature::examine(&ruleset.keys, request, claimed, address),
    };
    let unsigned = Identification { signature: examined, ..unsigned };
    if let Some(Examined { result, agent: agent @ Some(_), .. }) = examined {
        let identity = match result {
            SignatureResult::Verified => Identity::Verified,
            _ => Identity::Spoofed,
        };
        let evidence = Some(Evidence::Signature);
        return Identification { identity, agent, evidence, misplaced: None, ..unsigned };
    }
    // A signature that is not examined may be anybody's, whatever the User-Agent claims.
    let unexamined = examined
        .filter(|examined| examined.result == SignatureResult::OverBudget)
        .map(|_| Doubt::SignatureNotExamined);
    if let Some(agent) = agent {
        let is_named = || known.name.zip(claimed).is_some_and(|(name, id)| name.proves(id, address));
        let is_unasked = || known.name.zip(claimed).is_some_and(|(name, id)| name.is_unasked(id, address));
        let unasked = || is_unasked().then_some(Doubt::NameNotLookedUp);
        let (identity, evidence, doubt) = match ranges.doubt(agent) {
            None if unexamined.is_some() => {
                let unsigned = Identification { is_refuted_else: true, ..unsigned };
                return Identification { identity: Identity::Unverified, doubt: unexamined, ..unsigned };
            }
            None => (Identity::Spoofed, None, None),
            Some(_) if is_named() => (Identity::Verified, Some(Evidence::Name), None),
            Some(doubt) => (Identity::Unverified, None, unexamined.or_else(unasked).or(Some(doubt))),
        };
        return Identification { identity, evidence, doubt, ..unsigned };
    }
    if unexamined.is_some() {
        return Identification { identity: Identity::Unverified, doubt: unexamined, ..unsigned };
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
