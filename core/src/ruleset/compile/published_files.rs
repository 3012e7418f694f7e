//! Files into which something is fetched: each has one content.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Compiler;
use crate::config::Config;
use crate::source::position::Placed;

/// The use of a file by the configuration.
struct FileUse<'c> {
    file: &'c Placed<String>,
    content: &'static str,
    is_fetched: bool,
}

impl<'c> FileUse<'c> {
    /// All uses in a configuration.
    fn all(config: &'c Config) -> Vec<Self> {
        let a = |content, file, is_fetched| Self { file, content, is_fetched };
        let mut uses = Vec::from([a("the catalog", &config.catalog, false)]);
        uses.extend(config.feeds.iter().map(|feed| a("a feed", &feed.source, feed.url.is_some())));
        for site in &config.sites {
            let (robots, is_fetched) = (site.robots_txt.as_ref(), site.robots_txt_url.is_some());
            uses.extend(robots.map(|file| a("a robots.txt", file, is_fetched)));
            let preferences = site.automation_preferences.as_ref();
            let is_fetched = site.automation_preferences_url.is_some();
            uses.extend(preferences.map(|file| a("an automation-preferences.txt", file, is_fetched)));
        }
        let keys = config.agents.iter().flat_map(|agent| &agent.keys);
        uses.extend(keys.map(|keys| a("a directory of keys", &keys.source, true)));
        uses
    }
}

impl Compiler<'_> {
    /// Checks that nothing is fetched into a file that has another use.
    pub(super) fn check_published_files(&mut self, config: &Config) {
        let uses = FileUse::all(config);
        let mut fetched: BTreeMap<&str, &str> = BTreeMap::new();
        for one in uses.iter().filter(|one| one.is_fetched) {
            fetched.entry(one.file).or_insert(one.content);
        }
        for FileUse { file, content, .. } in uses {
            if let Some(other) = fetched.get(file.as_str()).filter(|other| **other != content) {
                let message =
                    format!("{} is {content}, and {other} is fetched into it; use another file", **file);
                self.own.error(file.position, None, message);
            }
        }
    }

    /// Checks that each file of a feed has at most one URL.
    pub(super) fn check_published_feeds(&mut self, config: &Config) {
        let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for feed in &config.feeds {
            let Some(url) = feed.url.as_deref() else { continue };
            // The addresses of one publisher would verify the agents of the other.
            let (name, known) = *first.entry(&feed.source).or_insert((&feed.name, url));
            if known != url {
                let file = &*feed.source;
                let message = format!("the feed `{name}` fetches {file} from another URL; use another file");
                self.own.error(feed.source.position, None, message);
            }
        }
    }
}
