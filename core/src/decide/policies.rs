//! The policies of a site for a request: the mode of a part of it, its rules on places, its robots.txt and its
//! automation-preferences.txt.

use crate::config::Mode;
use crate::decide::asked_once::AskedOnce;
use crate::decide::decision::{Action, RuleRef};
use crate::decide::purpose::Purposes;
use crate::decide::ruling::Ruling;
use crate::decide::step::{PolicyVerdict, Source, Step};
use crate::feed::FeedValue;
use crate::http::host::RequestHost;
use crate::identity::{Identification, acting_agent};
use crate::ids::{AgentId, ProductId};
use crate::path::request::RequestPath;
use crate::path::spelling::Spelling;
use crate::policy::PolicyKind;
use crate::policy::automation_preferences::{self, Outcome};
use crate::reason::Reason;
use crate::request::Request;
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::{PolicyFile, PreferencesPolicy, RobotsPolicy, Site};
use crate::ruleset::usage::UsageSource;

/// The mode of the part of the site that is asked for, with the part's scope, and the spelling of the path in which it
/// is in that part; else the document's.
pub(super) fn mode_of_part<'r>(
    ruleset: &Ruleset,
    site: Option<&'r Site>,
    request: &AskedOnce<'_, impl Request>,
) -> (Mode, Option<&'r str>, Spelling) {
    let Some(site) = site.filter(|site| !site.modes.is_empty()) else {
        return (ruleset.mode, None, Spelling::Sent);
    };
    let mode_at = |path: RequestPath<'_>| {
        site.modes.find(path).map_or((ruleset.mode, None), |(mode, scope)| (mode, Some(scope)))
    };
    let strictness = |(mode, _): &(Mode, _)| mode.strictness();
    let ((mode, scope), spelling) =
        request.target().strictest(mode_at, strictness, Mode::Enforce.strictness());
    (mode, scope, spelling)
}

/// Steps 5 to 8: the site's rules on places, its robots.txt, its automation-preferences.txt and its usage preferences.
pub(super) fn by_site<'r, R: Request>(
    ruleset: &'r Ruleset,
    site: &'r Site,
    who: &Identification,
    request: &AskedOnce<'_, R>,
    trace: &mut impl FnMut(Step<'r>),
) -> Ruling {
    if let Some(FeedValue::Place { country, region, .. }) = who.place.and_then(|id| ruleset.values.get(id))
        && let Some(treatment) = site.treatment_of_place(*country, region.as_deref())
    {
        trace(Step::Place(treatment));
        if let Some(settled) = Ruling::of_treatment(treatment, Reason::GeoDenied) {
            return settled;
        }
    }
    let agent = acting_agent(ruleset, who.agent, who.evidence);
    if site.robots.is_none() && site.preferences.is_none() {
        return by_usage(ruleset, site, agent, request).unwrap_or(Ruling::ALLOWED);
    }
    let judge = |path: RequestPath<'_>| {
        if path.spelling() != Spelling::Sent {
            trace(Step::Spelling(path.spelling()));
        }
        by_files(ruleset, site, agent, path, request, trace)
    };
    let (ruling, _) = request.target().strictest(judge, Ruling::is_denial, true);
    match ruling.is_denial() {
        true => ruling,
        false => by_usage(ruleset, site, agent, request).unwrap_or(ruling),
    }
}

/// The denial of a client whose known purposes are all disallowed, on a site that enforces its usage preferences.
fn by_usage<R: Request>(
    ruleset: &Ruleset,
    site: &Site,
    agent: Option<AgentId>,
    request: &AskedOnce<'_, R>,
) -> Option<Ruling> {
    if !site.usage.as_ref().is_some_and(|usage| usage.enforces) {
        return None;
    }
    let product = ruleset.product_of(agent);
    let statement = site.usage(product, request.target());
    if statement.is_empty() {
        return None;
    }
    let purposes = Purposes::judged(ruleset, site.preferences.as_ref(), agent, request)?;
    if !statement.disallows_all(purposes.iter()) {
        return None;
    }
    let mut line = None;
    site.tell_usage_lines(product, request.target(), &mut |source, said| {
        // A rule of the document has no line in the denial, like a rule on places: the document is not the client's to know.
        let disallows = || purposes.iter().any(|purpose| said.statement.disallows_part_of(purpose));
        if source == UsageSource::Robots && disallows() {
            line = Some(line.map_or(said.line, |first: u32| first.min(said.line)));
        }
    });
    let rule = line.map(|line| RuleRef { file: PolicyKind::Robots, line });
    Some(Ruling { action: Action::Deny, reason: Reason::UsageDisallowed, rule })
}

/// Steps 6 and 7: the site's robots.txt and its automation-preferences.txt, for one spelling of the path.
fn by_files<'r>(
    ruleset: &'r Ruleset,
    site: &'r Site,
    agent: Option<AgentId>,
    path: RequestPath<'_>,
    request: &impl Request,
    trace: &mut impl FnMut(Step<'r>),
) -> Ruling {
    let robots = site.robots.as_ref().map(|file| by_robots(file, ruleset.product_of(agent), path));
    robots.into_iter().for_each(|verdict| trace(Step::Policy(verdict)));
    if let Some(denied) = robots.filter(|verdict| verdict.action == Action::Deny) {
        return denied.into();
    }
    let preferences =
        site.preferences.as_ref().map(|policy| by_preferences(ruleset, policy, agent, path, request));
    preferences.into_iter().for_each(|verdict| trace(Step::Policy(verdict)));
    let decisive = preferences.filter(|verdict| verdict.line.is_some()).or(robots);
    decisive.map_or(Ruling::ALLOWED, Ruling::from)
}

fn by_robots<'r>(
    file: &'r PolicyFile<RobotsPolicy>,
    product: Option<ProductId>,
    path: RequestPath<'_>,
) -> PolicyVerdict<'r> {
    let group = file.rules.groups.get(product);
    let verdict = file.rules.rules.decide(group, path);
    let (action, reason) = match verdict.allowed {
        true => (Action::Allow, Reason::Allowed),
        false => (Action::Deny, Reason::RobotsDisallowed),
    };
    PolicyVerdict { action, reason, line: verdict.line, source: Source::Robots(file, group) }
}

fn by_preferences<'r>(
    ruleset: &Ruleset,
    policy: &'r PreferencesPolicy,
    agent: Option<AgentId>,
    path: RequestPath<'_>,
    request: &impl Request,
) -> PolicyVerdict<'r> {
    let asked = automation_preferences::AccessRequest {
        agent: policy.file.rules.agents.get(ruleset.product_of(agent)),
        host: RequestHost::new(request.authority().unwrap_or_default()),
        path,
        method: request.method(),
    };
    let purposes = || {
        let judged = Purposes::judged(ruleset, Some(policy), agent, request);
        judged.into_iter().flat_map(Purposes::iter).map(str::as_bytes)
    };
    let verdict = policy.file.rules.rules.decide(&asked, purposes, policy.undeclared);
    let (action, reason) = match verdict.map(|verdict| verdict.outcome) {
        None | Some(Outcome::Allowed) => (Action::Allow, Reason::Allowed),
        Some(Outcome::MethodNotAllowed) => (Action::Deny, Reason::MethodNotAllowed),
        Some(Outcome::PurposeNotAllowed) => (Action::Deny, Reason::PurposeNotAllowed),
    };
    let source = Source::Preferences(policy, verdict.map(|verdict| verdict.group));
    PolicyVerdict { action, reason, line: verdict.map(|verdict| verdict.line), source }
}
