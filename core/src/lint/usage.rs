//! Mistakes in what a `robots.txt` says of usage.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::catalog::{Catalog, CatalogAgent};
use crate::http::structured;
use crate::path::request::RequestTarget;
use crate::path::rules::PathRule;
use crate::policy::lines::{Directive, Line, Lines, nearest};
use crate::policy::robots::{Group, RobotsFile};
use crate::policy::usage::vocabulary::{CATEGORIES, FORMER_LABELS, SIGNAL_USE};
use crate::policy::usage::{
    Preference, RESERVED_TOKEN, StatementLine, in_each_spelling, path_and_statement, preference, signals,
};
use crate::source::diagnostic::{Diagnostics, Lint, Load};
use crate::source::position::Position;
use crate::source::quoted::QuotedBytes;

/// Labels, names and values that mean nothing, and what stands on the line of another rule.
pub(super) fn lines(text: &[u8], diagnostics: &mut Diagnostics<Lint>) {
    for line in Lines::new(text) {
        let Some(Directive { name, value }) = line.directive() else { continue };
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("content-usage") {
            labels(&line, path_and_statement(value).1, diagnostics);
        } else if is("content-signal") {
            signal_names(&line, value, diagnostics);
        } else if is("allow") || is("disallow") {
            let lower = value.to_ascii_lowercase();
            let other = ["content-usage:", "content-signal:"]
                .into_iter()
                .find(|other| lower.windows(other.len()).any(|part| part == other.as_bytes()));
            if let Some(other) = other {
                let message = format!("`{other}` needs a line of its own; here it is a part of the path");
                diagnostics.lint_error(line.position(value), "USE-5", message);
            }
        }
    }
}

fn labels(line: &Line<'_>, text: &[u8], diagnostics: &mut Diagnostics<Lint>) {
    // One that cannot be read has been reported.
    let Ok(entries) = structured::dictionary(text) else { return };
    let mut seen = BTreeSet::new();
    for entry in &entries {
        let position = line.position(entry.text);
        let shown = QuotedBytes(entry.key);
        let is_known = CATEGORIES.iter().any(|category| category.label.as_bytes() == entry.key);
        if let Some((_, draft)) = FORMER_LABELS.iter().find(|(label, _)| label.as_bytes() == entry.key) {
            let message =
                format!("{shown} is a label of {draft}, which later drafts dropped; it states nothing");
            diagnostics.lint_warning(position, "USE-3", message);
        } else if !is_known {
            let known: Vec<&str> = CATEGORIES.iter().map(|category| category.label).collect();
            let message =
                format!("unknown label {shown}{}; it states nothing", did_you_mean(entry.key, &known));
            diagnostics.lint_warning(position, "USE-1", message);
        } else if preference(&entry.member).is_none() {
            let message = format!("{shown} states nothing: write `y` or `n`, without quotes");
            diagnostics.lint_error(position, "USE-1", message);
        }
        if !seen.insert(entry.key) {
            let message = format!("duplicate key {shown}; the last one counts");
            diagnostics.lint_warning(position, "USE-2", message);
        }
    }
}

fn signal_names(line: &Line<'_>, value: &[u8], diagnostics: &mut Diagnostics<Lint>) {
    let (use_name, use_values) = SIGNAL_USE;
    let names: Vec<&str> = CATEGORIES.iter().map(|category| category.signal).chain([use_name]).collect();
    for (name, value) in signals(value) {
        let position = line.position(name);
        let shown = QuotedBytes(name);
        let permitted: &[&str] = if name == use_name.as_bytes() { &use_values } else { &["yes", "no"] };
        if !names.iter().any(|known| known.as_bytes() == name) {
            let message = format!("unknown signal {shown}{}; it states nothing", did_you_mean(name, &names));
            diagnostics.lint_warning(position, "USE-9", message);
        } else if !value.is_some_and(|value| permitted.iter().any(|known| known.as_bytes() == value)) {
            let message = format!("{shown} states nothing: write one of {}", permitted.join(", "));
            diagnostics.lint_error(position, "USE-9", message);
        }
    }
}

fn did_you_mean(name: &[u8], known: &[&str]) -> String {
    nearest(name, known).map(|known| format!(" (did you mean `{known}`?)")).unwrap_or_default()
}

fn states(group: &Group) -> bool {
    !group.usage.is_empty() || !group.signals.is_empty()
}

/// Reserved groups, lines that contradict each other, and agents that the preferences for all do not reach.
pub(super) fn groups(file: &RobotsFile, diagnostics: &mut Diagnostics<Lint>) {
    for group in &file.groups {
        if let Some(token) = group.tokens.iter().find(|token| token.starts_with(RESERVED_TOKEN)) {
            let message =
                format!("{token} is not an agent: tokens that begin with `{RESERVED_TOKEN}` are reserved");
            diagnostics.lint_warning(group.position, "USE-11", message);
        }
        contradictions(file, group, diagnostics);
    }
    let states_something = !file.signals.is_empty() || file.groups.iter().any(states);
    if states_something {
        invited_for_nothing(file, diagnostics);
    }
    let is_for_all = |group: &&Group| group.tokens.contains("*");
    if !file.groups.iter().any(|group| is_for_all(&group) && states(group)) {
        return;
    }
    let stating: BTreeSet<&str> = file
        .groups
        .iter()
        .filter(|group| states(group))
        .flat_map(|group| &group.tokens)
        .map(|token| &**token)
        .collect();
    let mut told = BTreeSet::new();
    for group in file.groups.iter().filter(|group| !is_for_all(group)) {
        for token in &group.tokens {
            let is_silent = !stating.contains(&**token) && !token.starts_with(RESERVED_TOKEN);
            if is_silent && told.insert(&**token) {
                let message =
                    format!("the group of {token} states no preference, and those of `*` do not apply to it");
                diagnostics.lint_warning(group.position, "USE-6", message);
            }
        }
    }
}

/// Agents of the catalog with a group of their own that allows them everything, and of whose purposes it disallows each.
fn invited_for_nothing(file: &RobotsFile, diagnostics: &mut Diagnostics<Lint>) {
    let (name, catalog) = Catalog::builtin();
    let agents = Catalog::parse(catalog, &mut Diagnostics::new(name, Load)).unwrap_or_default().agents;
    let robots = file.compile();
    for CatalogAgent { token, purposes, .. } in agents {
        let own = |group: &&Group| group.tokens.iter().any(|known| known.eq_ignore_ascii_case(&token));
        let Some(group) = file.groups.iter().find(own) else { continue };
        let mut rules = file.groups.iter().filter(own).flat_map(|group| &group.rules);
        let statement =
            in_each_spelling(&RequestTarget::new(b"/"), |path| robots.usage(robots.group_for(&token), path));
        if rules.all(|rule| rule.allow) && statement.disallows_all(purposes.iter().map(String::as_str)) {
            let message = format!(
                "{token} may fetch everything, and `{statement}` disallows all that it fetches for ({}); `Disallow: /` keeps it out",
                purposes.join(", ")
            );
            diagnostics.lint_warning(group.position, "USE-13", message);
        }
    }
}

/// Lines of a group of which one allows what another disallows.
fn contradictions(file: &RobotsFile, group: &Group, diagnostics: &mut Diagnostics<Lint>) {
    let mut told = BTreeSet::new();
    let mut tell = |allowing: u32, disallowing: u32, label: &str| {
        if told.insert((allowing, String::from(label))) {
            let message = format!("no effect: line {disallowing} disallows `{label}`");
            diagnostics.lint_warning(Position { line: allowing, column: 1 }, "USE-4", message);
        }
    };
    let mut of_signals = FirstLines::default();
    for signal in file.signals.iter().chain(&group.signals) {
        of_signals.compare(*signal, &mut tell);
        of_signals.add(*signal);
    }
    let mut by_path: BTreeMap<Option<&PathRule>, FirstLines> = BTreeMap::new();
    for rule in &group.usage {
        let stated = StatementLine { statement: rule.statement, line: rule.line };
        of_signals.compare(stated, &mut tell);
        let same_path = by_path.entry(rule.path.as_ref()).or_default();
        same_path.compare(stated, &mut tell);
        same_path.add(stated);
    }
}

/// The first lines that allow and that disallow each category.
#[derive(Default)]
struct FirstLines([[Option<u32>; 2]; CATEGORIES.len()]);

impl FirstLines {
    fn add(&mut self, line: StatementLine) {
        for (place, [allowing, disallowing]) in self.0.iter_mut().enumerate() {
            match line.statement.preference(place) {
                Some(Preference::Allowed) => _ = allowing.get_or_insert(line.line),
                Some(Preference::Disallowed) => _ = disallowing.get_or_insert(line.line),
                None => {}
            }
        }
    }

    /// Passes on each line that allows what the other one disallows.
    fn compare(&self, line: StatementLine, tell: &mut impl FnMut(u32, u32, &str)) {
        for (place, (category, [allowing, disallowing])) in CATEGORIES.iter().zip(&self.0).enumerate() {
            match (line.statement.preference(place), allowing, disallowing) {
                (Some(Preference::Allowed), _, Some(other)) => tell(line.line, *other, category.label),
                (Some(Preference::Disallowed), Some(other), _) => tell(*other, line.line, category.label),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn lint(text: &str) -> Vec<String> {
        let found = crate::lint::robots("r", text.as_bytes());
        found.iter().map(ToString::to_string).filter(|message| message.contains("[USE-")).collect()
    }

    /// USE-1, USE-3, USE-9.
    #[test]
    fn use_3_words_that_state_nothing_are_named() {
        let text = "User-agent: *\nAllow: /\nContent-Usage: /a ai=n, trian-ai=n, train-ai=no, search=y, search=n\n\
                    Content-Signal: ai-train=maybe, use=reference, ai-trian=no\nDisallow: /b Content-Usage: train-ai=n\n";
        assert_eq!(
            lint(text),
            [
                "r:3:19: warning: \"ai\" is a label of draft-ietf-aipref-vocab-01, which later drafts dropped; it states nothing [USE-3]",
                "r:3:25: warning: unknown label \"trian-ai\" (did you mean `train-ai`?); it states nothing [USE-1]",
                "r:3:37: error: \"train-ai\" states nothing: write `y` or `n`, without quotes [USE-1]",
                "r:3:60: warning: duplicate key \"search\"; the last one counts [USE-2]",
                "r:4:17: error: \"ai-train\" states nothing: write one of yes, no [USE-9]",
                "r:4:48: warning: unknown signal \"ai-trian\" (did you mean `ai-train`?); it states nothing [USE-9]",
                "r:5:11: error: `content-usage:` needs a line of its own; here it is a part of the path [USE-5]",
            ]
        );
    }

    /// USE-4, USE-6, USE-11.
    #[test]
    fn use_4_contradictions_and_silent_groups_are_named() {
        let text = "Content-Signal: ai-train=yes\nUser-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a search=y\n\
                    Content-Usage: /a search=n\n\nUser-agent: GPTBot\nAllow: /\n\nUser-agent: __usage_x\nAllow: /\n\n\
                    User-agent: B\nContent-Usage: search=n\n";
        assert_eq!(
            lint(text),
            [
                "r:1:1: warning: no effect: line 3 disallows `train-ai` [USE-4]",
                "r:4:1: warning: no effect: line 5 disallows `search` [USE-4]",
                "r:7:1: warning: the group of gptbot states no preference, and those of `*` do not apply to it [USE-6]",
                "r:10:1: warning: __usage_x is not an agent: tokens that begin with `__usage_` are reserved [USE-11]",
            ]
        );
        let text = "Content-Signal: ai-train=no\n\nUser-agent: GPTBot\nAllow: /\n\nUser-agent: CCBot\nDisallow: /\n\n\
                    User-agent: Googlebot\nUser-agent: Bytespider\nAllow: /\n";
        let why = "and `train-ai=n` disallows all that it fetches for (ai-training); `Disallow: /` keeps it out [USE-13]";
        assert_eq!(
            lint(text),
            [
                format!("r:3:1: warning: GPTBot may fetch everything, {why}"),
                format!("r:9:1: warning: Bytespider may fetch everything, {why}")
            ]
        );
        assert_eq!(
            lint("User-agent: *\nContent-Usage: train-ai=n, search=y\nContent-Signal: ai-train=no\n"),
            [""; 0]
        );
    }
}
