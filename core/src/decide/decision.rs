//! The decision about one request.

use alloc::format;
use alloc::string::String;

use crate::decide::public_resource::PublicResource;
use crate::identity::{Doubt, Evidence, Identity, Proof, SignatureResult};
use crate::ids::{AgentId, SiteId, ValueId};
use crate::json::typed::json_words;
use crate::policy::PolicyKind;
use crate::policy::robots_tag::UnionId;
use crate::reason::{Reason, UNAVAILABLE};
use crate::ruleset::usage::SentUsage;

json_words! {
    /// The action for the request.
    pub enum Action {
        /// Let it through.
        Allow = "allow",
        /// Answer with [`Decision::status`] and a problem document.
        Deny = "deny",
        /// Answer with a policy of the site.
        Serve = "serve",
    }
}

/// The result of deciding about one request, in a few machine words; [`crate::Ruleset::describe`] gives it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The action, if the decision is enforced.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The identity of the client.
    pub identity: Identity,
    /// False in the mode `observe`: `action` is then the action that the mode `enforce` would take.
    pub enforced: bool,
    /// The mode is `off`: nobody looked who the client is.
    pub(crate) ignored: bool,
    pub(crate) rule: Option<RuleRef>,
    pub(crate) agent: Option<AgentId>,
    pub(crate) evidence: Option<Evidence>,
    /// The reason why a claim without a proof is not called a forgery, if the client is unverified.
    pub doubt: Option<Doubt>,
    pub(crate) signature: Option<SignatureResult>,
    pub(crate) place: Option<ValueId>,
    pub(crate) site: Option<SiteId>,
    /// The resource that the gate serves if the action is [`Action::Serve`].
    pub(crate) served: Option<PublicResource>,
    /// The number of the site's Robots-Tag rules for the path; `None`: responses are left as they are.
    pub(crate) tag: Option<UnionId>,
    /// The statement that the response gets; `None`: none, and that of the upstream stays as it is.
    pub(crate) usage: Option<SentUsage>,
}

/// A rule that decided, before it has the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleRef {
    pub(crate) file: PolicyKind,
    pub(crate) line: u32,
}

impl Decision {
    /// Returns true if the mode is `off`: nobody looked who the client is.
    pub fn is_off(&self) -> bool {
        self.ignored
    }

    /// Returns true if the gate answers the request itself, with [`crate::Ruleset::reply`].
    pub fn is_answered(&self) -> bool {
        self.action != Action::Allow && self.enforced
    }

    /// The status of a denial; `None` where the request goes on.
    pub fn status(&self) -> Option<u16> {
        let status = if self.is_passing() { UNAVAILABLE } else { self.reason.status() };
        (self.action == Action::Deny).then_some(status)
    }

    /// Returns true if it denies a client that may be verified a second later.
    pub(crate) fn is_passing(&self) -> bool {
        self.reason == Reason::UnverifiedAgent && self.doubt.is_some_and(Doubt::is_passing)
    }

    /// The details of the gate's response for a proxy's access log: `crawlpike_denied[robots-disallowed]`,
    /// as Envoy's RBAC filter writes `rbac_access_denied_matched_policy[name]`.
    pub fn response_details(&self) -> String {
        match self.action {
            Action::Deny => format!("crawlpike_denied[{}]", self.reason),
            Action::Allow | Action::Serve => format!("crawlpike_{}", self.reason),
        }
    }

    /// The result of the request's signatures; `None` if it has none, or if they were not examined.
    pub fn signature(&self) -> Option<SignatureResult> {
        self.signature
    }

    /// The proof that verified the agent.
    pub fn proof(&self) -> Option<Proof> {
        self.evidence.filter(|_| self.identity == Identity::Verified).map(Evidence::proof)
    }
}
