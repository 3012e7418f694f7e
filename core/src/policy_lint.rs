//! What a publisher should know about a policy beyond what its reader reports.
//!
//! The readers of [`robots`](crate::robots) and [`automation_preferences`](crate::automation_preferences) call these in
//! [`Strictness::Lint`](crate::diagnostic::Strictness::Lint); only what takes both files is called by others.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;

use crate::automation_preferences::{Group, Placed, PreferencesFile};
use crate::diagnostic::{Diagnostics, Position};
use crate::host::HostPattern;
use crate::path_pattern::PathPattern;
use crate::policy_lines::position_at;
use crate::robots::{RobotsFile, Rule};

/// Both files are in UTF-8 (RFC 9309, 2.3; the draft's section on location and format).
pub(crate) fn encoding(text: &[u8], requirement: &'static str, diagnostics: &mut Diagnostics) {
    if let Err(error) = core::str::from_utf8(text) {
        let message = "the file is not in UTF-8 from here on; its octets are compared as they are";
        diagnostics.lint_error(position_at(text, error.valid_up_to()), requirement, message);
    }
}

/// Groups of a `robots.txt` that hold for nobody or say nothing, and rules that another one makes useless.
pub(crate) fn robots(file: &RobotsFile, diagnostics: &mut Diagnostics) {
    // Groups with the same tokens are one, so rules are compared within them.
    let mut merged = BTreeMap::new();
    let mut seen: BTreeMap<_, &Rule> = BTreeMap::new();
    for group in &file.groups {
        if group.tokens.is_empty() {
            diagnostics.lint_error(
                group.position,
                "ROB-1",
                "unreachable group: no line of it names an agent",
            );
        } else if group.rules.is_empty() {
            diagnostics.lint_warning(
                group.position,
                "ROB-1",
                "the group has no rules, so it allows everything",
            );
        }
        let next = merged.len();
        let id = *merged.entry(&group.tokens).or_insert(next);
        for rule in &group.rules {
            match seen.get(&(id, &rule.pattern)) {
                Some(first) => same_pattern(first, rule, diagnostics),
                None => _ = seen.insert((id, &rule.pattern), rule),
            }
        }
    }
}

fn same_pattern(first: &Rule, second: &Rule, diagnostics: &mut Diagnostics) {
    let (useless, message) = match (first.allow, second.allow) {
        (true, true) | (false, false) => (second, format!("duplicate of line {}", first.position.line)),
        (true, false) => (second, beaten_by(first)),
        (false, true) => (first, beaten_by(second)),
    };
    diagnostics.lint_warning(useless.position, "ROB-2", message);
}

fn beaten_by(rule: &Rule) -> alloc::string::String {
    format!("no effect: line {} allows the same path, and allow wins", rule.position.line)
}

/// Groups of an `automation-preferences.txt` that never decide or permit nothing, and values that are there twice.
pub(crate) fn preferences(file: &PreferencesFile, diagnostics: &mut Diagnostics) {
    for group in &file.groups {
        duplicates(&group.scopes, "scope", "AUTO-11", diagnostics);
        duplicates(group.hosts.as_deref().unwrap_or_default(), "host", "AUTO-12", diagnostics);
        duplicates(group.agents.as_deref().unwrap_or_default(), "user-agent", "AUTO-13", diagnostics);
        match &group.methods {
            None => {
                let message = "the group has no allowed-methods, so it allows no method";
                diagnostics.lint_warning(group.position, "AUTO-6", message);
            }
            Some(methods) if methods.value.is_empty() => {
                diagnostics.lint_warning(methods.position, "AUTO-6", "no method is allowed");
            }
            Some(_) => {}
        }
        if let Some(Placed { position, .. }) = group.purposes.as_ref().filter(|list| list.value.is_empty()) {
            diagnostics.lint_warning(*position, "AUTO-8", "no purpose is allowed");
        }
    }
    unreachable_groups(file, diagnostics);
}

fn duplicates<T: Ord>(
    list: &[Placed<T>],
    what: &str,
    requirement: &'static str,
    diagnostics: &mut Diagnostics,
) {
    let mut seen = BTreeMap::new();
    for Placed { value, position } in list {
        if let Some(Position { line, column }) = seen.insert(value, *position) {
            let message = format!("the group has the same {what} already at {line}:{column}");
            diagnostics.lint_warning(*position, requirement, message);
        }
    }
}

/// A host (`None`: all), an agent and a scope of a group.
type Combination<'f> = (Option<&'f HostPattern>, &'f str, &'f PathPattern);

fn combinations(group: &Group) -> impl Iterator<Item = Combination<'_>> {
    let hosts = group.hosts.iter().flatten().map(|host| Some(&host.value));
    let hosts = hosts.chain(group.hosts.is_none().then_some(None));
    hosts.flat_map(move |host| {
        group.scopes.iter().flat_map(move |scope| agents(group).map(move |agent| (host, agent, &scope.value)))
    })
}

fn agents(group: &Group) -> impl Iterator<Item = &str> {
    let agents = group.agents.iter().flatten().map(|agent| &*agent.value);
    agents.chain(group.agents.is_none().then_some("*"))
}

/// A group never decides when later ones have each of its combinations: between equals the later group holds.
fn unreachable_groups(file: &PreferencesFile, diagnostics: &mut Diagnostics) {
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
            let message =
                format!("unreachable group: later groups (line {line}) hold for all that it holds for");
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
/// use crawlward_core::automation_preferences::PreferencesFile;
/// use crawlward_core::diagnostic::{Diagnostics, Strictness};
/// use crawlward_core::policy_lint::scopes_forbidden_by_robots;
/// use crawlward_core::robots::RobotsFile;
///
/// let mut robots = Diagnostics::new("robots.txt", Strictness::Lint);
/// let robots = RobotsFile::parse(b"User-agent: *\nDisallow: /admin/\n", &mut robots);
/// let mut found = Diagnostics::new("automation-preferences.txt", Strictness::Lint);
/// let file = PreferencesFile::parse(b"scope: /admin/api/\nallowed-methods: GET\n\n", &mut found).ok_or("refused")?;
/// scopes_forbidden_by_robots(&file, &robots, &mut found);
/// assert_eq!(
///     found.items()[0].to_string(),
///     "automation-preferences.txt:1:8: warning: robots.txt (line 2) forbids everything in this scope anyway [AUTO-15]"
/// );
/// # Ok::<(), &str>(())
/// ```
pub fn scopes_forbidden_by_robots(
    file: &PreferencesFile,
    robots: &RobotsFile,
    diagnostics: &mut Diagnostics,
) {
    let named: BTreeSet<&str> =
        robots.groups.iter().flat_map(|group| &group.tokens).map(|token| &**token).collect();
    for group in &file.groups {
        for scope in &group.scopes {
            let forbidden = |agent: &str| {
                let token = if named.contains(agent) { agent } else { "*" };
                forbids_below(robots, token, scope.value.prefix())
            };
            let everyone = |agent: &str| {
                // A group for all agents holds for those, too, that robots.txt has a group for.
                let others = named.iter().copied().filter(|_| agent == "*");
                others.map(forbidden).try_fold(forbidden(agent)?, |line, other| other.map(|_| line))
            };
            let mut lines = agents(group).map(everyone);
            let first = lines.next().flatten();
            if let (Some(line), true) = (first, lines.all(|line| line.is_some())) {
                let message = format!("robots.txt (line {line}) forbids everything in this scope anyway");
                diagnostics.lint_warning(scope.position, "AUTO-15", message);
            }
        }
    }
}

/// The line by which every path that begins with `start` is forbidden to the groups of `token`.
fn forbids_below(robots: &RobotsFile, token: &str, start: &[u8]) -> Option<u32> {
    let rules =
        || robots.groups.iter().filter(|group| group.tokens.contains(token)).flat_map(|group| &group.rules);
    let covers =
        |rule: &&Rule| !rule.allow && rule.pattern.is_prefix() && start.starts_with(rule.pattern.prefix());
    let disallow = rules().filter(covers).max_by_key(|rule| rule.pattern.length())?;
    let may_win = |rule: &Rule| {
        let prefix = rule.pattern.prefix();
        rule.allow
            && rule.pattern.length() >= disallow.pattern.length()
            && (prefix.starts_with(start) || start.starts_with(prefix))
    };
    (!rules().any(may_win)).then_some(disallow.position.line)
}
