//! Files into which something is fetched: each has one content.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::config::Config;
use crate::source::diagnostic::Diagnostics;
use crate::source::position::Placed;

/// Calls a function with each file of a configuration, its content, and whether it is fetched.
fn each_file<'c>(config: &'c Config, visit: &mut dyn FnMut(&'c Placed<String>, &'static str, bool)) {
    visit(&config.catalog, "the catalog", false);
    for feed in &config.feeds {
        visit(&feed.source, "a feed", feed.url.is_some());
    }
    for site in &config.sites {
        if let Some(file) = &site.robots_txt {
            visit(file, "a robots.txt", site.robots_txt_url.is_some());
        }
        if let Some(file) = &site.automation_preferences {
            visit(file, "an automation-preferences.txt", site.automation_preferences_url.is_some());
        }
    }
    for agent in &config.agents {
        for keys in &agent.keys {
            visit(&keys.source, "a directory of keys", true);
        }
    }
}

/// Checks that each file into which something is fetched has one use, and that of a feed one URL.
pub(crate) fn check(config: &Config, diagnostics: &mut Diagnostics) {
    let mut fetched: BTreeMap<&str, &str> = BTreeMap::new();
    each_file(config, &mut |file, content, is_fetched| {
        if is_fetched {
            fetched.entry(file.as_str()).or_insert(content);
        }
    });
    each_file(config, &mut |file, content, _| {
        if let Some(other) = fetched.get(file.as_str()).filter(|other| **other != content) {
            let message =
                format!("{} is {content}, and {other} is fetched into it; use another file", **file);
            diagnostics.error(file.position, None, message);
        }
    });
    let mut urls: BTreeMap<&str, &str> = BTreeMap::new();
    for feed in &config.feeds {
        let Some(url) = feed.url.as_deref() else { continue };
        // The addresses of one publisher would verify the agents of the other.
        if *urls.entry(feed.source.as_str()).or_insert(url) != url {
            let message = format!("another feed fetches {} from another URL", *feed.source);
            diagnostics.error(feed.source.position, None, message);
        }
    }
}
