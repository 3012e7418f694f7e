//! Configuration, feeds and policies, compiled: immutable, and what a reload replaces as a whole.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use ipnet::Ipv6Net;
use serde::{Deserialize, Serialize};

use crate::config::{AgentAction, Fact, Mode, Ranges};
use crate::feed::state::FeedState;
use crate::feed::{FeedFormat, FeedValue};
use crate::http::domains::Domains;
use crate::ids::{AgentId, FeedId, List, ProductId, SiteId, ValueId};
use crate::keys::KeyRing;
use crate::networks::ClientSettings;
use crate::prefix_table::{Match, PrefixTable, TableWords};
use crate::ruleset::sites::{NamedPurposes, Sites};
use crate::user_agent::Claims;

/// Everything that a decision needs.
///
/// ```
/// use crawlpike_core::{NoFiles, Ruleset};
///
/// let compiled = Ruleset::compile("crawlpike.json", br#"{ "mode": "enforce" }"#, &NoFiles);
/// let ruleset = compiled.ruleset.expect("a valid document");
/// assert!(ruleset.agents().any(|agent| agent.token == "Googlebot"));
///
/// let broken = Ruleset::compile("crawlpike.json", br#"{ "mood": "enforce" }"#, &NoFiles);
/// assert!(broken.ruleset.is_none());
/// assert_eq!(broken.diagnostics[0].to_string(), "crawlpike.json:1:3: error: unknown key `mood` (did you mean `mode`?)");
/// ```
#[derive(Debug)]
pub struct Ruleset {
    pub(crate) mode: Mode,
    /// Lower case.
    pub(crate) purpose_header: Box<str>,
    /// In the order of `claims`.
    pub(crate) agents: List<AgentId, Agent>,
    pub(crate) claims: Claims,
    /// The keys of agents that sign their requests.
    pub(crate) keys: KeyRing,
    /// Those that the configuration gives to agents.
    pub(crate) purposes: NamedPurposes,
    pub(crate) feeds: List<FeedId, LoadedFeed>,
    /// The times at which no feed is stale. `None`: none can become stale.
    pub(crate) fresh_at: Option<Range<i64>>,
    /// The values of the prefixes.
    pub(crate) values: List<ValueId, FeedValue>,
    pub(crate) table: PrefixTable<TableWords>,
    pub(crate) sites: Sites,
    /// The problem documents of denials that no rule decided, by their reasons.
    pub(crate) denials: Box<[Box<[u8]>]>,
    pub(crate) filter_state: Vec<Fact>,
    pub(crate) trusted_hops: Option<u8>,
    pub(crate) document_memory: usize,
    /// The prefixes of translated addresses, beside the well-known one.
    pub(crate) nat64: Vec<Ipv6Net>,
    /// The feeds whose addresses are exempt where a site does not say more. Those behind `feeds` are lists of the document.
    pub(crate) exempt: Box<[FeedId]>,
    /// For limiters and logs; no decision reads them.
    pub(crate) client: ClientSettings,
}

/// An agent, compiled.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) token: Box<str>,
    /// By which policy files name it.
    pub(crate) product: ProductId,
    /// The feeds that prove it, of which not all may have a version in force.
    pub(crate) feeds: Vec<FeedId>,
    /// The names of the feeds that have ranges of it, too, and that the configuration lacks.
    pub(crate) lacking_feeds: Vec<Box<str>>,
    /// True if all that it sends comes from the ranges in its feeds.
    pub(crate) ranges: Ranges,
    /// If not empty, only prefixes with one of these services prove it. Sorted.
    pub(crate) services: Vec<Box<str>>,
    pub(crate) purposes: Vec<Box<str>>,
    pub(crate) action: AgentAction,
    /// True if its token counts only where a User-Agent begins with it.
    pub(crate) begins: bool,
    /// True if no client sends its token, which only policies name.
    pub(crate) is_control_token: bool,
    /// Purposes that count as declared in its User-Agent.
    pub(crate) declares: Option<Box<NamedPurposes>>,
    /// The domains that have the names of its addresses, if any.
    pub(crate) domains: Option<Arc<Domains>>,
}

impl Agent {
    /// Returns true if prefixes with this service prove it, while others do not.
    pub(crate) fn lists(&self, service: &str) -> bool {
        self.services.binary_search_by(|listed| (**listed).cmp(service)).is_ok()
    }

    /// Returns true if a prefix of one of its feeds proves that the request is the agent's.
    fn is_proven_by(&self, value: Option<&FeedValue>) -> bool {
        match value {
            _ if self.services.is_empty() => true,
            Some(FeedValue::Range { services }) => services.iter().any(|service| self.lists(service)),
            Some(FeedValue::Place { .. }) | None => false,
        }
    }
}

/// The farthest that a date may be in the future, in seconds.
const CLOCK_SKEW: i64 = 24 * 60 * 60;

/// A feed of the configuration, as it was loaded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadedFeed {
    pub(crate) name: Box<str>,
    pub(crate) format: FeedFormat,
    pub(crate) notes: Option<Box<str>>,
    pub(crate) prefixes: usize,
    /// [`FeedState::Stale`] never stands here: it depends on the time.
    pub(crate) state: FeedState,
    /// The reason why the state is not `ok`.
    pub(crate) why: Option<Box<str>>,
    /// True if a version that says something is in force, unless it is stale.
    pub(crate) usable: bool,
    /// The number of entries of the version in force that cannot be read.
    pub(crate) unreadable: usize,
    /// From when on its age counts, in seconds since the Unix epoch: when it was last known to be what its publisher
    /// publishes. Publishers leave `creationTime` untouched for years, so it does not count.
    pub(crate) dated: Option<i64>,
    /// The largest age, in seconds.
    pub(crate) max_age: Option<i64>,
    /// The agent that names the feed, where it is the only one: who an undeclared client from here acts as.
    pub(crate) sole_agent: Option<AgentId>,
    /// True if clients from it are allowed whatever they say, at any site. The document says so.
    #[serde(skip)]
    pub(crate) exempts: bool,
}

impl LoadedFeed {
    /// The times at which the feed is not stale, in seconds since the Unix epoch: up to its largest age. A date that is further in
    /// the future than clocks differ says nothing of the age. `None`: at all times.
    pub(crate) fn fresh_at(&self) -> Option<Range<i64>> {
        let (dated, max_age) = (self.dated?, self.max_age?);
        Some(dated.saturating_sub(CLOCK_SKEW)..dated.saturating_add(max_age))
    }

    /// From when on the feed is stale, in seconds since the Unix epoch.
    pub(crate) fn expires(&self) -> Option<i64> {
        self.fresh_at().map(|fresh| fresh.end)
    }

    /// Returns true if its age, or a date in the future, keeps it from proving anybody at `now`.
    pub(crate) fn is_stale(&self, now: i64) -> bool {
        self.fresh_at().is_some_and(|fresh| !fresh.contains(&now))
    }

    /// Returns true if there is a version of it, even one that says nothing. A file that is there has a date.
    pub(crate) fn has_version(&self) -> bool {
        self.usable || self.dated.is_some()
    }

    /// Returns true if a version is in force at `now`.
    pub(crate) fn is_in_force(&self, now: i64) -> bool {
        self.usable && !self.is_stale(now)
    }

    /// Returns true if an address that is not in it is not its publisher's, as far as it is not stale.
    pub(crate) fn is_whole(&self) -> bool {
        self.usable && self.unreadable == 0
    }
}

impl Ruleset {
    /// Returns true if the mode can be `off` for a request, unless the host sets another one.
    pub fn may_be_off(&self) -> bool {
        self.mode == Mode::Off || self.sites.list.iter().any(|site| !site.modes.is_empty())
    }

    /// Returns true if a match proves that the request is the agent's.
    pub(crate) fn is_proof(&self, matched: &Match, agent: &Agent) -> bool {
        agent.feeds.contains(&matched.feed) && agent.is_proven_by(self.values.get(matched.value))
    }

    /// By what policy files name an agent.
    pub(crate) fn product_of(&self, agent: Option<AgentId>) -> Option<ProductId> {
        agent.and_then(|id| self.agents.get(id)).map(|agent| agent.product)
    }

    /// The use that is made of decisions, unless the host says otherwise for a request.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The request header in which a client declares its purpose, in lower case.
    pub fn purpose_header(&self) -> &str {
        &self.purpose_header
    }

    /// Returns true if any site sends documents.
    pub fn sends_documents(&self) -> bool {
        self.sites.list.iter().any(|site| site.documents.is_some())
    }

    /// Returns true if in any site a path with `.md` added asks for the markdown of a page.
    pub fn has_md_paths(&self) -> bool {
        self.sites.have_md_paths
    }

    /// The number of a site, to be given to [`crate::decide()`].
    pub fn site(&self, name: &str) -> Option<SiteId> {
        self.sites.list.find(|site| *site.name == *name)
    }

    /// The names of the sites, in the order of the configuration: that of `name`, else the first host, else `default`.
    pub fn site_names(&self) -> impl Iterator<Item = &str> {
        self.sites.list.iter().map(|site| &*site.name)
    }
}
