//! A site's preferences about the usage of its pages: those of its robots.txt and of its settings together.

use crate::ids::ProductId;
use crate::path::request::{RequestPath, RequestTarget};
use crate::policy::usage::{Longest, StatementLine, UsageStatement, in_each_spelling};
use crate::ruleset::sites::Site;
use crate::ruleset::usage::{SentUsage, UsageSource};

impl Site {
    /// Returns true if anything is said of usage, whatever the path.
    pub(crate) fn states_usage(&self) -> bool {
        self.usage.as_ref().is_some_and(|usage| !usage.rules.is_empty())
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
        self.usage.iter().for_each(|usage| usage.rules.find(path, &mut longest));
        robots.unwrap_or_default().and(longest.statement)
    }

    /// Passes on the parts of the statement about a path, in the spelling in which it was sent, then in others.
    pub(crate) fn tell_usage_lines<'s>(
        &'s self,
        product: Option<ProductId>,
        target: &RequestTarget<'_>,
        tell: &mut dyn FnMut(UsageSource<'s>, StatementLine),
    ) {
        let judge = |path: RequestPath<'_>| {
            if let Some(file) = &self.robots {
                let group = file.rules.groups.get(product);
                file.rules.rules.tell_usage_lines(group, path, &mut |line| tell(UsageSource::Robots, line));
            }
            if let Some(usage) = &self.usage {
                let mut longest = Longest::default();
                usage.rules.find(path, &mut longest);
                usage.rules.tell_lines(path, longest, &mut |line| {
                    tell(UsageSource::Document(&usage.document), line);
                });
            }
        };
        target.strictest(judge, |()| 0_u8, 1);
    }

    /// The statement for the response of a site that sends it: the one for all, or the one for the verified agent of this
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
