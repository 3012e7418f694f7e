//! A site's settings for usage preferences, compiled.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::policy::usage::{UsageRules, UsageStatement};

/// A site's settings for usage preferences.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteUsage {
    /// The name of the document, in which the rules stand.
    pub(crate) document: Box<str>,
    pub(crate) rules: UsageRules,
    /// `None`: responses say nothing of it.
    pub(crate) sending: Option<Box<UsageSending>>,
    /// True if an agent is denied whose purposes are all disallowed.
    pub(crate) enforces: bool,
}

/// The lines that responses get.
#[derive(Clone, Debug)]
pub(crate) struct UsageSending {
    /// The value of `Content-Usage`, by the number of the statement; none for the empty one.
    statements: Box<[Vec<Box<[u8]>>]>,
    /// The values of `Link`, one for each licence.
    pub(crate) links: Box<[License]>,
}

/// The `Link` of a licence.
#[derive(Clone, Debug)]
pub(crate) struct License {
    pub(crate) url: Box<str>,
    pub(crate) line: Box<[u8]>,
}

impl UsageSending {
    pub(crate) fn new<'u>(licenses: impl Iterator<Item = &'u str>) -> Self {
        let lines = |statement: UsageStatement| {
            statement.text().map(|text| text.into_bytes().into()).into_iter().collect()
        };
        let link = |url: &str| {
            let line = [b"<", url.as_bytes(), b">; rel=\"license\"; type=\"application/rsl+xml\""].concat();
            License { url: url.into(), line: line.into() }
        };
        Self { statements: UsageStatement::all().map(lines).collect(), links: licenses.map(link).collect() }
    }

    /// The value of `Content-Usage` for a statement, as the only line if there is one.
    pub(crate) fn lines(&self, statement: UsageStatement) -> &[Box<[u8]>] {
        self.statements.get(statement.number()).map_or(&[], |lines| lines)
    }
}

/// The statement for a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentUsage {
    pub(crate) statement: UsageStatement,
    /// True if it is for the verified agent alone, and others get another one.
    pub(crate) varies: bool,
}

/// The notation of a part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageSource<'s> {
    Robots,
    /// The document with this name.
    Document(&'s str),
}
