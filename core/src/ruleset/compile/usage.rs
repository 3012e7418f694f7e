//! From a site's `usage` to its compiled settings.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::Compiler;
use super::sites::position_in;
use crate::config::{UsageConfig, UsageRuleConfig};
use crate::http::structured;
use crate::path::rules::PathRule;
use crate::policy::lines::nearest;
use crate::policy::usage::vocabulary::{CATEGORIES, FORMER_LABELS};
use crate::policy::usage::{self, MOST_LICENSES, UsageRule, UsageRules, UsageStatement};
use crate::ruleset::sites::{PolicyFile, RobotsPolicy};
use crate::ruleset::usage::{SiteUsage, UsageSending};
use crate::source::position::Placed;
use crate::source::quoted::QuotedBytes;

impl Compiler<'_> {
    pub(super) fn usage(
        &mut self,
        config: Option<&UsageConfig>,
        robots: Option<&PolicyFile<RobotsPolicy>>,
    ) -> Option<Box<SiteUsage>> {
        let config = config?;
        let rules: Vec<UsageRule> = config.rules.iter().filter_map(|rule| self.usage_rule(rule)).collect();
        let rules = UsageRules::new(&rules);
        let of_file = robots.map(|file| file.rules.rules.licenses()).unwrap_or_default();
        let mut licenses: Vec<&str> = of_file.iter().map(|license| &*license.url).collect();
        if let Some(own) = &config.license {
            if let Some(why) = usage::objection_to_license(own.as_bytes()) {
                self.own.error(own.position, "USE-10", format!("{}: {why}", QuotedBytes(own.as_bytes())));
            } else if !licenses.contains(&own.as_str()) {
                licenses.insert(0, own);
            }
        }
        if licenses.len() > MOST_LICENSES {
            let message = format!("the site has more than {MOST_LICENSES} licences; not sending the others");
            self.own.warning(config.license.as_ref().and_then(|own| own.position), "USE-10", message);
            licenses.truncate(MOST_LICENSES);
        }
        let states = !rules.is_empty() || robots.is_some_and(|file| file.rules.rules.states_usage());
        if self.is_whole && !states && *config.enforce {
            let message = "`enforce` denies nobody: neither `rules` nor robots.txt states a preference";
            self.own.warning(config.enforce.position, "USE-13", message);
        }
        if self.is_whole && !states && *config.send && licenses.is_empty() {
            let message = "`send` sends nothing: there is neither a preference nor a licence";
            self.own.warning(config.send.position, "USE-8", message);
        }
        Some(Box::new(SiteUsage {
            document: self.document.as_str().into(),
            rules,
            sending: config.send.then(|| UsageSending::new(licenses.into_iter()).into()),
            enforces: *config.enforce,
        }))
    }

    fn usage_rule(&mut self, config: &UsageRuleConfig) -> Option<UsageRule> {
        let UsageRuleConfig { scope, preferences } = config;
        let path = PathRule::new(scope.as_bytes());
        if let Err(why) = &path {
            self.own.error(scope.position, None, format!("`{}`: {why}", **scope));
        }
        let statement = self.preferences_of_rule(preferences)?;
        let line = preferences.position.map_or(0, |position| position.line);
        Some(UsageRule { path: Some(path.ok()?), statement, line })
    }

    /// The statement of a rule. Whoever writes it here can mend it, so that nothing in it is left to be ignored.
    fn preferences_of_rule(&mut self, preferences: &Placed<alloc::string::String>) -> Option<UsageStatement> {
        let Ok(entries) = structured::dictionary(preferences.as_bytes()) else {
            let message = format!(
                "{} is not a Dictionary (RFC 9651); write, for example, \"train-ai=n, search=y\"",
                QuotedBytes(preferences.as_bytes())
            );
            self.own.error(preferences.position, "USE-2", message);
            return None;
        };
        for entry in &entries {
            let position = position_in(preferences, entry.text).or(preferences.position);
            let shown = QuotedBytes(entry.key);
            let is_known = CATEGORIES.iter().any(|category| category.label.as_bytes() == entry.key);
            let former = FORMER_LABELS.iter().find(|(label, _)| label.as_bytes() == entry.key);
            if is_known && usage::preference(&entry.member).is_none() {
                let message = format!("{shown} must be `y` or `n`");
                self.own.error(position, "USE-1", message);
            } else if let Some((_, draft)) = former {
                let message =
                    format!("{shown} is a label of {draft}, which later drafts dropped; it states nothing");
                self.own.warning(position, "USE-3", message);
            } else if !is_known {
                let labels: Vec<&str> = CATEGORIES.iter().map(|category| category.label).collect();
                let meant = nearest(entry.key, &labels).map(|label| format!(" (did you mean `{label}`?)"));
                let message =
                    format!("unknown label {shown}{}; it states nothing", meant.unwrap_or_default());
                self.own.warning(position, "USE-1", message);
            }
        }
        usage::statement(preferences.as_bytes()).ok()
    }
}
