//! Policies that are fetched from their URLs.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Compiler;
use super::subscriptions::{self, Subscriptions};
use crate::config::{Config, SiteConfig};
use crate::policy::automation_preferences::{self, PreferencesFile};
use crate::policy::robots::{self, RobotsFile};
use crate::policy::{PolicyKind, answer};
use crate::source::diagnostic::{Diagnostics, Load};
use crate::source::position::Placed;
use crate::source::text;

/// A policy that is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySubscription<'s> {
    /// The kind of policy.
    pub policy: PolicyKind,
    /// The URL at which it is published.
    pub url: &'s str,
    /// Its file, relative to the document.
    pub source: &'s str,
    /// The most bytes that it may have.
    pub bytes: usize,
    /// The origins that it may come from beside that of the URL.
    pub origins: Vec<&'s str>,
}

impl PolicyKind {
    /// The keys of a site for the file and for the URL, and what the site has there.
    fn of(self, site: &SiteConfig) -> ([&'static str; 2], [Option<&Placed<String>>; 2]) {
        match self {
            Self::Robots => {
                (["robots_txt", "robots_txt_url"], [site.robots_txt.as_ref(), site.robots_txt_url.as_ref()])
            }
            Self::AutomationPreferences => (
                ["automation_preferences", "automation_preferences_url"],
                [site.automation_preferences.as_ref(), site.automation_preferences_url.as_ref()],
            ),
        }
    }

    fn limit(self) -> usize {
        match self {
            Self::Robots => robots::DEFAULT_LIMIT,
            Self::AutomationPreferences => automation_preferences::DEFAULT_LIMIT,
        }
    }
}

const ALL: [PolicyKind; 2] = [PolicyKind::Robots, PolicyKind::AutomationPreferences];

impl Compiler<'_> {
    /// Checks that each URL has one file, and each file at most one URL.
    pub(super) fn check_published_policies(&mut self, config: &Config) {
        let mut urls: BTreeMap<&str, &str> = BTreeMap::new();
        for site in &config.sites {
            let mut has_url = false;
            for policy in ALL {
                let (keys, [file, url]) = policy.of(site);
                let Some(url) = url else { continue };
                let Some(file) = file else {
                    let message = format!("`{}` has no file: set `{}` to where it is kept", keys[1], keys[0]);
                    self.own.error(url.position, "ROB-6", message);
                    continue;
                };
                has_url = true;
                if *urls.entry(file.as_str()).or_insert(url.as_str()) != url.as_str() {
                    let message = format!("another site fetches {} from another URL", **file);
                    self.own.error(url.position, "ROB-6", message);
                }
            }
            for origin in site.policy_origins.iter().filter(|origin| !is_origin(origin)) {
                let message = format!(
                    "`{}` is not an origin: write it as https://www.example.com, without a path",
                    **origin
                );
                self.own.error(origin.position, "ROB-6", message);
            }
            if let Some(origin) = site.policy_origins.first().filter(|_| !has_url) {
                let message = "`policy_origins` has no effect: the site has no `robots_txt_url` and no `automation_preferences_url`";
                self.own.warning(origin.position, "ROB-6", message);
            }
        }
    }
}

impl Subscriptions {
    /// The policies that are fetched, each file once, in the order of the document; not those whose file is in the document.
    pub fn policies(&self) -> impl Iterator<Item = PolicySubscription<'_>> {
        let config = self.config();
        let mut known = subscriptions::inlined(config);
        config.sites.iter().flat_map(|site| ALL.map(|policy| (policy, site))).filter_map(
            move |(policy, site)| {
                let (_, [file, url]) = policy.of(site);
                let (source, url) = (file?.as_str(), url?.as_str());
                let origins = || Self::origins_of(config, policy, source);
                known.insert(source).then(|| PolicySubscription {
                    policy,
                    url,
                    source,
                    bytes: policy.limit(),
                    origins: origins(),
                })
            },
        )
    }

    /// The origins that the sites with this file name.
    fn origins_of<'s>(config: &'s Config, policy: PolicyKind, source: &str) -> Vec<&'s str> {
        let has_file = |site: &&Placed<SiteConfig>| policy.of(site).1[0].is_some_and(|file| **file == source);
        let sites = config.sites.iter().filter(has_file);
        sites.flat_map(|site| &site.policy_origins).map(|origin| origin.as_str()).collect()
    }

    /// Checks that an answer can be read as a policy.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn read_policy(policy: PolicyKind, url: &str, bytes: &[u8]) -> Result<(), String> {
        let mut diagnostics = Diagnostics::new(url, Load);
        let is_readable = match policy {
            PolicyKind::Robots => RobotsFile::parse(bytes, &mut diagnostics).is_some(),
            PolicyKind::AutomationPreferences => PreferencesFile::parse(bytes, &mut diagnostics).is_some(),
        };
        if is_readable { Ok(()) } else { Err(subscriptions::reason(diagnostics.into_items())) }
    }

    /// Checks that an answer is a policy: one that says nothing, or that has at least one line of a policy. A page, a document of
    /// another kind or a text is none, although it would be read as one that allows everything.
    ///
    /// # Errors
    ///
    /// The reason why not.
    pub fn check_policy(policy: PolicyKind, url: &str, bytes: &[u8]) -> Result<(), String> {
        if !text::is_page(bytes) {
            Self::read_policy(policy, url, bytes)?;
        }
        match policy {
            PolicyKind::Robots => answer::check(bytes, robots::is_known, "a robots.txt"),
            PolicyKind::AutomationPreferences => {
                answer::check(bytes, automation_preferences::is_known, "an automation-preferences.txt")
            }
        }
    }
}

/// Returns true if a text is an origin of the web.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte) || byte > 0x7f;
    host.is_some_and(|host| !host.is_empty() && host.bytes().all(is_part))
}
