//! Descriptions of a ruleset for people: its agents, its feeds, and what is known of an address.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::net::IpAddr;

use ipnet::IpNet;

use crate::config::{AgentAction, Ranges};
use crate::feed::state::{Age, FeedState};
use crate::feed::{FeedFormat, FeedValue};
use crate::keys::Key;
use crate::ruleset::data::{Agent, LoadedFeed, Ruleset};
use crate::source::quoted::Quoted;

/// An agent of a [`Ruleset`], for display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentInfo<'r> {
    /// The RFC 9309 product token.
    pub token: &'r str,
    /// The purposes for which it fetches, as its operator states them.
    pub purposes: &'r [Box<str>],
    /// The action for it.
    pub action: AgentAction,
    /// True if all that it sends comes from its published ranges.
    pub ranges: Ranges,
}

/// A feed of a [`Ruleset`], for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedInfo<'r> {
    /// The name in the configuration.
    pub name: &'r str,
    /// The format in which it is written.
    pub format: FeedFormat,
    /// The number of distinct prefixes in force: none of a stale feed.
    pub prefixes: usize,
    /// The state.
    pub state: FeedState,
    /// The reason why the state is not `ok`.
    pub why: Option<Cow<'r, str>>,
    /// True if there is a version of it that says something, even a stale one.
    pub is_usable: bool,
    /// True if there is a version of it, even an empty or a stale one.
    pub has_version: bool,
    /// The age in seconds, as `max_age` counts; `None` if the host gave no date.
    pub age: Option<u64>,
    /// From when on it is stale, in seconds since the Unix epoch; `None` where it never is.
    pub expires: Option<i64>,
    /// True if clients from it are allowed whatever they say, at any site.
    pub exempts: bool,
}

impl FeedInfo<'_> {
    /// The start of [`Display`](fmt::Display): the feed and its state, without the reason.
    pub fn heading(&self) -> String {
        let Self { name, state, .. } = self;
        format!("the feed `{name}` is {state}")
    }
}

/// A sentence on the feed's state, for logs.
impl fmt::Display for FeedInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, why, .. } = self;
        f.write_str(&self.heading())?;
        why.iter().try_for_each(|why| write!(f, ": {why}"))?;
        let effect = match (state, self.is_usable, self.format) {
            (FeedState::Ok, ..) => return Ok(()),
            (FeedState::Held, true, _) => "the last good version stays in force",
            (FeedState::Incomplete, ..) => {
                "clients that claim its agents from other addresses are `unverified`, not `spoofed`"
            }
            (_, _, FeedFormat::Geofeed) => "it gives no locations",
            (FeedState::Stale, _, FeedFormat::Table(_)) => "it stays in use, since no decision reads it",
            (_, _, FeedFormat::Table(_)) => "no autonomous system is known by it",
            _ if self.exempts => "it neither exempts nor verifies any client",
            _ => "it verifies no client, and clients that claim its agents are `unverified`, not `spoofed`",
        };
        write!(f, "; {effect}")
    }
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
    /// The statement of the feed about the prefix.
    pub value: FindingValue<'r>,
}

/// The statement of a feed about a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingValue<'r> {
    /// The prefix belongs to the feed's publisher.
    Range {
        /// The publisher's name for the bot or product in it. A prefix with several services gives a finding for each.
        service: Option<&'r str>,
    },
    /// The place in which the prefix is used. All `None`: explicitly nowhere.
    Place {
        /// ISO 3166-1 alpha-2, upper case.
        country: Option<&'r str>,
        /// ISO 3166-2, upper case.
        region: Option<&'r str>,
        /// Free text without control characters.
        city: Option<&'r str>,
    },
}

impl FeedValue {
    /// The parts of the value, one by one.
    fn findings(&self) -> impl Iterator<Item = FindingValue<'_>> {
        let (services, other): (&[Box<str>], _) = match self {
            Self::Range { services } if services.is_empty() => {
                (&[], Some(FindingValue::Range { service: None }))
            }
            Self::Range { services } => (services, None),
            Self::Place { country, region, city } => {
                let country = country.as_ref().and_then(|letters| core::str::from_utf8(letters).ok());
                let (region, city) = (region.as_deref(), city.as_deref());
                (&[], Some(FindingValue::Place { country, region, city }))
            }
        };
        let services = services.iter().map(|service| FindingValue::Range { service: Some(service) });
        services.chain(other)
    }
}

impl LoadedFeed {
    /// The state when the feed was loaded.
    pub(crate) fn at_load(&self) -> FeedInfo<'_> {
        FeedInfo {
            name: &self.name,
            format: self.format,
            prefixes: self.prefixes,
            state: self.state,
            why: self.why.as_deref().map(Cow::Borrowed),
            is_usable: self.usable,
            has_version: self.has_version(),
            age: None,
            expires: self.expires(),
            exempts: self.exempts,
        }
    }

    /// The state at `now`.
    pub(crate) fn at(&self, now: i64) -> FeedInfo<'_> {
        // Clocks differ a little.
        let age = self.dated.map(|dated| now.saturating_sub(dated).max(0));
        let ahead = self.dated.map_or(0, |dated| dated.saturating_sub(now));
        let info = FeedInfo { age: age.map(i64::unsigned_abs), ..self.at_load() };
        match (age, self.max_age) {
            (Some(age), Some(limit)) if self.is_stale(now) => {
                let why = match ahead > 0 {
                    true => format!("its date is {} in the future; check the clock and the file", Age(ahead)),
                    false => format!("it is {} old, over its `max_age` of {}", Age(age), Age(limit)),
                };
                FeedInfo { state: FeedState::Stale, why: Some(why.into()), prefixes: 0, ..info }
            }
            _ => info,
        }
    }
}

/// One line: feed, prefix, and what the feed says, each part but the first two after its name.
impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.feed, self.prefix)?;
        let mut part = |name: &str, text: Option<&str>| {
            text.map_or(Ok(()), |text| write!(f, " {name}={}", Quoted(text)))
        };
        match self.value {
            FindingValue::Range { service } => part("service", service)?,
            FindingValue::Place { country, region, city } => {
                part("country", country)?;
                part("region", region)?;
                part("city", city)?;
            }
        }
        part("notes", self.notes)
    }
}

impl Ruleset {
    /// The agents, those of the configuration first.
    pub fn agents(&self) -> impl Iterator<Item = AgentInfo<'_>> {
        self.agents.iter().map(|agent| AgentInfo {
            token: &agent.token,
            purposes: &agent.purposes,
            action: agent.action,
            ranges: agent.ranges,
        })
    }

    /// The names of all feeds that belong to an agent, whatever their states.
    pub fn all_feeds_of<'r>(&'r self, token: &str) -> impl Iterator<Item = &'r str> {
        self.agent(token).into_iter().flat_map(|agent| self.loaded_feeds_of(agent)).map(|feed| &*feed.name)
    }

    /// The names of the feeds that prove an agent, by its token as the ruleset writes it, at `now`, in seconds since the
    /// Unix epoch.
    pub fn feeds_of<'r>(&'r self, token: &str, now: i64) -> impl Iterator<Item = &'r str> {
        let feeds = self.agent(token).into_iter().flat_map(|agent| self.loaded_feeds_of(agent));
        feeds.filter(move |feed| feed.is_in_force(now)).map(|feed| &*feed.name)
    }

    /// The number of keys that can verify a signature of this agent at `now`, in seconds since the Unix epoch.
    pub fn keys_of(&self, token: &str, now: i64) -> usize {
        let id = self.agents.find(|agent| *agent.token == *token);
        let keys = id.into_iter().flat_map(|id| self.keys.of(id)).flat_map(|directory| &directory.keys);
        keys.filter(|key| key.holds_at(now)).count()
    }

    /// The URLs of the directories that have keys, none of which holds at `now`, in seconds since the Unix epoch.
    pub fn directories_without_a_key_at(&self, now: i64) -> impl Iterator<Item = &str> {
        let directories = self.keys.directories().iter();
        let is_idle = move |keys: &[Key]| !keys.is_empty() && !keys.iter().any(|key| key.holds_at(now));
        directories.filter(move |directory| is_idle(&directory.keys)).map(|directory| &*directory.identifier)
    }

    pub(crate) fn agent(&self, token: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| *agent.token == *token)
    }

    pub(crate) fn loaded_feeds_of<'r>(&'r self, agent: &'r Agent) -> impl Iterator<Item = &'r LoadedFeed> {
        agent.feeds.iter().filter_map(|id| self.feeds.get(*id))
    }

    /// The feeds, in the order of the configuration; `now` is in seconds since the Unix epoch.
    pub fn feeds(&self, now: i64) -> impl Iterator<Item = FeedInfo<'_>> {
        self.feeds.iter().map(move |feed| feed.at(now))
    }

    /// The number of proxies in front of Envoy that are trusted to write `X-Forwarded-For`; `None` if Envoy is to be
    /// asked for the client's address.
    pub fn trusted_hops(&self) -> Option<u8> {
        self.trusted_hops
    }

    /// The most bytes that all pages may hold that are being made into documents.
    pub fn document_memory(&self) -> usize {
        self.document_memory
    }

    /// Returns true if any feed can become stale.
    pub fn has_age_limits(&self) -> bool {
        self.feeds.iter().any(|feed| feed.max_age.is_some())
    }

    /// The feeds that became stale after one point in time and until another, in seconds since the Unix epoch: what a
    /// gate logs that asks now and then, each feed once.
    pub fn became_stale(&self, after: i64, until: i64) -> impl Iterator<Item = FeedInfo<'_>> {
        let is_due = move |feed: &&LoadedFeed| {
            feed.usable && feed.expires().is_some_and(|expires| after < expires && expires <= until)
        };
        self.feeds.iter().filter(is_due).map(move |feed| feed.at(until))
    }

    /// The findings of each feed that covers the address, the longest prefix first.
    pub fn lookup(&self, address: IpAddr) -> impl Iterator<Item = Finding<'_>> {
        let address = self.untranslated(address);
        let found = self.table.lookup(address).unwrap_or_default().iter().filter_map(move |matched| {
            let feed = self.feeds.get(matched.feed)?;
            let prefix = IpNet::new(address, matched.prefix_len).ok()?.trunc();
            Some((feed, prefix, self.values.get(matched.value)?))
        });
        found.flat_map(|(feed, prefix, value)| {
            let finding =
                move |value| Finding { feed: &feed.name, notes: feed.notes.as_deref(), prefix, value };
            value.findings().map(finding)
        })
    }
}
