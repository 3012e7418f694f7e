//! The decision: a pure function of the ruleset and the request.

use crate::config::{AgentAction, Mode, Treatment};
use crate::decision::{Action, Decision, Identity, Reason};
use crate::request::Request;
use crate::ruleset::{Agent, Ruleset};
use crate::sites::{SiteMatch, Treatments};
use crate::user_agent::looks_automated;

/// What a host sets for a request beside the configuration document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Instead of the document's mode.
    pub mode: Option<Mode>,
    /// Instead of the site of the request's host: a number from [`Ruleset::site`].
    pub site: Option<u16>,
}

/// Paths that are never denied: who must obey a rule must be able to read it.
const ALWAYS_READABLE: [&[u8]; 3] =
    [b"/robots.txt", b"/automation-preferences.txt", b"/.well-known/aiwebindex-verify.txt"];

/// Decides about one request: who it is, and what the site permits.
///
/// Allocates nothing, takes no lock, asks no clock, and asks the request only for what it needs.
pub fn decide(ruleset: &Ruleset, request: &impl Request, overrides: Overrides) -> Decision {
    let site = overrides.site.or_else(|| find_site(ruleset, request).map(|(id, _)| id));
    let mode = overrides.mode.unwrap_or(ruleset.mode);
    let who = if mode == Mode::Off { Who::PERSON } else { identify(ruleset, request) };
    let treatments = site
        .and_then(|id| ruleset.sites.get(usize::from(id)))
        .map_or(Treatments::DEFAULT, |site| site.treatments);
    let (mut action, mut reason) = judge(ruleset, &treatments, &who);
    if action == Action::Deny && is_always_readable(request.path()) {
        (action, reason) = (Action::Allow, Reason::Allowed);
    }
    Decision {
        action,
        reason,
        identity: who.identity,
        enforced: mode == Mode::Enforce,
        agent: who.agent,
        feed: who.feed,
        value: who.value,
        site,
    }
}

/// The site of a request, and what made it so.
pub(crate) fn find_site<'r>(ruleset: &'r Ruleset, request: &impl Request) -> Option<(u16, SiteMatch<'r>)> {
    match request.host() {
        // Asking for the host can cost more than all the rest.
        _ if ruleset.hosts.is_trivial() => ruleset.hosts.default_site(),
        Some(host) => ruleset.hosts.find(host),
        None => ruleset.hosts.default_site(),
    }
}

/// Who sent the request, and what the identity rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) identity: Identity,
    pub(crate) agent: Option<u16>,
    pub(crate) feed: Option<u16>,
    pub(crate) value: Option<u32>,
    /// Whether the User-Agent is that of automation, where no agent is claimed.
    automated: bool,
}

impl Who {
    const PERSON: Self =
        Self { identity: Identity::None, agent: None, feed: None, value: None, automated: false };
}

/// Finds out who sent the request.
pub(crate) fn identify(ruleset: &Ruleset, request: &impl Request) -> Who {
    let user_agent = request.user_agent();
    let claim = user_agent.and_then(|user_agent| ruleset.claims.find(user_agent));
    let matches = request.address().map_or(&[][..], |address| ruleset.table.lookup(address));
    if let Some(id) = claim
        && let Some(agent) = ruleset.agents.get(id)
    {
        let proof = matches.iter().find(|matched| agent.is_proven_by(matched));
        let identity = match proof {
            Some(_) => Identity::Verified,
            None if is_condemned(agent, request) => Identity::Spoofed,
            None => Identity::Unverified,
        };
        return Who {
            identity,
            agent: u16::try_from(id).ok(),
            feed: proof.map(|matched| matched.feed),
            value: proof.map(|matched| matched.value),
            automated: true,
        };
    }
    let automated = looks_automated(user_agent);
    match matches.iter().find(|matched| ruleset.is_range_feed(matched.feed)) {
        Some(matched) => Who {
            identity: Identity::Undeclared,
            agent: None,
            feed: Some(matched.feed),
            value: Some(matched.value),
            automated,
        },
        None if automated => Who { identity: Identity::Generic, automated, ..Who::PERSON },
        None => Who::PERSON,
    }
}

/// Whether the lack of a proof is the proof of a forgery: all the agent's ranges are known, and so is the address.
fn is_condemned(agent: &Agent, request: &impl Request) -> bool {
    agent.has_feeds() && !agent.has_unusable_feed && request.address().is_some()
}

/// Steps 3 and 4 of the decision; what they leave open, the site's policy settles.
fn judge(ruleset: &Ruleset, treatments: &Treatments, who: &Who) -> (Action, Reason) {
    let (treatment, denial) = match who.identity {
        Identity::None => return (Action::Allow, Reason::NotAutomated),
        Identity::Undeclared if who.automated => (Treatment::Policy, Reason::UndeclaredAgent),
        Identity::Undeclared if treatments.undeclared == Treatment::Allow => {
            return (Action::Allow, Reason::NotAutomated);
        }
        Identity::Undeclared => (treatments.undeclared, Reason::UndeclaredAgent),
        Identity::Spoofed => (treatments.spoofed, Reason::SpoofedAgent),
        Identity::Unverified => (treatments.unverified, Reason::UnverifiedAgent),
        Identity::Verified | Identity::Generic => (Treatment::Policy, Reason::Allowed),
    };
    match treatment {
        Treatment::Deny => return (Action::Deny, denial),
        Treatment::Allow => return (Action::Allow, Reason::Allowed),
        Treatment::Policy => {}
    }
    let action = who.agent.and_then(|id| ruleset.agents.get(usize::from(id))).map(|agent| agent.action);
    match action {
        Some(AgentAction::Deny) => (Action::Deny, Reason::AgentDenied),
        Some(AgentAction::Allow) if who.identity == Identity::Verified => {
            (Action::Allow, Reason::AgentAllowed)
        }
        _ => (Action::Allow, Reason::Allowed),
    }
}

/// Whether the target of a request (path and query) is one of the three that are never denied.
pub fn is_always_readable(target: &[u8]) -> bool {
    let path = target.split(|byte| *byte == b'?').next().unwrap_or(target);
    ALWAYS_READABLE.contains(&path)
}
