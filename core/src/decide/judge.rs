//! The decision: a pure function of the ruleset and the request.

use crate::config::{AgentAction, Mode, Treatment, Treatments};
use crate::decide::asked_once::AskedOnce;
use crate::decide::decision::{Action, Decision};
use crate::decide::policies;
use crate::decide::public_resource::PublicResource;
use crate::decide::ruling::Ruling;
use crate::decide::step::Step;
use crate::http::authority::is_host;
use crate::identity::{Evidence, Examined, Identification, Identity, identify};
use crate::ids::SiteId;
use crate::path::spelling::Spelling;
use crate::reason::Reason;
use crate::request::{Overrides, Request};
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::Site;
use crate::source::position::Placed;
use crate::user_agent::{RecentSpeakers, Speaker};

/// Decides about one request: who it is, and what the site permits.
///
/// Allocates nothing, takes no lock, asks no clock, and asks the request only for what it needs.
pub fn decide(ruleset: &Ruleset, request: &impl Request, overrides: Overrides) -> Decision {
    decide_traced(ruleset, request, overrides, &mut |_| {})
}

/// As [`decide()`], with what the worker remembers of the User-Agents that it read for this ruleset.
pub fn decide_remembering(
    ruleset: &Ruleset,
    recent: &RecentSpeakers,
    request: &impl Request,
    overrides: Overrides,
) -> Decision {
    let read = |user_agent: Option<&[u8]>| recent.speaker(&ruleset.claims, user_agent);
    decide_reading(ruleset, request, overrides, read, &mut |_| {})
}

/// As [`decide()`], and gives `trace` each step as it is taken.
pub fn decide_traced<'r, R: Request>(
    ruleset: &'r Ruleset,
    request: &R,
    overrides: Overrides,
    trace: &mut impl FnMut(Step<'r>),
) -> Decision {
    decide_reading(ruleset, request, overrides, |user_agent| ruleset.claims.speaker(user_agent), trace)
}

fn decide_reading<'r, R: Request>(
    ruleset: &'r Ruleset,
    request: &R,
    overrides: Overrides,
    read: impl FnOnce(Option<&[u8]>) -> Speaker,
    trace: &mut impl FnMut(Step<'r>),
) -> Decision {
    let site_id = overrides.site.or_else(|| find_site(ruleset, request));
    let site = site_id.and_then(|id| ruleset.sites.get(id));
    // If a host has chosen the site by the path of a page, the request may have come to the page by a site with such paths.
    let has_md_paths = match overrides.site {
        Some(_) => ruleset.has_md_paths(),
        None => site.is_some_and(Site::has_md_paths),
    };
    let request = &AskedOnce::new(request, has_md_paths);
    let (mode, scope, spelling) = match overrides.mode {
        Some(mode) => (mode, None, Spelling::Sent),
        None => policies::mode_of_part(ruleset, site, request),
    };
    trace(Step::Mode(mode, scope, spelling));
    let is_off = mode == Mode::Off;
    let exempt = site.map_or(&ruleset.exempt, |site| &site.exempt);
    let who = match is_off {
        true => Identification::PERSON,
        false => identify(ruleset, request, &overrides, exempt, read),
    };
    if let Some(Examined { result, is_long_lived, .. }) = who.signature {
        trace(Step::Signature { result, is_long_lived });
    }
    if let Some(agent) = who.misplaced.and_then(|id| ruleset.agents.get(id)) {
        trace(Step::MisplacedToken(&agent.token));
    }
    let enforced =
        mode == Mode::Enforce && site.is_none_or(|site| is_enforced_on(ruleset, site, request, trace));
    let served = site.filter(|_| !is_off).and_then(|site| PublicResource::served(site, request));
    let ruling = match served {
        Some(_) => Ruling::new(Action::Serve, Reason::Served),
        None => judge(ruleset, site, &who, request, trace),
    };
    let ruling = match ruling.is_denial() && PublicResource::at(request.target()).is_some() {
        true => {
            trace(Step::AlwaysReadable(ruling.reason));
            Ruling::ALLOWED
        }
        false => ruling,
    };
    Decision {
        action: ruling.action,
        reason: ruling.reason,
        identity: who.identity,
        enforced,
        ignored: is_off,
        rule: ruling.rule,
        agent: who.agent,
        evidence: who.evidence,
        doubt: who.doubt,
        signature: who.signature.map(|examined| examined.result),
        place: who.place,
        site: site_id,
        served,
        usage: site.filter(|_| !is_off).and_then(|site| {
            let verified = who.agent.filter(|_| who.identity == Identity::Verified);
            site.usage.as_ref()?.sending.as_ref()?;
            Some(site.sent_usage(ruleset.product_of(verified), request.target()))
        }),
        tag: site.filter(|_| !is_off).map(|site| site.tags.find(|| request.target())),
    }
}

pub(super) fn find_site(ruleset: &Ruleset, request: &impl Request) -> Option<SiteId> {
    let sites = &ruleset.sites;
    // Asking for the host can cost more than all the rest.
    if sites.list.is_empty() || (sites.list.len() == 1 && sites.default.is_some()) {
        return sites.default;
    }
    request.authority().map_or(sites.default, |host| sites.find(host))
}

fn is_enforced_on<'r>(
    ruleset: &Ruleset,
    site: &Site,
    request: &impl Request,
    trace: &mut impl FnMut(Step<'r>),
) -> bool {
    let is_enforced_on = site.enforces_on(|| ruleset.client_address(request));
    if site.enforce_percent < 100 {
        trace(Step::Share { percent: site.enforce_percent, is_enforced_on });
    }
    is_enforced_on
}

/// Returns true if the request is for a name that can be a host, or for one in Unicode that a site has. Servers differ
/// in what they make of anything else, so it may reach a host whose policy would not be asked. A request of HTTP/1.0 may be
/// for no host (RFC 9112, 3.2): that is the one for all other hosts.
fn is_for_a_host(ruleset: &Ruleset, request: &impl Request) -> bool {
    let is_named = |authority: &[u8]| !authority.is_ascii() && ruleset.sites.name(authority);
    request
        .authority()
        .is_none_or(|authority| authority.is_empty() || is_host(authority) || is_named(authority))
}

/// Steps 3 to 7 of the decision.
fn judge<'r, R: Request>(
    ruleset: &'r Ruleset,
    site: Option<&'r Site>,
    who: &Identification,
    request: &AskedOnce<'_, R>,
    trace: &mut impl FnMut(Step<'r>),
) -> Ruling {
    if let Some(exemption) = who.exempt {
        trace(Step::Exempt(exemption));
        return Ruling::new(Action::Allow, Reason::Exempt);
    }
    let treatments = site.map_or(Treatments::DEFAULT, |site| site.treatments);
    let treated = match who.identity {
        Identity::None => return Ruling::new(Action::Allow, Reason::NotAutomated),
        Identity::Undeclared if who.is_automation => {
            trace(Step::UndeclaredAutomation);
            None
        }
        Identity::Undeclared => Some((treatments.undeclared, Reason::UndeclaredAgent)),
        Identity::Spoofed if who.evidence == Some(Evidence::Signature) => {
            Some((treatments.spoofed, Reason::BadSignature))
        }
        Identity::Spoofed => Some((treatments.spoofed, Reason::SpoofedAgent)),
        // A site that denies forgeries denies it for as long as it may be one.
        Identity::Unverified if who.is_refuted_else && treatments.spoofed.value == Treatment::Deny => {
            Some((treatments.spoofed, Reason::UnverifiedAgent))
        }
        Identity::Unverified => Some((treatments.unverified, Reason::UnverifiedAgent)),
        Identity::Verified | Identity::Generic => None,
    };
    let settled = treated.and_then(|(Placed { value: treatment, position }, denial)| {
        trace(Step::Treatment { identity: who.identity, treatment, position });
        Ruling::of_treatment(treatment, denial)
    });
    if who.identity == Identity::Undeclared && settled.is_some_and(|settled| !settled.is_denial()) {
        return Ruling::new(Action::Allow, Reason::NotAutomated);
    }
    if !is_for_a_host(ruleset, request) {
        return Ruling::new(Action::Deny, Reason::InvalidHost);
    }
    if let Some(settled) = settled {
        return settled;
    }
    if let Some(agent) = who.agent.and_then(|id| ruleset.agents.get(id)) {
        trace(Step::Agent(agent.action));
        match agent.action {
            AgentAction::Deny => return Ruling::new(Action::Deny, Reason::AgentDenied),
            AgentAction::Allow if who.identity == Identity::Verified => {
                return Ruling::new(Action::Allow, Reason::AgentAllowed);
            }
            AgentAction::Allow | AgentAction::Policy => {}
        }
    }
    site.map_or(Ruling::ALLOWED, |site| policies::by_site(ruleset, site, who, request, trace))
}
