//! The decision about one request.

use alloc::format;
use alloc::string::String;

use crate::decide::public_resource::PublicResource;
use crate::identity::{Evidence, Identity, Proof, SignatureResult};
use crate::ids::{AgentId, SiteId, ValueId};
use crate::json::typed::json_words;
use crate::policy::robots_tag::UnionId;

json_words! {
    /// What is to be done with the request.
    pub enum Action {
        /// Let it through.
        Allow = "allow",
        /// Answer with [`Decision::status`] and a problem document.
        Deny = "deny",
        /// Answer with a policy of the site.
        Serve = "serve",
    }
}

json_words! {
    /// Why.
    pub enum Reason {
        /// The request counts as that of a person: nothing says otherwise, or the site takes it for one.
        NotAutomated = "not-automated",
        /// Every step allowed it.
        Allowed = "allowed",
        /// The agent's action is `allow`, and the agent is verified.
        AgentAllowed = "agent-allowed",
        /// The site denies clients that claim an agent from an address that is not the agent's.
        SpoofedAgent = "spoofed-agent",
        /// The site denies clients whose signature names a key of an agent that did not sign the request.
        BadSignature = "bad-signature",
        /// The site denies clients whose claim can't be verified.
        UnverifiedAgent = "unverified-agent",
        /// The site denies clients that claim no agent from an address of an IP-range feed.
        UndeclaredAgent = "undeclared-agent",
        /// The agent's action is `deny`.
        AgentDenied = "agent-denied",
        /// The site denies clients from the place where the address is used.
        GeoDenied = "geo-denied",
        /// The site's robots.txt disallows the path.
        RobotsDisallowed = "robots-disallowed",
        /// The site's automation-preferences.txt does not allow the method.
        MethodNotAllowed = "method-not-allowed",
        /// The site's automation-preferences.txt does not allow the purpose.
        PurposeNotAllowed = "purpose-not-allowed",
        /// The Host of an automated client is no host name.
        InvalidHost = "invalid-host",
        /// The path is that of a policy that the site serves.
        Served = "served",
    }
}

impl Reason {
    /// The status of a denial for this reason.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::InvalidHost => 400,
            _ => FORBIDDEN,
        }
    }

    /// One sentence for the person who operates the client that was denied.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::NotAutomated => "The request counts as that of a person.",
            Self::Allowed => "Every step allowed the request.",
            Self::AgentAllowed => "This site allows the verified agent.",
            Self::SpoofedAgent => {
                "The User-Agent claims an agent whose operator does not publish this address as the agent's."
            }
            Self::BadSignature => {
                "The signature names a key that is published, and does not match the request as it arrived."
            }
            Self::UnverifiedAgent => "The User-Agent claims an agent, and the claim can't be verified.",
            Self::UndeclaredAgent => {
                "The address belongs to an operator of automated clients, and the User-Agent names none of them."
            }
            Self::AgentDenied => "This site does not admit the agent that the User-Agent claims.",
            Self::GeoDenied => "This site does not admit automated clients from where this address is used.",
            Self::RobotsDisallowed => "This site's /robots.txt disallows the path.",
            Self::MethodNotAllowed => {
                "This site's /automation-preferences.txt does not allow the method here."
            }
            Self::PurposeNotAllowed => {
                "This site's /automation-preferences.txt does not allow the purpose here, or none is declared."
            }
            Self::InvalidHost => "The Host of the request is not a host name (RFC 9110 7.2).",
            Self::Served => "The path is that of a policy that this site serves.",
        }
    }
}

/// The status of denials, in whose place an operator may have put another one.
pub(crate) const FORBIDDEN: u16 = 403;

/// What was decided about one request, in a few machine words; [`crate::Ruleset::describe`] gives it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What is to be done, were the decision enforced.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// How well the claim holds.
    pub identity: Identity,
    /// False where the mode is `observe`: then `action` tells what would have been done.
    pub enforced: bool,
    /// The mode is `off`: nobody looked who the client is.
    pub(crate) ignored: bool,
    pub(crate) rule: Option<RuleRef>,
    pub(crate) agent: Option<AgentId>,
    pub(crate) evidence: Option<Evidence>,
    pub(crate) signature: Option<SignatureResult>,
    pub(crate) place: Option<ValueId>,
    pub(crate) site: Option<SiteId>,
    /// What the gate serves, where the action is [`Action::Serve`].
    pub(crate) served: Option<PublicResource>,
    /// The number of the site's Robots-Tag rules for the path; `None`: responses are left as they are.
    pub(crate) tag: Option<UnionId>,
}

/// Which of a site's policies a rule stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicyKind {
    Robots,
    AutomationPreferences,
}

/// A rule that decided, before it has the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleRef {
    pub(crate) file: PolicyKind,
    pub(crate) line: u32,
}

impl Decision {
    /// Whether the mode is `off`: nobody looked who the client is.
    pub fn is_off(&self) -> bool {
        self.ignored
    }

    /// Whether the gate answers the request itself, with [`crate::Ruleset::reply`].
    pub fn is_answered(&self) -> bool {
        self.action != Action::Allow && self.enforced
    }

    /// The status of a denial; `None` where the request goes on.
    pub fn status(&self) -> Option<u16> {
        (self.action == Action::Deny).then_some(self.reason.status())
    }

    /// What a proxy's access log is to tell of the response that the gate sent: `crawlpike_denied[robots-disallowed]`,
    /// as Envoy's RBAC filter writes `rbac_access_denied_matched_policy[name]`.
    pub fn response_details(&self) -> String {
        match self.action {
            Action::Deny => format!("crawlpike_denied[{}]", self.reason),
            Action::Allow | Action::Serve => format!("crawlpike_{}", self.reason),
        }
    }

    /// What came of the request's signatures; `None` where it has none, or where nobody looked.
    pub fn signature(&self) -> Option<SignatureResult> {
        self.signature
    }

    /// What verified the agent.
    pub fn proof(&self) -> Option<Proof> {
        self.evidence.filter(|_| self.identity == Identity::Verified).map(Evidence::proof)
    }
}
