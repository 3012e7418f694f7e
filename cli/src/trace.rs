//! A decision for people to read, step by step.
//!
//! Nothing is decided here: each line shows a part of the decision, a step that the core traced while it decided, or what
//! the ruleset contains.

use std::fmt;

use crawlpike_core::{
    Action, AgentAction, Decision, DocumentProspect, Facts, FeedFormat, FeedState, Identity, Mode,
    PolicyVerdict, Proof, SignatureResult,
};
use crawlpike_core::{
    Position, PurposeSource, Reason, Request, Ruleset, Spelling, Step, UsagePart, UsageStatement,
};

use crate::names::NameReport;
use crate::request::DescribedRequest;
use crate::usage::SEARCH_NOTE;

/// A decision with all that led to it.
pub(crate) struct Trace<'r> {
    pub(crate) ruleset: &'r Ruleset,
    pub(crate) request: &'r DescribedRequest,
    /// The decision about the request.
    pub(crate) decision: &'r Decision,
    /// The steps that led to it.
    pub(crate) steps: &'r [Step<'r>],
    /// The result of the lookup of the address's name, if there was one.
    pub(crate) names: Option<&'r NameReport>,
    /// The form of the page in the response, if that was asked for.
    pub(crate) document: Option<DocumentProspect>,
}

impl fmt::Display for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.ruleset.describe_with_usage(self.decision, self.request);
        summary(f, &facts)?;
        let DescribedRequest { address, method, path, .. } = self.request;
        writeln!(f, "\nrequest   {method} {}", path.escape_ascii())?;
        self.site(f, &facts)?;
        let (modes, others): (Vec<&Step<'_>>, Vec<&Step<'_>>) =
            self.steps.iter().partition(|step| matches!(step, Step::Mode(..) | Step::Share { .. }));
        let (signatures, others): (Vec<&Step<'_>>, Vec<&Step<'_>>) =
            others.into_iter().partition(|step| matches!(step, Step::Signature { .. }));
        modes.into_iter().try_for_each(|step| self.step(f, step, &facts))?;
        if matches!(self.steps.first(), Some(Step::Mode(Mode::Off, ..))) {
            return writeln!(f, "\nThe mode is `off`: requests pass unchecked.");
        }
        writeln!(f, "address   {address}")?;
        let mut is_known = false;
        for finding in self.ruleset.lookup(*address) {
            write!(f, "          in {finding}")?;
            self.agents_of(f, finding.feed)?;
            is_known = true;
        }
        if !is_known {
            writeln!(f, "          in no feed")?;
        }
        signatures.into_iter().try_for_each(|step| self.step(f, step, &facts))?;
        self.claim(f, &facts)?;
        self.names(f, &facts)?;
        write!(f, "identity  {}: ", facts.identity)?;
        self.identity(f, &facts)?;
        self.purpose(f, &facts)?;
        others.iter().try_for_each(|step| self.step(f, step, &facts))?;
        overridden(f, &others)?;
        write!(f, "action    {}, {}: {}", facts.action, facts.reason, facts.reason.detail())?;
        match facts.rule {
            Some(rule) => writeln!(f, " ({}:{})", rule.file, rule.line)?,
            None => writeln!(f)?,
        }
        self.usage(f, &facts)?;
        self.response(f, &facts)?;
        self.document.map_or(Ok(()), |document| show_document(f, document))
    }
}

fn show_document(f: &mut fmt::Formatter<'_>, document: DocumentProspect) -> fmt::Result {
    match document {
        DocumentProspect::NotOffered => {
            writeln!(f, "document  none: no document is offered for this request")
        }
        DocumentProspect::NotWanted => {
            writeln!(f, "document  none: the request does not prefer a document to the page")
        }
        DocumentProspect::Sent(form) => writeln!(
            f,
            "document  {}, unless the page itself prevents it: `crawlpike aiwebindex document --why` reads it",
            form.as_str()
        ),
        DocumentProspect::Refused(why) => writeln!(f, "document  none: {why}, so the page is sent as it is"),
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

/// The effect of an agent's action on the request.
fn effect(action: AgentAction, facts: &Facts<'_>) -> &'static str {
    match action {
        AgentAction::Policy => "the site's policy decides",
        AgentAction::Deny => "it is denied",
        AgentAction::Allow if facts.identity == Identity::Verified => "it is verified, so no policy applies",
        AgentAction::Allow => "it is not verified, so the site's policy decides",
    }
}

/// The verdict of a policy file, with the line that decides.
fn policy(f: &mut fmt::Formatter<'_>, verdict: &PolicyVerdict<'_>) -> fmt::Result {
    write!(f, "policy    {}", verdict.file())?;
    let Some(group) = verdict.group() else {
        return writeln!(f, ": no group applies to the request");
    };
    write!(f, ", {group}: ")?;
    let verb = if verdict.action == Action::Deny { "denies" } else { "allows" };
    match (verdict.line, verdict.text()) {
        (Some(line), Some(text)) => writeln!(f, "line {line} {verb} it: `{}`", text.escape_debug()),
        _ => writeln!(f, "no rule matches the path, so it is allowed"),
    }
}

/// The permission that a stricter policy overrides.
fn overridden(f: &mut fmt::Formatter<'_>, steps: &[&Step<'_>]) -> fmt::Result {
    let [.., Step::Policy(first), Step::Policy(second)] = steps else { return Ok(()) };
    if second.action != Action::Deny {
        return Ok(());
    }
    writeln!(f, "          {} is stricter than {}, and the stricter file counts", second.file(), first.file())
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
                    let resolved = self.path_in(spelling);
                    write!(f, "; a server may resolve the path to {resolved}, and the stricter mode counts")?;
                }
                writeln!(f)
            }
            Step::Signature { result, is_long_lived } => {
                let life = if is_long_lived { "; it lives longer than 24 hours" } else { "" };
                writeln!(f, "signature {result}: {}{life}", result.detail())
            }
            Step::Share { percent, is_enforced_on } => {
                let this = if is_enforced_on { "is" } else { "is not" };
                writeln!(f, "          enforced for {percent}% of the addresses; this one {this} among them")
            }
            Step::MisplacedToken(token) => {
                writeln!(
                    f,
                    "          the token {token} counts only where a User-Agent begins with it [AIWI-1]"
                )
            }
            Step::Exempt(exemption) => {
                writeln!(f, "exempt    {}", self.ruleset.exempt_info(exemption, facts.site))
            }
            Step::Treatment { identity, treatment, position } => {
                write!(f, "setting   `{identity}` is `{treatment}`")?;
                match position {
                    Some(Position { line, .. }) => writeln!(f, ", set in line {line} of the document"),
                    None => writeln!(f, " by default"),
                }
            }
            Step::UndeclaredAutomation => {
                writeln!(
                    f,
                    "          the User-Agent is that of automation, so the policy decides, not `undeclared`"
                )
            }
            Step::Agent(action) => {
                writeln!(f, "agent     its action is `{action}`: {}", effect(action, facts))
            }
            Step::Place(treatment) => {
                let place = facts.region.or(facts.country).unwrap_or("unknown");
                writeln!(f, "place     {place}: a `geo` rule of the site says `{treatment}`")
            }
            Step::Spelling(Spelling::Page) => {
                let page = self.path_in(Spelling::Page);
                writeln!(f, "path      it asks for the markdown of {page}, so that path must be allowed, too")
            }
            Step::Spelling(spelling) => {
                let resolved = self.path_in(spelling);
                writeln!(
                    f,
                    "path      a server may resolve it to {resolved}, so that path must be allowed, too"
                )
            }
            Step::Policy(verdict) => policy(f, &verdict),
            Step::AlwaysReadable(reason) => {
                writeln!(f, "          {reason} does not apply: this path is never denied")
            }
        }
    }

    /// The agents that an IP-range feed can verify.
    fn agents_of(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        let now = self.request.now();
        let feed = self.ruleset.feeds(now).find(|feed| feed.name == name);
        match &feed {
            Some(feed) if feed.state == FeedState::Stale => return writeln!(f, " (stale)"),
            Some(feed) if feed.format != FeedFormat::Geofeed => {}
            _ => return writeln!(f),
        }
        let agents = self.ruleset.agents().map(|agent| agent.token);
        let agents: Vec<&str> =
            agents.filter(|token| self.ruleset.feeds_of(token, now).any(|feed| feed == name)).collect();
        match &*agents {
            [] if feed.is_some_and(|feed| feed.exempts) => writeln!(f, " (a feed that exempts clients)"),
            [] => writeln!(f, " (a feed of no agent)"),
            [first, others @ ..] if others.len() > 3 => {
                writeln!(f, " (a feed of {first} and {} other agents)", others.len())
            }
            agents => writeln!(f, " (a feed of {})", agents.join(", ")),
        }
    }

    /// The purpose of the request, and where it comes from.
    fn purpose(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let header = self.ruleset.purpose_header();
        if let Some(purposes) = facts.purpose {
            return match purposes.source() {
                PurposeSource::Header => writeln!(f, "purpose   {purposes}, declared in `{header}`"),
                PurposeSource::UserAgent => writeln!(f, "purpose   {purposes}, declared in the User-Agent"),
                PurposeSource::Agent => {
                    let agent = facts.agent.unwrap_or("the agent");
                    writeln!(f, "purpose   none is declared; {agent} is known for {purposes}")
                }
            };
        }
        if facts.reason != Reason::PurposeNotAllowed {
            return Ok(());
        }
        match self.request.header(header) {
            Some(_) => {
                writeln!(f, "purpose   none: `{header}` is not a single token, and none is known")
            }
            None => writeln!(f, "purpose   none is declared, and none is known"),
        }
    }

    /// The path of the request in another spelling.
    fn path_in(&self, spelling: Spelling) -> String {
        spelling.of(&self.request.path).escape_ascii().to_string()
    }

    fn site(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        match facts.site {
            Some(site) => writeln!(f, "site      {site}"),
            None => writeln!(f, "site      no site for this host; using the defaults"),
        }
    }

    fn claim(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let Some(agent) = facts.agent else { return writeln!(f, "claim     none") };
        if self.is_signed() {
            return writeln!(f, "claim     {agent}, whose key the signature names");
        }
        write!(f, "claim     {agent}, which ")?;
        let feeds: Vec<&str> = self.ruleset.feeds_of(agent, self.request.now()).collect();
        match &*feeds {
            [] => write!(f, "no feed can verify at the moment")?,
            [feed] => write!(f, "the feed {feed} can verify")?,
            feeds => write!(f, "these feeds can verify: {}", feeds.join(", "))?,
        }
        match self.ruleset.keys_of(agent, self.request.now()) {
            0 => writeln!(f),
            _ => writeln!(f, "; a signature by one of its keys can verify it"),
        }
    }

    /// The names of the address, or who could be asked for them.
    fn names(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        if let Some(report) = self.names {
            return report.lines.iter().try_for_each(|line| writeln!(f, "name      {line}"));
        }
        let lookup = self.ruleset.name_lookup(self.decision, self.request, None);
        let Some(agent) = facts.agent.filter(|_| lookup.is_some()) else { return Ok(()) };
        let domains: Vec<&str> = self.ruleset.domains_of(agent).collect();
        writeln!(
            f,
            "name      not looked up; one in {} can verify {agent}: use --resolve",
            domains.join(", ")
        )
    }

    /// Returns true if the identity rests on a signature, right or wrong.
    fn is_signed(&self) -> bool {
        matches!(self.decision.signature(), Some(SignatureResult::Verified | SignatureResult::BadSignature))
    }

    fn identity(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let agent = facts.agent.unwrap_or("the agent");
        let feed = facts.feed.unwrap_or("a feed");
        match facts.identity {
            Identity::Verified if self.is_signed() => writeln!(f, "a key of {agent} signed the request"),
            Identity::Spoofed if self.is_signed() => {
                writeln!(f, "the signature names a key of {agent}, which did not sign this request")
            }
            Identity::Verified if facts.proof == Some(Proof::Rdns) => {
                writeln!(f, "a name of the address is one of {agent}'s, and has the address")
            }
            Identity::Verified => writeln!(f, "the feed {feed} has the address for {agent}"),
            Identity::Spoofed => {
                writeln!(f, "all ranges of {agent} are known, and the address is in none of them")
            }
            Identity::Unverified => {
                write!(f, "no feed has the address for {agent}")?;
                let doubts = self.ruleset.doubts(agent, self.request.address(), self.request.now());
                doubts.iter().try_for_each(|doubt| write!(f, "; {doubt}"))?;
                writeln!(f)
            }
            Identity::Undeclared => {
                writeln!(f, "the User-Agent claims no agent, but the feed {feed} has the address")
            }
            Identity::Generic => writeln!(
                f,
                "the User-Agent claims no agent, but is that of automation; no IP-range feed has the address"
            ),
            Identity::None => writeln!(f, "nothing indicates an automated client"),
        }
    }

    /// The preferences of the site about the usage of the page, and the lines that say so.
    fn usage(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let parts = self.ruleset.usage_parts(self.decision, self.request);
        match (facts.usage, &*parts) {
            (Some(statement), _) => writeln!(f, "usage     {statement}")?,
            (None, [_, ..]) => writeln!(f, "usage     no preference is known")?,
            (None, []) => {}
        }
        for UsagePart { rule, statement, text } in &parts {
            match text {
                Some(text) => writeln!(f, "          {rule}: `{}`", text.escape_debug())?,
                None => writeln!(f, "          {rule}: {statement}")?,
            }
        }
        if facts.usage.is_some_and(UsageStatement::allows_search) {
            writeln!(f, "          {SEARCH_NOTE}")?;
        }
        for (token, rule) in self.ruleset.reserved_groups(self.decision) {
            writeln!(
                f,
                "          {rule}: the group of {token} is not an agent's, and decides nothing [USE-11]"
            )?;
        }
        Ok(())
    }

    /// The header that the site adds to the response, and its effect for this client.
    fn response(&self, f: &mut fmt::Formatter<'_>, facts: &Facts<'_>) -> fmt::Result {
        let Some(value) = facts.robots_tag else { return Ok(()) };
        writeln!(f, "response  Robots-Tag: {value}")?;
        let Some((token, rules)) = self.ruleset.effective_rules(self.decision) else { return Ok(()) };
        let who = token.unwrap_or("crawlers that it does not name");
        let rules = if rules.is_empty() { "no rules".into() } else { String::from_utf8_lossy(&rules) };
        writeln!(f, "          for {who}: {rules}")
    }
}
