//! From the configuration's feeds to one table: which version of each is good, and what it says.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use hashbrown::HashMap;
use ipnet::IpNet;

use super::bindings::{FeedUsers, KnownFeeds};
use super::exempt::Exemptions;
use super::misplaced::instead_of_path;
use super::{Compiler, Files, GoodFeed};
use crate::config::FeedConfig;
use crate::feed::guard::Proving;
use crate::feed::prefix::{parse_prefix, unmap};
use crate::feed::special::without_special;
use crate::feed::state::FeedState;
use crate::feed::versions::{Candidate, Choice, Terms, Unavailable, Version};
use crate::feed::{Feed, FeedFormat, FeedValue, ReadOptions, Shape, TableReader};
use crate::ids::{FeedId, List, ValueId};
use crate::json::units::Seconds;
use crate::networks::{SystemTable, SystemsBuilder};
use crate::prefix_table::{Entry, PrefixTable, TableError, TableWords};
use crate::ruleset::data::LoadedFeed;
use crate::sort::sort_by_key;
use crate::source::cause::Cause;
use crate::source::diagnostic::Diagnostic;
use crate::source::quoted::{Argument, Quoted};

/// All feeds, in the form in which they are looked up.
pub(crate) struct Feeds {
    pub(crate) loaded: List<FeedId, LoadedFeed>,
    pub(crate) values: List<ValueId, FeedValue>,
    pub(crate) table: PrefixTable<TableWords>,
    pub(crate) systems: SystemTable,
}

impl Compiler<'_> {
    /// Reads all feeds, chooses their versions and builds the table.
    pub(super) fn feeds(
        &mut self,
        known: &KnownFeeds<'_>,
        users: &FeedUsers<'_>,
        exemptions: &Exemptions,
    ) -> Option<Feeds> {
        let feeds = self.distinct_feeds(known, users);
        let candidates: Vec<Candidate<'_>> = feeds.iter().map(|feed| self.candidate(feed)).collect();
        let objections: Vec<Option<String>> =
            (0..candidates.len()).map(|place| self.objection(place, &candidates, &feeds, users)).collect();
        let mut values = Values::default();
        let mut entries = Vec::new();
        let mut systems = SystemsBuilder::default();
        let mut loaded = List::new();
        for ((feed, candidate), objection) in feeds.iter().zip(candidates).zip(objections) {
            let (config, is_published) = (feed.config, feed.is_published());
            let is_objected_to = objection.is_some();
            let is_accepted = self.files.accepts(&config.name);
            let Choice { version, is_new, state, why, warnings } =
                match candidate.choose(objection, is_accepted) {
                    Ok(choice) => choice.beside_held(self.files.held(&config.source)),
                    // Nothing to fall back on: the configuration is refused, and what ran keeps running.
                    Err(diagnostics) => {
                        self.others.extend(diagnostics);
                        continue;
                    }
                };
            self.others.extend(warnings);
            if is_objected_to && !self.files.is_known(&config.source) {
                self.acceptable.insert(config.name.value.clone());
            }
            let content = version.as_ref().map(|version| &version.content);
            let dated = version.as_ref().and_then(|version| version.current_at);
            let feed = LoadedFeed {
                name: config.name.as_str().into(),
                format: config.format,
                prefixes: content.map_or(0, |content| content.entries.len()),
                notes: content.and_then(|content| content.notes.clone()),
                state,
                why: why.map(Into::into),
                usable: content.is_some_and(|content| !content.is_empty()),
                dated,
                max_age: config.max_age.map(|Seconds(age)| age),
                unreadable: content.map_or(0, |content| content.unreadable),
                sole_agent: None,
                exempts: false,
            };
            let id = match loaded.push(feed) {
                Ok(id) => id,
                Err(full) => {
                    self.own.error(config.name.position, None, format!("{full} feeds"));
                    return None;
                }
            };
            let added = match (content, config.format) {
                (None, _) => Ok(()),
                (Some(content), FeedFormat::Table(_)) => systems.add(content),
                (Some(content), _) => values.add(content, id, is_published, &mut entries),
            };
            if let Err(error) = added {
                return self.uncompiled(error);
            }
            // A version that was just read can be read; if not, it is good again the next time.
            if let Some(Ok(bytes)) = version.filter(|_| is_new).map(|version| version.file.into_bytes()) {
                self.good_feeds.push(GoodFeed { path: config.source.value.clone(), bytes, is_accepted });
            }
        }
        if exemptions.has_prefixes() {
            let added = values
                .intern(&FeedValue::Range { services: Box::default() })
                .and_then(|value| exemptions.add(loaded.len(), value, &mut entries));
            if let Err(error) = added {
                return self.uncompiled(error);
            }
        }
        let table =
            PrefixTable::build(entries).and_then(|table| PrefixTable::from_words(table.into_words().into()));
        match table.and_then(|table| Ok((table, systems.build()?))) {
            Ok((table, systems)) => Some(Feeds { loaded, values: values.list, table, systems }),
            Err(error) => self.uncompiled(error),
        }
    }

    fn uncompiled(&mut self, error: TableError) -> Option<Feeds> {
        self.own.error(None, None, format!("can't compile the feeds: {error}"));
        None
    }

    /// The feeds of the configuration; a name that occurs twice counts once.
    pub(super) fn distinct_feeds<'c>(
        &mut self,
        known: &KnownFeeds<'c>,
        users: &FeedUsers<'c>,
    ) -> Vec<FoundFeed<'c>> {
        let mut feeds: Vec<FoundFeed<'_>> = Vec::new();
        let mut names = BTreeSet::new();
        for (number, feed) in known.config.feeds.iter().enumerate() {
            let name = &feed.name;
            if !names.insert(name.as_str()) {
                self.own.error(name.position, None, format!("duplicate feed name `{}`", **name));
                continue;
            }
            if !is_plain_name(name) {
                let message = "invalid feed name: use 1 to 64 printable ASCII characters";
                self.own.error(name.position, None, message);
            }
            if let Some(advice) = instead_of_path(&feed.source).filter(|_| !self.files.is_known(&feed.source))
            {
                self.own.error(feed.source.position, None, format!("{}: {advice}", Quoted(&feed.source)));
            }
            let authority = self.authority(feed);
            let shape = self.shape(feed, known);
            let (tables, proving) = (self.files.table_reader(), users.proving(number));
            feeds.push(FoundFeed { number, config: feed, authority, shape, tables, proving });
        }
        feeds
    }

    pub(super) fn candidate<'c>(&self, feed: &'c FoundFeed<'c>) -> Candidate<'c> {
        let (config, terms) = (feed.config, feed.terms());
        let file = self.display_name(&config.source);
        let newest = match self.files.read_feed(&config.source) {
            Ok(Some(found)) => {
                let current_at = found.current_at();
                Version::read(found.content, current_at, &file, &terms).map_err(Unavailable::Unusable)
            }
            Ok(None) => Err(Unavailable::Missing(file)),
            Err(why) => {
                let position = config.source.position;
                let message = format!("can't read {file}: {why}");
                let diagnostic =
                    Diagnostic { position, ..Diagnostic::error(self.document.as_str(), message) };
                Err(Unavailable::Unusable(vec![diagnostic]))
            }
        };
        let last_good = self.files.last_good_feed(&config.source).map(|found| {
            let current_at = found.current_at();
            (found.content, current_at)
        });
        self.with_earlier(Candidate::new(terms, newest, last_good), feed)
    }

    /// Adds the version before the changes of the last days to the versions of a feed, if the newest one must be compared with it.
    pub(super) fn with_earlier<'c>(
        &self,
        candidate: Candidate<'c>,
        feed: &'c FoundFeed<'c>,
    ) -> Candidate<'c> {
        if !candidate.is_changed() {
            return candidate;
        }
        let earlier = self.files.earlier_good_feed(&feed.config.source);
        candidate.with_earlier(earlier.map(|found| found.content))
    }

    pub(super) fn objection(
        &self,
        place: usize,
        candidates: &[Candidate<'_>],
        feeds: &[FoundFeed<'_>],
        users: &FeedUsers<'_>,
    ) -> Option<String> {
        let (candidate, feed) = (candidates.get(place)?, feeds.get(place)?);
        if self.files.accepts(candidate.name()) {
            return None;
        }
        let is_other = |other: &FoundFeed<'_>| {
            other.config.source.value != feed.config.source.value
                && !users.are_alike(other.number, feed.number)
        };
        let others = candidates.iter().zip(feeds);
        let others = others.filter(|(_, other)| is_other(other)).map(|(candidate, _)| candidate);
        candidate.objection(others)
    }

    fn authority(&mut self, config: &FeedConfig) -> Vec<IpNet> {
        let mut prefixes = Vec::new();
        for text in &config.authority {
            match parse_prefix(text) {
                Ok(prefix) => prefixes.push(unmap(prefix)),
                Err(why) => self.own.error(text.position, "GEO-15", format!("`{}`: {why}", **text)),
            }
        }
        if config.format != FeedFormat::Geofeed
            && let Some(first) = config.authority.first()
        {
            self.own.error(first.position, "GEO-15", "`authority` is for geofeeds; remove it");
        }
        prefixes
    }

    /// The shape that the configuration states, or else the catalog.
    fn shape<'c>(&mut self, config: &'c FeedConfig, known: &KnownFeeds<'c>) -> Option<&'c Shape> {
        if config.format == FeedFormat::Jafar {
            return config.shape.as_ref().map(|shape| &shape.value).or_else(|| known.shape(config));
        }
        if let Some(shape) = &config.shape {
            self.own.error(shape.position, "JAFAR-20", "`shape` is for the format `jafar`; remove it");
        }
        None
    }

    /// Warns of each feed whose newest version is not in force as a whole.
    pub(super) fn report_states(&mut self, known: &KnownFeeds<'_>, loaded: &List<FeedId, LoadedFeed>) {
        if !self.is_whole {
            return;
        }
        for feed in loaded.iter() {
            let configured = known.configured(&feed.name);
            let position = configured.and_then(|config| config.source.position);
            if feed.state != FeedState::Ok {
                let mut message = feed.at_load().to_string();
                if self.acceptable.contains(&*feed.name) {
                    let (document, name) = (Argument(&self.document), Argument(&feed.name));
                    message += &format!(
                        "; if the new version is right, run `crawlpike compile --config {document} --accept {name}`"
                    );
                }
                let is_absent = feed.state == FeedState::Missing && !feed.has_version();
                let is_fetched = is_absent && configured.is_some_and(|config| config.url.is_some());
                let cause = is_fetched.then_some(Cause::UnfetchedFeed);
                self.own.warning_because(cause, position, None, message);
            }
            if feed.usable && feed.dated.is_none() && feed.max_age.is_some() {
                let message = format!(
                    "`max_age` of the feed `{}` has no effect: the age of its file is unknown",
                    feed.name
                );
                self.own.warning(position, None, message);
            }
        }
    }
}

/// A feed of the configuration.
pub(super) struct FoundFeed<'c> {
    /// Its number there.
    number: usize,
    pub(super) config: &'c FeedConfig,
    authority: Vec<IpNet>,
    shape: Option<&'c Shape>,
    tables: Option<TableReader>,
    proving: Proving<'c>,
}

impl FoundFeed<'_> {
    /// Returns true if the feed has a URL, and is not a list that the operator keeps by hand.
    fn is_published(&self) -> bool {
        self.config.url.is_some()
    }

    /// The requirements for each of its versions.
    pub(super) fn terms(&self) -> Terms<'_> {
        let Self { config, authority, shape, tables, proving, .. } = self;
        Terms {
            name: &config.name,
            format: config.format,
            options: ReadOptions {
                bounds: config.limits,
                authority,
                is_published: self.is_published(),
                shape: *shape,
                tables: *tables,
            },
            guard: &config.guard,
            proving,
        }
    }
}

/// Names that go into headers, logs and metrics as they are.
fn is_plain_name(name: &str) -> bool {
    const LONGEST: usize = 64;
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(|byte| matches!(byte, 0x20..=0x7e))
}

/// The values of all feeds, each once.
#[derive(Default)]
struct Values {
    list: List<ValueId, FeedValue>,
    ids: HashMap<FeedValue, ValueId>,
}

impl Values {
    /// Adds a feed's values, and its entries with the values' new numbers. Those of a feed from a URL have no special-purpose
    /// addresses.
    fn add(
        &mut self,
        feed: &Feed,
        id: FeedId,
        is_published: bool,
        entries: &mut Vec<Entry>,
    ) -> Result<(), TableError> {
        let ids = feed.values.iter().map(|value| self.intern(value)).collect::<Result<Box<[_]>, _>>()?;
        let is_of_ranges = !feed.values.iter().any(|value| matches!(value, FeedValue::Place { .. }));
        let (mut wide, is_limited) = (Vec::new(), is_published && is_of_ranges);
        entries.reserve(feed.entries.len());
        for (prefix, value) in feed.entries.iter() {
            let value = usize::try_from(value).ok().and_then(|value| ids.get(value)).copied();
            let entry = Entry { prefix, feed: id, value: value.ok_or(TableError::Inconsistent)? };
            match is_limited.then(|| without_special(&prefix)).flatten() {
                Some(parts) => wide.push((entry, parts)),
                None => entries.push(entry),
            }
        }
        // Of entries with the same prefix the first counts, so those of the longest prefix come first.
        sort_by_key(&mut wide, |(entry, _)| Reverse(entry.prefix.prefix_len()));
        for (entry, parts) in wide {
            entries.extend(parts.into_iter().map(|prefix| Entry { prefix, ..entry }));
        }
        Ok(())
    }

    fn intern(&mut self, value: &FeedValue) -> Result<ValueId, TableError> {
        if let Some(id) = self.ids.get(value) {
            return Ok(*id);
        }
        let id = self.list.push(value.clone()).map_err(|_| TableError::TooLarge)?;
        self.ids.insert(value.clone(), id);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_never_gets_the_value_of_another() {
        let range = |service: &str| FeedValue::Range { services: [service.into()].into() };
        let mut feed = Feed { values: [range("a"), range("b")].into(), ..Feed::default() };
        let prefix: IpNet = "192.0.2.0/24".parse().unwrap();
        feed.entries.push(prefix, 1);
        let (mut values, mut entries) = (Values::default(), Vec::new());
        assert_eq!(values.add(&feed, FeedId::new(0), false, &mut entries), Ok(()));
        assert_eq!(entries, [Entry { prefix, feed: FeedId::new(0), value: ValueId::new(1) }]);
        feed.entries.push(prefix, 2);
        assert_eq!(values.add(&feed, FeedId::new(1), false, &mut entries), Err(TableError::Inconsistent));
    }
}
