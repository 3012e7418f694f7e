//! Feeds that are fetched from their URLs: which they are, and whether an answer is a good version.
//!
//! The same reader, guard and choice of versions as for files count, so that no file is replaced by one that would be
//! held when it is loaded.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use super::bindings::{FeedUsers, KnownFeeds};
use super::drafts::AgentDraft;
use super::feeds::FoundFeed;
use super::policies::Lenient;
use super::published_keys::PublishedDirectory;
use super::{Compiler, Files, KnownFiles, published_files};
use crate::catalog::Catalog;
use crate::config::Config;
use crate::feed::FeedFormat;
use crate::feed::change::Change;
use crate::feed::state::FeedState;
use crate::feed::versions::{Candidate, Choice, Unavailable, Version, main_reason};
use crate::json::units::Seconds;
use crate::sort::set_of;
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load, Severity};
use crate::source::pages::Content;

/// The files that a configuration document says to fetch: feeds and policies that have a URL, and directories of keys.
pub struct Subscriptions {
    document: String,
    config: Config,
    catalog: Catalog,
    agents: Vec<AgentDraft>,
    directories: Vec<PublishedDirectory>,
}

/// A feed that is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription<'s> {
    /// The name in the configuration.
    pub name: &'s str,
    /// The format in which it is written.
    pub format: FeedFormat,
    /// The URL at which it is published.
    pub url: &'s str,
    /// Its file, relative to the document.
    pub source: &'s str,
    /// The most bytes that it may have.
    pub bytes: usize,
    /// The largest age, in seconds.
    pub max_age: Option<i64>,
}

/// Judges what publishers answer, for the feeds of one document.
pub struct Judge<'j> {
    compiler: &'j Compiler<'j>,
    users: &'j FeedUsers<'j>,
    feeds: &'j [FoundFeed<'j>],
    /// By the number of the feed; empty until the files are needed.
    candidates: Vec<Candidate<'j>>,
}

/// The use that is made of an answer.
#[derive(Clone, Debug)]
pub enum Verdict<'v> {
    /// It is a good version: it is to replace the file and the last good version.
    Good {
        /// The answer.
        file: &'v Content,
        /// The number of its prefixes.
        prefixes: usize,
        /// The number of entries that cannot be read.
        unreadable: usize,
        /// The number of entries that are left out because their prefixes are special-purpose.
        special: usize,
        /// The differences from the last good version; `None` if there is none, or if it has the same bytes.
        change: Option<Change>,
    },
    /// The guard holds it, for this reason.
    Held(String),
    /// It is not a feed, for this reason.
    Unusable(String),
}

impl Subscriptions {
    /// Reads a configuration document, which `name` names in diagnostics.
    ///
    /// # Errors
    ///
    /// The errors in the document and in its catalog. What its other files contain is not looked at.
    pub fn read(name: &str, document: &[u8], files: &dyn Files) -> Result<Self, Vec<Diagnostic>> {
        let mut own = Diagnostics::new(name, Load);
        let Some(config) = Config::read(document, &mut own) else {
            return Err(own.into_items_by_position());
        };
        let mut policies = Lenient;
        let files = KnownFiles::new(&config, &[], files);
        let mut compiler = Compiler::new(name, own, files, &mut policies);
        let catalog = compiler.catalog(&config).unwrap_or_default();
        let agents = compiler.drafts(&config, &catalog);
        let known = KnownFeeds::new(&config, &catalog);
        let bindings = compiler.bindings(&agents, &known);
        let exempt = compiler.exemptions(&config, &known, &[]).feeds();
        let users = FeedUsers::new(&config, &agents, &bindings, exempt);
        compiler.distinct_feeds(&known, &users);
        published_files::check(&config, &mut compiler.own);
        compiler.check_published_policies(&config);
        compiler.check_published_keys(&config);
        let Compiler { own, others, .. } = compiler;
        let mut diagnostics = own.into_items_by_position();
        diagnostics.extend(others);
        diagnostics.retain(|one| one.severity == Severity::Error);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let directories = Self::published_directories(&config);
        Ok(Self { document: name.into(), config, catalog, agents, directories })
    }

    /// The name of the document in diagnostics.
    pub fn document(&self) -> &str {
        &self.document
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn directories(&self) -> &[PublishedDirectory] {
        &self.directories
    }

    /// The feeds that are fetched, in the order of the document: those with a URL whose file is not in the document.
    pub fn feeds(&self) -> impl Iterator<Item = Subscription<'_>> {
        let inlined = inlined(&self.config);
        let with_url = self.config.feeds.iter().filter_map(|feed| Some((feed, feed.url.as_deref()?)));
        with_url.filter(move |(feed, _)| !inlined.contains(feed.source.as_str())).map(|(feed, url)| {
            Subscription {
                name: &feed.name,
                format: feed.format,
                url,
                source: &feed.source,
                bytes: feed.limits.bytes,
                max_age: feed.max_age.map(|Seconds(age)| age),
            }
        })
    }

    /// The names of all feeds, in the order of the document.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.config.feeds.iter().map(|feed| feed.name.as_str())
    }

    /// Does some work with a judge, who knows the files as they are when it is first asked.
    pub fn judging<T>(&self, files: &dyn Files, work: impl FnOnce(&mut Judge<'_>) -> T) -> T {
        let mut policies = Lenient;
        let files = KnownFiles::new(&self.config, &[], files);
        let own = Diagnostics::new(self.document.as_str(), Load);
        let mut compiler = Compiler::new(&self.document, own, files, &mut policies);
        let known = KnownFeeds::new(&self.config, &self.catalog);
        let bindings = compiler.bindings(&self.agents, &known);
        let exempt = compiler.exemptions(&self.config, &known, &[]).feeds();
        let users = FeedUsers::new(&self.config, &self.agents, &bindings, exempt);
        let feeds = compiler.distinct_feeds(&known, &users);
        let (compiler, users, feeds) = (&compiler, &users, &feeds[..]);
        work(&mut Judge { compiler, users, feeds, candidates: Vec::new() })
    }
}

/// The files that are in the document, which nobody fetches.
pub(super) fn inlined(config: &Config) -> BTreeSet<&str> {
    set_of(config.files.0.iter().map(|(name, _)| name.as_str()))
}

/// The main reason of some.
pub(super) fn reason(diagnostics: Vec<Diagnostic>) -> String {
    main_reason(diagnostics).0
}

impl Judge<'_> {
    /// Judges an answer that came at `now`, in seconds since the Unix epoch, for the feed with this name. A good one counts
    /// as the version in force when others are judged later.
    ///
    /// `None` if there is no such feed.
    pub fn judge(&mut self, name: &str, answer: impl Into<Content>, now: i64) -> Option<Verdict<'_>> {
        let Self { compiler, users, feeds, candidates } = self;
        if candidates.is_empty() {
            candidates.extend(feeds.iter().map(|feed| compiler.candidate(feed)));
        }
        let place = feeds.iter().position(|feed| *feed.config.name == name)?;
        let feed = feeds.get(place)?;
        let (terms, url) = (feed.terms(), feed.config.url.as_deref()?);
        let none = || Candidate::new(terms, Err(Unavailable::Missing(url.into())), None);
        let slot = candidates.get_mut(place)?;
        // Two versions at a time are enough.
        let known = mem::replace(slot, none()).without_newest();
        let newest = Version::read(answer, Some(now), url, &terms).map_err(Unavailable::Unusable);
        let is_feed = newest.is_ok();
        *slot = compiler.with_earlier(known.renewed(newest), feed);
        let is_accepted = compiler.files.accepts(name);
        let objection = match slot.became_empty() && !is_accepted {
            true => Some("it has no prefixes [JAFAR-24]".into()),
            false => compiler.objection(place, candidates, feeds, users),
        };
        let slot = candidates.get_mut(place)?;
        let change = slot.change();
        let choice = mem::replace(slot, none()).choose(objection, is_accepted);
        let Choice { version, state, why, .. } = match choice {
            Ok(choice) => choice,
            Err(diagnostics) => return Some(Verdict::Unusable(main_reason(diagnostics).0)),
        };
        let is_taken = version.is_some() && state != FeedState::Held;
        if let Some(version) = version {
            *slot = Candidate::of_good(terms, version);
        }
        let good = slot.good().filter(|_| is_taken);
        Some(match (good, why.unwrap_or_default()) {
            (Some(version), _) => Verdict::Good {
                file: &version.file,
                prefixes: version.content.entries.len(),
                unreadable: version.content.unreadable,
                special: version.content.special,
                change,
            },
            (None, why) if is_feed => Verdict::Held(why),
            (None, why) => Verdict::Unusable(why),
        })
    }
}
