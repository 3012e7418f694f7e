//! A decision for people to read: what was found out about the request, step by step.
//!
//! Nothing is decided here: each line shows a part of the decision, a step that the core told while it decided, or what
//! the ruleset says when asked for it.

use std::fmt;

use crawlward_core::config::{AgentAction, Mode};
use crawlward_core::decision::{Action, Decision, Facts, Identity};
use crawlward_core::path_spelling::{self, Spelling};
use crawlward_core::{PolicyVerdict, Request, Ruleset, Step};

use crate::request::DescribedRequest;

/// A decision with all that led to it.
pub(crate) struct Trace<'r> {
    pub(crate) ruleset: &'r Ruleset,
    pub(crate) request: &'r DescribedRequest,
    /// What the ruleset decided about the request.
    pub(crate) decision: &'r Decision,
    /// How it came to that.
    pub(crate) steps: &'r [Step<'r>],
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.ruleset.describe(self.decision, self.request);
        summary(f, &facts)?;
        let DescribedRequest { address, method, path, .. } = self.request;
        writeln!(f, "\nrequest   {method} {}", path.escape_ascii())?;
        self.site(f, &facts)?;
        let (modes, others): (Vec<_>, Vec<_>) =
            self.steps.iter().partition(|step| matches!(step, Step::Mode(..) | Step::Share { .. }));
        modes.into_iter().try_for_each(|step| self.step(f, step, &facts))?;
        if matches!(self.steps.first(), Some(Step::Mode(Mode::Off, ..))) {
            return writeln!(f, "\nThe mode is `off`: requests are not looked at.");
        }
        writeln!(f, "address   {address}")?;
        let mut is_known = false;
        for finding in self.ruleset.lookup(*address) {
            writeln!(f, "          in {finding}")?;
            is_known = true;
        }
        if !is_known {
            writeln!(f, "          in no feed")?;
        }
        self.claim(f, &facts)?;
        write!(f, "identity  {}: ", facts.identity)?;
        self.identity(f, &facts)?;
        if let Some(purpose) = facts.purpose {
            writeln!(f, "purpose   {purpose}")?;
        }
        others.iter().try_for_each(|step| self.step(f, step, &facts))?;
        overridden(f, &others)?;
        write!(f, "action    {}, {}: {}", facts.action, facts.reason, facts.reason.detail())?;
        match facts.rule {
            Some(rule) => writeln!(f, " ({}:{})", rule.file, rule.line)?,
            None => writeln!(f)?,
        }
        self.response(f, &facts)
    }
}

/// The decision in one line.
fn summary(f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
    write!(f, "{}", facts.action)?;
    if let Some(status) = facts.status {
        write!(f, " with {status}")?;
    }
    write!(f, ": {}, identity {}", facts.reason, facts.identity)?;
    if let Some(agent) = facts.agent {
        write!(f, ", agent {agent}")?;
    }
    if facts.action == Action::Deny && !facts.enforced {
        write!(f, "; not enforced: the request passes")?;
    }
    writeln!(f)
}

/// What an agent's action means for the request.
fn effect(action: AgentAction, facts: &Facts<'_>) -> &'static str {
    match action {
        AgentAction::Policy => "the site's policy decides",
        AgentAction::Deny => "it is not admitted",
        AgentAction::Allow if facts.identity == Identity::Verified => "verified, it passes by the policy",
        AgentAction::Allow => "not verified, it is under the site's policy all the same",
    }
}

/// What a policy file says, with the line's text.
fn policy(f: &mut fmt::Formatter<'_>, verdict: &PolicyVerdict<'_>) -> fmt::Result {
    write!(f, "policy    {}", verdict.file())?;
    let Some(group) = verdict.group() else {
        return writeln!(f, ": no group holds for the request");
    };
    write!(f, ", {group}: ")?;
    match (verdict.line, verdict.text()) {
        (Some(line), Some(text)) => {
            let (action, reason) = (verdict.action, verdict.reason);
            writeln!(f, "line {line}, `{}`, says {action}, {reason}", text.escape_debug())
        }
        _ => writeln!(f, "no rule matches the path, so it is allowed"),
    }
}

/// Where a policy is stricter than the one before it, that one's permission is overridden.
fn overridden(f: &mut fmt::Formatter<'_>, steps: &[&Step<'_>]) -> fmt::Result {
    let [.., Step::Policy(first), Step::Policy(second)] = steps else { return Ok(()) };
    if second.action != Action::Deny {
        return Ok(());
    }
    write!(f, "          {} allows it", first.file())?;
    if let Some(line) = first.line {
        write!(f, " in line {line}")?;
    }
    writeln!(f, "; {} is stricter, and the stricter of the two holds", second.file())
}

impl Trace<'_> {
    fn step(&self, f: &mut fmt::Formatter<'_>, step: &Step<'_>, facts: &Facts<'_>) -> fmt::Result {
        match *step {
            Step::Mode(mode, scope, spelling) => {
                write!(f, "mode      {mode}")?;
                if let Some(scope) = scope {
                    write!(f, ", set by the site for {scope}")?;
                }
                if spelling != Spelling::Sent {
                    write!(
                        f,
                        ", the stricter one: a server may take the path for {}",
                        self.path_in(spelling)
                    )?;
                }
                writeln!(f)
            }
            Step::Share { percent, is_enforced_on } => {
                let this = if is_enforced_on { "this one too" } else { "not this one" };
                writeln!(f, "          enforced on {percent} % of the addresses, {this}")
            }
            Step::Treatment(identity, treatment) => {
                let source = if facts.site.is_some() { "the site" } else { "the default" };
                writeln!(f, "setting   `{identity}` is `{treatment}`, says {source}")
            }
            Step::UndeclaredAutomation => {
                writeln!(
                    f,
                    "          its User-Agent is that of automation: the policy decides, whatever `undeclared` says"
                )
            }
            Step::Agent(action) => {
                writeln!(f, "agent     its action is `{action}`: {}", effect(action, facts))
            }
            Step::Place(treatment) => {
                let place = facts.region.or(facts.country).unwrap_or_default();
                writeln!(f, "place     {place}: a rule of the site says {treatment}")
            }
            Step::Spelling(spelling) => {
                writeln!(
                    f,
                    "path      a server may take it for {}, so that is judged, too",
                    self.path_in(spelling)
                )
            }
            Step::Policy(verdict) => policy(f, &verdict),
            Step::AlwaysReadable(reason) => {
                writeln!(f, "          {reason} does not count: this path is never denied")
            }
        }
    }

    /// The path of the request in another spelling.
    fn path_in(&self, spelling: Spelling) -> String {
        let mut room = [0; path_spelling::LONGEST];
        path_spelling::resolve(&self.request.path, spelling, &mut room).escape_ascii().to_string()
    }

    fn site(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        match facts.site {
            Some(site) => writeln!(f, "site      {site}"),
            None => writeln!(f, "site      none names the host: the defaults of a site hold"),
        }
    }

    fn claim(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let Some(agent) = facts.agent else { return writeln!(f, "claim     none") };
        write!(f, "claim     {agent}, ")?;
        let feeds: Vec<&str> = self.ruleset.feeds_of(agent, self.request.now()).collect();
        match (&*feeds, self.has_unusable_feed(agent)) {
            ([], false) => writeln!(f, "for which no feed is known"),
            ([], true) => writeln!(f, "none of whose feeds is usable"),
            (feeds, false) => writeln!(f, "proven by {}", feeds.join(", ")),
            (feeds, true) => writeln!(f, "proven by {}, and by feeds that are not usable", feeds.join(", ")),
        }
    }

    fn identity(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let agent = facts.agent.unwrap_or("the agent");
        let feed = facts.feed.unwrap_or("a feed");
        match facts.identity {
            Identity::Verified => writeln!(f, "the address is in a prefix of {feed} that proves {agent}"),
            Identity::Spoofed => {
                writeln!(
                    f,
                    "all feeds of {agent} are usable, and no prefix in them proves it for the address"
                )
            }
            Identity::Unverified if self.has_unusable_feed(agent) => {
                writeln!(f, "{agent} has a feed that is not usable, and no other proves it for the address")
            }
            Identity::Unverified => writeln!(f, "nothing could prove {agent}"),
            Identity::Undeclared => {
                writeln!(f, "the User-Agent claims no agent, and the address is in {feed}")
            }
            Identity::Generic => writeln!(
                f,
                "the User-Agent claims no agent but is that of automation, and the address is in no IP-range feed"
            ),
            Identity::None => writeln!(f, "nothing says that this is an automated client"),
        }
    }

    /// What the site adds to the response, and what that means to this client.
    fn response(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let Some(value) = facts.robots_tag else { return Ok(()) };
        writeln!(f, "response  Robots-Tag: {value}")?;
        let Some((token, rules)) = self.ruleset.effective_rules(self.decision) else { return Ok(()) };
        let who = token.unwrap_or("crawlers that it does not name");
        let rules = if rules.is_empty() { "nothing".into() } else { String::from_utf8_lossy(&rules) };
        writeln!(f, "          to {who} it says {rules}")
    }

    fn has_unusable_feed(&self, token: &str) -> bool {
        self.ruleset.has_unusable_feed(token, self.request.now())
    }
}
