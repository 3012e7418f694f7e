//! The reasons of decisions: their names, their sentences, their statuses, and the problem document of a denial.
//!
//! The ruleset keeps a document for each reason, so this module is below it and knows no ruleset. `decide` chooses the
//! reason, and `response` sends the document.

pub(crate) mod problem;

use core::fmt;

use serde::Serialize;

use crate::json::typed::json_words;

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
        /// The site's usage preferences disallow all that the client is known to fetch for.
        UsageDisallowed = "usage-disallowed",
        /// The Host of an automated client is not a host name.
        InvalidHost = "invalid-host",
        /// The path is that of a policy that the site serves.
        Served = "served",
        /// The configuration allows clients from the address whatever they say.
        Exempt = "exempt",
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
            Self::UsageDisallowed => {
                "This site's usage preferences disallow each purpose for which the client is known to fetch."
            }
            Self::InvalidHost => "The Host of the request is not a host name (RFC 9110 7.2).",
            Self::Served => "The path is that of a policy that this site serves.",
            Self::Exempt => "This site allows clients from this address whatever they say.",
        }
    }
}

/// The status of denials, in whose place an operator may have put another one.
pub(crate) const FORBIDDEN: u16 = 403;

/// The status of denials that a gate may not repeat a second later.
pub(crate) const UNAVAILABLE: u16 = 503;

/// The line of a policy that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Rule<'r> {
    /// The file, as the configuration names it.
    pub file: &'r str,
    /// The line, from 1.
    pub line: u32,
}

/// As logs show it: `robots.txt:4`.
impl fmt::Display for Rule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
