//! The variables, each with the fact that it shows.

use std::net::IpAddr;

use crawlward_core::decision::Facts;

/// How a variable's value is taken from a decision and the client's address; `None`: not found.
pub(crate) type Value = fn(&Facts<'_>, Option<IpAddr>) -> Option<String>;

/// A variable.
pub(crate) struct Variable {
    /// Its name, without the `$`.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: Value,
}

/// All of them.
pub(crate) const VARIABLES: &[Variable] = &[
    Variable { name: "crawlward_action", value: |facts, _| Some(facts.action.to_string()) },
    Variable { name: "crawlward_enforced", value: |facts, _| Some(u8::from(facts.enforced).to_string()) },
    Variable { name: "crawlward_reason", value: |facts, _| Some(facts.reason.to_string()) },
    Variable { name: "crawlward_identity", value: |facts, _| Some(facts.identity.to_string()) },
    Variable { name: "crawlward_proof", value: |facts, _| facts.proof.map(|proof| proof.to_string()) },
    Variable { name: "crawlward_agent", value: |facts, _| facts.agent.map(str::to_owned) },
    Variable { name: "crawlward_feed", value: |facts, _| facts.feed.map(str::to_owned) },
    Variable { name: "crawlward_service", value: |facts, _| facts.service.map(str::to_owned) },
    Variable { name: "crawlward_purpose", value: |facts, _| facts.purpose.map(str::to_owned) },
    Variable { name: "crawlward_country", value: |facts, _| facts.country.map(str::to_owned) },
    Variable { name: "crawlward_region", value: |facts, _| facts.region.map(str::to_owned) },
    Variable { name: "crawlward_city", value: |facts, _| facts.city.map(str::to_owned) },
    Variable { name: "crawlward_rule", value: |facts, _| facts.rule.map(|rule| rule.to_string()) },
    Variable { name: "crawlward_rate_key", value: |facts, address| facts.rate_key(address) },
];
