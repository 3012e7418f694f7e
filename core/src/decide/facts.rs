//! A decision with its names, as logs, upstreams and people read it.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::net::{IpAddr, Ipv6Addr};

use serde::Serialize;

use crate::config::Fact;
use crate::decide::decision::{Action, Decision, PolicyKind};
use crate::decide::purpose::Purposes;
use crate::feed::FeedValue;
use crate::identity::{Evidence, Identity, Proof, acting_agent};
use crate::policy::usage::UsageStatement;
use crate::reason::{Reason, Rule};
use crate::request::Request;
use crate::ruleset::data::Ruleset;

/// A decision with its names: serialised, it is the JSON decision of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Facts<'r> {
    /// The action.
    pub action: Action,
    /// The status of a denial.
    pub status: Option<u16>,
    /// Why.
    pub reason: Reason,
    /// The identity of the client.
    pub identity: Identity,
    /// The token of the agent that the client claims.
    pub agent: Option<&'r str>,
    /// The IP-range feed on which the identity rests.
    pub feed: Option<&'r str>,
    /// The service that the feed gives for the address.
    pub service: Option<&'r str>,
    /// ISO 3166-1 alpha-2.
    pub country: Option<&'r str>,
    /// ISO 3166-2.
    pub region: Option<&'r str>,
    /// The city, as the geofeed writes it.
    pub city: Option<&'r str>,
    /// The name of the site whose policy applied.
    pub site: Option<&'r str>,
    /// The purposes that the client declares; where these are why it is denied and it declares none, those of its agent.
    pub purpose: Option<Purposes<'r>>,
    /// The line that decided.
    pub rule: Option<Rule<'r>>,
    /// The site's rules on the use of the response, as `Robots-Tag` states them.
    pub robots_tag: Option<&'r str>,
    /// The site's preferences about the usage of the page, for the client: `train-ai=n, search=y`.
    pub usage: Option<UsageStatement>,
    /// The proof that verified the agent.
    pub proof: Option<Proof>,
    /// True if the action is carried out.
    pub enforced: bool,
}

impl Ruleset {
    /// The names behind a decision that this ruleset made of this request.
    pub fn describe<'r>(&'r self, decision: &Decision, request: &'r impl Request) -> Facts<'r> {
        let site = decision.site.and_then(|id| self.sites.get(id));
        let policy = site.and_then(|site| site.preferences.as_ref());
        let purpose = match (decision.identity, decision.reason) {
            // Nothing is asked of a person's request that the decision did not need.
            (Identity::None, _) => None,
            (_, Reason::PurposeNotAllowed | Reason::UsageDisallowed) => {
                Purposes::judged(self, policy, acting_agent(self, decision.agent, decision.evidence), request)
            }
            _ => Purposes::declared(self, policy, decision.agent, request),
        };
        Facts { purpose, ..self.named(decision) }
    }

    /// As [`Self::describe`], with what the site prefers about the usage of the page. That costs a look at the path, and is asked for
    /// where it is shown.
    pub fn describe_with_usage<'r>(&'r self, decision: &Decision, request: &'r impl Request) -> Facts<'r> {
        let usage = self.usage(decision, request).filter(|usage| !usage.is_empty());
        Facts { usage, ..self.describe(decision, request) }
    }

    /// The names behind a decision, but for the purpose and the usage, which only the request can tell. They live as long as
    /// the ruleset.
    pub fn named(&self, decision: &Decision) -> Facts<'_> {
        let range = decision.evidence.and_then(Evidence::ip_range);
        let agent = decision.agent.and_then(|id| self.agents.get(id));
        let service = match range.and_then(|range| self.values.get(range.value)) {
            // Of several, the one that the agent needs.
            Some(FeedValue::Range { services }) => {
                let known = services.iter().find(|service| agent.is_some_and(|agent| agent.lists(service)));
                known.or(services.first()).map(|service| &**service)
            }
            _ => None,
        };
        let (country, region, city) = match decision.place.and_then(|place| self.values.get(place)) {
            Some(FeedValue::Place { country, region, city }) => (country.as_ref(), region, city),
            _ => (None, &None, &None),
        };
        let site = decision.site.and_then(|id| self.sites.get(id));
        Facts {
            action: decision.action,
            status: decision.status(),
            reason: decision.reason,
            identity: decision.identity,
            agent: agent.map(|agent| &*agent.token),
            feed: range.and_then(|range| self.feeds.get(range.feed)).map(|feed| &*feed.name),
            service,
            country: country.and_then(|code| core::str::from_utf8(code).ok()),
            region: region.as_deref(),
            city: city.as_deref(),
            site: site.map(|site| &*site.name),
            purpose: None,
            rule: self.rule(decision),
            robots_tag: site.and_then(|site| site.tags.ready(decision.tag?)?.text()),
            usage: None,
            proof: decision.proof(),
            enforced: decision.enforced,
        }
    }

    /// The line that decided, with the name of its file.
    pub(crate) fn rule(&self, decision: &Decision) -> Option<Rule<'_>> {
        let site = decision.site.and_then(|id| self.sites.get(id))?;
        let rule = decision.rule?;
        let file = match rule.file {
            PolicyKind::Robots => &*site.robots.as_ref()?.path,
            PolicyKind::AutomationPreferences => &*site.preferences.as_ref()?.file.path,
        };
        Some(Rule { file, line: rule.line })
    }

    /// The facts that Envoy's filter state is to show one by one. Where the client is a person, those of the client have values
    /// alone, and the list is empty where none is asked for.
    pub fn filter_state(&self, decision: &Decision) -> &[Fact] {
        if decision.identity == Identity::None && !self.client.is_shown {
            return &[];
        }
        let site = decision.site.and_then(|id| self.sites.get(id));
        site.and_then(|site| site.filter_state.as_deref()).unwrap_or(&self.filter_state)
    }
}

impl Facts<'_> {
    /// One fact as a text: that of the JSON decision without quotes, and a rule as `file:line`. `None` where it is
    /// absent.
    pub fn text(&self, fact: Fact) -> Option<Cow<'_, str>> {
        match fact {
            Fact::Action => Some(self.action.as_str().into()),
            Fact::Status => self.status.map(|status| status.to_string().into()),
            Fact::Reason => Some(self.reason.as_str().into()),
            Fact::Identity => Some(self.identity.as_str().into()),
            Fact::Agent => self.agent.map(Into::into),
            Fact::Feed => self.feed.map(Into::into),
            Fact::Service => self.service.map(Into::into),
            Fact::Country => self.country.map(Into::into),
            Fact::Region => self.region.map(Into::into),
            Fact::City => self.city.map(Into::into),
            Fact::Site => self.site.map(Into::into),
            Fact::Purpose => self.purpose.map(|purposes| purposes.to_string().into()),
            Fact::Rule => self.rule.map(|rule| rule.to_string().into()),
            Fact::RobotsTag => self.robots_tag.map(Into::into),
            Fact::Usage => self.usage.map(|usage| usage.to_string().into()),
            Fact::Proof => self.proof.map(|proof| proof.as_str().into()),
            Fact::Enforced => Some(if self.enforced { "true" } else { "false" }.into()),
            // Not of the decision: see `client_fact`.
            Fact::Network
            | Fact::Asn
            | Fact::AsName
            | Fact::AsKind
            | Fact::Costly
            | Fact::Browser
            | Fact::Fingerprint
            | Fact::CrowdKey => None,
        }
    }

    /// The key by which the client's requests are to be counted for a rate limit; `None` for people and exempt
    /// addresses.
    ///
    /// A verified agent is one client, however many addresses it has. Anybody else is counted by address (IPv6: by
    /// /64), so that nobody can use up the rate of an agent that he merely claims to be.
    pub fn rate_key(&self, address: Option<IpAddr>) -> Option<String> {
        const SUBNET: u32 = 64;
        if self.reason == Reason::Exempt {
            return None;
        }
        match (self.identity, self.agent, address.map(|address| address.to_canonical())) {
            (Identity::None, _, _) => None,
            (Identity::Verified, Some(agent), _) => Some(agent.into()),
            (_, _, Some(IpAddr::V6(v6))) => {
                let network = Ipv6Addr::from_bits(v6.to_bits() >> SUBNET << SUBNET);
                Some(format!("{network}/{SUBNET}"))
            }
            (identity, _, address) => Some(address.map_or_else(|| identity.to_string(), |v4| v4.to_string())),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::decide) const NOBODY: Facts<'_> = Facts {
        action: Action::Allow,
        status: None,
        reason: Reason::NotAutomated,
        identity: Identity::None,
        agent: None,
        feed: None,
        service: None,
        country: None,
        region: None,
        city: None,
        site: None,
        purpose: None,
        rule: None,
        robots_tag: None,
        usage: None,
        proof: None,
        enforced: true,
    };

    #[test]
    fn a_verified_agent_has_one_rate_and_nobody_can_use_it_up() {
        let address = |text: &str| Some(text.parse().unwrap());
        let of = |identity, address| Facts { identity, agent: Some("Googlebot"), ..NOBODY }.rate_key(address);
        assert_eq!(of(Identity::Verified, address("192.0.2.1")).as_deref(), Some("Googlebot"));
        assert_eq!(of(Identity::Spoofed, address("192.0.2.1")).as_deref(), Some("192.0.2.1"));
        assert_eq!(of(Identity::Spoofed, address("::ffff:192.0.2.1")).as_deref(), Some("192.0.2.1"));
        assert_eq!(of(Identity::Generic, address("2001:db8:1:2:3::4")).as_deref(), Some("2001:db8:1:2::/64"));
        assert_eq!(of(Identity::Unverified, None).as_deref(), Some("unverified"));
    }

    #[test]
    fn every_key_of_the_json_decision_is_a_fact_with_the_same_text() {
        let facts = Facts {
            action: Action::Deny,
            status: Some(403),
            agent: Some("Googlebot"),
            rule: Some(Rule { file: "robots.txt", line: 4 }),
            ..NOBODY
        };
        let json = serde_json::to_value(facts).unwrap();
        let keys = json.as_object().unwrap();
        assert_eq!(keys.len(), Fact::ALL.iter().filter(|fact| !fact.is_of_client()).count());
        for (key, value) in keys {
            let text = facts.text(Fact::from_word(key).unwrap()).map(Cow::into_owned);
            let expected = match value {
                serde_json::Value::Null => None,
                serde_json::Value::String(text) => Some(text.clone()),
                serde_json::Value::Object(_) => Some("robots.txt:4".to_string()),
                other => Some(other.to_string()),
            };
            assert_eq!(text, expected, "{key}");
        }
    }

    #[test]
    fn people_have_no_rate() {
        assert_eq!(NOBODY.rate_key(Some(IpAddr::V6(Ipv6Addr::LOCALHOST))), None);
    }
}
