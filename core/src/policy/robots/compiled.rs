//! A `robots.txt`, compiled.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::usage::{License, RobotsUsage, is_reserved};
use super::{Group, RobotsFile, Rule, product_token};
use crate::path::request::RequestPath;
use crate::path::rules::PathRules;
use crate::policy::usage::{StatementLine, UsageStatement};

/// The groups that hold for one agent: see [`Robots::group_for`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupId(u32);

/// The verdict of a `robots.txt` on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// True if the path may be fetched.
    pub allowed: bool,
    /// The line of the rule that decided; `None` where no rule matches.
    pub line: Option<u32>,
}

/// A compiled `robots.txt`: linear in the size of the file, immutable, decides without allocation.
///
/// ```
/// use crawlpike_core::internals::{Diagnostics, Load, RequestPath};
/// use crawlpike_core::internals::policy::RobotsFile;
///
/// let text = b"User-agent: ExampleBot\nDisallow: /private/\nAllow: /private/press/\n\nUser-agent: *\nDisallow: /";
/// let mut diagnostics = Diagnostics::new("robots.txt", Load);
/// let robots = RobotsFile::parse(text, &mut diagnostics).ok_or("refused")?.compile();
/// let group = robots.group_for("examplebot");
/// let verdict = robots.decide(group, RequestPath::new(b"/private/letter"));
/// assert_eq!((verdict.allowed, verdict.line), (false, Some(2)));
/// assert!(robots.decide(group, RequestPath::new(b"/private/press/kit")).allowed);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Robots {
    /// The rules of all groups with the same tokens.
    sets: Box<[PathRules<Verb>]>,
    /// For each [`GroupId`], its sets; the first is what `*` obeys.
    selections: Box<[Box<[u32]>]>,
    /// Tokens in lower case, sorted.
    tokens: Box<[(Box<str>, GroupId)]>,
    /// The statements of the file about usage.
    usage: RobotsUsage,
}

/// The effect of a rule. Of equally long rules `allow` takes precedence, and of two alike the first is the one that is
/// reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Verb {
    disallows: bool,
    line: u32,
}

impl Rule {
    fn verb(&self) -> Verb {
        Verb { disallows: !self.allow, line: self.position.line }
    }
}

impl Robots {
    pub(super) fn new(file: &RobotsFile) -> Self {
        // Groups with the same tokens are merged into one set, so that a file that repeats its user-agent line before
        // each rule compiles to one lookup, while a rule is stored once however many tokens it holds for.
        let mut merged: BTreeMap<&BTreeSet<Box<str>>, Vec<&Group>> = BTreeMap::new();
        for group in file.groups.iter().filter(|group| group.has_agents()) {
            merged.entry(&group.tokens).or_default().push(group);
        }
        let mut by_token: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        by_token.insert("*", Vec::new());
        for (tokens, set) in merged.keys().zip(0..) {
            for token in tokens.iter().filter(|token| !is_reserved(token)) {
                by_token.entry(token).or_default().push(set);
            }
        }
        // `*` sorts before every token.
        let tokens = by_token.keys().zip(0..).map(|(token, id)| (Box::from(*token), GroupId(id))).collect();
        let rules_of = |groups: &Vec<&Group>| {
            let rules = groups.iter().flat_map(|group| &group.rules);
            PathRules::new(rules.map(|rule| (&rule.path, rule.verb())))
        };
        Self {
            sets: merged.values().map(rules_of).collect(),
            usage: RobotsUsage::new(file, merged.values().map(|groups| &**groups)),
            selections: by_token.into_values().map(Vec::into_boxed_slice).collect(),
            tokens,
        }
    }

    /// The groups that an agent obeys: those of its token, without regard to case, or else those of `*`.
    pub fn group_for(&self, token: &str) -> GroupId {
        let token = product_token(token).to_ascii_lowercase();
        let found = self.tokens.binary_search_by(|(known, _)| (**known).cmp(&token)).ok();
        found.and_then(|place| self.tokens.get(place)).map_or(GroupId(0), |(_, id)| *id)
    }

    /// The product tokens that the file names, in lower case, and `*`; each with its groups.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&str, GroupId)> {
        self.tokens.iter().map(|(token, group)| (&**token, *group))
    }

    /// The token in lower case, or `*`, whose groups these are.
    pub fn token_of(&self, group: GroupId) -> Option<&str> {
        self.tokens.iter().find(|(_, id)| *id == group).map(|(token, _)| &**token)
    }

    /// The verdict of the groups on a path.
    pub fn decide(&self, group: GroupId, path: RequestPath<'_>) -> Verdict {
        let sets = self.selection(group).iter().filter_map(|set| self.sets.get(*set as usize));
        match sets.filter_map(|set| set.decide(path)).min().map(|rule| rule.what) {
            Some(Verb { disallows, line }) if !disallows || !path.is(b"/robots.txt") => {
                Verdict { allowed: !disallows, line: Some(line) }
            }
            _ => Verdict { allowed: true, line: None },
        }
    }

    /// The sets of a group.
    fn selection(&self, group: GroupId) -> &[u32] {
        self.selections.get(group.0 as usize).map_or(&[], |sets| sets)
    }

    /// Returns true if the file says anything of usage.
    pub(crate) fn states_usage(&self) -> bool {
        !self.usage.is_empty()
    }

    /// The statement of the file about the usage of a path, for the clients of a group: none about a path that they may not fetch (USE-7).
    pub(crate) fn usage(&self, group: GroupId, path: RequestPath<'_>) -> UsageStatement {
        if self.usage.is_empty() || !self.decide(group, path).allowed {
            return UsageStatement::default();
        }
        self.usage.statement(self.selection(group), path)
    }

    /// Passes on the lines that say so.
    pub(crate) fn tell_usage_lines(
        &self,
        group: GroupId,
        path: RequestPath<'_>,
        tell: &mut dyn FnMut(StatementLine),
    ) {
        if !self.usage.is_empty() && self.decide(group, path).allowed {
            self.usage.tell_lines(self.selection(group), path, tell);
        }
    }

    /// The URLs of the licences that the file names.
    pub(crate) fn licenses(&self) -> &[License] {
        &self.usage.licenses
    }

    /// The reserved groups: their tokens in lower case, each with the line at which its group begins.
    pub(crate) fn reserved_groups(&self) -> &[(Box<str>, u32)] {
        &self.usage.reserved
    }
}
