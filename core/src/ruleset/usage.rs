//! What a site says may be done with its pages: its robots.txt and its settings together.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::ids::ProductId;
use crate::path::request::{RequestPath, RequestTarget};
use crate::policy::usage::{Longest, StatementLine, UsageRules, UsageStatement, in_each_spelling};
use crate::ruleset::sites::Site;

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
    /// Its URL in angle brackets.
    pub(crate) target: Box<[u8]>,
    pub(crate) line: Box<[u8]>,
}

impl UsageSending {
    pub(crate) fn new<'u>(licenses: impl Iterator<Item = &'u str>) -> Self {
        let lines = |statement: UsageStatement| {
            statement.text().map(|text| text.into_bytes().into()).into_iter().collect()
        };
        let link = |url: &str| {
            let target = [b"<", url.as_bytes(), b">"].concat();
            let line = [&*target, b"; rel=\"license\"; type=\"application/rsl+xml\""].concat();
            License { target: target.into(), line: line.into() }
        };
        Self { statements: UsageStatement::all().map(lines).collect(), links: licenses.map(link).collect() }
    }

    /// The value of `Content-Usage` for a statement, as the only line if there is one.
    pub(crate) fn lines(&self, statement: UsageStatement) -> &[Box<[u8]>] {
        self.statements.get(statement.number()).map_or(&[], |lines| lines)
    }
}

/// What a response is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentUsage {
    pub(crate) statement: UsageStatement,
    /// True if it is for the verified agent alone, and others get another one.
    pub(crate) varies: bool,
}

/// The notation of a part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageSource {
    Robots,
    Document,
}

impl Site {
    /// Returns true if anything is said of usage, whatever the path.
    pub(crate) fn states_usage(&self) -> bool {
        !self.usage.rules.is_empty()
            || self.robots.as_ref().is_some_and(|file| file.rules.rules.states_usage())
    }

    /// The statement about a path for an agent of this product; `None` is any other client.
    pub(crate) fn usage(&self, product: Option<ProductId>, target: &RequestTarget<'_>) -> UsageStatement {
        if !self.states_usage() {
            return UsageStatement::default();
        }
        in_each_spelling(target, |path| self.usage_as_spelled(product, path))
    }

    fn usage_as_spelled(&self, product: Option<ProductId>, path: RequestPath<'_>) -> UsageStatement {
        let robots =
            self.robots.as_ref().map(|file| file.rules.rules.usage(file.rules.groups.get(product), path));
        let mut longest = Longest::default();
        self.usage.rules.find(path, &mut longest);
        robots.unwrap_or_default().and(longest.statement)
    }

    /// Tells the parts of the statement about a path, in the spelling in which it was sent, then in others.
    pub(crate) fn tell_usage_lines(
        &self,
        product: Option<ProductId>,
        target: &RequestTarget<'_>,
        tell: &mut dyn FnMut(UsageSource, StatementLine),
    ) {
        let judge = |path: RequestPath<'_>| {
            if let Some(file) = &self.robots {
                let group = file.rules.groups.get(product);
                file.rules.rules.tell_usage_lines(group, path, &mut |line| tell(UsageSource::Robots, line));
            }
            let mut longest = Longest::default();
            self.usage.rules.find(path, &mut longest);
            self.usage.rules.tell_lines(path, longest, &mut |line| tell(UsageSource::Document, line));
        };
        target.strictest(judge, |()| 0_u8, 1);
    }

    /// What the response says on a site that sends it: the statement for all, or that for the verified agent of this
    /// product.
    pub(crate) fn sent_usage(&self, verified: Option<ProductId>, target: &RequestTarget<'_>) -> SentUsage {
        let for_all = self.usage(None, target);
        let has_own_group = self.robots.as_ref().is_some_and(|file| {
            let groups = &file.rules.groups;
            verified.is_some() && groups.get(verified) != groups.get(None)
        });
        let statement = if has_own_group { self.usage(verified, target) } else { for_all };
        SentUsage { statement, varies: statement != for_all }
    }
}
