//! Parts of a configuration without effect: nothing that keeps it from being compiled, but hardly what its author
//! meant.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::automation_preferences::scopes_forbidden_by_robots;
use crate::catalog::{Catalog, CatalogFeed};
use crate::config::{
    AgentConfig, Config, FeedConfig, GeoConfig, ModeConfig, RobotsTagConfig, RobotsTagSyntax, SiteConfig,
};
use crate::feed::FeedFormat;
use crate::path::pattern::PathPattern;
use crate::policy::automation_preferences::PreferencesFile;
use crate::policy::lines;
use crate::policy::robots::RobotsFile;
use crate::policy::robots_tag::{self, RobotsTag};
use crate::ruleset::compile::{
    Compiled, Files, KnownFiles, PolicyReader, PolicySource, Sources, published_files,
};
use crate::source::diagnostic::{Diagnostic, Diagnostics, Lint, Load};
use crate::source::position::{Placed, Position};
use crate::source::quoted::Quoted;

/// Checks a configuration document with the files that it names: what [`Ruleset::compile`](crate::Ruleset::compile) says of
/// them, with the sites' policies read strictly, and settings without effect. Those of the document come first, in their
/// order.
pub fn config(name: &str, document: &[u8], files: &dyn Files) -> Vec<Diagnostic> {
    let mut own = Diagnostics::new(name, Load);
    let Some(config) = Config::read(document, &mut own) else {
        return own.into_items_by_position();
    };
    let mut found = Diagnostics::new(name, Lint);
    // Of what is missing because it can't be read, nothing is to be said.
    if !own.has_errors() {
        settings_without_effect(&config, &KnownFiles::new(&config, &[], files), &mut found);
    }
    published_files::check(&config, &mut own);
    let mut policies = Strict::default();
    let sources = Sources { name: name.to_string(), ..Sources::default() };
    let mut diagnostics = Compiled::of(&config, own, sources, files, None, &mut policies).diagnostics;
    diagnostics.extend(found.into_items());
    diagnostics.extend(policies.forbidden_scopes(&config.sites));
    let (mut own, others): (Vec<_>, Vec<_>) =
        diagnostics.into_iter().partition(|diagnostic| diagnostic.file == name);
    own.sort_by_key(|diagnostic| diagnostic.position);
    own.extend(others);
    own
}

/// Reads policies strictly, and keeps what was read.
#[derive(Default)]
struct Strict {
    robots: BTreeMap<String, RobotsFile>,
    /// Each with the name of the file for diagnostics.
    preferences: BTreeMap<String, (String, PreferencesFile)>,
}

impl PolicyReader for Strict {
    fn robots(&mut self, file: PolicySource<'_>) -> (Option<RobotsFile>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::new(file.name, Lint);
        let read = super::read_robots(file.text, &mut diagnostics);
        self.robots.extend(read.clone().map(|read| (file.path.to_string(), read)));
        (read, diagnostics.into_items_by_position())
    }

    fn preferences(&mut self, file: PolicySource<'_>) -> (Option<PreferencesFile>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::new(file.name, Lint);
        let read = super::read_preferences(file.text, &mut diagnostics);
        let known = read.clone().map(|read| (file.path.to_string(), (file.name.to_string(), read)));
        self.preferences.extend(known);
        (read, diagnostics.into_items_by_position())
    }

    fn robots_tag(
        &mut self,
        rules: &str,
        syntax: RobotsTagSyntax,
        place: &mut dyn FnMut(&[u8]) -> Option<Position>,
        document: &mut Diagnostics,
    ) -> RobotsTag<'static> {
        let mut found = Diagnostics::new("", Lint);
        let tag = robots_tag::rules(rules, syntax, place, &mut found).into_owned();
        document.absorb(found);
        tag
    }
}

impl Strict {
    /// Scopes of the sites' automation-preferences.txt that their robots.txt forbids anyway.
    fn forbidden_scopes(&self, sites: &[Placed<SiteConfig>]) -> Vec<Diagnostic> {
        let named = |site: &Placed<SiteConfig>| {
            Some((
                site.robots_txt.as_ref()?.value.clone(),
                site.automation_preferences.as_ref()?.value.clone(),
            ))
        };
        let pairs: BTreeSet<(String, String)> = sites.iter().filter_map(named).collect();
        let check = |(robots, preferences): (String, String)| {
            let (name, file) = self.preferences.get(&preferences)?;
            let mut found = Diagnostics::new(name.as_str(), Lint);
            scopes_forbidden_by_robots(file, self.robots.get(&robots)?, &mut found);
            Some(found.into_items_by_position())
        };
        pairs.into_iter().filter_map(check).flatten().collect()
    }
}

/// Settings of the document that never decide anything.
fn settings_without_effect(config: &Config, files: &KnownFiles<'_>, found: &mut Diagnostics<Lint>) {
    if let Some(catalog) = catalog(config, files) {
        agents_without_their_feeds(config, &catalog, found);
        former_urls(config, &catalog, found);
    }
    let has_places = config.feeds.iter().any(|feed| feed.format == FeedFormat::Geofeed);
    for site in &config.sites {
        if let Some(rule) = site.geo.first().filter(|_| !has_places) {
            let message = "no effect: rules on places need a feed with the format `geofeed`";
            found.warning(position_of(rule), None, message);
        }
        shadowed_geo_rules(&site.geo, found);
        useless_modes(&site.modes, found);
        for RobotsTagConfig { scope, .. } in &site.robots_tag {
            lines::lint_path(scope.as_bytes(), scope.position, "ROB-3", found);
        }
    }
}

/// Agents of the document whose operators publish ranges that no feed of the document has.
fn agents_without_their_feeds(config: &Config, catalog: &Catalog, found: &mut Diagnostics<Lint>) {
    for AgentConfig { token, feeds, .. } in &config.agents {
        let known = catalog.agents.iter().find(|known| known.token.eq_ignore_ascii_case(token));
        let published = known.filter(|_| feeds.is_none()).map_or(&[][..], |known| &known.feeds);
        for name in published {
            let Some(feed) = catalog.feeds.iter().find(|feed| feed.name == *name) else { continue };
            let is_at_its_url = |own: &FeedConfig| feed.urls().any(|known| own.url.as_deref() == Some(known));
            let is_configured = config.feeds.iter().any(|own| *own.name == *name || is_at_its_url(own));
            if !is_configured {
                let message = format!(
                    "the agent `{}` cannot be verified: its ranges are published at {}, but no feed has this `url`",
                    **token, feed.url
                );
                found.warning(token.position, None, message);
            }
        }
    }
}

/// Feeds whose publishers have moved them.
fn former_urls(config: &Config, catalog: &Catalog, found: &mut Diagnostics<Lint>) {
    for feed in &config.feeds {
        let is_former =
            |known: &&CatalogFeed| feed.url.as_ref().is_some_and(|url| known.former_urls.contains(url));
        if let Some(CatalogFeed { url, .. }) = catalog.feeds.iter().find(is_former) {
            let message =
                format!("the publisher has moved the feed `{}`; set its `url` to {url}", *feed.name);
            found.warning(feed.name.position, None, message);
        }
    }
}

fn catalog(config: &Config, files: &KnownFiles<'_>) -> Option<Catalog> {
    let ignored = &mut Diagnostics::new("", Load);
    match config.catalog.as_str() {
        "none" => None,
        "builtin" => Catalog::parse(Catalog::builtin().1, ignored),
        path => Catalog::parse(&files.read(path).ok()??.bytes, ignored),
    }
}

fn position_of(rule: &Placed<GeoConfig>) -> Option<Position> {
    rule.country.first().or(rule.region.first()).map_or(rule.position, |code| code.position)
}

/// The clients that a rule on places is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Anywhere,
    Country(String),
    Region(String),
}

impl Place {
    /// The place and those that it is part of.
    fn and_around(self) -> Vec<Self> {
        match &self {
            Self::Anywhere => [self].into(),
            Self::Country(_) => [self, Self::Anywhere].into(),
            Self::Region(region) => {
                let country = region.get(..2).map(|country| Self::Country(country.into()));
                country.into_iter().chain([self, Self::Anywhere]).collect()
            }
        }
    }
}

/// Rules on places that apply only to clients to which earlier ones apply, and regions outside of the rule's countries.
fn shadowed_geo_rules(rules: &[Placed<GeoConfig>], found: &mut Diagnostics<Lint>) {
    let mut decided: BTreeMap<Place, Option<Position>> = BTreeMap::new();
    for rule in rules {
        let upper = |code: &Placed<String>| code.to_ascii_uppercase();
        let countries: BTreeSet<String> = rule.country.iter().map(upper).collect();
        let is_outside = |region: &Placed<String>| {
            !countries.is_empty()
                && region.get(..2).is_none_or(|start| !countries.contains(&start.to_ascii_uppercase()))
        };
        for region in rule.region.iter().filter(|region| is_outside(region)) {
            let message = format!("no effect: {} is in none of the rule's countries", Quoted(region));
            found.warning(region.position, None, message);
        }
        let places: Vec<Place> = match (&*rule.country, &*rule.region) {
            ([], []) => [Place::Anywhere].into(),
            (_, []) => countries.iter().cloned().map(Place::Country).collect(),
            (_, regions) => {
                let inside = regions.iter().filter(|region| !is_outside(region));
                inside.map(|region| Place::Region(upper(region))).collect()
            }
        };
        let earlier =
            |place: &Place| place.clone().and_around().iter().find_map(|place| decided.get(place)).copied();
        let mut all = places.iter().map(earlier);
        let first = all.next().flatten();
        if let (Some(Some(Position { line, column })), true) = (first, all.all(|earlier| earlier.is_some())) {
            let message =
                format!("no effect: earlier rules, as at {line}:{column}, apply to all clients of this one");
            found.warning(position_of(rule), None, message);
        }
        for place in places {
            decided.entry(place).or_insert_with(|| position_of(rule));
        }
    }
}

/// Modes for a scope that has one already, and for one that no path is in.
fn useless_modes(modes: &[ModeConfig], found: &mut Diagnostics<Lint>) {
    let mut known: BTreeMap<PathPattern, Option<Position>> = BTreeMap::new();
    for ModeConfig { scope, .. } in modes {
        lines::lint_path(scope.as_bytes(), scope.position, "ROB-3", found);
        let Ok(pattern) = PathPattern::new(scope.as_bytes()) else { continue };
        match known.get(&pattern) {
            Some(Some(Position { line, column })) => {
                let message = format!("no effect: duplicate scope, first at {line}:{column}");
                found.warning(scope.position, None, message);
            }
            _ => _ = known.insert(pattern, scope.position),
        }
    }
}
