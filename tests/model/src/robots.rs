//! robots.txt: RFC 9309; "robots.txt" in docs/robots-and-preferences.md. `Content-Usage`, `Content-Signal`: see [`crate::usage`].

use crate::lines::{lines, product_token};
use crate::path::{Path, Pattern};

/// The verdict on a path, and the line that decided.
pub(crate) type Verdict = (bool, Option<u32>);

#[derive(Clone, Debug)]
struct Rule {
    is_allow: bool,
    /// `None` matches nothing.
    pattern: Option<Pattern>,
    line: u32,
}

/// A rule of draft-ietf-aipref-attach, 3, or a `Content-Signal`, that speaks of usage.
#[derive(Clone, Debug)]
pub(crate) struct UsageRule {
    pub(crate) line: u32,
    /// `None` for `Content-Signal`.
    pub(crate) value: String,
    pub(crate) is_signal: bool,
}

#[derive(Clone, Debug, Default)]
struct Group {
    tokens: Vec<String>,
    rules: Vec<Rule>,
    usage: Vec<UsageRule>,
    /// A rule was read, so that the next `user-agent` begins a new group.
    has_rules: bool,
}

/// A robots.txt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Robots {
    groups: Vec<Group>,
    /// `Content-Signal` above all groups.
    pub(crate) for_all: Vec<UsageRule>,
}

impl Robots {
    /// 2.2: lines in groups.
    pub(crate) fn read(text: &[u8]) -> Self {
        let mut robots = Self::default();
        for line in lines(text, &["user-agent", "allow", "disallow"]) {
            let usage = |is_signal| UsageRule {
                line: line.number,
                value: line.value.iter().copied().map(char::from).collect(),
                is_signal,
            };
            if line.is("user-agent") {
                // 2.2.1: lines one after the other make one group; other records in between have no effect.
                if robots.groups.last().is_none_or(|group| group.has_rules) {
                    robots.groups.push(Group::default());
                }
                let group = robots.groups.last_mut().expect("there is one");
                group.tokens.extend(product_token(line.value));
            } else if line.is("content-signal") {
                match robots.groups.last_mut() {
                    Some(group) => group.usage.push(usage(true)),
                    None => robots.for_all.push(usage(true)),
                }
            } else if let Some(group) = robots.groups.last_mut() {
                let is_allow = line.is("allow");
                if is_allow || line.is("disallow") {
                    group.has_rules = true;
                    group.rules.push(Rule { is_allow, pattern: Pattern::new(line.value), line: line.number });
                } else if line.is("content-usage") {
                    group.has_rules = true;
                    group.usage.push(usage(false));
                }
            }
        }
        robots
    }

    /// 2.2.1: all groups of the token, compared without regard to case; without any, those of `*`.
    fn groups_of(&self, agent: &str) -> Vec<&Group> {
        let of = |token: &str| {
            let is_its_own =
                |group: &&Group| group.tokens.iter().any(|known| known.eq_ignore_ascii_case(token));
            self.groups.iter().filter(is_its_own).collect::<Vec<_>>()
        };
        // USE-11: no client is in a group whose token begins so.
        let is_reserved = agent.to_ascii_lowercase().starts_with("__usage_");
        let own = if is_reserved { Vec::new() } else { of(agent) };
        if own.is_empty() { of("*") } else { own }
    }

    pub(crate) fn usage_of(&self, agent: &str) -> Vec<&UsageRule> {
        self.groups_of(agent).into_iter().flat_map(|group| &group.usage).collect()
    }

    /// 2.2.2: the longest match; `allow` before `disallow` of the same length; allowed without any match. Of equal rules, the first.
    pub(crate) fn decide_spelling(&self, agent: &str, path: &Path, spelling: usize) -> Verdict {
        // "`/robots.txt` itself is always allowed."
        if path.is("/robots.txt") {
            return (true, None);
        }
        let mut best: Option<(usize, &Rule)> = None;
        for rule in self.groups_of(agent).into_iter().flat_map(|group| &group.rules) {
            let Some(length) = rule.pattern.as_ref().and_then(|pattern| pattern.matches(path, spelling))
            else {
                continue;
            };
            if best.is_none_or(|(longest, known)| (longest, known.is_allow) < (length, rule.is_allow)) {
                best = Some((length, rule));
            }
        }
        best.map_or((true, None), |(_, rule)| (rule.is_allow, Some(rule.line)))
    }
}
