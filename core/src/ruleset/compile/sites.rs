//! From the configuration's sites to compiled ones: hosts, policy files, places, modes.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::collections::btree_map::{BTreeMap, Entry};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::agents::Products;
use super::{Compiler, Files, FoundFile, PolicySource};
use crate::config::aiwebindex::{AiwebindexConfig, objection_to_token};
use crate::config::{
    Config, GeoConfig, Mode, ModeConfig, RobotsTagConfig, SiteConfig, Treatments, UndeclaredPurpose,
};
use crate::feed::geofeed::is_region;
use crate::http::host::{HostError, HostPattern};
use crate::http::host_index::HostIndex;
use crate::http::representation::Representation;
use crate::ids::{FeedId, List, SiteId};
use crate::path::pattern::PathPattern;
use crate::path::rules::{PathRule, PathRules};
use crate::policy::automation_preferences::Undeclared;
use crate::policy::robots_tag::SiteTags;
use crate::ruleset::sites::{
    GeoRule, Modes, NamedPurposes, PolicyFile, Preferences, PreferencesPolicy, RobotsPolicy, Site,
    SiteDocuments, Sites,
};
use crate::source::position::{Placed, Position};

/// Policy files by their path, so that sites which name the same one share it. `None`: it cannot be used, as was reported.
type Shared<T> = BTreeMap<String, Option<Arc<PolicyFile<T>>>>;

impl Compiler<'_> {
    /// The sites; `exempt` has the feeds whose addresses each exempts.
    pub(super) fn sites(
        &mut self,
        configs: &[Placed<SiteConfig>],
        products: &Products,
        exempt: Vec<Box<[FeedId]>>,
    ) -> Sites {
        let mut sites = Sites::default();
        let mut hosts = BTreeMap::new();
        // Each with whether any site was given it.
        let mut names: BTreeMap<String, bool> = BTreeMap::new();
        let (mut robots, mut preferences) = (Shared::new(), Shared::new());
        for (config, exempt) in configs.iter().zip(exempt) {
            let name = match (&config.name, config.hosts.first()) {
                (Some(name), _) | (None, Some(name)) => name.clone(),
                (None, None) => Placed { value: "default".to_string(), position: None },
            };
            let is_given = config.name.is_some();
            let known = names.get_mut(&*name);
            // The message names two names made of hosts, or of none, as such.
            if known.as_deref().is_some_and(|is_other_given| is_given || *is_other_given) {
                self.own.error(name.position, None, format!("duplicate site name `{}`", *name));
            }
            match known {
                Some(is_any_given) => *is_any_given |= is_given,
                None => _ = names.insert(name.value.clone(), is_given),
            }
            let site = self.site(config, name.value, exempt, products, &mut robots, &mut preferences);
            let id = match sites.list.push(site) {
                Ok(id) => id,
                Err(full) => {
                    self.own.error(config.position, None, format!("{full} sites"));
                    break;
                }
            };
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
                            "the site `{other}` has no `hosts` either; only one site can be the default"
                        );
                        self.own.error(config.position, None, message);
                    }
                }
            }
        }
        sites.have_md_paths = sites.list.iter().any(Site::has_md_paths);
        sites.hosts = HostIndex::new(hosts.iter().map(|(pattern, id)| (pattern, *id)));
        sites
    }

    /// A host that no site names is under no policy file, which is hardly meant where others are enforced.
    pub(super) fn warn_of_other_hosts(&mut self, config: &Config, sites: &Sites) {
        if *config.mode == Mode::Enforce && !sites.list.is_empty() && sites.default.is_none() {
            let message =
                "no site applies to other hosts: requests for them get no policy; add a site without `hosts`";
            self.own.warning(config.mode.position, None, message);
        }
    }

    fn site(
        &mut self,
        config: &SiteConfig,
        name: String,
        exempt: Box<[FeedId]>,
        products: &Products,
        robots: &mut Shared<RobotsPolicy>,
        preferences: &mut Shared<Preferences>,
    ) -> Site {
        let robots = config.robots_txt.as_ref().and_then(|path| self.robots(path, products, robots));
        let preferences = config
            .automation_preferences
            .as_ref()
            .and_then(|path| self.preferences(path, products, preferences));
        let usage = self.usage(config.usage.as_deref(), robots.as_deref());
        Site {
            name: name.into(),
            treatments: Treatments {
                spoofed: config.spoofed,
                unverified: config.unverified,
                undeclared: config.undeclared,
            },
            robots,
            preferences: preferences.map(|file| PreferencesPolicy {
                file,
                undeclared: match config.undeclared_purpose {
                    UndeclaredPurpose::Deny => Undeclared::Deny,
                    UndeclaredPurpose::Allow => Undeclared::Allow,
                },
            }),
            exempt,
            geo: config.geo.iter().map(|rule| self.geo(rule)).collect(),
            modes: self.modes(&config.modes),
            enforce_percent: config.enforce_percent.0,
            explain: config.explain,
            costly: self.costly(&config.costly),
            filter_state: config.filter_state.clone(),
            tags: self.tags(config),
            usage,
            proof: config.aiwebindex.as_ref().and_then(|own| self.proof(own, config)),
            documents: config.aiwebindex.as_ref().and_then(|own| own.document.0.as_ref()).map(|document| {
                SiteDocuments { md_paths: document.md_paths, max_bytes: config.max_document_bytes }
            }),
        }
    }

    /// The proofs of the domain's owner for issuers of tokens: a line for each.
    fn proof(&mut self, config: &AiwebindexConfig, site: &SiteConfig) -> Option<Box<Representation>> {
        let mut lines = String::new();
        let mut known = BTreeSet::new();
        for token in &config.verification_tokens {
            if let Some(why) = objection_to_token(token) {
                self.own.error(
                    token.position,
                    None,
                    format!("`{}` is not a valid verification token: {why}", **token),
                );
            } else if !known.insert(token.as_str()) {
                self.own.error(token.position, None, format!("duplicate token `{}`", **token));
            }
            lines.push_str(&format!("aiwi-verify={}\n", **token));
        }
        let first = config.verification_tokens.first()?;
        if site.hosts.is_empty() {
            let message = "the tokens are served to every host that no other site names, so others can prove their \
                           domains; add `hosts`";
            self.own.warning(first.position, None, message);
        }
        Some(Box::new(Representation::new(lines.into_bytes().into(), None)))
    }

    fn host(
        &mut self,
        host: &Placed<String>,
        id: SiteId,
        sites: &List<SiteId, Site>,
        hosts: &mut BTreeMap<HostPattern, SiteId>,
    ) {
        match HostPattern::new(host).map(|pattern| hosts.entry(pattern)) {
            Err(why) => {
                let advice = match why {
                    HostError::Expression => {
                        "; in nginx, `crawlpike_site` names the site of a server or a location"
                    }
                    _ => "",
                };
                self.own.error(host.position, None, format!("`{}`: {why}{advice}", **host));
            }
            Ok(Entry::Occupied(known)) => {
                let (other, pattern) = (site_name(sites, *known.get()), known.key());
                self.own.error(
                    host.position,
                    None,
                    format!("duplicate host `{pattern}`; see site `{other}`"),
                );
            }
            Ok(Entry::Vacant(new)) => _ = new.insert(id),
        }
    }

    fn robots(
        &mut self,
        path: &Placed<String>,
        products: &Products,
        known: &mut Shared<RobotsPolicy>,
    ) -> Option<Arc<PolicyFile<RobotsPolicy>>> {
        self.policy(path, known, |compiler, file| {
            let (read, diagnostics) = compiler.policies.robots(file);
            compiler.others.extend(diagnostics);
            let rules = read?.compile();
            let groups = products.select(rules.groups(), rules.group_for("*"));
            Some(RobotsPolicy { rules, groups })
        })
    }

    fn preferences(
        &mut self,
        path: &Placed<String>,
        products: &Products,
        known: &mut Shared<Preferences>,
    ) -> Option<Arc<PolicyFile<Preferences>>> {
        self.policy(path, known, |compiler, file| {
            let (read, diagnostics) = compiler.policies.preferences(file);
            compiler.others.extend(diagnostics);
            let read = read?;
            match NamedPurposes::new(read.purposes()) {
                Ok(purposes) => {
                    let rules = read.compile();
                    let agents = products.select(rules.agents(), rules.agent("*"));
                    Some(Preferences { rules, purposes, agents })
                }
                Err(too_many) => compiler.collect(file.name, |diagnostics| {
                    diagnostics.error(None, "AUTO-21", format!("the file has {too_many}"));
                    None
                }),
            }
        })
    }

    /// A policy file, read once for all sites that name it, even if it cannot be read. One that is missing or refused is an
    /// error: without it, everything would be allowed.
    fn policy<T>(
        &mut self,
        path: &Placed<String>,
        known: &mut Shared<T>,
        read: impl FnOnce(&mut Self, PolicySource<'_>) -> Option<T>,
    ) -> Option<Arc<PolicyFile<T>>> {
        if let Some(file) = known.get(path.as_str()) {
            return file.clone();
        }
        let file = self.new_policy(path, read);
        known.insert(path.value.clone(), file.clone());
        file
    }

    fn new_policy<T>(
        &mut self,
        path: &Placed<String>,
        read: impl FnOnce(&mut Self, PolicySource<'_>) -> Option<T>,
    ) -> Option<Arc<PolicyFile<T>>> {
        let found = self.files.read_policy(path);
        let FoundFile { bytes, modified } = self.must_be_there(path, path.position, found)?;
        let name = self.display_name(path);
        let rules = read(self, PolicySource { path, name: &name, text: &bytes })?;
        let served = Representation::new(bytes.into(), modified);
        Some(Arc::new(PolicyFile { path: path.as_str().into(), served, rules }))
    }

    fn geo(&mut self, config: &Placed<GeoConfig>) -> GeoRule {
        if self.is_whole && config.country.is_empty() && config.region.is_empty() {
            self.own.error(config.position, None, "a rule in `geo` names a country, a region or both");
        }
        let mut rule = GeoRule { countries: Vec::new(), regions: Vec::new(), treatment: config.action };
        for code in &config.country {
            match <[u8; 2]>::try_from(code.to_ascii_uppercase().as_bytes()) {
                Ok(letters) if letters.iter().all(u8::is_ascii_uppercase) => rule.countries.push(letters),
                _ => self.bad_code(
                    code.position,
                    code,
                    "a country is a two-letter ISO 3166-1 code, such as `PL`",
                ),
            }
        }
        for code in &config.region {
            let upper = code.to_ascii_uppercase();
            if is_region(&upper) {
                rule.regions.push(upper.into());
            } else {
                self.bad_code(code.position, code, "a region is an ISO 3166-2 code, such as `US-CA`");
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
                let message = format!("{odd:?} is not allowed in a header field; use printable ASCII");
                self.own.error(rules.position, "TAG-1", message);
                continue;
            }
            let mut place = |part: &[u8]| position_in(rules, part).or(rules.position);
            let tag = self.policies.robots_tag(rules, syntax, &mut place, &mut self.own);
            scopes.extend(pattern.ok().map(|pattern| (pattern, tag)));
        }
        SiteTags::new(syntax, scopes).unwrap_or_else(|too_many| {
            let position = site.robots_tag.first().and_then(|first| first.rules.position);
            let message = format!("{too_many}; give some of them the same rules, or remove some");
            self.own.error(position, None, message);
            SiteTags::none(syntax)
        })
    }

    fn costly(&mut self, patterns: &[Placed<String>]) -> Option<Box<PathRules<usize>>> {
        let rules: Vec<PathRule> = patterns.iter().filter_map(|pattern| self.path_rule(pattern)).collect();
        (!rules.is_empty()).then(|| Box::new(PathRules::new(rules.iter().zip(0..))))
    }

    #[inline(never)]
    fn path_rule(&mut self, pattern: &Placed<String>) -> Option<PathRule> {
        PathRule::new(pattern.as_bytes())
            .map_err(|why| self.own.error(pattern.position, None, format!("`{}`: {why}", **pattern)))
            .ok()
    }

    fn modes(&mut self, configs: &[ModeConfig]) -> Modes {
        let mut scopes = Vec::new();
        for ModeConfig { scope, mode } in configs {
            scopes.extend(self.path_rule(scope).map(|rule| (rule, *mode, scope.as_str().into())));
        }
        Modes::new(scopes)
    }
}

/// The place of a part of a document's string; the string's own place if it holds what JSON may have escaped.
pub(super) fn position_in(string: &Placed<String>, part: &[u8]) -> Option<Position> {
    let position = string.position?;
    let offset = (part.as_ptr() as usize).checked_sub(string.as_ptr() as usize)?;
    let before = string.get(..offset).filter(|before| !before.contains(['"', '\\']))?;
    let column = u32::try_from(before.chars().count()).ok()?.saturating_add(1);
    Some(Position { column: position.column.saturating_add(column), ..position })
}

fn site_name(sites: &List<SiteId, Site>, id: SiteId) -> &str {
    sites.get(id).map_or("", |site| &site.name)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use crate::{NoFiles, Ruleset};

    #[test]
    fn a_host_that_is_something_else_is_named_as_such() {
        for (host, message) in [
            ("https://example.com/", "a host is written without scheme, port and path"),
            ("example.com/shop", "a host is written without scheme, port and path"),
            ("example.com:8443", "a host is written without a port; it covers all ports"),
            (
                ".example.com",
                "a host does not begin with a dot; use `example.com`, and `*.example.com` for all names below it",
            ),
            (
                r"~^www\\d+.example.com$",
                "a regular expression; use names, and `*.` for all names below one; in nginx, `crawlpike_site` names the \
                 site of a server or a location",
            ),
        ] {
            let document = format!(r#"{{ "catalog": "none", "sites": [ {{ "hosts": ["{host}"] }} ] }}"#);
            let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
            let said: Vec<String> = compiled.diagnostics.iter().map(ToString::to_string).collect();
            let shown = host.replace(r"\\", r"\");
            assert_eq!(said, [format!("c.json:1:45: error: `{shown}`: {message}")]);
        }
    }

    #[test]
    fn enforcing_without_a_site_for_other_hosts_is_a_warning() {
        let warnings = |mode: &str, sites: &str| -> Vec<String> {
            let document = format!(r#"{{ "mode": "{mode}", "catalog": "none", "sites": [ {sites} ] }}"#);
            let compiled = Ruleset::compile("c.json", document.as_bytes(), &NoFiles);
            assert!(compiled.ruleset.is_some());
            compiled.diagnostics.iter().map(ToString::to_string).collect()
        };
        let named = r#"{ "hosts": ["a.test"] }"#;
        let [warning] = &warnings("enforce", named)[..] else { panic!("one warning") };
        assert!(warning.starts_with("c.json:1:11: warning: no site applies to other hosts"), "{warning}");
        for (mode, sites) in [
            ("observe", named),
            ("enforce", ""),
            ("enforce", "{}"),
            ("enforce", r#"{ "hosts": ["a.test"] }, { "name": "others" }"#),
        ] {
            assert_eq!(warnings(mode, sites), [""; 0], "{mode}: {sites}");
        }
    }
}
