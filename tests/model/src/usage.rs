//! Usage preferences: draft-ietf-aipref-vocab-07 and -attach-05; USE-1 to USE-14; docs/usage.md.

use sfv::{ListEntry, Parser};

use crate::path::{Path, Pattern};
use crate::robots::Robots;

/// The labels, in the order in which a statement is written.
const LABELS: [&str; 3] = ["train-ai", "ai-use", "search"];

/// A statement: of each label allowed, disallowed or unknown.
pub(crate) type Statement = [Option<bool>; 3];

/// A rule of `sites[].usage`.
pub(crate) type SiteRule = (Pattern, Statement);

/// vocab 6.5: a Dictionary, of which only the Tokens `y` and `n` count. What cannot be parsed states nothing.
pub(crate) fn read(text: &str) -> Statement {
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
pub(crate) fn combine(one: Statement, other: Statement) -> Statement {
    [0, 1, 2].map(|label| match (one[label], other[label]) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (said, None) | (None, said) => said,
        (said, _) => said,
    })
}

/// attach 3.1: of rules whose path matches, the longest count.
fn longest<T: Copy>(rules: &[(usize, T)]) -> impl Iterator<Item = T> {
    let longest = rules.iter().map(|(length, _)| *length).max();
    rules.iter().filter(move |(length, _)| Some(*length) == longest).map(|(_, said)| *said)
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

/// The rules of robots.txt that speak of a spelling of a path, with their lines: `Content-Usage`, and `Content-Signal`.
fn rules(robots: &Robots, agent: &str, path: &Path, spelling: usize) -> Vec<(u32, Statement)> {
    // attach 3: "paths that cannot be crawled have no associated usage preferences".
    if !robots.decide_spelling(agent, path, spelling).0 {
        return Vec::new();
    }
    let rules = robots.usage_of(agent);
    let usages = rules.iter().filter(|rule| !rule.is_signal).filter_map(|rule| {
        let (pattern, preferences) = parts(&rule.value);
        let length = pattern.map_or(Some(0), |pattern| pattern.matches(path, spelling))?;
        Some((length, (rule.line, read(preferences))))
    });
    let usages: Vec<_> = usages.collect();
    let signals = rules.iter().filter(|rule| rule.is_signal).copied().chain(&robots.for_all);
    longest(&usages).chain(signals.map(|rule| (rule.line, read_signal(&rule.value)))).collect()
}

/// The statement about a path for an agent.
pub(crate) fn statement(robots: Option<&Robots>, site: &[SiteRule], agent: &str, path: &Path) -> Statement {
    let of_spelling = |spelling: usize| {
        let of_robots = robots.map(|robots| rules(robots, agent, path, spelling)).unwrap_or_default();
        let of_site: Vec<_> =
            site.iter().filter_map(|(scope, said)| Some((scope.matches(path, spelling)?, *said))).collect();
        // vocab 5.1: of several statements, those of equal length among them.
        let all = of_robots.into_iter().map(|(_, said)| said).chain(longest(&of_site));
        all.fold(Statement::default(), combine)
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
pub(crate) fn text(statement: Statement) -> Option<String> {
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
pub(crate) fn is_denied(statement: Statement, purposes: &[String]) -> bool {
    let is_disallowed = |purpose: &String| {
        labels(purpose).is_some_and(|labels| labels.iter().all(|label| statement[*label] == Some(false)))
    };
    !purposes.is_empty() && purposes.iter().all(is_disallowed)
}

/// "The first line of robots.txt that disallows a part of it."
pub(crate) fn disallowing_line(
    robots: &Robots,
    agent: &str,
    path: &Path,
    purposes: &[String],
) -> Option<u32> {
    let wanted: Vec<usize> =
        purposes.iter().filter_map(|purpose| labels(purpose)).flatten().copied().collect();
    let says_no = |said: &Statement| wanted.iter().any(|label| said[*label] == Some(false));
    let rules = path.spellings().flat_map(|spelling| rules(robots, agent, path, spelling));
    rules.filter(|(_, said)| says_no(said)).map(|(line, _)| line).min()
}
