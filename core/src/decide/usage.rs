//! A site's preferences about the usage of the page that a request is for, with the lines that say so.

use alloc::string::String;
use alloc::vec::Vec;

use crate::decide::decision::Decision;
use crate::decide::purpose::Purposes;
use crate::identity::acting_agent;
use crate::ids::ProductId;
use crate::path::request::RequestTarget;
use crate::policy::lines::Lines;
use crate::policy::usage::vocabulary::PURPOSES;
use crate::policy::usage::{PurposeUse, UsageStatement};
use crate::reason::Rule;
use crate::request::Request;
use crate::ruleset::data::Ruleset;
use crate::ruleset::sites::Site;
use crate::ruleset::usage::UsageSource;

/// A part of a statement, with the line that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsagePart<'r> {
    /// The line.
    pub rule: Rule<'r>,
    /// Its statement.
    pub statement: UsageStatement,
    /// Its text without comment, if it is a line of robots.txt.
    pub text: Option<String>,
}

impl Ruleset {
    /// The site's preferences about the usage of the page, for the client; `None`: no site has the host, or the mode is `off`.
    pub fn usage(&self, decision: &Decision, request: &impl Request) -> Option<UsageStatement> {
        let (site, product) = self.site_and_product(decision)?;
        Some(site.usage(product, &target(site, request)))
    }

    /// The preference about each purpose of an automated client that falls into a category: the purposes that the request declares,
    /// else those of the agent.
    pub fn usage_by_purpose(
        &self,
        decision: &Decision,
        request: &impl Request,
    ) -> Vec<(&'static str, PurposeUse)> {
        let Some((site, product)) = self.site_and_product(decision) else { return Vec::new() };
        let agent = acting_agent(self, decision.agent, decision.evidence);
        let Some(purposes) = Purposes::judged(self, site.preferences.as_ref(), agent, request) else {
            return Vec::new();
        };
        let statement = site.usage(product, &target(site, request));
        let known = PURPOSES.iter().map(|(word, _)| *word);
        let known = known.filter(|word| purposes.iter().any(|purpose| purpose.eq_ignore_ascii_case(word)));
        known.filter_map(|word| Some((word, statement.on(word)?))).collect()
    }

    /// The parts of that statement, each with its line.
    pub fn usage_parts(&self, decision: &Decision, request: &impl Request) -> Vec<UsagePart<'_>> {
        let mut parts: Vec<UsagePart<'_>> = Vec::new();
        let Some((site, product)) = self.site_and_product(decision) else { return parts };
        site.tell_usage_lines(product, &target(site, request), &mut |source, line| {
            let (robots, file) = match source {
                UsageSource::Document(file) => (None, file),
                UsageSource::Robots => {
                    (site.robots.as_ref(), site.robots.as_ref().map_or("", |file| &*file.path))
                }
            };
            let text = robots.and_then(|robots| {
                let mut lines = Lines::new(&robots.served.bytes);
                let found = lines.find(|found| found.number == line.line)?;
                Some(String::from_utf8_lossy(found.content()).into_owned())
            });
            let part = UsagePart { rule: Rule { file, line: line.line }, statement: line.statement, text };
            if !parts.contains(&part) {
                parts.push(part);
            }
        });
        parts
    }

    /// The reserved groups of the site's robots.txt (USE-11), by their tokens.
    pub fn reserved_groups(&self, decision: &Decision) -> impl Iterator<Item = (&str, Rule<'_>)> {
        let site = decision.site.and_then(|id| self.sites.get(id));
        site.and_then(|site| site.robots.as_ref()).into_iter().flat_map(|file| {
            let groups = file.rules.rules.reserved_groups().iter();
            groups.map(|(token, line)| (&**token, Rule { file: &file.path, line: *line }))
        })
    }

    fn site_and_product(&self, decision: &Decision) -> Option<(&Site, Option<ProductId>)> {
        let site = decision.site.filter(|_| !decision.ignored).and_then(|id| self.sites.get(id))?;
        Some((site, self.product_of(acting_agent(self, decision.agent, decision.evidence))))
    }
}

fn target<'q>(site: &Site, request: &'q impl Request) -> RequestTarget<'q> {
    RequestTarget::new(request.path()).with_md_paths(site.has_md_paths())
}
