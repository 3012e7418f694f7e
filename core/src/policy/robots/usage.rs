//! The lines of a `robots.txt` that say what may be done with pages: read, and compiled.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::{Group, RobotsFile};
use crate::path::request::RequestPath;
use crate::path::rules::PathRule;
use crate::policy::lines::Line;
use crate::policy::usage::{
    Longest, MOST_LICENSES, RESERVED_TOKEN, StatementLine, UsageRule, UsageRules, UsageStatement,
    objection_to_license, path_and_statement, statement, statement_of_signals,
};
use crate::source::diagnostic::{Diagnostics, Strictness};
use crate::source::quoted::QuotedBytes;

/// A licence that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct License {
    pub(crate) url: Box<str>,
    pub(crate) line: u32,
}

/// Returns true if groups of this token, in lower case, are reserved: no client is in them (USE-11).
pub(super) fn is_reserved(token: &str) -> bool {
    token.starts_with(RESERVED_TOKEN)
}

impl Group {
    /// Returns true if it names an agent.
    pub(super) fn has_agents(&self) -> bool {
        self.tokens.iter().any(|token| !is_reserved(token))
    }
}

impl RobotsFile {
    /// Reads a line of [`USAGE_DIRECTIVES`](super::USAGE_DIRECTIVES).
    pub(super) fn usage_line<S: Strictness>(
        &mut self,
        line: &Line<'_>,
        kind: &str,
        value: &[u8],
        diagnostics: &mut Diagnostics<S>,
    ) {
        match kind {
            "content-usage" => self.content_usage(line, value, diagnostics),
            "content-signal" => {
                let stated = StatementLine { statement: statement_of_signals(value), line: line.number };
                self.groups.last_mut().map_or(&mut self.signals, |group| &mut group.signals).push(stated);
            }
            _ => self.license(line, value, diagnostics),
        }
    }

    fn content_usage<S: Strictness>(
        &mut self,
        line: &Line<'_>,
        value: &[u8],
        diagnostics: &mut Diagnostics<S>,
    ) {
        let Some(group) = self.groups.last_mut() else {
            let message = "`content-usage` before the first `user-agent` line; it applies to no agent";
            return diagnostics.lost(line.start(), "USE-7", message);
        };
        group.closed = true;
        let (path, text) = path_and_statement(value);
        let statement = statement(text).unwrap_or_else(|_| {
            let message =
                format_args!("{} is not a Dictionary (RFC 9651); it states nothing", QuotedBytes(text));
            diagnostics.lost(line.position(text), "USE-2", message);
            UsageStatement::default()
        });
        // Begins with a slash, so that it is a path.
        let path = path.and_then(|path| PathRule::new(path).ok());
        group.usage.push(UsageRule { path, statement, line: line.number });
    }

    fn license<S: Strictness>(&mut self, line: &Line<'_>, value: &[u8], diagnostics: &mut Diagnostics<S>) {
        let objection = objection_to_license(value);
        let url = core::str::from_utf8(value).ok().filter(|_| objection.is_none());
        match (url, objection) {
            (Some(url), _) if self.licenses.iter().any(|known| *known.url == *url) => {
                diagnostics.lint_warning(line.start(), "USE-10", "the same licence again");
            }
            (Some(_), _) if self.licenses.len() == MOST_LICENSES => {
                let message = format!("the file names more than {MOST_LICENSES} licences; ignoring this one");
                diagnostics.lost(line.start(), "USE-10", message);
            }
            (Some(url), _) => self.licenses.push(License { url: url.into(), line: line.number }),
            (None, why) => {
                let why = why.unwrap_or_default();
                let message = format_args!("{}: {why}; ignoring the line", QuotedBytes(value));
                diagnostics.lost(line.position(value), "USE-10", message);
            }
        }
    }
}

/// The statements of a file about usage, by the sets into which its groups are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct RobotsUsage {
    /// The signals for all.
    signals: Box<[StatementLine]>,
    sets: Box<[SetUsage]>,
    pub(super) licenses: Box<[License]>,
    pub(super) reserved: Box<[(Box<str>, u32)]>,
    is_empty: bool,
}

#[derive(Clone, Debug)]
struct SetUsage {
    rules: UsageRules,
    signals: Box<[StatementLine]>,
}

impl RobotsUsage {
    pub(super) fn new<'f>(file: &RobotsFile, sets: impl Iterator<Item = &'f [&'f Group]>) -> Self {
        let sets: Box<[SetUsage]> = sets.map(SetUsage::new).collect();
        let reserved = file.groups.iter().flat_map(|group| {
            let line = group.position.map_or(0, |position| position.line);
            group.tokens.iter().filter(|token| is_reserved(token)).map(move |token| (token.clone(), line))
        });
        Self {
            is_empty: file.signals.is_empty() && sets.iter().all(SetUsage::is_empty),
            signals: different(file.signals.iter()),
            sets,
            licenses: file.licenses.clone().into(),
            reserved: reserved.collect(),
        }
    }

    /// Returns true if nothing is preferred, whatever the path.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn of<'s>(&'s self, selection: &'s [u32]) -> impl Iterator<Item = &'s SetUsage> {
        selection.iter().filter_map(|set| self.sets.get(*set as usize))
    }

    fn signals<'s>(&'s self, selection: &'s [u32]) -> impl Iterator<Item = &'s StatementLine> {
        self.signals.iter().chain(self.of(selection).flat_map(|set| &set.signals))
    }

    fn longest(&self, selection: &[u32], path: RequestPath<'_>) -> Longest {
        let mut longest = Longest::default();
        self.of(selection).for_each(|set| set.rules.find(path, &mut longest));
        longest
    }

    pub(super) fn statement(&self, selection: &[u32], path: RequestPath<'_>) -> UsageStatement {
        let longest = self.longest(selection, path).statement;
        self.signals(selection).fold(longest, |sum, signal| sum.and(signal.statement))
    }

    pub(super) fn tell_lines(
        &self,
        selection: &[u32],
        path: RequestPath<'_>,
        tell: &mut dyn FnMut(StatementLine),
    ) {
        let longest = self.longest(selection, path);
        self.of(selection).for_each(|set| set.rules.tell_lines(path, longest, tell));
        self.signals(selection).copied().for_each(tell);
    }
}

impl SetUsage {
    fn new(groups: &[&Group]) -> Self {
        Self {
            rules: UsageRules::new(groups.iter().flat_map(|group| &group.usage)),
            signals: different(groups.iter().flat_map(|group| &group.signals)),
        }
    }

    fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.signals.is_empty()
    }
}

/// The first line of each statement: they are fewer than the lines of a file can be.
fn different<'s>(lines: impl Iterator<Item = &'s StatementLine>) -> Box<[StatementLine]> {
    let mut different: Vec<StatementLine> = Vec::new();
    for line in lines {
        if different.iter().all(|known| known.statement != line.statement) {
            different.push(*line);
        }
    }
    different.into()
}

#[cfg(test)]
mod tests;
