//! What the sites permit, compiled: which site a host belongs to, and what it says of whom.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use crate::automation_preferences::{AgentId, AutomationPreferences, Undeclared};
use crate::config::{Mode, Treatment};
use crate::decision::Fact;
use crate::host::{HostIndex, RequestHost};
use crate::path_pattern::RequestPath;
use crate::path_set::PathSet;
use crate::representation::Representation;
use crate::robots::{GroupId, Robots};
use crate::robots_tag::SiteTags;
use crate::user_agent::{Claims, ClaimsError, check_token};

/// What a site does with each class of identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Treatments {
    pub(crate) spoofed: Treatment,
    pub(crate) unverified: Treatment,
    pub(crate) undeclared: Treatment,
}

impl Treatments {
    /// For a host that no site names.
    pub(crate) const DEFAULT: Self =
        Self { spoofed: Treatment::Deny, unverified: Treatment::Policy, undeclared: Treatment::Allow };
}

/// A policy file, as it is served and as it decides; sites that name the same file share it.
#[derive(Debug)]
pub(crate) struct PolicyFile<T> {
    /// As the configuration names it.
    pub(crate) path: Box<str>,
    pub(crate) served: Representation,
    pub(crate) rules: T,
}

/// A site's robots.txt.
#[derive(Clone, Debug)]
pub(crate) struct RobotsPolicy {
    pub(crate) file: Arc<PolicyFile<Robots>>,
    /// The group of each agent, by the agent's number; the last one is that of `*`.
    pub(crate) groups: Box<[GroupId]>,
}

/// A site's automation-preferences.txt.
#[derive(Clone, Debug)]
pub(crate) struct PreferencesPolicy {
    pub(crate) file: Arc<PolicyFile<Preferences>>,
    /// What the file knows each agent as, by the agent's number; the last one is `*`.
    pub(crate) agents: Box<[AgentId]>,
    pub(crate) undeclared: Undeclared,
}

/// The rules of an automation-preferences.txt, with the purposes that it names.
#[derive(Debug)]
pub(crate) struct Preferences {
    pub(crate) rules: AutomationPreferences,
    pub(crate) purposes: NamedPurposes,
}

/// Purposes that count as declared where they stand alone in a User-Agent.
#[derive(Debug)]
pub(crate) struct NamedPurposes {
    /// In lower case.
    names: Vec<Box<str>>,
    /// Finds `names`.
    claims: Claims,
}

impl NamedPurposes {
    /// The grammar has more purposes than a User-Agent is searched for: quotes and single asterisks among them.
    pub(crate) fn new<'p>(purposes: impl IntoIterator<Item = &'p str>) -> Result<Self, ClaimsError> {
        let usable = purposes.into_iter().filter(|purpose| check_token(purpose).is_ok());
        let mut names: Vec<Box<str>> = usable.map(|purpose| purpose.to_ascii_lowercase().into()).collect();
        names.sort_unstable();
        names.dedup();
        let claims = Claims::new(names.iter().map(|name| &**name))?;
        Ok(Self { names, claims })
    }

    pub(crate) fn find(&self, user_agent: &[u8]) -> Option<&str> {
        if self.names.is_empty() {
            return None;
        }
        self.claims.find(user_agent).and_then(|at| self.names.get(at)).map(|name| &**name)
    }
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

/// The modes of parts of a site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    /// The longest scope first.
    pub(crate) scopes: PathSet,
    /// In the order of `scopes`; each with its scope as it was written.
    pub(crate) modes: Vec<(Mode, Box<str>)>,
}

/// A site's compiled policies.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) name: Box<str>,
    pub(crate) treatments: Treatments,
    pub(crate) robots: Option<RobotsPolicy>,
    pub(crate) preferences: Option<PreferencesPolicy>,
    pub(crate) geo: Vec<GeoRule>,
    pub(crate) modes: Modes,
    /// 0 to 100.
    pub(crate) enforce_percent: u8,
    /// Whether a denial names the line that decided.
    pub(crate) explain: bool,
    /// Instead of the document's.
    pub(crate) filter_state: Option<Vec<Fact>>,
    pub(crate) tags: SiteTags,
}

impl Site {
    /// The mode that the site gives a path, and the scope for which it does; `None`: that of the document.
    pub(crate) fn mode(&self, path: RequestPath<'_>) -> Option<(Mode, &str)> {
        let place = self.modes.scopes.first_match(path)?;
        let found = usize::try_from(place).ok().and_then(|place| self.modes.modes.get(place));
        found.map(|(mode, scope)| (*mode, &**scope))
    }

    /// What the rules on places make of a client; `None`: nothing.
    pub(crate) fn treatment_of_place(
        &self,
        country: Option<[u8; 2]>,
        region: Option<&str>,
    ) -> Option<Treatment> {
        let country = country?;
        self.geo.iter().find(|rule| rule.holds(country, region)).map(|rule| rule.treatment)
    }

    /// Whether `enforce` enforces for a client, by a hash of its address (IPv6: of its /64), so that one client sees one
    /// behaviour. A client without an address is enforced on when all are.
    pub(crate) fn enforces_on(&self, address: Option<IpAddr>) -> bool {
        let bits = match address.map(|address| address.to_canonical()) {
            _ if self.enforce_percent >= 100 => return true,
            None => return false,
            Some(IpAddr::V4(v4)) => u64::from(v4.to_bits()),
            Some(IpAddr::V6(v6)) => (v6.to_bits() >> 64) as u64,
        };
        // The finaliser of SplitMix64: every bit of the address moves the share that it falls into.
        let mixed = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % 100 < u64::from(self.enforce_percent)
    }
}

/// The sites, and the hosts that lead to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    pub(crate) list: Vec<Site>,
    pub(crate) hosts: HostIndex,
    pub(crate) default: Option<u16>,
}

impl Sites {
    /// A site by its number.
    pub(crate) fn get(&self, id: u16) -> Option<&Site> {
        self.list.get(usize::from(id))
    }

    /// The site of a host as it came in a request: exact names, then wildcards, then the default.
    pub(crate) fn find(&self, host: &[u8]) -> Option<u16> {
        let found = self.hosts.best(RequestHost::new(host));
        found.and_then(|id| u16::try_from(id).ok()).or(self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RobotsTagSyntax;

    #[test]
    fn a_share_of_the_addresses_is_enforced_on_and_stays_the_same() {
        let site = |enforce_percent| Site {
            name: "s".into(),
            treatments: Treatments::DEFAULT,
            robots: None,
            preferences: None,
            geo: Vec::new(),
            modes: Modes::default(),
            enforce_percent,
            explain: true,
            filter_state: None,
            tags: SiteTags::none(RobotsTagSyntax::Draft00),
        };
        let addresses =
            |count: u32| (0..count).map(|bits| Some(IpAddr::V4((bits.wrapping_mul(2_654_435_761)).into())));
        for percent in [0, 1, 10, 50, 100] {
            let enforced = addresses(20_000).filter(|address| site(percent).enforces_on(*address)).count();
            let expected = 200 * usize::from(percent);
            assert!(enforced.abs_diff(expected) <= 200, "{percent} %: {enforced}");
        }
        // Who is enforced on at 10 % is so at 50 %, too: a roll-out only adds.
        assert!(
            addresses(1000).all(|address| !site(10).enforces_on(address) || site(50).enforces_on(address))
        );
        let v6 = |text: &str| Some(text.parse().unwrap());
        assert_eq!(site(50).enforces_on(v6("2001:db8::1")), site(50).enforces_on(v6("2001:db8::ffff:1")));
        assert!(site(100).enforces_on(None) && !site(99).enforces_on(None));
    }
}
