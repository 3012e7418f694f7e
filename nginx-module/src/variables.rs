//! The variables.

use std::net::IpAddr;

use crawlward_core::{Fact, Facts};

/// What a variable shows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variable {
    Fact(Fact),
    /// `0` or `1`, as is usual in nginx.
    Enforced,
    RateKey,
}

pub(crate) const VARIABLES: &[(&str, Variable)] = &[
    ("crawlward_action", Variable::Fact(Fact::Action)),
    ("crawlward_enforced", Variable::Enforced),
    ("crawlward_reason", Variable::Fact(Fact::Reason)),
    ("crawlward_identity", Variable::Fact(Fact::Identity)),
    ("crawlward_proof", Variable::Fact(Fact::Proof)),
    ("crawlward_agent", Variable::Fact(Fact::Agent)),
    ("crawlward_feed", Variable::Fact(Fact::Feed)),
    ("crawlward_service", Variable::Fact(Fact::Service)),
    ("crawlward_purpose", Variable::Fact(Fact::Purpose)),
    ("crawlward_country", Variable::Fact(Fact::Country)),
    ("crawlward_region", Variable::Fact(Fact::Region)),
    ("crawlward_city", Variable::Fact(Fact::City)),
    ("crawlward_rule", Variable::Fact(Fact::Rule)),
    ("crawlward_rate_key", Variable::RateKey),
];

impl Variable {
    /// The value, from a decision and the client's address. `None`: not found.
    pub(crate) fn value(self, facts: &Facts<'_>, address: Option<IpAddr>) -> Option<String> {
        match self {
            Self::Fact(fact) => facts.text(fact).map(Into::into),
            Self::Enforced => Some(u8::from(facts.enforced).to_string()),
            Self::RateKey => facts.rate_key(address),
        }
    }
}
