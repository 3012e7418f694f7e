//! The decision about one request, and its words.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::net::{IpAddr, Ipv6Addr};

use serde::Serialize;

use crate::typed_json::json_words;

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
        /// The path is that of a policy that the site serves.
        Served = "served",
    }
}

impl Reason {
    /// One sentence for the person who operates the client that was denied.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::NotAutomated => "The request counts as that of a person.",
            Self::Allowed => "Every step allowed the request.",
            Self::AgentAllowed => "This site allows the verified agent.",
            Self::SpoofedAgent => {
                "The User-Agent claims an agent whose operator does not publish this address as the agent's."
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
            Self::Served => "The path is that of a policy that this site serves.",
        }
    }
}

json_words! {
    /// How well the request's claim holds.
    pub enum Identity {
        /// Claims an agent, and the address is in one of the agent's feeds, with a right service.
        Verified = "verified",
        /// Claims an agent that has feeds, all of them usable, and the address is in none of them.
        Spoofed = "spoofed",
        /// Claims an agent that has no feed, or, proven by no other, one that is not usable.
        Unverified = "unverified",
        /// Claims no agent, but the address is in an IP-range feed.
        Undeclared = "undeclared",
        /// Claims no agent, in no feed, but its User-Agent is that of automation.
        Generic = "generic",
        /// Anything else: people.
        None = "none",
    }
}

json_words! {
    /// What verified the agent.
    pub enum Proof {
        /// The address is in an IP-range feed of the agent.
        IpRange = "ip-range",
    }
}

json_words! {
    /// A single fact of a decision, by its key in the JSON decision.
    pub enum Fact {
        /// See [`Facts::action`].
        Action = "action",
        /// See [`Facts::status`].
        Status = "status",
        /// See [`Facts::reason`].
        Reason = "reason",
        /// See [`Facts::identity`].
        Identity = "identity",
        /// See [`Facts::agent`].
        Agent = "agent",
        /// See [`Facts::feed`].
        Feed = "feed",
        /// See [`Facts::service`].
        Service = "service",
        /// See [`Facts::country`].
        Country = "country",
        /// See [`Facts::region`].
        Region = "region",
        /// See [`Facts::city`].
        City = "city",
        /// See [`Facts::site`].
        Site = "site",
        /// See [`Facts::purpose`].
        Purpose = "purpose",
        /// See [`Facts::rule`].
        Rule = "rule",
        /// See [`Facts::robots_tag`].
        RobotsTag = "robots_tag",
        /// See [`Facts::proof`].
        Proof = "proof",
        /// See [`Facts::enforced`].
        Enforced = "enforced",
    }
}

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
    pub(crate) agent: Option<u16>,
    pub(crate) feed: Option<u16>,
    pub(crate) value: Option<u32>,
    pub(crate) place: Option<u32>,
    pub(crate) site: Option<u16>,
    /// The number of the site's Robots-Tag rules for the path; `None`: responses are left as they are.
    pub(crate) tag: Option<u16>,
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
    /// Whether the gate answers the request itself, with [`crate::Ruleset::reply`].
    pub fn is_answered(&self) -> bool {
        self.action != Action::Allow && self.enforced
    }

    /// The status of a denial; `None` where the request goes on.
    pub fn status(&self) -> Option<u16> {
        (self.action == Action::Deny).then_some(403)
    }

    /// What a proxy's access log is to tell of the response that the gate sent: `crawlward_denied[robots-disallowed]`,
    /// as Envoy's RBAC filter writes `rbac_access_denied_matched_policy[name]`.
    pub fn response_details(&self) -> String {
        match self.action {
            Action::Deny => format!("crawlward_denied[{}]", self.reason),
            Action::Allow | Action::Serve => format!("crawlward_{}", self.reason),
        }
    }

    /// What verified the agent.
    pub fn proof(&self) -> Option<Proof> {
        (self.identity == Identity::Verified).then_some(Proof::IpRange)
    }
}

/// The line of a policy that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

/// A decision with its names: serialised, it is the JSON decision of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Facts<'r> {
    /// What is to be done.
    pub action: Action,
    /// The status of a denial.
    pub status: Option<u16>,
    /// Why.
    pub reason: Reason,
    /// How well the claim holds.
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
    /// The purpose that the client declares.
    pub purpose: Option<&'r str>,
    /// The line that decided.
    pub rule: Option<Rule<'r>>,
    /// What the site's rules say that crawlers may do with the response, as `Robots-Tag` says it.
    pub robots_tag: Option<&'r str>,
    /// What verified the agent.
    pub proof: Option<Proof>,
    /// Whether the action is carried out.
    pub enforced: bool,
}

/// Room for nearly every `X-Crawlward`.
const USUAL_LENGTH: usize = 128;

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
            Fact::Purpose => self.purpose.map(Into::into),
            Fact::Rule => self.rule.map(|rule| rule.to_string().into()),
            Fact::RobotsTag => self.robots_tag.map(Into::into),
            Fact::Proof => self.proof.map(|proof| proof.as_str().into()),
            Fact::Enforced => Some(if self.enforced { "true" } else { "false" }.into()),
        }
    }

    /// The value of the `X-Crawlward` request header, an RFC 8941 Dictionary; `None` for people, for whom nothing is
    /// set.
    pub fn header_value(&self) -> Option<String> {
        if self.identity == Identity::None {
            return None;
        }
        // Made for every request of automation: without a formatter, in one allocation.
        let mut value = String::with_capacity(USUAL_LENGTH);
        value.push_str("action=");
        value.push_str(self.action.as_str());
        value.push_str(", identity=");
        value.push_str(self.identity.as_str());
        for (key, text) in
            [(", agent=\"", self.agent), (", feed=\"", self.feed), (", service=\"", self.service)]
        {
            let Some(text) = text else { continue };
            // Names of agents and feeds hardly ever have anything to escape.
            let quoted = match is_plain(text) {
                true => Cow::Borrowed(text),
                false if is_structured_string(text) => {
                    Cow::Owned(text.replace('\\', r"\\").replace('"', r#"\""#))
                }
                false => continue,
            };
            value.push_str(key);
            value.push_str(&quoted);
            value.push('"');
        }
        for (key, token) in [(", country=", self.country), (", region=", self.region)] {
            if let Some(token) = token {
                value.push_str(key);
                value.push_str(token);
            }
        }
        Some(value)
    }

    /// The key by which the client's requests are to be counted for a rate limit; `None` for people.
    ///
    /// A verified agent is one client, however many addresses it has. Anybody else is counted by address (IPv6: by
    /// /64), so that nobody can use up the rate of an agent that he merely claims to be.
    pub fn rate_key(&self, address: Option<IpAddr>) -> Option<String> {
        const SUBNET: u32 = 64;
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

/// Whether RFC 8941 3.3.3 carries the text as it is.
fn is_plain(text: &str) -> bool {
    // Without a way out of the loop, it runs over many bytes at once.
    text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\'))
}

/// Whether RFC 8941 3.3.3 can carry the text; what can't be carried is left out.
fn is_structured_string(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Facts<'_> = Facts {
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
        proof: None,
        enforced: true,
    };

    #[test]
    fn the_header_is_a_structured_dictionary() {
        let facts = Facts {
            identity: Identity::Verified,
            agent: Some("Googlebot"),
            feed: Some("googlebot"),
            country: Some("US"),
            ..NOBODY
        };
        let value = facts.header_value().unwrap();
        assert_eq!(
            value,
            r#"action=allow, identity=verified, agent="Googlebot", feed="googlebot", country=US"#
        );
    }

    #[test]
    fn strings_are_escaped_or_left_out() {
        let facts =
            Facts { identity: Identity::Undeclared, feed: Some(r#"a"\b"#), service: Some("ż"), ..NOBODY };
        assert_eq!(facts.header_value().unwrap(), r#"action=allow, identity=undeclared, feed="a\"\\b""#);
    }

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
        assert_eq!(keys.len(), Fact::ALL.len());
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
    fn nothing_is_said_about_people() {
        assert_eq!(NOBODY.header_value(), None);
        assert_eq!(NOBODY.rate_key(Some(IpAddr::V6(Ipv6Addr::LOCALHOST))), None);
    }
}
