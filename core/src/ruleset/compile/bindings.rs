//! Which feeds verify which agents: an agent lists feeds by name, and the catalog knows feeds by their URLs.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::Compiler;
use super::drafts::AgentDraft;
use crate::catalog::{Catalog, CatalogFeed};
use crate::config::{Config, FeedConfig};
use crate::feed::guard::Proving;
use crate::feed::{FeedFormat, Shape};
use crate::ids::{FeedId, List};
use crate::ruleset::data::LoadedFeed;
use crate::source::position::Placed;
use crate::source::suggestion::{nearest, suggestion};

/// The way in which a name that an agent gives leads to a feed of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    /// The feed has this name.
    Name,
    /// The catalog's feed of this name has the feed's URL.
    Url,
}

/// The meaning of a name of a feed.
enum Meaning<'c> {
    /// A feed of the configuration, by its number there.
    Configured(usize, By),
    /// A feed of the catalog that the configuration lacks.
    Lacking(&'c str),
    Unknown,
}

/// The feeds that an agent names, in the order of their numbers in the configuration.
#[derive(Default)]
pub(super) struct Binding<'c> {
    feeds: BTreeMap<usize, By>,
    /// Names of feeds of the catalog that the configuration lacks.
    pub(super) lacking: Vec<&'c str>,
}

impl Binding<'_> {
    /// The numbers of the feeds in the configuration.
    pub(super) fn feeds(&self) -> impl Iterator<Item = usize> {
        self.feeds.keys().copied()
    }
}

/// The feeds of a configuration and of a catalog, by their names and URLs.
pub(super) struct KnownFeeds<'c> {
    pub(super) config: &'c Config,
    catalog: &'c Catalog,
    by_name: BTreeMap<&'c str, usize>,
    by_url: BTreeMap<&'c str, usize>,
    /// Numbers of the catalog's feeds, by their names.
    published: BTreeMap<&'c str, usize>,
    /// Numbers of the catalog's feeds, by their URLs without what is often wrong in a URL.
    essences: BTreeMap<String, usize>,
    /// All URLs of the catalog's feeds.
    urls: BTreeSet<&'c str>,
}

impl<'c> KnownFeeds<'c> {
    pub(super) fn new(config: &'c Config, catalog: &'c Catalog) -> Self {
        let (mut by_name, mut by_url, mut published) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (mut essences, mut urls) = (BTreeMap::new(), BTreeSet::new());
        for (feed, number) in config.feeds.iter().zip(0..) {
            by_name.entry(feed.name.as_str()).or_insert(number);
            // Others do not say whose prefixes are.
            if let Some(url) = feed.url.as_deref().filter(|_| feed.format.is_of_ranges()) {
                by_url.entry(url).or_insert(number);
            }
        }
        for (feed, number) in catalog.feeds.iter().zip(0..) {
            published.entry(feed.name.as_str()).or_insert(number);
            for url in feed.urls() {
                essences.entry(essence(url)).or_insert(number);
                urls.insert(url);
            }
        }
        Self { config, catalog, by_name, by_url, published, essences, urls }
    }

    /// The feed of the configuration with a name.
    pub(super) fn configured(&self, name: &str) -> Option<&'c FeedConfig> {
        self.config.feeds.get(*self.by_name.get(name)?)
    }

    /// The feed of the catalog with a name.
    fn published(&self, name: &str) -> Option<&'c CatalogFeed> {
        self.catalog.feeds.get(*self.published.get(name)?)
    }

    fn meaning(&self, name: &str) -> Meaning<'c> {
        if let Some(number) = self.by_name.get(name) {
            return Meaning::Configured(*number, By::Name);
        }
        let Some(published) = self.published(name) else { return Meaning::Unknown };
        match published.urls().find_map(|url| self.by_url.get(url)) {
            Some(number) => Meaning::Configured(*number, By::Url),
            None => Meaning::Lacking(&published.name),
        }
    }

    /// The feed that was probably meant by a name that stands for none: one of this document, or one of the catalog, with
    /// the way to add it.
    fn suggestion(&self, name: &str) -> String {
        let own = || self.config.feeds.iter().map(|feed| feed.name.as_str());
        let published = || nearest(name, self.catalog.feeds.iter().map(|feed| feed.name.as_str()));
        match (nearest(name, own()), published().and_then(|near| self.published(near))) {
            (None, Some(feed)) => {
                format!(
                    "; did you mean `{}` of the catalog? This document lacks it{}",
                    feed.name,
                    remedy(feed)
                )
            }
            _ => suggestion(name, own()),
        }
    }

    /// The shape of the list that is published at a feed's URL.
    pub(super) fn shape(&self, feed: &FeedConfig) -> Option<&'c Shape> {
        let url = feed.url.as_deref()?;
        self.catalog.feeds.iter().find(|feed| feed.urls().any(|known| known == url))?.shape.as_ref()
    }

    /// The catalog's entry for a feed's URL.
    fn url(&self, feed: &FeedConfig) -> KnownUrl<'c> {
        let Some(url) = feed.url.as_deref() else { return KnownUrl::None };
        if self.urls.contains(url) {
            return KnownUrl::Exact;
        }
        match self.essences.get(&essence(url)).and_then(|number| self.catalog.feeds.get(*number)) {
            Some(near) => KnownUrl::Near(&near.url),
            None => KnownUrl::Unknown,
        }
    }
}

/// The way to add a feed of the catalog to a document.
fn remedy(feed: &CatalogFeed) -> String {
    let CatalogFeed { name, url, format, .. } = feed;
    format!(
        r#"; add to `feeds`: {{ "name": "{name}", "format": "{format}", "source": "feeds/{name}.json", "url": "{url}" }}"#
    )
}

/// The catalog's entry for a URL.
enum KnownUrl<'c> {
    /// The feed has no URL.
    None,
    /// A list of the catalog is published there.
    Exact,
    /// A list is published at this URL, from which the other one differs by a typing error.
    Near(&'c str),
    Unknown,
}

/// A URL without the parts that are often wrong: scheme, case, `www.` and slashes at the end.
fn essence(url: &str) -> String {
    let url = url.trim().to_ascii_lowercase();
    let rest = url.split_once("://").map_or(&*url, |(_, rest)| rest);
    rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches('/').into()
}

impl Compiler<'_> {
    /// The feeds that each agent names; reports names that stand for none.
    pub(super) fn bindings<'c>(&mut self, drafts: &[AgentDraft], known: &KnownFeeds<'c>) -> Vec<Binding<'c>> {
        drafts.iter().map(|draft| self.binding(draft, known)).collect()
    }

    fn binding<'c>(&mut self, draft: &AgentDraft, known: &KnownFeeds<'c>) -> Binding<'c> {
        let mut binding = Binding::default();
        for name in &draft.feeds {
            match known.meaning(name) {
                Meaning::Configured(number, by) => {
                    if self.is_of_ranges(name, known.config.feeds.get(number), "verify an agent") {
                        binding.feeds.entry(number).or_insert(by);
                    }
                }
                Meaning::Lacking(published) => binding.lacking.push(published),
                Meaning::Unknown => self.unknown_feed(name, known),
            }
        }
        binding
    }

    /// The number of the configuration's feed that a name stands for; reports that there is none.
    pub(super) fn named_feed(&mut self, name: &Placed<String>, known: &KnownFeeds<'_>) -> Option<usize> {
        match known.meaning(name) {
            Meaning::Configured(number, _) => return Some(number),
            Meaning::Lacking(published) if self.is_whole => {
                let remedy = known.published(published).map_or(String::new(), remedy);
                let message = format!("this document lacks the feed `{}` of the catalog{remedy}", **name);
                self.own.error(name.position, None, message);
            }
            Meaning::Lacking(_) => {}
            Meaning::Unknown => self.unknown_feed(name, known),
        }
        None
    }

    /// Reports a name that stands for no feed. A suggestion is a feed of this document, or says how it becomes one.
    fn unknown_feed(&mut self, name: &Placed<String>, known: &KnownFeeds<'_>) {
        if !self.is_whole {
            return;
        }
        let suggestion = match self.own.keeps_errors() {
            true => known.suggestion(name),
            false => String::new(),
        };
        self.own.error(name.position, None, format_args!("unknown feed `{}`{suggestion}", **name));
    }

    /// Returns true if a feed says whose prefixes are; reports that another one cannot do what is wanted.
    pub(super) fn is_of_ranges(
        &mut self,
        name: &Placed<String>,
        feed: Option<&FeedConfig>,
        purpose: &str,
    ) -> bool {
        let (what, says) = match feed.map(|feed| feed.format) {
            Some(FeedFormat::Geofeed) => ("geofeed", "it says where prefixes are used, not whose they are"),
            Some(FeedFormat::Table(_)) => {
                ("table", "it says which networks announce prefixes, not who uses them")
            }
            _ => return true,
        };
        let message = format!("the {what} `{}` cannot {purpose}: {says}", **name);
        self.own.error(name.position, None, message);
        false
    }

    /// Warns of feeds that verify no agent, or agents that were probably not meant.
    pub(super) fn warn_of_bindings(&mut self, users: &FeedUsers<'_>, known: &KnownFeeds<'_>) {
        if !self.is_whole {
            return;
        }
        let mut at_urls = None;
        let of_ranges = known.config.feeds.iter().enumerate();
        for (number, feed) in of_ranges.filter(|(_, feed)| feed.format.is_of_ranges()) {
            let [named, published] = [By::Name, By::Url].map(|by| users.tokens(number, by));
            let name = &*feed.name;
            let message = match (named.is_empty() && published.is_empty(), known.url(feed)) {
                (true, KnownUrl::None | KnownUrl::Exact | KnownUrl::Unknown)
                    if users.exempt.contains(&number) =>
                {
                    continue;
                }
                (true, KnownUrl::None | KnownUrl::Exact) => {
                    format!("the feed `{name}` verifies no agent: no agent lists it in `feeds`")
                }
                (true, KnownUrl::Unknown) => format!(
                    "the feed `{name}` verifies no agent: no agent lists it in `feeds`, and its `url` is not in the catalog"
                ),
                (true, KnownUrl::Near(url)) => format!(
                    "the feed `{name}` verifies no agent: its `url` is not in the catalog; did you mean {url}?"
                ),
                (false, KnownUrl::Near(url)) => format!(
                    "the feed `{name}` verifies only agents that list it: its `url` is not in the catalog; did you mean {url}?"
                ),
                (false, _) => {
                    let Some(url) = feed.url.as_deref().filter(|_| !published.is_empty()) else { continue };
                    let at_url = at_urls.get_or_insert_with(|| AgentsAtUrls::new(known));
                    let others: Vec<&str> =
                        named.into_iter().filter(|token| !at_url.has(url, token)).collect();
                    if others.is_empty() {
                        continue;
                    }
                    format!(
                        "the feed `{name}` verifies {} by its name and {} by its `url`; check which agents it belongs to",
                        shown(&others),
                        shown(&published)
                    )
                }
            };
            self.own.warning(feed.name.position, None, message);
        }
    }
}

/// The agents whose ranges are published at each URL, as the catalog says.
struct AgentsAtUrls<'c>(BTreeSet<(&'c str, String)>);

impl<'c> AgentsAtUrls<'c> {
    fn new(known: &KnownFeeds<'c>) -> Self {
        let mut pairs = BTreeSet::new();
        for agent in &known.catalog.agents {
            for feed in agent.feeds.iter().filter_map(|name| known.published(name)) {
                pairs.extend(feed.urls().map(|url| (url, agent.token.to_ascii_lowercase())));
            }
        }
        Self(pairs)
    }

    fn has(&self, url: &'c str, token: &str) -> bool {
        self.0.contains(&(url, token.to_ascii_lowercase()))
    }
}

/// The first of these agents, and how many others there are.
fn shown(tokens: &[&str]) -> String {
    match tokens {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [first, second] => format!("`{first}` and `{second}`"),
        [first, others @ ..] => format!("`{first}` and {} others", others.len()),
    }
}

/// The agents that each feed of the configuration proves.
pub(super) struct FeedUsers<'c> {
    drafts: &'c [AgentDraft],
    /// By the number of the feed: numbers of agents.
    agents: Vec<BTreeMap<usize, By>>,
    /// Numbers of the feeds that exempt clients.
    exempt: BTreeSet<usize>,
}

impl<'c> FeedUsers<'c> {
    pub(super) fn new(
        config: &Config,
        drafts: &'c [AgentDraft],
        bindings: &[Binding<'_>],
        exempt: BTreeSet<usize>,
    ) -> Self {
        let mut agents = vec![BTreeMap::new(); config.feeds.len()];
        for (agent, binding) in bindings.iter().enumerate() {
            for (feed, by) in &binding.feeds {
                agents.get_mut(*feed).into_iter().for_each(|users| _ = users.insert(agent, *by));
            }
        }
        Self { drafts, agents, exempt }
    }

    fn users(&self, feed: usize) -> impl Iterator<Item = (&'c AgentDraft, By)> {
        let users = self.agents.get(feed).into_iter().flatten();
        users.filter_map(|(agent, by)| Some((self.drafts.get(*agent)?, *by)))
    }

    fn tokens(&self, feed: usize, by: By) -> Vec<&'c str> {
        self.users(feed).filter(|user| user.1 == by).map(|(draft, _)| draft.token.as_str()).collect()
    }

    /// Notes which feeds exempt clients.
    pub(super) fn mark_exempting(&self, feeds: &mut List<FeedId, LoadedFeed>) {
        for (feed, number) in feeds.iter_mut().zip(0..) {
            feed.exempts = self.exempt.contains(&number);
        }
    }

    /// The part of a feed that proves an agent, or exempts clients.
    pub(super) fn proving(&self, feed: usize) -> Proving<'c> {
        if self.exempt.contains(&feed) {
            return Proving::Everything;
        }
        let mut services = BTreeSet::new();
        for (draft, _) in self.users(feed) {
            if draft.services.is_empty() {
                return Proving::Everything;
            }
            services.extend(draft.services.iter().map(String::as_str));
        }
        Proving::Services(services)
    }

    /// Returns true if two feeds prove the same agents, so that they may well be equal.
    pub(super) fn are_alike(&self, feed: usize, other: usize) -> bool {
        let agents = |feed: usize| self.agents.get(feed).into_iter().flat_map(BTreeMap::keys);
        agents(feed).next().is_some() && agents(feed).eq(agents(other))
    }
}
