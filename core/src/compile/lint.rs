//! What a configuration says without effect: nothing that keeps it from being compiled, but hardly what its author meant.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Files, KnownFiles, Sources};
use crate::automation_preferences::PreferencesFile;
use crate::catalog::Catalog;
use crate::config::{AgentConfig, Config, GeoConfig, ModeConfig, SiteConfig};
use crate::diagnostic::{Diagnostic, Diagnostics, Position, Strictness};
use crate::feed::FeedFormat;
use crate::path_pattern::PathPattern;
use crate::policy_lint::scopes_forbidden_by_robots;
use crate::robots::RobotsFile;
use crate::typed_json::Placed;

/// Settings of the document that never decide anything. Says nothing of a document that can't be read.
pub(super) fn without_effect(sources: &Sources, beyond: &dyn Files) -> Vec<Diagnostic> {
    let unread = &mut Diagnostics::new(sources.name.as_str(), Strictness::Lint);
    let Some(config) = Config::read(&sources.document, unread).filter(|_| !unread.has_errors()) else {
        return Vec::new();
    };
    let files = KnownFiles::new(&config, &sources.files, beyond);
    let mut found = Diagnostics::new(sources.name.as_str(), Strictness::Lint);
    agents_without_their_feeds(&config, &files, &mut found);
    let has_places = config.feeds.iter().any(|feed| feed.format == FeedFormat::Geofeed);
    for site in &config.sites {
        if let Some(rule) = site.geo.first().filter(|_| !has_places) {
            let message = "no feed of the document is a geofeed, so no rule on places ever holds";
            found.warning(position_of(rule), None, message);
        }
        shadowed_geo_rules(&site.geo, &mut found);
        repeated_modes(&site.modes, &mut found);
    }
    let mut diagnostics = found.into_items();
    diagnostics.extend(forbidden_scopes(&config.sites, &files));
    diagnostics
}

/// Agents of the document whose operators publish ranges that no feed of the document has.
fn agents_without_their_feeds(config: &Config, files: &KnownFiles<'_>, found: &mut Diagnostics) {
    let Some(catalog) = catalog(config, files) else { return };
    for AgentConfig { token, feeds, .. } in &config.agents {
        let known = catalog.agents.iter().find(|known| known.token.eq_ignore_ascii_case(token));
        let published = known.filter(|_| feeds.is_none()).map_or(&[][..], |known| &known.feeds);
        for name in published {
            let Some(feed) = catalog.feeds.iter().find(|feed| feed.name == *name) else { continue };
            let is_configured =
                config.feeds.iter().any(|own| *own.name == *name || own.url.as_deref() == Some(&feed.url));
            if !is_configured {
                let message = format!(
                    "the ranges of `{}` are published at {}, but no feed has that url: claims can't be verified",
                    **token, feed.url
                );
                found.warning(token.position, None, message);
            }
        }
    }
}

fn catalog(config: &Config, files: &KnownFiles<'_>) -> Option<Catalog> {
    let ignored = &mut Diagnostics::new("", Strictness::Load);
    match config.catalog.as_str() {
        "none" => None,
        "builtin" => Catalog::parse(Catalog::builtin().1, ignored),
        path => Catalog::parse(&files.read(path).ok()??.bytes, ignored),
    }
}

fn position_of(rule: &Placed<GeoConfig>) -> Option<Position> {
    rule.country.first().or(rule.region.first()).map_or(rule.position, |code| code.position)
}

/// Rules on places that hold only where an earlier one does, and regions outside of the rule's countries.
fn shadowed_geo_rules(rules: &[Placed<GeoConfig>], found: &mut Diagnostics) {
    for (number, rule) in rules.iter().enumerate() {
        let earlier = rules.iter().take(number).find(|earlier| {
            includes(&earlier.country, &rule.country) && includes(&earlier.region, &rule.region)
        });
        if let Some(Position { line, column }) = earlier.and_then(position_of) {
            let message = format!("no effect: the rule at {line}:{column} holds wherever this one does");
            found.warning(position_of(rule), None, message);
        }
        for region in rule.region.iter().filter(|_| !rule.country.is_empty()) {
            let is_within = |country: &Placed<String>| {
                region.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(country))
            };
            if !rule.country.iter().any(is_within) {
                let message = format!("no effect: `{}` is in none of the rule's countries", **region);
                found.warning(region.position, None, message);
            }
        }
    }
}

/// Whether a list of codes, of which the empty one means all, includes another.
fn includes(all: &[Placed<String>], some: &[Placed<String>]) -> bool {
    let is_listed = |code: &Placed<String>| all.iter().any(|known| known.eq_ignore_ascii_case(code));
    all.is_empty() || !some.is_empty() && some.iter().all(is_listed)
}

/// Modes for a scope that has one already.
fn repeated_modes(modes: &[ModeConfig], found: &mut Diagnostics) {
    let patterns: Vec<_> = modes.iter().map(|mode| PathPattern::new(mode.scope.as_bytes()).ok()).collect();
    for (number, (mode, pattern)) in modes.iter().zip(&patterns).enumerate() {
        let first = patterns.iter().take(number).position(|earlier| pattern.is_some() && earlier == pattern);
        if let Some(Position { line, column }) =
            first.and_then(|first| modes.get(first)).and_then(|first| first.scope.position)
        {
            let message = format!("no effect: the scope has a mode already at {line}:{column}");
            found.warning(mode.scope.position, None, message);
        }
    }
}

/// Scopes of the sites' automation-preferences.txt that their robots.txt forbids anyway.
fn forbidden_scopes(sites: &[Placed<SiteConfig>], files: &KnownFiles<'_>) -> Vec<Diagnostic> {
    let named = |site: &Placed<SiteConfig>| {
        Some((site.robots_txt.as_ref()?.value.clone(), site.automation_preferences.as_ref()?.value.clone()))
    };
    let pairs: BTreeSet<(String, String)> = sites.iter().filter_map(named).collect();
    let check = |(robots, preferences): (String, String)| {
        let read = |path: &str| Some(files.read(path).ok()??.bytes);
        let mut ignored = Diagnostics::new("", Strictness::Load);
        let robots = RobotsFile::parse(&read(&robots)?, &mut ignored);
        let parsed = PreferencesFile::parse(&read(&preferences)?, &mut ignored)?;
        let mut found = Diagnostics::new(files.display_name(&preferences), Strictness::Lint);
        scopes_forbidden_by_robots(&parsed, &robots, &mut found);
        Some(found.into_items_by_position())
    };
    pairs.into_iter().filter_map(check).flatten().collect()
}
