//! The decision: a pure function of the ruleset and the request.

use crate::automation_preferences::{self, Outcome};
use crate::config::{AgentAction, Mode, Treatment};
use crate::decision::{Action, Decision, Identity, PolicyKind, Reason, RuleRef};
use crate::feed::{FeedFormat, FeedValue};
use crate::host::RequestHost;
use crate::path_pattern::RequestPath;
use crate::path_spelling::{self, Spelling};
use crate::prefix_table::Match;
use crate::representation::Representation;
use crate::request::Request;
use crate::ruleset::{Agent, Ruleset};
use crate::sites::{PreferencesPolicy, RobotsPolicy, Site, Treatments};
use crate::user_agent::Speaker;

mod step;

use self::step::Source;
pub use self::step::{PolicyVerdict, Step};

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
    decide_telling(ruleset, request, overrides, &mut |_| {})
}

/// As [`decide()`], and tells each step as it is taken.
pub fn decide_telling<'r>(
    ruleset: &'r Ruleset,
    request: &impl Request,
    overrides: Overrides,
    tell: &mut impl FnMut(Step<'r>),
) -> Decision {
    let site_id = overrides.site.or_else(|| find_site(ruleset, request));
    let site = site_id.and_then(|id| ruleset.sites.get(id));
    let (mode, scope, spelling) = match overrides.mode {
        Some(mode) => (mode, None, Spelling::Sent),
        None => mode_of_part(ruleset, site, request),
    };
    tell(Step::Mode(mode, scope, spelling));
    let who = if mode == Mode::Off { Who::PERSON } else { identify(ruleset, request) };
    let enforced = mode == Mode::Enforce && site.is_none_or(|site| is_enforced_on(site, request, tell));
    let ruling = match served(site.filter(|_| mode != Mode::Off), request) {
        Some(_) => Ruling::plain(Action::Serve, Reason::Served),
        None => judge(ruleset, site, &who, request, tell),
    };
    let ruling = match ruling.action {
        Action::Deny if Readable::at(request.path()).is_some() => {
            tell(Step::AlwaysReadable(ruling.reason));
            Ruling::plain(Action::Allow, Reason::Allowed)
        }
        _ => ruling,
    };
    Decision {
        action: ruling.action,
        reason: ruling.reason,
        identity: who.identity,
        enforced,
        ignored: mode == Mode::Off,
        rule: ruling.rule,
        agent: who.agent,
        feed: who.feed,
        value: who.value,
        place: who.place,
        site: site_id,
        tag: site.filter(|_| mode != Mode::Off).map(|site| site.tags.find(|| request.path())),
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

/// The mode of the part of the site that is asked for, with the part's scope, and the spelling of the path in which it
/// is in that part; else the document's.
fn mode_of_part<'r>(
    ruleset: &Ruleset,
    site: Option<&'r Site>,
    request: &impl Request,
) -> (Mode, Option<&'r str>, Spelling) {
    let Some(site) = site.filter(|site| !site.modes.modes.is_empty()) else {
        return (ruleset.mode, None, Spelling::Sent);
    };
    let mode_at = |path: RequestPath<'_>, _| {
        site.mode(path).map_or((ruleset.mode, None), |(mode, scope)| (mode, Some(scope)))
    };
    let strictness = |(mode, _): &(Mode, _)| mode.strictness();
    let ((mode, scope), spelling) =
        path_spelling::strictest(request.path(), mode_at, strictness, Mode::Enforce.strictness());
    (mode, scope, spelling)
}

fn is_enforced_on<'r>(site: &Site, request: &impl Request, tell: &mut impl FnMut(Step<'r>)) -> bool {
    let is_enforced_on = site.enforces_on(request.address());
    if site.enforce_percent < 100 {
        tell(Step::Share { percent: site.enforce_percent, is_enforced_on });
    }
    is_enforced_on
}

/// What is never denied: who must obey a rule must be able to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readable {
    RobotsTxt,
    AutomationPreferences,
    AiwebindexProof,
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
pub(crate) fn served<'r>(site: Option<&'r Site>, request: &impl Request) -> Option<&'r Representation> {
    let site = site.filter(|site| site.robots.is_some() || site.preferences.is_some())?;
    let served = match Readable::at(request.path())? {
        Readable::RobotsTxt => &site.robots.as_ref()?.file.served,
        Readable::AutomationPreferences => &site.preferences.as_ref()?.file.served,
        Readable::AiwebindexProof => return None,
    };
    matches!(request.method(), b"GET" | b"HEAD").then_some(served)
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
    let speaker = ruleset.claims.speaker(request.user_agent());
    let matches = request.address().map_or(&[][..], |address| ruleset.table.lookup(address));
    let fresh = Freshness::new(ruleset, request);
    let place = first_of(matches, &fresh, |format| format == FeedFormat::Geofeed).map(|found| found.value);
    if let Speaker::Agent(id) = speaker
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
    let automated = speaker == Speaker::Automation;
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
        let is_stale = self.now.is_some_and(|now| feed.is_stale(now));
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
fn judge<'r>(
    ruleset: &'r Ruleset,
    site: Option<&'r Site>,
    who: &Who,
    request: &impl Request,
    tell: &mut impl FnMut(Step<'r>),
) -> Ruling {
    let treatments = site.map_or(Treatments::DEFAULT, |site| site.treatments);
    let (treatment, denial) = match who.identity {
        Identity::None => return Ruling::plain(Action::Allow, Reason::NotAutomated),
        Identity::Undeclared if who.automated => (Treatment::Policy, Reason::Allowed),
        Identity::Undeclared => (treatments.undeclared, Reason::UndeclaredAgent),
        Identity::Spoofed => (treatments.spoofed, Reason::SpoofedAgent),
        Identity::Unverified => (treatments.unverified, Reason::UnverifiedAgent),
        Identity::Verified | Identity::Generic => (Treatment::Policy, Reason::Allowed),
    };
    match denial {
        Reason::Allowed if who.identity == Identity::Undeclared => tell(Step::UndeclaredAutomation),
        Reason::Allowed => {}
        _ => tell(Step::Treatment(who.identity, treatment)),
    }
    match settle(treatment, denial) {
        Some(Ruling { action: Action::Allow, .. }) if who.identity == Identity::Undeclared => {
            return Ruling::plain(Action::Allow, Reason::NotAutomated);
        }
        Some(settled) => return settled,
        None => {}
    }
    if let Some(agent) = who.agent.and_then(|id| ruleset.agents.get(usize::from(id))) {
        tell(Step::Agent(agent.action));
        match agent.action {
            AgentAction::Deny => return Ruling::plain(Action::Deny, Reason::AgentDenied),
            AgentAction::Allow if who.identity == Identity::Verified => {
                return Ruling::plain(Action::Allow, Reason::AgentAllowed);
            }
            AgentAction::Allow | AgentAction::Policy => {}
        }
    }
    let allowed = Ruling::plain(Action::Allow, Reason::Allowed);
    site.map_or(allowed, |site| by_policy(ruleset, site, who, request, tell))
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
fn by_policy<'r>(
    ruleset: &'r Ruleset,
    site: &'r Site,
    who: &Who,
    request: &impl Request,
    tell: &mut impl FnMut(Step<'r>),
) -> Ruling {
    if let Some(FeedValue::Place { country, region, .. }) = who.place.and_then(|id| ruleset.value(id))
        && let Some(treatment) = site.treatment_of_place(*country, region.as_deref())
    {
        tell(Step::Place(treatment));
        if let Some(settled) = settle(treatment, Reason::GeoDenied) {
            return settled;
        }
    }
    if site.robots.is_none() && site.preferences.is_none() {
        return Ruling::plain(Action::Allow, Reason::Allowed);
    }
    let agent = ruleset.acting_agent(who.agent, who.feed);
    let judge = |path: RequestPath<'_>, spelling| {
        if spelling != Spelling::Sent {
            tell(Step::Spelling(spelling));
        }
        by_files(ruleset, site, agent, path, request, tell)
    };
    let is_denied = |ruling: &Ruling| ruling.action == Action::Deny;
    path_spelling::strictest(request.path(), judge, is_denied, true).0
}

/// Steps 6 and 7: the site's robots.txt and its automation-preferences.txt, for one spelling of the path.
fn by_files<'r>(
    ruleset: &'r Ruleset,
    site: &'r Site,
    agent: Option<u16>,
    path: RequestPath<'_>,
    request: &impl Request,
    tell: &mut impl FnMut(Step<'r>),
) -> Ruling {
    let robots = site.robots.as_ref().and_then(|policy| by_robots(policy, agent, path));
    robots.into_iter().for_each(|verdict| tell(Step::Policy(verdict)));
    if let Some(denied) = robots.filter(|verdict| verdict.action == Action::Deny) {
        return denied.into();
    }
    let preferences =
        site.preferences.as_ref().and_then(|policy| by_preferences(ruleset, policy, agent, path, request));
    preferences.into_iter().for_each(|verdict| tell(Step::Policy(verdict)));
    let decisive = preferences.filter(|verdict| verdict.line.is_some()).or(robots);
    decisive.map_or(Ruling::plain(Action::Allow, Reason::Allowed), Ruling::from)
}

impl From<PolicyVerdict<'_>> for Ruling {
    fn from(PolicyVerdict { action, reason, line, source }: PolicyVerdict<'_>) -> Self {
        let file = match source {
            Source::Robots(..) => PolicyKind::Robots,
            Source::Preferences(..) => PolicyKind::AutomationPreferences,
        };
        Self { action, reason, rule: line.map(|line| RuleRef { file, line }) }
    }
}

/// Of a list by agent whose last item is for whoever is none, the item of this one.
fn of_agent<T: Copy>(list: &[T], agent: Option<u16>) -> Option<T> {
    agent.and_then(|id| list.get(usize::from(id))).or(list.last()).copied()
}

fn by_robots<'r>(
    policy: &'r RobotsPolicy,
    agent: Option<u16>,
    path: RequestPath<'_>,
) -> Option<PolicyVerdict<'r>> {
    let group = of_agent(&policy.groups, agent)?;
    let verdict = policy.file.rules.decide(group, path);
    let (action, reason) = match verdict.allowed {
        true => (Action::Allow, Reason::Allowed),
        false => (Action::Deny, Reason::RobotsDisallowed),
    };
    Some(PolicyVerdict { action, reason, line: verdict.line, source: Source::Robots(policy, group) })
}

fn by_preferences<'r>(
    ruleset: &Ruleset,
    policy: &'r PreferencesPolicy,
    agent: Option<u16>,
    path: RequestPath<'_>,
    request: &impl Request,
) -> Option<PolicyVerdict<'r>> {
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
    let verdict = policy.file.rules.rules.decide(&asked, purposes, policy.undeclared);
    let (action, reason) = match verdict.map(|verdict| verdict.outcome) {
        None | Some(Outcome::Allowed) => (Action::Allow, Reason::Allowed),
        Some(Outcome::MethodNotAllowed) => (Action::Deny, Reason::MethodNotAllowed),
        Some(Outcome::PurposeNotAllowed) => (Action::Deny, Reason::PurposeNotAllowed),
    };
    let source = Source::Preferences(policy, verdict.map(|verdict| verdict.group));
    Some(PolicyVerdict { action, reason, line: verdict.map(|verdict| verdict.line), source })
}

#[cfg(test)]
mod tests;
