//! Rules about paths: the longest that matches decides, in whatever spelling the path is judged.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::path::pattern::{PathPattern, PatternError};
use crate::path::request::RequestPath;
use crate::path::set::PathSet;
use crate::path::spelling::Spelling;
use crate::sort::sort_by_key;

/// The path of a rule, as it is written and resolved.
///
/// A path that is not resolved is judged in resolved spellings, too (see [`spelling`](crate::path::spelling)), and a rule
/// that is written otherwise would match in none of them: `Allow: /wiki/Special%3ASearch` would never make an exception from
/// `Disallow: /wiki/`. So a rule matches a resolved spelling if it is
///
/// * as it is written, or
/// * resolved like the path, provided that as it is written it matches the path as sent or less resolved.
///
/// Without the proviso the rule would match what it does not say: `/a%2Fb` is not `/a/b` (RFC 9309, 2.2.2), and
/// `Allow: /a//b` no exception from `Disallow: /a/b` for `//a/b`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathRule {
    written: PathPattern,
    /// In those spellings in which it is another one.
    resolved: Box<[(Spelling, PathPattern)]>,
}

impl PathRule {
    /// Compiles the text of a rule's path.
    ///
    /// # Errors
    ///
    /// The error of a text that is not a path pattern.
    pub fn new(text: &[u8]) -> Result<Self, PatternError> {
        let written = PathPattern::new(text)?;
        let resolved = Spelling::RESOLVED.into_iter().filter_map(|spelling| {
            // The rest may not begin as a path does; then it matches none.
            let pattern = PathPattern::new(&spelling.of_pattern(text)?).ok()?;
            (pattern != written).then_some((spelling, pattern))
        });
        Ok(Self { resolved: resolved.collect(), written })
    }

    /// The pattern as it is written.
    pub fn written(&self) -> &PathPattern {
        &self.written
    }
}

/// Rules with what they say, any number of them: which decides about a path?
///
/// The longest pattern decides, in the spelling that is judged; of equally long ones the least `T`.
#[derive(Clone, Debug)]
pub(crate) struct PathRules<T> {
    written: PathSet,
    /// In the order of `written`.
    said: Box<[Said<T>]>,
    /// For each spelling in which some rule is another one.
    resolved: Box<[(Spelling, ResolvedRules<T>)]>,
}

/// The effect of a rule, in the order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Said<T> {
    length: Reverse<u32>,
    pub(crate) what: T,
}

impl<T> Said<T> {
    /// The length of the rule's pattern, in the spelling that was judged.
    pub(crate) fn length(&self) -> u32 {
        self.length.0
    }
}

/// The rules that are others in one spelling.
#[derive(Clone, Debug)]
struct ResolvedRules<T> {
    patterns: PathSet,
    /// In the order of `patterns`.
    rules: Box<[ResolvedRule<T>]>,
}

#[derive(Clone, Debug)]
struct ResolvedRule<T> {
    said: Said<T>,
    resolved: PathPattern,
    written: PathPattern,
}

impl<T> Default for PathRules<T> {
    fn default() -> Self {
        Self { written: PathSet::default(), said: Box::default(), resolved: Box::default() }
    }
}

impl<T: Copy + Ord> PathRules<T> {
    /// Compiles rules, each with what it says.
    pub(crate) fn new<'r>(rules: impl IntoIterator<Item = (&'r PathRule, T)>) -> Self {
        let mut rules: Vec<(Said<T>, &PathRule)> =
            rules.into_iter().map(|(rule, what)| (Said::new(&rule.written, what), rule)).collect();
        sort_by_key(&mut rules, |(said, _)| *said);
        let in_spelling = |spelling| {
            let others = rules.iter().flat_map(|(said, rule)| {
                let resolved = rule.resolved.iter().filter(move |(other, _)| *other == spelling);
                resolved.map(|(_, resolved)| ResolvedRule {
                    said: Said::new(resolved, said.what),
                    resolved: resolved.clone(),
                    written: rule.written.clone(),
                })
            });
            let others: Vec<_> = others.collect();
            (!others.is_empty()).then(|| (spelling, ResolvedRules::new(others)))
        };
        Self {
            resolved: Spelling::RESOLVED.into_iter().filter_map(in_spelling).collect(),
            written: PathSet::new(rules.iter().map(|(_, rule)| &rule.written)),
            said: rules.into_iter().map(|(said, _)| said).collect(),
        }
    }

    /// The effect of the rule that decides about a path.
    #[inline]
    pub(crate) fn decide(&self, path: RequestPath<'_>) -> Option<Said<T>> {
        let written = self.written.first_match(path).and_then(|at| self.said.get(at as usize)).copied();
        if self.resolved.is_empty() {
            return written;
        }
        let resolved = self.resolved.iter().find(|(spelling, _)| *spelling == path.spelling());
        let resolved = resolved.and_then(|(_, rules)| rules.decide(path));
        written.into_iter().chain(resolved).min()
    }
}

impl<T: Copy + Ord> Said<T> {
    fn new(pattern: &PathPattern, what: T) -> Self {
        Self { length: Reverse(pattern.length()), what }
    }
}

impl<T: Copy + Ord> ResolvedRules<T> {
    fn new(mut rules: Vec<ResolvedRule<T>>) -> Self {
        sort_by_key(&mut rules, |rule| rule.said);
        Self { patterns: PathSet::new(rules.iter().map(|rule| &rule.resolved)), rules: rules.into() }
    }

    fn decide(&self, path: RequestPath<'_>) -> Option<Said<T>> {
        let first = self.patterns.first_match(path)?;
        let holds = |rule: &&ResolvedRule<T>| {
            rule.resolved.matches(path) && path.less_resolved().iter().any(|path| rule.written.matches(*path))
        };
        self.rules.get(first as usize..)?.iter().find(holds).map(|rule| rule.said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::request::RequestTarget;

    /// Returns true if the target is denied by rules in the order of `robots.txt`: `-` disallows, `+` allows.
    fn is_denied(rules: &[&str], target: &str) -> bool {
        let rules: Vec<(PathRule, bool)> = rules
            .iter()
            .map(|rule| (PathRule::new(&rule.as_bytes()[1..]).unwrap(), rule.starts_with('-')))
            .collect();
        let rules = PathRules::new(rules.iter().map(|(rule, disallows)| (rule, *disallows)));
        let judge = |path: RequestPath<'_>| rules.decide(path).is_some_and(|said| said.what);
        RequestTarget::new(target.as_bytes()).strictest(judge, |denied| *denied, true).0
    }

    #[test]
    fn rob_7_a_rule_holds_for_the_path_that_it_is_written_as() {
        // ROB-7
        for (disallow, allow, target) in [
            ("-/wiki/", "+/wiki/Special%3ASearch", "/wiki/Special%3ASearch"),
            ("-/wiki/", "+/wiki/Special%3ASearch", "/wiki/Special%3aSearch?a=b"),
            ("-/wiki/", "+/wiki/Special%3ASearch", "//wiki/./Special%3ASearch"),
            ("-/api/", "+/api/a%2Fb", "/api/a%2Fb"),
            ("-/", "+/a%2Cb", "/a%2Cb"),
            ("-/", "+/c%2B%2B/", "/c%2B%2B/a"),
            ("-/", "+/q%26a", "/q%26a"),
            ("-/", "+/a%5B0%5D", "/a%5B0%5D"),
            ("-/a", "+/a//b", "/a//b"),
            ("-/web", "+/web/*/http://", "/web/2020/http://example.com/"),
            ("-/", "+/web/*/http%3A%2F%2F", "/web/2020/http%3A%2F%2Fexample.com/"),
            ("-/", "+/a/./b/../c", "/a/./b/../c"),
            ("-/", "+/map;lang=de/", "/map;lang=de/x"),
            ("-/wiki/Special:", "+/wiki/Special%3ASearch", "/wiki/Special%3ASearch"),
        ] {
            assert!(!is_denied(&[disallow, allow], target), "{disallow} {allow} {target}");
            assert!(is_denied(&[disallow], target), "{disallow} {target}");
        }
        for (disallow, target, plain) in
            [("-/a%2Fb", "/a%2fb", "/a/b"), ("-/a//b", "/a//b", "/a/b"), ("-/a;b", "/a;b", "/a")]
        {
            assert!(is_denied(&[disallow], target), "{disallow}");
            // RFC 9309: what is encoded is data, so this is another path.
            assert!(!is_denied(&[disallow], plain), "{disallow} {plain}");
        }
        assert!(!is_denied(&["-/a%2Fb"], "/a/b/c%3Ad"));
    }

    #[test]
    fn rob_7_a_rule_holds_for_no_other_path() {
        // ROB-7: nothing that is written in an odd way opens a way round another rule.
        for (rules, target) in [
            (["-/private/", "+/x"], "/x/../private/a"),
            (["-/private/", "+/very/long/path/"], "/very/long/path/../../../private/a"),
            (["-/private/", "+/x%3A"], "/x%3A/../private/a"),
            (["-/private/", "+/x%2Fprivate/"], "/x%2F../private/"),
            (["-/a/b", "+/a//b"], "//a/b"),
            (["-/a/b", "+/a//b"], "/a/./b"),
            (["-/pri:vate/", "+/pri:vate%2Fopen"], "/pri%3Avate/open"),
            (["-/private", "+/x/../private"], "/y/../private/a"),
            (["-/", "+/."], "/./private"),
            (["-/a/", "+/a/."], "/a/./secret"),
            (["-/wiki/Special:Search/", "+/wiki/Special%3ASearch"], "/wiki/Special%3ASearch/x"),
            (["-/wiki/", "+/wiki/Special:Search"], "/wiki/Special%3ASearch"),
            (["-/wiki/", "+/wiki/Special%3ASearch"], "/wiki/Special:Search"),
            (["-/private/", "+/open;"], "/open;/../private/a"),
            (["-/private/", "+/private;x"], "/private;y/a"),
        ] {
            assert!(is_denied(&rules, target), "{rules:?} {target}");
        }
    }
}
