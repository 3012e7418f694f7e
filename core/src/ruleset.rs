//! Configuration, feeds and policies, compiled: immutable, and what a reload replaces as a whole.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use crate::config::{AgentAction, Mode};
use crate::decide::served;
use crate::decision::{Action, Decision, Fact, Facts, Identity, PolicyKind, Rule};
use crate::diagnostic::Quoted;
use crate::feed::{FeedFormat, FeedValue};
use crate::prefix_table::{Match, PrefixTable};
use crate::reply::Reply;
use crate::request::Request;
use crate::response::ResponseRules;
use crate::sites::{NamedPurposes, PreferencesPolicy, Sites};
use crate::stored::StoredWords;
use crate::typed_json::json_words;
use crate::user_agent::Claims;

/// Everything that a decision needs.
///
/// ```
/// use crawlward_core::{NoFiles, Ruleset};
///
/// let compiled = Ruleset::compile("crawlward.json", br#"{ "mode": "enforce" }"#, &NoFiles);
/// let ruleset = compiled.ruleset.expect("a valid document");
/// assert!(ruleset.agents().any(|agent| agent.token == "Googlebot"));
///
/// let broken = Ruleset::compile("crawlward.json", br#"{ "mood": "enforce" }"#, &NoFiles);
/// assert!(broken.ruleset.is_none());
/// assert_eq!(broken.diagnostics[0].to_string(), "crawlward.json:1:3: error: unknown key `mood` (did you mean `mode`?)");
/// ```
#[derive(Debug)]
pub struct Ruleset {
    pub(crate) mode: Mode,
    /// Lower case.
    pub(crate) purpose_header: Box<str>,
    /// In the order of `claims`.
    pub(crate) agents: Vec<Agent>,
    pub(crate) claims: Claims,
    /// Those that the configuration gives to agents.
    pub(crate) purposes: NamedPurposes,
    pub(crate) feeds: Vec<LoadedFeed>,
    /// When the first feed becomes stale.
    pub(crate) first_expiry: Option<i64>,
    /// What the prefixes' values mean.
    pub(crate) values: Vec<FeedValue>,
    pub(crate) table: PrefixTable<StoredWords>,
    pub(crate) sites: Sites,
    pub(crate) filter_state: Vec<Fact>,
}

/// An agent, compiled.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) token: Box<str>,
    /// The loaded feeds that prove it.
    pub(crate) feeds: Vec<u16>,
    /// Whether the agent has a feed that is not usable, so that an address in no feed is no proof of a forgery.
    pub(crate) has_unusable_feed: bool,
    /// The values that prove it, sorted; `None`: all.
    pub(crate) proving_values: Option<Vec<u32>>,
    pub(crate) purposes: Vec<Box<str>>,
    pub(crate) action: AgentAction,
}

impl Agent {
    /// Whether the agent's operator publishes any ranges that we know of.
    pub(crate) fn has_feeds(&self) -> bool {
        self.has_unusable_feed || !self.feeds.is_empty()
    }

    /// Whether a match proves that the request is the agent's.
    pub(crate) fn is_proven_by(&self, matched: &Match) -> bool {
        self.feeds.contains(&matched.feed)
            && self.proving_values.as_ref().is_none_or(|values| values.binary_search(&matched.value).is_ok())
    }
}

/// A feed of the configuration, as it was loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadedFeed {
    pub(crate) name: Box<str>,
    pub(crate) format: FeedFormat,
    pub(crate) notes: Option<Box<str>>,
    pub(crate) prefixes: usize,
    /// [`FeedState::Stale`] never stands here: it depends on the time.
    pub(crate) state: FeedState,
    /// Why the state is not `ok`.
    pub(crate) why: Option<Box<str>>,
    /// Whether any version is in force.
    pub(crate) usable: bool,
    /// From when on its age counts, in seconds since the Unix epoch: when the publisher made it or when we got it,
    /// whichever is longer ago.
    pub(crate) dated: Option<i64>,
    /// From when on the feed is stale, in seconds since the Unix epoch.
    pub(crate) expires: Option<i64>,
    /// The agent that names the feed, where it is the only one: who an undeclared client from here acts as.
    pub(crate) sole_agent: Option<u16>,
}

json_words! {
    /// How a feed is.
    pub enum FeedState {
        /// The newest version is in force.
        Ok = "ok",
        /// Older than `max_age`: it proves nobody, and condemns nobody.
        Stale = "stale",
        /// The newest version was not let in; the last good one is in force, if there is one.
        Held = "held",
        /// No version was ever loaded.
        Missing = "missing",
    }
}

/// An agent of a [`Ruleset`], for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentInfo<'r> {
    /// The RFC 9309 product token.
    pub token: &'r str,
    /// What its operator says it fetches for.
    pub purposes: &'r [Box<str>],
    /// What is done with it.
    pub action: AgentAction,
}

impl LoadedFeed {
    /// Whether it is too old to prove anybody at `now`.
    pub(crate) fn is_stale(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }
}

/// A feed of a [`Ruleset`], for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedInfo<'r> {
    /// The name in the configuration.
    pub name: &'r str,
    /// How it is written.
    pub format: FeedFormat,
    /// How many distinct prefixes it has.
    pub prefixes: usize,
    /// How it is.
    pub state: FeedState,
    /// Why it is not `ok`.
    pub why: Option<&'r str>,
    /// Whether there is a version of it, be it the newest or stale.
    pub is_usable: bool,
    /// How old it is in seconds, as `max_age` counts; `None` where neither the publisher nor the host gave a date.
    pub age: Option<u64>,
}

/// One thing that a feed says of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding<'r> {
    /// The feed's name.
    pub feed: &'r str,
    /// The publisher's remarks on the whole feed (JAFAR-8).
    pub notes: Option<&'r str>,
    /// The most specific prefix of the feed that covers the address; IPv4 for an IPv4-mapped address.
    pub prefix: IpNet,
    /// What the feed says of the prefix.
    pub value: &'r FeedValue,
}

/// One line: feed, prefix, and what the feed says, each part but the first two after its name.
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.feed, self.prefix)?;
        let mut part = |name: &str, text: Option<&str>| {
            text.map_or(Ok(()), |text| write!(f, " {name}={}", Quoted(text)))
        };
        match self.value {
            FeedValue::Range { service } => part("service", service.as_deref())?,
            FeedValue::Place { country, region, city } => {
                part("country", country.as_ref().and_then(|letters| core::str::from_utf8(letters).ok()))?;
                part("region", region.as_deref())?;
                part("city", city.as_deref())?;
            }
        }
        part("notes", self.notes)
    }
}

impl Ruleset {
    /// What is done with decisions, unless the host says otherwise for a request.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The request header in which a client declares its purpose, in lower case.
    pub fn purpose_header(&self) -> &str {
        &self.purpose_header
    }

    /// The agents, those of the configuration first.
    pub fn agents(&self) -> impl Iterator<Item = AgentInfo<'_>> {
        self.agents.iter().map(|agent| AgentInfo {
            token: &agent.token,
            purposes: &agent.purposes,
            action: agent.action,
        })
    }

    /// The names of the feeds that prove an agent, by its token as the ruleset writes it, at `now`, in seconds since the
    /// Unix epoch.
    pub fn feeds_of<'r>(&'r self, token: &str, now: i64) -> impl Iterator<Item = &'r str> {
        let feeds = self.agent(token).into_iter().flat_map(|agent| self.loaded_feeds_of(agent));
        feeds.filter(move |feed| !feed.is_stale(now)).map(|feed| &*feed.name)
    }

    /// Whether an agent has a feed that is not usable at `now`.
    pub fn has_unusable_feed(&self, token: &str, now: i64) -> bool {
        self.agent(token).is_some_and(|agent| {
            agent.has_unusable_feed || self.loaded_feeds_of(agent).any(|feed| feed.is_stale(now))
        })
    }

    fn agent(&self, token: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| *agent.token == *token)
    }

    fn loaded_feeds_of<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r LoadedFeed> {
        agent.feeds.iter().filter_map(|id| self.feeds.get(usize::from(*id)))
    }

    /// The feeds, in the order of the configuration; `now` is in seconds since the Unix epoch.
    pub fn feeds(&self, now: i64) -> impl Iterator<Item = FeedInfo<'_>> {
        self.feeds.iter().map(move |feed| {
            let (state, why) = match feed.is_stale(now) {
                true => (FeedState::Stale, Some("it is older than its `max_age`")),
                false => (feed.state, feed.why.as_deref()),
            };
            // A date in the future is that of a clock that is wrong, ours or the publisher's.
            let age = feed.dated.map(|dated| u64::try_from(now.saturating_sub(dated)).unwrap_or(0));
            let LoadedFeed { ref name, format, prefixes, usable: is_usable, .. } = *feed;
            FeedInfo { name, format, prefixes, state, why, is_usable, age }
        })
    }

    /// The number of a site, to be given to [`crate::decide()`].
    pub fn site(&self, name: &str) -> Option<u16> {
        self.sites.list.iter().position(|site| *site.name == *name).and_then(|at| u16::try_from(at).ok())
    }

    /// The names of the sites, in the order of the configuration: that of `name`, else the first host, else `default`.
    pub fn site_names(&self) -> impl Iterator<Item = &str> {
        self.sites.list.iter().map(|site| &*site.name)
    }

    /// What each feed that covers the address says of it, the longest prefix first.
    pub fn lookup(&self, address: IpAddr) -> impl Iterator<Item = Finding<'_>> {
        let address = address.to_canonical();
        self.table.lookup(address).iter().filter_map(move |matched| {
            let feed = self.feeds.get(usize::from(matched.feed))?;
            let value = self.value(matched.value)?;
            Some(Finding {
                feed: &feed.name,
                notes: feed.notes.as_deref(),
                prefix: IpNet::new(address, matched.prefix_len).ok()?.trunc(),
                value,
            })
        })
    }

    /// The names behind a decision that this ruleset made of this request.
    pub fn describe<'r>(&'r self, decision: &Decision, request: &'r impl Request) -> Facts<'r> {
        let site = decision.site.and_then(|id| self.sites.get(id));
        let purpose = match decision.identity {
            // Nothing is asked of a person's request that the decision did not need.
            Identity::None => None,
            _ => self.declared_purpose(site.and_then(|site| site.preferences.as_ref()), request),
        };
        Facts { purpose, ..self.named(decision) }
    }

    /// [`Facts::header_value`] of a decision, which needs nothing of the request.
    pub fn header_value(&self, decision: &Decision) -> Option<String> {
        match decision.identity {
            Identity::None => None,
            _ => self.named(decision).header_value(),
        }
    }

    /// The names behind a decision, but for the purpose, which only the request can tell.
    fn named(&self, decision: &Decision) -> Facts<'_> {
        let service = match decision.value.and_then(|value| self.value(value)) {
            Some(FeedValue::Range { service }) => service.as_deref(),
            _ => None,
        };
        let (country, region, city) = match decision.place.and_then(|place| self.value(place)) {
            Some(FeedValue::Place { country, region, city }) => (country.as_ref(), region, city),
            _ => (None, &None, &None),
        };
        Facts {
            action: decision.action,
            status: decision.status(),
            reason: decision.reason,
            identity: decision.identity,
            agent: decision.agent.and_then(|id| self.agents.get(usize::from(id))).map(|agent| &*agent.token),
            feed: decision.feed.and_then(|id| self.feeds.get(usize::from(id))).map(|feed| &*feed.name),
            service,
            country: country.and_then(|code| core::str::from_utf8(code).ok()),
            region: region.as_deref(),
            city: city.as_deref(),
            site: decision.site.and_then(|id| self.sites.get(id)).map(|site| &*site.name),
            purpose: None,
            rule: self.rule(decision),
            robots_tag: self.response_rules(decision).and_then(ResponseRules::site_value),
            proof: decision.proof(),
            enforced: decision.enforced,
        }
    }

    /// The line that decided, with the name of its file.
    pub(crate) fn rule(&self, decision: &Decision) -> Option<Rule<'_>> {
        let site = decision.site.and_then(|id| self.sites.get(id))?;
        let rule = decision.rule?;
        let file = match rule.file {
            PolicyKind::Robots => &*site.robots.as_ref()?.file.path,
            PolicyKind::AutomationPreferences => &*site.preferences.as_ref()?.file.path,
        };
        Some(Rule { file, line: rule.line })
    }

    /// The facts of a decision that Envoy's filter state is to show one by one; none where the client is a person.
    pub fn filter_state(&self, decision: &Decision) -> &[Fact] {
        if decision.identity == Identity::None {
            return &[];
        }
        let site = decision.site.and_then(|id| self.sites.get(id));
        site.and_then(|site| site.filter_state.as_deref()).unwrap_or(&self.filter_state)
    }

    /// What a gate answers; `None` unless [`Decision::is_answered`]. `status` is that of a denial, where the operator
    /// chose one.
    pub fn reply(
        &self,
        decision: &Decision,
        request: &impl Request,
        status: Option<u16>,
    ) -> Option<Reply<'_>> {
        if !decision.is_answered() {
            return None;
        }
        let site = decision.site.and_then(|id| self.sites.get(id));
        match decision.action {
            Action::Allow => None,
            Action::Serve => served(site, request).map(|policy| Reply::policy(policy, request)),
            Action::Deny => {
                let rule = self.rule(decision).filter(|_| site.is_none_or(|site| site.explain));
                Some(Reply::denial(decision.reason, rule, status.or(decision.status())?))
            }
        }
    }

    /// The agent whose rules a client is under: the one that it claims, or the only one that the feed is of.
    pub(crate) fn acting_agent(&self, claimed: Option<u16>, feed: Option<u16>) -> Option<u16> {
        claimed
            .or_else(|| feed.and_then(|id| self.feeds.get(usize::from(id))).and_then(|feed| feed.sole_agent))
    }

    /// The purpose that the client declares: one RFC 9110 token of at most 64 bytes in the configured header, or a
    /// purpose that the policy or else the configuration names, standing alone in the User-Agent.
    pub(crate) fn declared_purpose<'r>(
        &'r self,
        policy: Option<&'r PreferencesPolicy>,
        request: &'r impl Request,
    ) -> Option<&'r str> {
        const LONGEST: usize = 64;
        if let Some(value) = request.header(&self.purpose_header).map(<[u8]>::trim_ascii) {
            let is_token = (1..=LONGEST).contains(&value.len()) && value.iter().copied().all(is_token_byte);
            return if is_token { core::str::from_utf8(value).ok() } else { None };
        }
        let user_agent = request.user_agent()?;
        let by_policy = policy.and_then(|policy| policy.file.rules.purposes.find(user_agent));
        by_policy.or_else(|| self.purposes.find(user_agent))
    }

    pub(crate) fn value(&self, id: u32) -> Option<&FeedValue> {
        usize::try_from(id).ok().and_then(|id| self.values.get(id))
    }
}

/// Whether a byte may stand in a token (RFC 9110 5.6.2): a method, the name of a header, a purpose.
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
