//! The words that stand for a setting.

use crate::json::typed::json_words;

json_words! {
    /// The use that is made of decisions.
    #[derive(Default)]
    pub enum Mode {
        /// Decide, log and count, but let every request through.
        #[default]
        Observe = "observe",
        /// Deny what is decided to be denied.
        Enforce = "enforce",
        /// Look at nothing.
        Off = "off",
    }
}

impl Mode {
    /// The greater, the more can be denied.
    pub(crate) fn strictness(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::Observe => 1,
            Self::Enforce => 2,
        }
    }
}

json_words! {
    /// The treatment of a class of identities by a site.
    pub enum Treatment {
        /// Deny with 403.
        Deny = "deny",
        /// Go on to the agent's action and the site's policy.
        Policy = "policy",
        /// Allow without further steps.
        Allow = "allow",
    }
}

json_words! {
    /// The action for an agent, whatever the site.
    #[derive(Default)]
    pub enum AgentAction {
        /// The site's policy decides.
        #[default]
        Policy = "policy",
        /// Skip the policy once the agent is verified.
        Allow = "allow",
        /// Deny every request that claims the agent.
        Deny = "deny",
    }
}

json_words! {
    /// The completeness of an agent's published ranges.
    #[derive(Default)]
    pub enum Ranges {
        /// All of it: an address outside is an impostor's.
        #[default]
        Complete = "complete",
        /// It also runs on its users' own machines: an address outside says nothing.
        Partial = "partial",
    }
}

json_words! {
    /// A single fact of a decision, by its key in the JSON decision, or of the client of any request.
    pub enum Fact {
        /// See [`crate::Facts::action`].
        Action = "action",
        /// See [`crate::Facts::status`].
        Status = "status",
        /// See [`crate::Facts::reason`].
        Reason = "reason",
        /// See [`crate::Facts::identity`].
        Identity = "identity",
        /// See [`crate::Facts::agent`].
        Agent = "agent",
        /// See [`crate::Facts::feed`].
        Feed = "feed",
        /// See [`crate::Facts::service`].
        Service = "service",
        /// See [`crate::Facts::country`].
        Country = "country",
        /// See [`crate::Facts::region`].
        Region = "region",
        /// See [`crate::Facts::city`].
        City = "city",
        /// See [`crate::Facts::site`].
        Site = "site",
        /// See [`crate::Facts::purpose`].
        Purpose = "purpose",
        /// See [`crate::Facts::rule`].
        Rule = "rule",
        /// See [`crate::Facts::robots_tag`].
        RobotsTag = "robots_tag",
        /// See [`crate::Facts::usage`].
        Usage = "usage",
        /// See [`crate::Facts::proof`].
        Proof = "proof",
        /// See [`crate::Facts::enforced`].
        Enforced = "enforced",
        /// See [`crate::ClientFacts::network`].
        Network = "network",
        /// See [`crate::ClientFacts::asn`].
        Asn = "asn",
        /// See [`crate::ClientFacts::as_name`].
        AsName = "as_name",
        /// See [`crate::ClientFacts::as_kind`].
        AsKind = "as_kind",
        /// See [`crate::ClientFacts::costly`].
        Costly = "costly",
        /// See [`crate::ClientFacts::browser`].
        Browser = "browser",
        /// See [`crate::ClientFacts::fingerprint`].
        Fingerprint = "fingerprint",
        /// See [`crate::ClientFacts::crowd_key`].
        CrowdKey = "crowd_key",
    }
}

impl Fact {
    /// Returns true if it is a fact of the client of any request, people included.
    pub fn is_of_client(self) -> bool {
        matches!(
            self,
            Self::Network
                | Self::Asn
                | Self::AsName
                | Self::AsKind
                | Self::Costly
                | Self::Browser
                | Self::Fingerprint
                | Self::CrowdKey
        )
    }
}
