//! Lines of an `automation-preferences.txt` without effect, alone or beside a `robots.txt`.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;

use crate::http::host::HostPattern;
use crate::path::rules::PathRule;
use crate::policy::automation_preferences::{Group, InFile, PreferencesFile};
use crate::policy::robots::{RobotsFile, Rule};
use crate::source::diagnostic::{Diagnostics, Lint};
use crate::source::position::{Placed, Position};

/// Groups of an `automation-preferences.txt` that never decide or permit nothing, and duplicate values.
pub(super) fn groups(file: &PreferencesFile, diagnostics: &mut Diagnostics<Lint>) {
    for group in &file.groups {
        duplicates(&group.scopes, "scope", "AUTO-11", diagnostics);
        duplicates(&group.hosts, "host", "AUTO-12", diagnostics);
        duplicates(group.agents.as_deref().unwrap_or_default(), "user-agent", "AUTO-13", diagnostics);
        match &group.methods {
            None => {
                let message = "the group has no `allowed-methods`; it allows no method";
                diagnostics.lint_warning(group.position, "AUTO-6", message);
            }
            Some(methods) if methods.value.is_empty() => {
                diagnostics.lint_warning(
                    methods.position,
                    "AUTO-6",
                    "the list is empty; the group allows no method",
                );
            }
            Some(_) => {}
        }
        if let Some(Placed { position, .. }) = group.purposes.as_ref().filter(|list| list.value.is_empty()) {
            diagnostics.lint_warning(*position, "AUTO-8", "the list is empty; the group allows no purpose");
        }
    }
    unreachable_groups(file, diagnostics);
}

fn duplicates<T: Ord>(
    list: &[InFile<T>],
    what: &str,
    requirement: &'static str,
    diagnostics: &mut Diagnostics<Lint>,
) {
    let mut seen = BTreeMap::new();
    for Placed { value, position } in list {
        if let Some(Position { line, column }) = seen.insert(value, *position) {
            let message = format!("duplicate {what}, first at {line}:{column}");
            diagnostics.lint_warning(*position, requirement, message);
        }
    }
}

/// A host (`None`: all), an agent and a scope of a group.
type Combination<'f> = (Option<&'f HostPattern>, &'f str, &'f PathRule);

fn combinations(group: &Group) -> impl Iterator<Item = Combination<'_>> {
    let hosts = group.hosts.iter().map(|host| Some(&host.value));
    let hosts = hosts.chain(group.any_host.then_some(None));
    hosts.flat_map(move |host| {
        group.scopes.iter().flat_map(move |scope| agents(group).map(move |agent| (host, agent, &scope.value)))
    })
}

fn agents(group: &Group) -> impl Iterator<Item = &str> {
    let agents = group.agents.iter().flatten().map(|agent| &*agent.value);
    agents.chain(group.agents.is_none().then_some("*"))
}

/// A group never decides when later ones have each of its combinations: between equals the later group holds.
fn unreachable_groups(file: &PreferencesFile, diagnostics: &mut Diagnostics<Lint>) {
    let mut later: BTreeMap<Combination<'_>, u32> = BTreeMap::new();
    for group in file.groups.iter().rev() {
        let covered = |(host, agent, scope): Combination<'_>| {
            // A wildcard host is no more specific than none.
            let for_all = host.is_none_or(HostPattern::is_wildcard).then(|| later.get(&(None, agent, scope)));
            later.get(&(host, agent, scope)).or(for_all.flatten()).copied()
        };
        let mut by = combinations(group).map(covered);
        let first = by.next().flatten();
        if let (Some(line), true) = (first, by.all(|line| line.is_some())) {
            let message = format!("no effect: later groups (line {line}) apply to all requests of this one");
            diagnostics.lint_warning(group.position, "AUTO-14", message);
        }
        later.extend(combinations(group).map(|combination| (combination, group.position.line)));
    }
}

/// Scopes of an `automation-preferences.txt` below which `robots.txt` forbids everything to the agents of their group:
/// nothing that such a scope permits comes into force (AUTO-15).
///
/// `diagnostics` are those of the `automation-preferences.txt`. What is reported is certain; a scope that `robots.txt`
/// forbids by several rules together may go unreported.
///
/// ```
/// use crawlpike_core::internals::policy::{PreferencesFile, RobotsFile, scopes_forbidden_by_robots};
/// use crawlpike_core::internals::{Diagnostics, Lint};
///
/// let mut robots = Diagnostics::new("robots.txt", Lint);
/// let robots = RobotsFile::parse(b"User-agent: *\nDisallow: /admin/\n", &mut robots).ok_or("refused")?;
/// let mut found = Diagnostics::new("automation-preferences.txt", Lint);
/// let file = PreferencesFile::parse(b"scope: /admin/api/\nallowed-methods: GET\n\n", &mut found).ok_or("refused")?;
/// scopes_forbidden_by_robots(&file, &robots, &mut found);
/// assert_eq!(
///     found.items()[0].to_string(),
///     "automation-preferences.txt:1:8: warning: no effect: robots.txt (line 2) disallows everything in this scope [AUTO-15]"
/// );
/// # Ok::<(), &str>(())
/// ```
pub fn scopes_forbidden_by_robots(
    file: &PreferencesFile,
    robots: &RobotsFile,
    diagnostics: &mut Diagnostics<Lint>,
) {
    let named: BTreeSet<&str> =
        robots.groups.iter().flat_map(|group| &group.tokens).map(|token| &**token).collect();
    for group in &file.groups {
        for scope in &group.scopes {
            let forbidden = |agent: &str| {
                let token = if named.contains(agent) { agent } else { "*" };
                forbids_below(robots, token, scope.value.written().prefix())
            };
            let everyone = |agent: &str| {
                // A group for all agents holds for those, too, that robots.txt has a group for.
                let others = named.iter().copied().filter(|_| agent == "*");
                others.map(forbidden).try_fold(forbidden(agent)?, |line, other| other.map(|_| line))
            };
            let mut lines = agents(group).map(everyone);
            let first = lines.next().flatten();
            if let (Some(line), true) = (first, lines.all(|line| line.is_some())) {
                let message =
                    format!("no effect: robots.txt (line {line}) disallows everything in this scope");
                diagnostics.lint_warning(scope.position, "AUTO-15", message);
            }
        }
    }
}

/// The line by which every path that begins with `start` is forbidden to the groups of `token`.
fn forbids_below(robots: &RobotsFile, token: &str, start: &[u8]) -> Option<u32> {
    let rules =
        || robots.groups.iter().filter(|group| group.tokens.contains(token)).flat_map(|group| &group.rules);
    let covers = |rule: &&Rule| {
        !rule.allow && rule.path.written().is_prefix() && start.starts_with(rule.path.written().prefix())
    };
    let length = |rule: &Rule| rule.path.written().length();
    let disallow = rules().filter(covers).max_by_key(|rule| length(rule))?;
    let may_win = |rule: &Rule| {
        let prefix = rule.path.written().prefix();
        rule.allow
            && length(rule) >= length(disallow)
            && (prefix.starts_with(start) || start.starts_with(prefix))
    };
    (!rules().any(may_win)).then_some(disallow.position.line)
}
