//! A decision for people to read: what was found out about the request, step by step.
//!
//! Nothing is decided here: each line shows a part of the decision, or what the ruleset says when asked for it.

use std::fmt;

use crawlward_core::config::Mode;
use crawlward_core::decision::{Action, Decision, Facts, Identity};
use crawlward_core::{PolicyVerdict, Ruleset, is_always_readable};

use crate::request::DescribedRequest;

/// A decision with all that led to it.
pub(crate) struct Trace<'r> {
    pub(crate) ruleset: &'r Ruleset,
    pub(crate) request: &'r DescribedRequest,
    /// What the ruleset decided about the request.
    pub(crate) decision: &'r Decision,
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.ruleset.describe(self.decision, self.request);
        summary(f, &facts)?;
        if self.ruleset.mode() == Mode::Off {
            return writeln!(f, "\nThe mode is `off`: requests are not looked at.");
        }
        let DescribedRequest { address, method, path, .. } = self.request;
        writeln!(f, "\nrequest   {method} {}", path.escape_ascii())?;
        self.site(f, &facts)?;
        writeln!(f, "mode      {}", self.ruleset.mode())?;
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
        for verdict in self.ruleset.verdicts(self.decision, self.request).into_iter().flatten() {
            let PolicyVerdict { action, reason, rule } = verdict;
            writeln!(f, "policy    {}:{} says {action}, {reason}", rule.file, rule.line)?;
        }
        write!(f, "action    {}, {}: {}", facts.action, facts.reason, facts.reason.detail())?;
        match facts.rule {
            Some(rule) => writeln!(f, " ({}:{})", rule.file, rule.line),
            None if is_always_readable(path) => writeln!(f, " (This path is never denied.)"),
            None => writeln!(f),
        }
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

impl Trace<'_> {
    fn site(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        match facts.site {
            Some(site) => writeln!(f, "site      {site}"),
            None => writeln!(f, "site      none names the host: the defaults of a site hold"),
        }
    }

    fn claim(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let Some(agent) = facts.agent else { return writeln!(f, "claim     none") };
        write!(f, "claim     {agent}, ")?;
        let feeds: Vec<&str> = self.ruleset.feeds_of(agent).collect();
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

    fn has_unusable_feed(&self, token: &str) -> bool {
        self.ruleset.agents().any(|agent| agent.token == token && agent.has_unusable_feed)
    }
}
