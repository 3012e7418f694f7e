//! The sites, compiled: the site that a host belongs to, and its policies.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use core::ops::Range;

use crate::config::{Fact, Mode, Treatment, Treatments};
use crate::hash;
use crate::http::host::RequestHost;
use crate::http::host_index::HostIndex;
use crate::http::representation::Representation;
use crate::ids::{ByProduct, FeedId, List, SiteId};
use crate::path::request::RequestPath;
use crate::path::rules::{PathRule, PathRules};
use crate::policy::automation_preferences::{AutomationPreferences, NamedAgent, Undeclared};
use crate::policy::robots::{GroupId, Robots};
use crate::policy::robots_tag::SiteTags;
use crate::ruleset::usage::SiteUsage;
use crate::sort::sort_and_dedup;
use crate::user_agent::{Tokens, check_token};

/// A policy file, as it is served and as it decides; sites that name the same file share it.
#[derive(Debug)]
pub(crate) struct PolicyFile<T> {
    /// As the configuration names it.
    pub(crate) path: Box<str>,
    pub(crate) served: Representation,
    pub(crate) rules: T,
}

/// The rules of a robots.txt.
#[derive(Debug)]
pub(crate) struct RobotsPolicy {
    pub(crate) rules: Robots,
    /// The groups of each product that the file names, and those of `*`.
    pub(crate) groups: ByProduct<GroupId>,
}

/// A site's automation-preferences.txt.
#[derive(Clone, Debug)]
pub(crate) struct PreferencesPolicy {
    pub(crate) file: Arc<PolicyFile<Preferences>>,
    pub(crate) undeclared: Undeclared,
}

/// The rules of an automation-preferences.txt, with the purposes that it names.
#[derive(Debug)]
pub(crate) struct Preferences {
    pub(crate) rules: AutomationPreferences,
    pub(crate) purposes: NamedPurposes,
    /// The name by which the file knows each product that it names, and everybody else.
    pub(crate) agents: ByProduct<NamedAgent>,
}

/// Purposes that count as declared where they stand alone in a User-Agent.
#[derive(Debug)]
pub(crate) struct NamedPurposes {
    /// In lower case.
    names: Vec<Box<str>>,
    /// Finds `names`.
    tokens: Tokens,
}

/// There are more than [`NamedPurposes::MOST`] different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyPurposes;

impl fmt::Display for TooManyPurposes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} different purposes", NamedPurposes::MOST)
    }
}

impl NamedPurposes {
    /// More than any policy has that people write. Each costs memory as long as the policy is in force.
    pub(crate) const MOST: usize = 1024;

    /// The grammar has more purposes than a User-Agent is searched for: quotes and single asterisks among them.
    pub(crate) fn new<'p>(purposes: impl IntoIterator<Item = &'p str>) -> Result<Self, TooManyPurposes> {
        let usable = purposes.into_iter().filter(|purpose| check_token(purpose).is_ok());
        let mut names: Vec<Box<str>> = usable.map(|purpose| purpose.to_ascii_lowercase().into()).collect();
        sort_and_dedup(&mut names);
        if names.len() > Self::MOST {
            return Err(TooManyPurposes);
        }
        let tokens = Tokens::new(names.iter().map(|name| &**name));
        Ok(Self { names, tokens })
    }

    /// The longest purpose that stands alone in a User-Agent, and the first of equally long ones, outside of addresses of pages
    /// and of mail: a word in one says where the operator is found.
    pub(crate) fn find(&self, user_agent: &[u8]) -> Option<&str> {
        if self.names.is_empty() {
            return None;
        }
        let found = |text| Some(&**self.names.get(self.tokens.find(text)?)?);
        found(user_agent)?;
        let mut best = None;
        let mut rest = Some(user_agent);
        while let Some(text) = rest.take() {
            let mut part = text;
            if let Some(address) = first_address(text) {
                part = text.get(..address.start)?;
                rest = text.get(address.end..);
            }
            let is_longer = |name: &&str| best.is_none_or(|best: &str| name.len() > best.len());
            best = found(part).filter(is_longer).or(best);
        }
        best
    }
}

/// The first word of a User-Agent that is the address of a page or of mail.
fn first_address(text: &[u8]) -> Option<Range<usize>> {
    let ends_word = |byte: &u8| matches!(byte, b' ' | b'\t' | b';' | b',' | b'(' | b')');
    let is_sign =
        |at: &usize| text.get(*at..).is_some_and(|rest| rest.starts_with(b"@") || rest.starts_with(b"://"));
    let sign = (0..text.len()).find(is_sign)?;
    let (before, after) = text.split_at_checked(sign)?;
    let start = before.iter().rposition(ends_word).map_or(0, |end| end.saturating_add(1));
    let end = after.iter().position(ends_word).map_or(text.len(), |length| sign.saturating_add(length));
    Some(start..end)
}

/// A rule on places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GeoRule {
    /// Empty: any known country.
    pub(crate) countries: Vec<[u8; 2]>,
    /// Empty: any region.
    pub(crate) regions: Vec<Box<str>>,
    pub(crate) treatment: Treatment,
}

impl GeoRule {
    fn holds(&self, country: [u8; 2], region: Option<&str>) -> bool {
        let in_country = self.countries.is_empty() || self.countries.contains(&country);
        let in_region = || self.regions.iter().any(|known| Some(&**known) == region);
        in_country && (self.regions.is_empty() || in_region())
    }
}

/// The modes of parts of a site. The longest scope counts, of equally long ones the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    /// Each with its place in `list`.
    scopes: PathRules<usize>,
    /// In the order of the document, each with its scope as it is written.
    list: Vec<(Mode, Box<str>)>,
}

impl Modes {
    pub(crate) fn new(scopes: Vec<(PathRule, Mode, Box<str>)>) -> Self {
        Self {
            scopes: PathRules::new(scopes.iter().map(|(rule, ..)| rule).zip(0..)),
            list: scopes.into_iter().map(|(_, mode, text)| (mode, text)).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The mode of a path, and the scope that it is in; `None`: it is in no scope.
    pub(crate) fn find(&self, path: RequestPath<'_>) -> Option<(Mode, &str)> {
        let found = self.list.get(self.scopes.decide(path)?.what)?;
        Some((found.0, &found.1))
    }
}

/// A site's compiled policies.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) name: Box<str>,
    pub(crate) treatments: Treatments,
    pub(crate) robots: Option<Arc<PolicyFile<RobotsPolicy>>>,
    pub(crate) preferences: Option<PreferencesPolicy>,
    /// The feeds whose addresses are exempt, the document's first.
    pub(crate) exempt: Box<[FeedId]>,
    pub(crate) geo: Vec<GeoRule>,
    pub(crate) modes: Modes,
    /// 0 to 100.
    pub(crate) enforce_percent: u8,
    /// True if a denial names the line that decided.
    pub(crate) explain: bool,
    /// Instead of the document's.
    /// The paths that cost much, if there are any. The numbers say nothing: other rules have such, too, and so the same code.
    pub(crate) costly: Option<Box<PathRules<usize>>>,
    pub(crate) filter_state: Option<Vec<Fact>>,
    pub(crate) tags: SiteTags,
    /// The settings of the site for usage preferences, if it has any.
    pub(crate) usage: Option<Box<SiteUsage>>,
    /// The proof of who owns the domain, as it is served.
    pub(crate) proof: Option<Box<Representation>>,
    /// The settings of the site for documents; `None`: it sends none.
    pub(crate) documents: Option<SiteDocuments>,
}

/// The settings of a site for documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteDocuments {
    /// True if a path with `.md` added asks for the markdown of a page.
    pub(crate) md_paths: bool,
    /// The largest page that becomes one, in bytes, uncompressed.
    pub(crate) max_bytes: usize,
}

impl Site {
    /// Returns true if a path with `.md` added asks for the markdown of a page.
    pub(crate) fn has_md_paths(&self) -> bool {
        self.documents.is_some_and(|documents| documents.md_paths)
    }

    /// The treatment of a client by the rules on places; `None`: no rule holds.
    pub(crate) fn treatment_of_place(
        &self,
        country: Option<[u8; 2]>,
        region: Option<&str>,
    ) -> Option<Treatment> {
        let country = country?;
        self.geo.iter().find(|rule| rule.holds(country, region)).map(|rule| rule.treatment)
    }

    /// Returns true if `enforce` enforces for a client, by a hash of its address (IPv6: of its /64), so that one client
    /// sees one behaviour. A client without an address is enforced on when all are.
    pub(crate) fn enforces_on(&self, address: impl FnOnce() -> Option<IpAddr>) -> bool {
        if self.enforce_percent >= 100 {
            return true;
        }
        let bits = match address().map(|address| address.to_canonical()) {
            None => return false,
            Some(IpAddr::V4(v4)) => u64::from(v4.to_bits()),
            Some(IpAddr::V6(v6)) => (v6.to_bits() >> 64) as u64,
        };
        hash::mix(bits) % 100 < u64::from(self.enforce_percent)
    }
}

/// The sites, and the hosts that lead to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    pub(crate) list: List<SiteId, Site>,
    pub(crate) hosts: HostIndex<SiteId>,
    pub(crate) default: Option<SiteId>,
    /// True if in any site a path with `.md` added asks for the markdown of a page.
    pub(crate) have_md_paths: bool,
}

impl Sites {
    /// A site by its number.
    pub(crate) fn get(&self, id: SiteId) -> Option<&Site> {
        self.list.get(id)
    }

    /// Returns true if a site names the host.
    pub(crate) fn name(&self, host: &[u8]) -> bool {
        self.hosts.best(RequestHost::new(host)).is_some()
    }

    /// The site of a host as it came in a request: exact names, then wildcards, then the default.
    pub(crate) fn find(&self, host: &[u8]) -> Option<SiteId> {
        self.hosts.best(RequestHost::new(host)).or(self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RobotsTagSyntax;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn a_word_in_an_address_declares_no_purpose() {
        let purposes = NamedPurposes::new(["search", "user-fetch"]).unwrap();
        let found = |user_agent: &str| purposes.find(user_agent.as_bytes()).map(String::from);
        for address in [
            "+https://a.test/search/bot",
            "https://search.a.test/",
            "+search@a.test",
            "<http://a.test/?search>",
        ] {
            assert_eq!(found(&format!("FooBot/1.0 ({address})")), None, "{address}");
            let both = format!("FooBot/1.0; user-fetch; {address}");
            assert_eq!(found(&both).as_deref(), Some("user-fetch"), "{both}");
        }
        assert_eq!(found("FooBot/1.0; search; +https://a.test/bot").as_deref(), Some("search"));
    }

    #[test]
    fn of_several_purposes_the_longest_counts_then_the_first() {
        // AUTO-21
        let purposes =
            NamedPurposes::new(["search", "training", "indexes!", "web search", "search (web)"]).unwrap();
        for (user_agent, expected) in [
            ("FooBot; search; training", "training"),
            ("FooBot; training; search", "training"),
            ("FooBot; indexes!; training", "indexes!"),
            ("FooBot; training; indexes!", "training"),
            ("FooBot; training; +https://a.test/; indexes!", "training"),
            ("FooBot; search (+https://a.test/; web search)", "web search"),
            ("FooBot; web search; a@a.test; training", "web search"),
            ("FooBot; search (web); training", "search (web)"),
        ] {
            assert_eq!(purposes.find(user_agent.as_bytes()), Some(expected), "{user_agent}");
        }
    }

    #[test]
    fn a_share_of_the_addresses_is_enforced_on_and_stays_the_same() {
        let site = |enforce_percent| Site {
            name: "s".into(),
            treatments: Treatments::DEFAULT,
            robots: None,
            preferences: None,
            exempt: Box::default(),
            geo: Vec::new(),
            modes: Modes::default(),
            enforce_percent,
            explain: true,
            costly: None,
            filter_state: None,
            tags: SiteTags::none(RobotsTagSyntax::Draft00),
            usage: None,
            proof: None,
            documents: None,
        };
        let addresses =
            |count: u32| (0..count).map(|bits| Some(IpAddr::V4((bits.wrapping_mul(2_654_435_761)).into())));
        for percent in [0, 1, 10, 50, 100] {
            let enforced = addresses(20_000).filter(|address| site(percent).enforces_on(|| *address)).count();
            let expected = 200 * usize::from(percent);
            assert!(enforced.abs_diff(expected) <= 200, "{percent} %: {enforced}");
        }
        // Clients that are enforced on at 10 % are so at 50 %, too: a roll-out only adds.
        assert!(
            addresses(1000)
                .all(|address| !site(10).enforces_on(|| address) || site(50).enforces_on(|| address))
        );
        let v6 = |text: &str| Some(text.parse().unwrap());
        assert_eq!(
            site(50).enforces_on(|| v6("2001:db8::1")),
            site(50).enforces_on(|| v6("2001:db8::ffff:1"))
        );
        assert!(site(100).enforces_on(|| None) && !site(99).enforces_on(|| None));
    }
}
