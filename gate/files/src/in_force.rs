//! The feeds in force, so that none of them is lost without a word.

use crawlpike_core::{Diagnostic, Ruleset};

use crate::now;

/// The feeds of a ruleset of which it has a version that says something.
#[derive(Clone, Debug, Default)]
pub struct FeedsInForce(Vec<String>);

impl FeedsInForce {
    /// The feeds in force with a ruleset.
    pub fn of(ruleset: &Ruleset) -> Self {
        let usable = ruleset.feeds(now()).filter(|feed| feed.is_usable);
        Self(usable.map(|feed| feed.name.to_owned()).collect())
    }

    /// The names of those that are not in force with another ruleset.
    pub fn missing_in<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(|name| !other.0.contains(name)).map(String::as_str)
    }

    /// Those of which a new ruleset has no version at all, as when a folder is gone: an error for each, in the document with
    /// this name.
    pub fn lost_in(&self, ruleset: &Ruleset, document: &str) -> Vec<Diagnostic> {
        let feeds = ruleset.feeds(now());
        let lost = feeds.filter(|feed| !feed.has_version && self.0.iter().any(|known| known == feed.name));
        let error = |name| {
            let message = format!(
                "the feed `{name}` was in force, and no version of it is left: restore its file, or reload"
            );
            Diagnostic::error(document, message)
        };
        lost.map(|feed| error(feed.name)).collect()
    }
}
