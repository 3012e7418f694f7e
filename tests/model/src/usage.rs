//! Usage preferences: draft-ietf-aipref-vocab-07 and -attach-05; USE-1 to USE-14; docs/usage.md.

use sfv::{ListEntry, Parser};

use crate::path::{Path, Pattern};
use crate::robots::Robots;

/// The labels, in the order in which a statement is written.
const LABELS: [&str; 3] = ["train-ai", "ai-use", "search"];

/// A statement: of each label allowed, disallowed or unknown.
pub type Statement = [Option<bool>; 3];

/// A rule of `sites[].usage`.
pub type SiteRule = (Pattern, Statement);

/// vocab 6.5: a Dictionary, of which only the Tokens `y` and `n` count. What cannot be parsed states nothing.
pub fn read(text: &str) -> Statement {
    let members = Parser::new(text).parse_dictionary().unwrap_or_default();
    LABELS.map(|label| match members.get(label)? {
        ListEntry::Item(item) => match item.bare_item.as_token()?.as_str() {
            "y" => Some(true),
            "n" => Some(false),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    })
}

/// USE-9: `ai-train` is `train-ai`, `ai-input` is `ai-use`.
fn read_signal(text: &str) -> Statement {
    let mut statement = Statement::default();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let label = ["ai-train", "ai-input", "search"].into_iter().position(|known| known == key.trim());
        let preference = match value.trim() {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        if let Some(label) = label {
            let mut said = Statement::default();
            said[label] = preference;
            statement = combine(statement, said);
        }
    }
    statement
}

/// vocab 5.1: any `n` is `n`, else any `y` is `y`.
pub fn combine(one: Statement, other: Statement) -> Statement {
    [0, 1, 2].map(|label| match (one[label], other[label]) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (said, None) | (None, said) => said,
        (said, _) => said,
    })
}

/// attach 3.1: of rules whose path matches, the longest count; those of equal length are combined.
fn longest<'r>(rules: impl Iterator<Item = (usize, Statement)> + 'r) -> Statement {
    let rules: Vec<_> = rules.collect();
    let longest = rules.iter().map(|(length, _)| *length).max();
    rules
        .iter()
        .filter(|(length, _)| Some(*length) == longest)
        .fold(Statement::default(), |all, (_, said)| combine(all, *said))
}

/// attach 3.2: a value that begins with `/` is a path up to the first blank, then the statement.
fn parts(value: &str) -> (Option<Pattern>, &str) {
    if !value.starts_with('/') {
        return (None, value);
    }
    let end = value.find([' ', '\t']).unwrap_or(value.len());
    // The octets of the file are the characters here.
    let path: Vec<u8> = value[..end].chars().filter_map(|octet| u8::try_from(octet).ok()).collect();
    (Pattern::new(&path), value[end..].trim_matches([' ', '\t']))
}

/// What robots.txt states of a spelling of a path: `Content-Usage` with its lines, and `Content-Signal`.
fn of_robots(robots: &Robots, agent: &str, path: &Path, spelling: usize) -> Statement {
    // attach 3: "paths that cannot be crawled have no associated usage preferences".
    if !robots.decide_spelling(agent, path, spelling).0 {
        return Statement::default();
    }
    let rules = robots.usage_of(agent);
    let usages = rules.iter().filter(|rule| !rule.is_signal).filter_map(|rule| match parts(&rule.value) {
        (None, preferences) => Some((0, read(preferences))),
        (Some(pattern), preferences) => Some((pattern.matches(path, spelling)?, read(preferences))),
    });
    let signals = rules.iter().filter(|rule| rule.is_signal).copied().chain(&robots.for_all);
    signals.fold(longest(usages), |all, rule| combine(all, read_signal(&rule.value)))
}

/// The statement about a path for an agent.
pub fn statement(robots: Option<&Robots>, site: &[SiteRule], agent: &str, path: &Path) -> Statement {
    let of_spelling = |spelling: usize| {
        let of_robots = robots.map(|robots| of_robots(robots, agent, path, spelling)).unwrap_or_default();
        let of_site =
            longest(site.iter().filter_map(|(scope, said)| Some((scope.matches(path, spelling)?, *said))));
        combine(of_robots, of_site)
    };
    // "If a server can take a path for another one, a use is allowed only if it is allowed for each."
    let all: Vec<Statement> = path.spellings().map(of_spelling).collect();
    [0, 1, 2].map(|label| {
        let mut said = all.iter().map(|statement| statement[label]);
        if said.clone().any(|said| said == Some(false)) {
            return Some(false);
        }
        said.all(|said| said == Some(true)).then_some(true)
    })
}

/// `train-ai=n, search=y`; `None` if nothing is stated.
pub fn text(statement: Statement) -> Option<String> {
    let said = LABELS.into_iter().zip(statement);
    let said = said.filter_map(|(label, said)| Some(format!("{label}={}", if said? { "y" } else { "n" })));
    let text = said.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

/// The labels that must be disallowed to deny a purpose: the table of "Deny who fetches for nothing else". `None`: never.
fn labels(purpose: &str) -> Option<&'static [usize]> {
    match purpose.to_ascii_lowercase().as_str() {
        "ai-training" | "train-ai" | "ai-train" => Some(&[0]),
        "ai-use" | "ai-input" => Some(&[1]),
        "search" => Some(&[2]),
        "ai-search" => Some(&[1, 2]),
        _ => None,
    }
}

/// USE-13: all purposes are known, and each is disallowed.
pub fn is_denied(statement: Statement, purposes: &[String]) -> bool {
    let is_disallowed = |purpose: &String| {
        labels(purpose).is_some_and(|labels| labels.iter().all(|label| statement[*label] == Some(false)))
    };
    !purposes.is_empty() && purposes.iter().all(is_disallowed)
}

/// "The first line of robots.txt that disallows a part of it", of the path as sent.
pub fn disallowing_line(robots: &Robots, agent: &str, path: &Path, purposes: &[String]) -> Option<u32> {
    let wanted: Vec<usize> =
        purposes.iter().filter_map(|purpose| labels(purpose)).flatten().copied().collect();
    let says_no = |said: Statement| wanted.iter().any(|label| said[*label] == Some(false));
    for spelling in path.spellings() {
        if !robots.decide_spelling(agent, path, spelling).0 {
            continue;
        }
        let rules = robots.usage_of(agent);
        let of = |value: &str| match parts(value) {
            (None, said) => Some((0, read(said))),
            (Some(pattern), said) => Some((pattern.matches(path, spelling)?, read(said))),
        };
        let longest = rules
            .iter()
            .filter(|rule| !rule.is_signal)
            .filter_map(|rule| of(&rule.value))
            .map(|(length, _)| length)
            .max();
        let says_no = |rule: &&crate::robots::UsageRule| match rule.is_signal {
            true => says_no(read_signal(&rule.value)),
            false => of(&rule.value).is_some_and(|(length, said)| Some(length) == longest && says_no(said)),
        };
        let first = robots.for_all.iter().chain(rules).filter(says_no).map(|rule| rule.line).min();
        if first.is_some() {
            return first;
        }
    }
    None
}
