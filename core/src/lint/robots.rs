//! Lines of a `robots.txt` without effect.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use core::ops::Bound;

use crate::policy::robots::{Group, RobotsFile, Rule};
use crate::source::diagnostic::{Diagnostics, Lint};

/// Groups that apply to nobody or say nothing, and rules that others make useless.
pub(super) fn groups(file: &RobotsFile, diagnostics: &mut Diagnostics<Lint>) {
    // Groups with the same tokens are one, so rules are compared within them.
    let mut merged: BTreeMap<_, Vec<&Rule>> = BTreeMap::new();
    for group in &file.groups {
        let Group { position, tokens, rules, usage, .. } = group;
        if tokens.is_empty() {
            let message = "the group names no agent; it applies to no client";
            diagnostics.lint_error(*position, "ROB-1", message);
        } else if rules.is_empty() && usage.is_empty() {
            diagnostics.lint_warning(*position, "ROB-1", "the group has no rules; it allows everything");
        }
        merged.entry(tokens).or_default().extend(rules);
    }
    let mut sets_of_token: BTreeMap<&str, usize> = BTreeMap::new();
    for token in merged.keys().copied().flatten() {
        *sets_of_token.entry(token).or_default() += 1;
    }
    for (tokens, rules) in &merged {
        let others = useless(rules, diagnostics);
        // Between two rules of these groups could be one of others that some of their agents obey, too.
        if tokens.iter().all(|token| sets_of_token.get(&**token) == Some(&1)) {
            Redundancy::default().find(others, diagnostics);
        }
    }
}

/// Reports rules for which there is another one with the same path; gives the others.
fn useless<'r>(rules: &[&'r Rule], diagnostics: &mut Diagnostics<Lint>) -> Vec<&'r Rule> {
    let mut first: BTreeMap<_, &Rule> = BTreeMap::new();
    for rule in rules.iter().copied() {
        let known = first.entry(rule.path.written()).or_insert(rule);
        let (kept, useless) = match (known.allow, rule.allow) {
            _ if known.position == rule.position => continue,
            (false, true) => (rule, *known),
            (true, true) | (_, false) => (*known, rule),
        };
        let line = kept.position.line;
        let message = match kept.allow == useless.allow {
            true => format!("duplicate of line {line}"),
            false => format!("no effect: line {line} allows the same path"),
        };
        diagnostics.lint_warning(useless.position, "ROB-2", message);
        *known = kept;
    }
    first.into_values().collect()
}

/// Finds prefixes that are redundant, because a shorter prefix decides the same about all that begins with them.
///
/// The rules are gone through in the order of what they begin with, so that those which can match the same paths as a rule,
/// and are less specific, are those above it.
#[derive(Default)]
struct Redundancy<'r> {
    /// Rules, of which each begins with what the one before begins with.
    above: Vec<&'r Rule>,
    /// The lengths of the rules above that disallow, and of those that allow, with how many there are.
    lengths: [BTreeMap<u32, usize>; 2],
}

impl<'r> Redundancy<'r> {
    fn find(mut self, mut rules: Vec<&'r Rule>, diagnostics: &mut Diagnostics<Lint>) {
        rules.sort_by_key(|rule| (rule.path.written().prefix(), rule.path.written().length()));
        let mut redundant = BTreeSet::new();
        for rule in rules {
            let prefix = rule.path.written().prefix();
            while let Some(last) =
                self.above.pop_if(|above| !prefix.starts_with(above.path.written().prefix()))
            {
                self.count(last, |count| count.saturating_sub(1));
            }
            if let Some(shorter) = self.shorter(rule) {
                redundant.insert((rule.position, shorter.position.line, rule.allow));
            }
            self.above.push(rule);
            self.count(rule, |count| count + 1);
        }
        for (position, line, allows) in redundant {
            let verb = if allows { "allows" } else { "disallows" };
            diagnostics.lint_warning(
                position,
                "ROB-2",
                format_args!("redundant: line {line} {verb} everything that this rule {verb}"),
            );
        }
    }

    fn count(&mut self, rule: &Rule, change: impl Fn(usize) -> usize) {
        let [disallow, allow] = &mut self.lengths;
        let lengths = if rule.allow { allow } else { disallow };
        let length = rule.path.written().length();
        match change(lengths.get(&length).copied().unwrap_or(0)) {
            0 => _ = lengths.remove(&length),
            count => _ = lengths.insert(length, count),
        }
    }

    /// The shorter prefix that decides the same, unless a rule between the two may decide otherwise.
    fn shorter(&self, rule: &Rule) -> Option<&'r Rule> {
        if !rule.path.written().is_prefix() {
            return None;
        }
        let is_alike = |above: &&&Rule| above.allow == rule.allow && above.path.written().is_prefix();
        let shorter = self.above.iter().rev().find(is_alike)?;
        let [disallow, allow] = &self.lengths;
        let (least, most) = (shorter.path.written().length(), rule.path.written().length());
        // Of equally long rules, the one that allows decides.
        let (opposite, between) = match rule.allow {
            true => (disallow, (Bound::Excluded(least), Bound::Included(most))),
            false => (allow, (Bound::Included(least), Bound::Excluded(most))),
        };
        // A prefix with `*` at its end can be longer than another one that goes on.
        (least >= most || opposite.range(between).next().is_none()).then_some(*shorter)
    }
}
