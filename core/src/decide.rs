//! The decision: a pure function of the ruleset and the request.

use crate::automation_preferences::{self, Outcome};
use crate::config::{AgentAction, Mode, Treatment};
use crate::decision::{Action, Decision, Identity, PolicyKind, Reason, Rule, RuleRef};
use crate::feed::{FeedFormat, FeedValue};
use crate::host::RequestHost;
use crate::path_pattern::RequestPath;
use crate::prefix_table::Match;
use crate::request::Request;
use crate::ruleset::{Agent, Ruleset};
use crate::sites::{Site, Treatments};
use crate::user_agent::looks_automated;

/// What a host sets for a request beside the configuration document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Instead of every mode in the document.
    pub mode: Option<Mode>,
    /// Instead of the site of the request's host: a number from [`Ruleset::site`].
    pub site: Option<u16>,
}

/// Decides about one request: who it is, and what the site permits.
///
/// Allocates nothing, takes no lock, asks no clock, and asks the request only for what it needs.
pub fn decide(ruleset: &Ruleset, request: &impl Request, overrides: Overrides) -> Decision {
    let site_id = overrides.site.or_else(|| find_site(ruleset, request));
    let site = site_id.and_then(|id| ruleset.sites.get(id));
    let mode = overrides.mode.unwrap_or_else(|| mode(ruleset, site, request));
    let who = if mode == Mode::Off { Who::PERSON } else { identify(ruleset, request) };
    let enforced = mode == Mode::Enforce && site.is_none_or(|site| site.enforces_on(request.address()));
    let ruling = match served(site.filter(|_| mode != Mode::Off), request) {
        Some(_) => Ruling::plain(Action::Serve, Reason::Served),
        None => judge(ruleset, site, &who, request),
    };
    let ruling = match ruling.action {
        Action::Deny if Readable::at(request.path()).is_some() => {
            Ruling::plain(Action::Allow, Reason::Allowed)
        }
        _ => ruling,
    };
    Decision {
        action: ruling.action,
        reason: ruling.reason,
        identity: who.identity,
        enforced,
        rule: ruling.rule,
        agent: who.agent,
        feed: who.feed,
        value: who.value,
        place: who.place,
        site: site_id,
    }
}

fn find_site(ruleset: &Ruleset, request: &impl Request) -> Option<u16> {
    let sites = &ruleset.sites;
    // Asking for the host can cost more than all the rest.
    if sites.list.is_empty() || (sites.list.len() == 1 && sites.default.is_some()) {
        return sites.default;
    }
    request.host().map_or(sites.default, |host| sites.find(host))
}

/// The mode of the part of the site that is asked for, or else that of the document.
fn mode(ruleset: &Ruleset, site: Option<&Site>, request: &impl Request) -> Mode {
    let of_part = site.filter(|site| !site.modes.modes.is_empty());
    of_part.and_then(|site| site.mode(RequestPath::new(request.path()))).unwrap_or(ruleset.mode)
}

/// What is never denied: who must obey a rule must be able to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readable {
    RobotsTxt,
    AutomationPreferences,
    AiwebindexProof,
}

/// Whether the target of a request (path and query) is one of the three that are never denied.
pub fn is_always_readable(target: &[u8]) -> bool {
    Readable::at(target).is_some()
}

impl Readable {
    /// What is asked for by this path, its query aside.
    fn at(target: &[u8]) -> Option<Self> {
        let known: [(&[u8], Self); 3] = [
            (b"/robots.txt", Self::RobotsTxt),
            (b"/automation-preferences.txt", Self::AutomationPreferences),
            (b"/.well-known/aiwebindex-verify.txt", Self::AiwebindexProof),
        ];
        let found = known.into_iter().find(|(path, _)| RequestPath::is_before_query(target, path));
        found.map(|(_, readable)| readable)
    }
}

/// The policy that the site serves itself for this request.
pub(crate) fn served<'r>(site: Option<&'r Site>, request: &impl Request) -> Option<&'r [u8]> {
    let site = site.filter(|site| site.robots.is_some() || site.preferences.is_some())?;
    let text = match Readable::at(request.path())? {
        Readable::RobotsTxt => &*site.robots.as_ref()?.file.text,
        Readable::AutomationPreferences => &*site.preferences.as_ref()?.file.text,
        Readable::AiwebindexProof => return None,
    };
    matches!(request.method(), b"GET" | b"HEAD").then_some(text)
}

/// Who sent the request, from where, and what the identity rests on.
#[derive(Clone, Copy, Debug)]
struct Who {
    identity: Identity,
    agent: Option<u16>,
    feed: Option<u16>,
    value: Option<u32>,
    place: Option<u32>,
    /// Whether the User-Agent is that of automation, where no agent is claimed.
    automated: bool,
}

impl Who {
    const PERSON: Self = Self {
        identity: Identity::None,
        agent: None,
        feed: None,
        value: None,
        place: None,
        automated: false,
    };
}

/// Finds out who sent the request.
fn identify(ruleset: &Ruleset, request: &impl Request) -> Who {
    let user_agent = request.user_agent();
    let claim = user_agent.and_then(|user_agent| ruleset.claims.find(user_agent));
    let matches = request.address().map_or(&[][..], |address| ruleset.table.lookup(address));
    let fresh = Freshness::new(ruleset, request);
    let place = first_of(matches, &fresh, |format| format == FeedFormat::Geofeed).map(|found| found.value);
    if let Some(id) = claim
        && let Some(agent) = ruleset.agents.get(id)
    {
        let proof = matches
            .iter()
            .find(|matched| agent.is_proven_by(matched) && fresh.format(matched.feed).is_some());
        let identity = match proof {
            Some(_) => Identity::Verified,
            None if is_condemned(agent, &fresh, request) => Identity::Spoofed,
            None => Identity::Unverified,
        };
        return Who {
            identity,
            agent: u16::try_from(id).ok(),
            feed: proof.map(|matched| matched.feed),
            value: proof.map(|matched| matched.value),
            place,
            automated: true,
        };
    }
    let automated = looks_automated(user_agent);
    match first_of(matches, &fresh, |format| format != FeedFormat::Geofeed) {
        Some(matched) => Who {
            identity: Identity::Undeclared,
            agent: None,
            feed: Some(matched.feed),
            value: Some(matched.value),
            place,
            automated,
        },
        None if automated => Who { identity: Identity::Generic, place, automated, ..Who::PERSON },
        None => Who::PERSON,
    }
}

/// The feeds without those that are stale.
struct Freshness<'r> {
    ruleset: &'r Ruleset,
    /// `None`: no feed can be stale yet.
    now: Option<i64>,
}

impl<'r> Freshness<'r> {
    fn new(ruleset: &'r Ruleset, request: &impl Request) -> Self {
        let now = ruleset.first_expiry.and_then(|first| Some(request.now()).filter(|now| *now >= first));
        Self { ruleset, now }
    }

    /// The format of a feed that is not stale.
    fn format(&self, id: u16) -> Option<FeedFormat> {
        let feed = self.ruleset.feeds.get(usize::from(id))?;
        let is_stale = self.now.zip(feed.expires).is_some_and(|(now, expires)| now >= expires);
        (!is_stale).then_some(feed.format)
    }
}

/// The most specific match in a feed of some format; the matches are in that order.
fn first_of(
    matches: &[Match],
    fresh: &Freshness<'_>,
    is_wanted: impl Fn(FeedFormat) -> bool,
) -> Option<Match> {
    matches.iter().find(|matched| fresh.format(matched.feed).is_some_and(&is_wanted)).copied()
}

/// Whether the lack of a proof is the proof of a forgery: all the agent's ranges are known, and so is the address.
fn is_condemned(agent: &Agent, fresh: &Freshness<'_>, request: &impl Request) -> bool {
    agent.has_feeds()
        && !agent.has_unusable_feed
        && agent.feeds.iter().all(|id| fresh.format(*id).is_some())
        && request.address().is_some()
}

/// What becomes of the request, and by which line.
#[derive(Clone, Copy, Debug)]
struct Ruling {
    action: Action,
    reason: Reason,
    rule: Option<RuleRef>,
}

impl Ruling {
    const fn plain(action: Action, reason: Reason) -> Self {
        Self { action, reason, rule: None }
    }
}

/// Steps 3 to 7 of the decision.
fn judge(ruleset: &Ruleset, site: Option<&Site>, who: &Who, request: &impl Request) -> Ruling {
    let treatments = site.map_or(Treatments::DEFAULT, |site| site.treatments);
    let (treatment, denial) = match who.identity {
        Identity::None => return Ruling::plain(Action::Allow, Reason::NotAutomated),
        Identity::Undeclared if who.automated => (Treatment::Policy, Reason::UndeclaredAgent),
        Identity::Undeclared if treatments.undeclared == Treatment::Allow => {
            return Ruling::plain(Action::Allow, Reason::NotAutomated);
        }
        Identity::Undeclared => (treatments.undeclared, Reason::UndeclaredAgent),
        Identity::Spoofed => (treatments.spoofed, Reason::SpoofedAgent),
        Identity::Unverified => (treatments.unverified, Reason::UnverifiedAgent),
        Identity::Verified | Identity::Generic => (Treatment::Policy, Reason::Allowed),
    };
    if let Some(settled) = settle(treatment, denial) {
        return settled;
    }
    match who.agent.and_then(|id| ruleset.agents.get(usize::from(id))).map(|agent| agent.action) {
        Some(AgentAction::Deny) => return Ruling::plain(Action::Deny, Reason::AgentDenied),
        Some(AgentAction::Allow) if who.identity == Identity::Verified => {
            return Ruling::plain(Action::Allow, Reason::AgentAllowed);
        }
        _ => {}
    }
    site.map_or(Ruling::plain(Action::Allow, Reason::Allowed), |site| by_policy(ruleset, site, who, request))
}

/// What a treatment settles at once.
fn settle(treatment: Treatment, denial: Reason) -> Option<Ruling> {
    match treatment {
        Treatment::Deny => Some(Ruling::plain(Action::Deny, denial)),
        Treatment::Allow => Some(Ruling::plain(Action::Allow, Reason::Allowed)),
        Treatment::Policy => None,
    }
}

/// Steps 5 to 7: the site's rules on places, its robots.txt and its automation-preferences.txt.
fn by_policy(ruleset: &Ruleset, site: &Site, who: &Who, request: &impl Request) -> Ruling {
    if let Some(FeedValue::Place { country, region, .. }) = who.place.and_then(|id| ruleset.value(id))
        && let Some(treatment) = site.treatment_of_place(*country, region.as_deref())
        && let Some(settled) = settle(treatment, Reason::GeoDenied)
    {
        return settled;
    }
    let agent = ruleset.acting_agent(who.agent, who.feed);
    let path = RequestPath::new(request.path());
    match by_robots(site, agent, path) {
        Some(ruling) if ruling.action == Action::Deny => ruling,
        by_robots => by_preferences(ruleset, site, agent, path, request)
            .or(by_robots)
            .unwrap_or(Ruling::plain(Action::Allow, Reason::Allowed)),
    }
}

impl Ruleset {
    /// What each policy file of the site says of the request, whichever of them decided: robots.txt, then
    /// automation-preferences.txt; `None` where the site has none, or no rule of it holds.
    pub fn verdicts(&self, decision: &Decision, request: &impl Request) -> [Option<PolicyVerdict<'_>>; 2] {
        let Some(site) = decision.site.and_then(|id| self.sites.get(id)) else {
            return [None; 2];
        };
        let agent = self.acting_agent(decision.agent, decision.feed);
        let verdict = |ruling: Ruling| {
            let rule = self.rule(&Decision { rule: ruling.rule, ..*decision })?;
            Some(PolicyVerdict { action: ruling.action, reason: ruling.reason, rule })
        };
        let path = RequestPath::new(request.path());
        [
            by_robots(site, agent, path).and_then(verdict),
            by_preferences(self, site, agent, path, request).and_then(verdict),
        ]
    }
}

/// What one policy file says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyVerdict<'r> {
    /// What is to be done, were it alone.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The rule that says so.
    pub rule: Rule<'r>,
}

/// Of a list by agent whose last item is for whoever is none, the item of this one.
fn of_agent<T: Copy>(list: &[T], agent: Option<u16>) -> Option<T> {
    agent.and_then(|id| list.get(usize::from(id))).or(list.last()).copied()
}

fn by_robots(site: &Site, agent: Option<u16>, path: RequestPath<'_>) -> Option<Ruling> {
    let policy = site.robots.as_ref()?;
    let group = of_agent(&policy.groups, agent)?;
    let verdict = policy.file.rules.decide(group, path);
    let rule = verdict.line.map(|line| RuleRef { file: PolicyKind::Robots, line });
    Some(match verdict.allowed {
        true => Ruling { action: Action::Allow, reason: Reason::Allowed, rule },
        false => Ruling { action: Action::Deny, reason: Reason::RobotsDisallowed, rule },
    })
}

fn by_preferences(
    ruleset: &Ruleset,
    site: &Site,
    agent: Option<u16>,
    path: RequestPath<'_>,
    request: &impl Request,
) -> Option<Ruling> {
    let policy = site.preferences.as_ref()?;
    let asked = automation_preferences::Request {
        agent: of_agent(&policy.agents, agent)?,
        host: RequestHost::new(request.host().unwrap_or_default()),
        path,
        method: request.method(),
    };
    let declared = ruleset.declared_purpose(Some(policy), request);
    let known = agent.filter(|_| declared.is_none()).and_then(|id| ruleset.agents.get(usize::from(id)));
    let known = known.map_or(&[][..], |agent| &agent.purposes);
    let purposes =
        declared.into_iter().map(str::as_bytes).chain(known.iter().map(|purpose| purpose.as_bytes()));
    let verdict = policy.file.rules.rules.decide(&asked, purposes, policy.undeclared)?;
    let rule = Some(RuleRef { file: PolicyKind::AutomationPreferences, line: verdict.line });
    Some(match verdict.outcome {
        Outcome::Allowed => Ruling { action: Action::Allow, reason: Reason::Allowed, rule },
        Outcome::MethodNotAllowed => Ruling { action: Action::Deny, reason: Reason::MethodNotAllowed, rule },
        Outcome::PurposeNotAllowed => {
            Ruling { action: Action::Deny, reason: Reason::PurposeNotAllowed, rule }
        }
    })
}
