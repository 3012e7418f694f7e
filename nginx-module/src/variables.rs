//! The variables.

use std::net::IpAddr;

use crawlpike_core::{Fact, Facts};

/// The content of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variable {
    Fact(Fact),
    /// `0` or `1`, as is usual in nginx.
    Enforced,
    RateKey,
    /// The result of a request for a document, whoever asks.
    Document,
    /// A fact about the client, which people have, too.
    Client(Fact),
}

pub(crate) const VARIABLES: &[(&str, Variable)] = &[
    ("crawlpike_action", Variable::Fact(Fact::Action)),
    ("crawlpike_enforced", Variable::Enforced),
    ("crawlpike_reason", Variable::Fact(Fact::Reason)),
    ("crawlpike_identity", Variable::Fact(Fact::Identity)),
    ("crawlpike_proof", Variable::Fact(Fact::Proof)),
    ("crawlpike_agent", Variable::Fact(Fact::Agent)),
    ("crawlpike_feed", Variable::Fact(Fact::Feed)),
    ("crawlpike_service", Variable::Fact(Fact::Service)),
    ("crawlpike_purpose", Variable::Fact(Fact::Purpose)),
    ("crawlpike_country", Variable::Fact(Fact::Country)),
    ("crawlpike_region", Variable::Fact(Fact::Region)),
    ("crawlpike_city", Variable::Fact(Fact::City)),
    ("crawlpike_rule", Variable::Fact(Fact::Rule)),
    ("crawlpike_rate_key", Variable::RateKey),
    ("crawlpike_document", Variable::Document),
    ("crawlpike_network", Variable::Client(Fact::Network)),
    ("crawlpike_asn", Variable::Client(Fact::Asn)),
    ("crawlpike_as_name", Variable::Client(Fact::AsName)),
    ("crawlpike_as_kind", Variable::Client(Fact::AsKind)),
    ("crawlpike_costly", Variable::Client(Fact::Costly)),
    ("crawlpike_browser", Variable::Client(Fact::Browser)),
    ("crawlpike_fingerprint", Variable::Client(Fact::Fingerprint)),
    ("crawlpike_crowd_key", Variable::Client(Fact::CrowdKey)),
];

impl Variable {
    /// The value, from a decision and the client's address. `None`: not found.
    pub(crate) fn value(self, facts: &Facts<'_>, address: Option<IpAddr>) -> Option<String> {
        match self {
            Self::Fact(fact) => facts.text(fact).map(Into::into),
            Self::Enforced => Some(u8::from(facts.enforced).to_string()),
            Self::RateKey => facts.rate_key(address),
            // A decision has none of these.
            Self::Document | Self::Client(_) => None,
        }
    }
}
