//! From the configuration's feeds to one table: which version of each is good, and what it says.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use hashbrown::HashMap;
use ipnet::IpNet;

use super::{Compiler, Files, FoundFile};
use crate::config::{Config, FeedConfig};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Strictness};
use crate::feed::{self, Feed, FeedFormat, FeedValue, ReadOptions};
use crate::guard::OtherFeed;
use crate::prefix::{parse_prefix_or_address, unmap};
use crate::prefix_table::{Entry, PrefixTable};
use crate::ruleset::{FeedState, LoadedFeed};
use crate::stored::StoredWords;
use crate::units::Seconds;

/// All feeds, in the form in which they are looked up.
pub(crate) struct Feeds {
    pub(crate) loaded: Vec<LoadedFeed>,
    pub(crate) values: Vec<FeedValue>,
    pub(crate) table: PrefixTable<StoredWords>,
}

impl Feeds {
    /// The number of the feed with a name, where any version of it is in force.
    pub(super) fn usable(&self, name: &str) -> Option<u16> {
        let place = self.loaded.iter().position(|feed| *feed.name == *name && feed.usable)?;
        u16::try_from(place).ok()
    }

    /// The values with one of these services, sorted.
    pub(super) fn values_of_services(&self, services: &[String]) -> Vec<u32> {
        let is_listed = |value: &FeedValue| match value {
            FeedValue::Range { service: Some(service) } => {
                services.iter().any(|listed| **listed == **service)
            }
            _ => false,
        };
        self.values.iter().zip(0..).filter(|(value, _)| is_listed(value)).map(|(_, id)| id).collect()
    }
}

/// A version of a feed: its file and what was read from it.
struct Version {
    file: FoundFile,
    content: Feed,
}

/// What there is of a feed, before it is chosen between the versions.
struct Candidate<'c> {
    config: &'c FeedConfig,
    /// `None`: there is no file, or it can't be used, for this reason.
    newest: Result<Version, Unreadable>,
    /// `None` where it is the newest one, or there is none.
    last_good: Option<Version>,
    /// Whether the newest version is the last good one.
    is_kept: bool,
}

/// Why there is no newest version.
enum Unreadable {
    Missing,
    Broken(Vec<Diagnostic>),
}

impl Candidate<'_> {
    /// The version before any that may come with this load.
    fn good(&self) -> Option<&Feed> {
        let version = self.last_good.as_ref().or(self.newest.as_ref().ok())?;
        Some(&version.content)
    }
}

/// The version that was chosen, and the state that it puts the feed in.
struct Chosen {
    version: Option<Version>,
    state: FeedState,
    why: Option<String>,
}

impl Compiler<'_> {
    /// Reads all feeds, chooses their versions and builds the table.
    pub(super) fn feeds(&mut self, config: &Config) -> Option<Feeds> {
        let candidates = self.candidates(config);
        let objections: Vec<Option<String>> =
            candidates.iter().map(|one| self.objection(one, &candidates)).collect();
        let mut values = Values::default();
        let mut entries = Vec::new();
        let mut loaded = Vec::new();
        for ((candidate, objection), id) in candidates.into_iter().zip(objections).zip(0..) {
            let config = candidate.config;
            let chosen = self.choose(candidate, objection);
            let content = chosen.version.as_ref().map(|version| &version.content);
            if let Some(content) = content {
                values.add(content, id, &mut entries);
            }
            let dated = chosen.version.as_ref().and_then(Version::dated);
            loaded.push(LoadedFeed {
                name: config.name.as_str().into(),
                format: config.format,
                prefixes: content.map_or(0, |content| content.entries.len()),
                notes: content.and_then(|content| content.notes.clone()),
                state: chosen.state,
                why: chosen.why.map(Into::into),
                usable: chosen.version.is_some(),
                dated,
                expires: config.max_age.zip(dated).map(|(Seconds(age), from)| from.saturating_add(age)),
                sole_agent: None,
            });
        }
        match PrefixTable::build(entries).and_then(|table| PrefixTable::from_words(table.into_words().into()))
        {
            Ok(table) => Some(Feeds { loaded, values: values.list, table }),
            Err(error) => {
                self.own.error(None, None, format!("the feeds can't be compiled: {error}"));
                None
            }
        }
    }

    fn candidates<'c>(&mut self, config: &'c Config) -> Vec<Candidate<'c>> {
        let mut candidates: Vec<Candidate<'c>> = Vec::new();
        for feed in &config.feeds {
            let name = &feed.name;
            if candidates.iter().any(|other| *other.config.name == **name) {
                self.own.error(name.position, None, format!("another feed is named `{}`, too", **name));
                continue;
            }
            if !is_plain_name(name) {
                let message = "a feed's name is 1 to 64 printable ASCII characters";
                self.own.error(name.position, None, message);
            }
            if candidates.len() == usize::from(u16::MAX) {
                self.own.error(name.position, None, format!("more than {} feeds", u16::MAX));
                break;
            }
            let authority = self.authority(feed);
            let newest = self.newest(feed, &authority);
            let kept = self.files.last_good(&feed.source);
            let is_kept = newest
                .as_ref()
                .ok()
                .zip(kept.as_ref())
                .is_some_and(|(newest, kept)| newest.file.bytes == kept.bytes);
            let last_good = kept.filter(|_| !is_kept).and_then(|file| {
                let content = read(feed, &feed.source, &file, &authority).0?;
                Some(Version { file, content })
            });
            candidates.push(Candidate { config: feed, newest, last_good, is_kept });
        }
        candidates
    }

    fn authority(&mut self, config: &FeedConfig) -> Vec<IpNet> {
        let mut prefixes = Vec::new();
        for text in &config.authority {
            match parse_prefix_or_address(text) {
                Ok(prefix) => prefixes.push(unmap(prefix)),
                Err(why) => self.own.error(text.position, "GEO-15", format!("`{}`: {why}", **text)),
            }
        }
        if config.format != FeedFormat::Geofeed
            && let Some(first) = config.authority.first()
        {
            self.own.error(first.position, "GEO-15", "only a geofeed has an authority: remove it here");
        }
        prefixes
    }

    fn newest(&mut self, config: &FeedConfig, authority: &[IpNet]) -> Result<Version, Unreadable> {
        let name = self.display_name(&config.source);
        let file = match self.files.read(&config.source) {
            Ok(Some(file)) => file,
            Ok(None) => return Err(Unreadable::Missing),
            Err(why) => {
                let mut diagnostics = Diagnostics::new(name, Strictness::Load);
                diagnostics.error(None, None, format!("can't be read: {why}"));
                return Err(Unreadable::Broken(diagnostics.into_items()));
            }
        };
        let (content, diagnostics) = read(config, &name, &file, authority);
        match content {
            Some(content) => {
                self.others.extend(diagnostics);
                Ok(Version { file, content })
            }
            None => Err(Unreadable::Broken(diagnostics)),
        }
    }

    fn objection(&self, candidate: &Candidate<'_>, all: &[Candidate<'_>]) -> Option<String> {
        let newest = candidate.newest.as_ref().ok()?;
        if self.files.accepts(&candidate.config.name) {
            return None;
        }
        let others: Vec<OtherFeed<'_>> = all
            .iter()
            .filter(|other| *other.config.name != *candidate.config.name)
            .filter_map(|other| Some(OtherFeed { name: &other.config.name, good: other.good()? }))
            .collect();
        let last_good = candidate.last_good.as_ref().map(|version| &version.content);
        candidate.config.guard.objection(&newest.content, last_good, &others)
    }

    fn choose(&mut self, candidate: Candidate<'_>, objection: Option<String>) -> Chosen {
        let Candidate { config, newest, last_good, is_kept } = candidate;
        let held = |why| Chosen { version: None, state: FeedState::Held, why: Some(why) };
        match (newest, last_good, objection) {
            (Ok(version), _, None) => {
                if !is_kept {
                    self.good_feeds.push((config.source.value.clone(), version.file.bytes.clone()));
                }
                Chosen { version: Some(version), state: FeedState::Ok, why: None }
            }
            (Ok(_), last_good, Some(objection)) => Chosen { version: last_good, ..held(objection) },
            (Err(Unreadable::Missing), None, _) => {
                let name = self.display_name(&config.source);
                Chosen { state: FeedState::Missing, ..held(format!("there is no file {name} yet")) }
            }
            (Err(Unreadable::Missing), last_good, _) => {
                let name = self.display_name(&config.source);
                Chosen { version: last_good, ..held(format!("the file {name} is gone")) }
            }
            (Err(Unreadable::Broken(diagnostics)), None, _) => {
                // Nothing to fall back on: the configuration is refused, and what ran keeps running.
                self.others.extend(diagnostics);
                held("it can't be used".to_string())
            }
            (Err(Unreadable::Broken(diagnostics)), last_good, _) => {
                let mut reasons = diagnostics.iter().rev().filter(|one| one.severity == Severity::Error);
                let why = reasons.next().map(ToString::to_string).unwrap_or_default();
                self.others.extend(
                    diagnostics.into_iter().map(|one| Diagnostic { severity: Severity::Warning, ..one }),
                );
                Chosen { version: last_good, ..held(why) }
            }
        }
    }

    /// Warns of each feed whose newest version is not in force.
    pub(super) fn report_states(&mut self, config: &Config, loaded: &[LoadedFeed]) {
        if !self.is_whole {
            return;
        }
        for feed in loaded.iter().filter(|feed| feed.state != FeedState::Ok) {
            let position =
                config.feeds.iter().find(|one| **one.name == *feed.name).and_then(|one| one.source.position);
            let LoadedFeed { name, state, .. } = feed;
            let why = feed.why.as_deref().unwrap_or_default();
            let effect = match feed.usable {
                true => format!(
                    "the last good version stays in force; if the new one is right, let it in with `crawlward compile --accept {name}`"
                ),
                false => "it proves nobody, and nobody who claims its agents is spoofed".to_string(),
            };
            self.own.warning(position, None, format!("the feed `{name}` is {state}: {why}; {effect}"));
        }
    }
}

impl Version {
    /// See [`LoadedFeed::dated`].
    fn dated(&self) -> Option<i64> {
        match (self.content.created, self.file.modified) {
            (Some(created), Some(modified)) => Some(created.min(modified)),
            (created, modified) => created.or(modified),
        }
    }
}

fn read(
    config: &FeedConfig,
    name: &str,
    file: &FoundFile,
    authority: &[IpNet],
) -> (Option<Feed>, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::new(name, Strictness::Load);
    let options = ReadOptions { bounds: config.limits, authority };
    let content = feed::read(config.format, &file.bytes, &options, &mut diagnostics);
    (content, diagnostics.into_items())
}

/// Names that go into headers, logs and metrics as they are.
fn is_plain_name(name: &str) -> bool {
    const LONGEST: usize = 64;
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
}

/// The values of all feeds, each once.
#[derive(Default)]
struct Values {
    list: Vec<FeedValue>,
    ids: HashMap<FeedValue, u32>,
}

impl Values {
    /// Adds a feed's values, and its entries with the values' new numbers.
    fn add(&mut self, feed: &Feed, id: u16, entries: &mut Vec<Entry>) {
        let ids: Box<[u32]> = feed.values.iter().map(|value| self.intern(value)).collect();
        entries.extend(feed.entries.iter().map(|(prefix, value)| {
            let value = usize::try_from(*value).ok().and_then(|value| ids.get(value)).copied();
            Entry { prefix: *prefix, feed: id, value: value.unwrap_or_default() }
        }));
    }

    fn intern(&mut self, value: &FeedValue) -> u32 {
        if let Some(id) = self.ids.get(value) {
            return *id;
        }
        let id = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(value.clone());
        self.ids.insert(value.clone(), id);
        id
    }
}
