//! Rules about paths, compiled: the longest that matches says what is preferred, and equally long ones say it together.
//!
//! # Cost
//!
//! There are few different statements ([`UsageStatement::COUNT`]), so the rules are in one path set for each that occurs, and a
//! path is looked up in each.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::statement::UsageStatement;
use crate::path::request::{RequestPath, RequestTarget};
use crate::path::rules::{PathRule, PathRules};

/// The statement about a target that may be another page in another spelling: a use is allowed only if it is in each.
pub(crate) fn in_each_spelling(
    target: &RequestTarget<'_>,
    mut judge: impl FnMut(RequestPath<'_>) -> UsageStatement,
) -> UsageStatement {
    let mut all: Option<UsageStatement> = None;
    let judge = |path: RequestPath<'_>| {
        let here = judge(path);
        all = Some(all.map_or(here, |all| all.either(here)));
    };
    // No spelling is so strict that the others need not be asked.
    target.strictest(judge, |()| 0_u8, 1);
    all.unwrap_or_default()
}

/// A rule as it was read.
#[derive(Clone, Debug)]
pub(crate) struct UsageRule {
    /// `None`: it is for all paths, and shorter than any path.
    pub(crate) path: Option<PathRule>,
    pub(crate) statement: UsageStatement,
    pub(crate) line: u32,
}

/// A line that states something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatementLine {
    pub(crate) statement: UsageStatement,
    pub(crate) line: u32,
}

/// Rules, any number of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsageRules {
    /// Those for all paths; of each statement the first.
    pathless: Box<[StatementLine]>,
    /// By what they say, with their lines.
    by_statement: Box<[(UsageStatement, PathRules<u32>)]>,
}

/// The longest rules that match a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Longest {
    /// The length of their paths in octets; `None`: no rule matches.
    length: Option<u32>,
    pub(crate) statement: UsageStatement,
}

impl Longest {
    fn add(&mut self, length: u32, statement: UsageStatement) {
        if self.length < Some(length) {
            *self = Self { length: Some(length), statement };
        } else if self.length == Some(length) {
            self.statement = self.statement.and(statement);
        }
    }
}

impl UsageRules {
    pub(crate) fn new<'r>(rules: impl IntoIterator<Item = &'r UsageRule>) -> Self {
        let mut pathless: Vec<StatementLine> = Vec::new();
        let mut by_statement: BTreeMap<UsageStatement, Vec<(&PathRule, u32)>> = BTreeMap::new();
        for UsageRule { path, statement, line } in rules {
            match path {
                Some(path) => by_statement.entry(*statement).or_default().push((path, *line)),
                None if pathless.iter().any(|known| known.statement == *statement) => {}
                None => pathless.push(StatementLine { statement: *statement, line: *line }),
            }
        }
        let compiled = by_statement.into_iter().map(|(statement, rules)| (statement, PathRules::new(rules)));
        Self { pathless: pathless.into(), by_statement: compiled.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pathless.is_empty() && self.by_statement.is_empty()
    }

    /// Adds the rules that match to the longest so far.
    pub(crate) fn find(&self, path: RequestPath<'_>, longest: &mut Longest) {
        self.each(path, &mut |length, StatementLine { statement, .. }| longest.add(length, statement));
    }

    /// Passes on the lines of the rules that are as long as the longest; of each statement the first.
    pub(crate) fn tell_lines(
        &self,
        path: RequestPath<'_>,
        longest: Longest,
        tell: &mut dyn FnMut(StatementLine),
    ) {
        self.each(path, &mut |length, line| {
            if Some(length) == longest.length {
                tell(line);
            }
        });
    }

    /// The longest matching rules of each statement, with their length.
    fn each(&self, path: RequestPath<'_>, tell: &mut dyn FnMut(u32, StatementLine)) {
        self.pathless.iter().for_each(|line| tell(0, *line));
        for (statement, rules) in &self.by_statement {
            if let Some(said) = rules.decide(path) {
                tell(said.length(), StatementLine { statement: *statement, line: said.what });
            }
        }
    }
}
