//! From the configuration's sites to compiled ones: hosts, policy files, places, modes.

use alloc::collections::btree_map::{BTreeMap, Entry};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Compiler, FoundFile};
use crate::automation_preferences::{PreferencesFile, Undeclared};
use crate::config::{GeoConfig, ModeConfig, RobotsTagConfig, SiteConfig, UndeclaredPurpose};
use crate::diagnostic::{Diagnostics, Position};
use crate::geofeed::is_region;
use crate::host::{HostIndex, HostPattern};
use crate::path_pattern::PathPattern;
use crate::path_set::PathSet;
use crate::representation::Representation;
use crate::robots::{Robots, RobotsFile};
use crate::robots_tag::{self, SiteTags, TooManyWays};
use crate::ruleset::Agent;
use crate::sites::{
    GeoRule, Modes, NamedPurposes, PolicyFile, Preferences, PreferencesPolicy, RobotsPolicy, Site, Sites,
    Treatments,
};
use crate::typed_json::Placed;

/// Policy files by their path, so that sites which name the same one share it.
type Shared<T> = BTreeMap<String, Arc<PolicyFile<T>>>;

impl Compiler<'_> {
    pub(super) fn sites(&mut self, configs: &[Placed<SiteConfig>], agents: &[Agent]) -> Sites {
        let mut sites = Sites::default();
        let mut hosts = BTreeMap::new();
        // Each with whether any site was given it.
        let mut names: BTreeMap<String, bool> = BTreeMap::new();
        let (mut robots, mut preferences) = (Shared::new(), Shared::new());
        for config in configs {
            let Ok(id) = u16::try_from(sites.list.len()) else {
                self.own.error(None, None, format!("more than {} sites", u16::MAX));
                break;
            };
            let name = match (&config.name, config.hosts.first()) {
                (Some(name), _) | (None, Some(name)) => name.clone(),
                (None, None) => Placed { value: "default".to_string(), position: None },
            };
            let is_given = config.name.is_some();
            let known = names.get_mut(&*name);
            // Two names made of hosts, or of none, are told as such.
            if known.as_deref().is_some_and(|is_other_given| is_given || *is_other_given) {
                self.own.error(name.position, None, format!("another site is named `{}`, too", *name));
            }
            match known {
                Some(is_any_given) => *is_any_given |= is_given,
                None => _ = names.insert(name.value.clone(), is_given),
            }
            let site = self.site(config, name.value, agents, &mut robots, &mut preferences);
            sites.list.push(site);
            for host in &config.hosts {
                self.host(host, id, &sites.list, &mut hosts);
            }
            if config.hosts.is_empty() {
                match sites.default {
                    None => sites.default = Some(id),
                    Some(_) if !self.is_whole => {}
                    Some(other) => {
                        let other = site_name(&sites.list, other);
                        let message = format!(
                            "the site `{other}` has no hosts, either, and only one can be the default"
                        );
                        self.own.error(config.position, None, message);
                    }
                }
            }
        }
        sites.hosts = HostIndex::new(hosts.iter().map(|(pattern, id)| (pattern, u32::from(*id))));
        sites
    }

    fn site(
        &mut self,
        config: &SiteConfig,
        name: String,
        agents: &[Agent],
        robots: &mut Shared<Robots>,
        preferences: &mut Shared<Preferences>,
    ) -> Site {
        let tokens = || agents.iter().map(|agent| &*agent.token).chain(["*"]);
        let robots = config.robots_txt.as_ref().and_then(|path| self.robots(path, robots));
        let preferences =
            config.automation_preferences.as_ref().and_then(|path| self.preferences(path, preferences));
        Site {
            name: name.into(),
            treatments: Treatments {
                spoofed: config.spoofed,
                unverified: config.unverified,
                undeclared: config.undeclared,
            },
            robots: robots.map(|file| RobotsPolicy {
                groups: tokens().map(|token| file.rules.group_for(token)).collect(),
                file,
            }),
            preferences: preferences.map(|file| PreferencesPolicy {
                agents: tokens().map(|token| file.rules.rules.agent(token)).collect(),
                file,
                undeclared: match config.undeclared_purpose {
                    UndeclaredPurpose::Deny => Undeclared::Deny,
                    UndeclaredPurpose::Allow => Undeclared::Allow,
                },
            }),
            geo: config.geo.iter().map(|rule| self.geo(rule)).collect(),
            modes: self.modes(&config.modes),
            enforce_percent: config.enforce_percent.0,
            explain: config.explain,
            filter_state: config.filter_state.clone(),
            tags: self.tags(config),
        }
    }

    fn host(
        &mut self,
        host: &Placed<String>,
        id: u16,
        sites: &[Site],
        hosts: &mut BTreeMap<HostPattern, u16>,
    ) {
        match HostPattern::new(host).map(|pattern| hosts.entry(pattern)) {
            Err(why) => self.own.error(host.position, None, format!("`{}`: {why}", **host)),
            Ok(Entry::Occupied(known)) => {
                let (other, pattern) = (site_name(sites, *known.get()), known.key());
                self.own.error(
                    host.position,
                    None,
                    format!("the site `{other}` has the host `{pattern}`, too"),
                );
            }
            Ok(Entry::Vacant(new)) => _ = new.insert(id),
        }
    }

    fn robots(
        &mut self,
        path: &Placed<String>,
        known: &mut Shared<Robots>,
    ) -> Option<Arc<PolicyFile<Robots>>> {
        self.policy(path, known, |text, diagnostics| Some(RobotsFile::parse(text, diagnostics).compile()))
    }

    fn preferences(
        &mut self,
        path: &Placed<String>,
        known: &mut Shared<Preferences>,
    ) -> Option<Arc<PolicyFile<Preferences>>> {
        self.policy(path, known, |text, diagnostics| {
            let file = PreferencesFile::parse(text, diagnostics)?;
            match NamedPurposes::new(file.purposes()) {
                Ok(purposes) => Some(Preferences { rules: file.compile(), purposes }),
                Err(error) => {
                    diagnostics.error(None, "AUTO-21", format!("the purposes can't be compiled: {error}"));
                    None
                }
            }
        })
    }

    /// A policy file, read once for all sites that name it. One that is missing or refused is an error: without it,
    /// everything would be allowed.
    fn policy<T>(
        &mut self,
        path: &Placed<String>,
        known: &mut Shared<T>,
        parse: impl FnOnce(&[u8], &mut Diagnostics) -> Option<T>,
    ) -> Option<Arc<PolicyFile<T>>> {
        if let Some(file) = known.get(path.as_str()) {
            return Some(file.clone());
        }
        let FoundFile { bytes, modified } = self.must_read(path, path.position)?;
        let name = self.display_name(path);
        let rules = self.collect(&name, self.policies, |diagnostics| parse(&bytes, diagnostics))?;
        let served = Representation::new(bytes.into(), modified);
        let file = Arc::new(PolicyFile { path: path.as_str().into(), served, rules });
        known.insert(path.value.clone(), file.clone());
        Some(file)
    }

    fn geo(&mut self, config: &Placed<GeoConfig>) -> GeoRule {
        if self.is_whole && config.country.is_empty() && config.region.is_empty() {
            self.own.error(config.position, None, "a rule in `geo` names a country, a region or both");
        }
        let mut rule = GeoRule { countries: Vec::new(), regions: Vec::new(), treatment: config.action };
        for code in &config.country {
            match <[u8; 2]>::try_from(code.to_ascii_uppercase().as_bytes()) {
                Ok(letters) if letters.iter().all(u8::is_ascii_uppercase) => rule.countries.push(letters),
                _ => self.bad_code(code.position, code, "a country is two letters (ISO 3166-1), as `PL`"),
            }
        }
        for code in &config.region {
            let upper = code.to_ascii_uppercase();
            if is_region(&upper) {
                rule.regions.push(upper.into());
            } else {
                self.bad_code(code.position, code, "a region is written as in ISO 3166-2, as `US-CA`");
            }
        }
        rule
    }

    fn bad_code(&mut self, position: Option<Position>, code: &str, rule: &str) {
        self.own.error(position, None, format!("`{code}`: {rule}"));
    }

    fn tags(&mut self, site: &SiteConfig) -> SiteTags {
        let syntax = site.robots_tag_syntax;
        let mut scopes = Vec::new();
        for RobotsTagConfig { scope, rules } in &site.robots_tag {
            let pattern = PathPattern::new(scope.as_bytes());
            if let Err(why) = pattern {
                self.own.error(scope.position, None, format!("`{}`: {why}", **scope));
            }
            if let Some(odd) = rules.chars().find(|character| !matches!(character, ' '..='~')) {
                let message =
                    format!("{odd:?} can't stand in a header field: the rules are of printable ASCII");
                self.own.error(rules.position, "TAG-1", message);
                continue;
            }
            let mut place = |part: &[u8]| position_in(rules, part).or(rules.position);
            let tag = robots_tag::rules(rules, syntax, &mut place, &mut self.own);
            scopes.extend(pattern.ok().map(|pattern| (pattern, tag.into_owned())));
        }
        SiteTags::new(syntax, &scopes).unwrap_or_else(|TooManyWays { most }| {
            let position = site.robots_tag.first().and_then(|first| first.rules.position);
            let message = format!(
                "the scopes in `robots_tag` can match together in more than {most} ways: give those with `*` or `$` the same rules, or leave some out"
            );
            self.own.error(position, None, message);
            SiteTags::none(syntax)
        })
    }

    fn modes(&mut self, configs: &[ModeConfig]) -> Modes {
        let mut patterns = Vec::new();
        for config in configs {
            match PathPattern::new(config.scope.as_bytes()) {
                Ok(pattern) => patterns.push((pattern, (config.mode, config.scope.as_str().into()))),
                Err(why) => {
                    self.own.error(config.scope.position, None, format!("`{}`: {why}", *config.scope));
                }
            }
        }
        // Stable: of two equally long scopes the first counts.
        patterns.sort_by_key(|(pattern, _)| core::cmp::Reverse(pattern.length()));
        Modes {
            scopes: PathSet::new(patterns.iter().map(|(pattern, _)| pattern)),
            modes: patterns.into_iter().map(|(_, mode)| mode).collect(),
        }
    }
}

/// Where a part of a document's string is; the string's own place where it holds what JSON may have escaped.
fn position_in(string: &Placed<String>, part: &[u8]) -> Option<Position> {
    let position = string.position?;
    let offset = (part.as_ptr() as usize).checked_sub(string.as_ptr() as usize)?;
    let before = string.get(..offset).filter(|before| !before.contains(['"', '\\']))?;
    let column = u32::try_from(before.chars().count()).ok()?.saturating_add(1);
    Some(Position { column: position.column.saturating_add(column), ..position })
}

fn site_name(sites: &[Site], id: u16) -> &str {
    sites.get(usize::from(id)).map_or("", |site| &site.name)
}
