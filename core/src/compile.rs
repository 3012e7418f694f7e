//! From documents to a [`Ruleset`]: everything is read and checked, and every reason against it is reported at once.

use alloc::format;
mod sites;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use hashbrown::HashMap;
use ipnet::IpNet;

use crate::catalog::Catalog;
use crate::config::{AgentAction, AgentConfig, Config, FeedConfig};
use crate::diagnostic::{Diagnostic, Diagnostics, Position, Severity, Strictness};
use crate::feed::{self, FeedFormat, FeedValue, ReadOptions};
use crate::prefix::{parse_prefix_or_address, unmap};
use crate::prefix_table::{Entry, PrefixTable};
use crate::ruleset::{Agent, LoadedFeed, Ruleset, is_token_byte};
use crate::typed_json::{Placed, suggestion};
use crate::user_agent::{Claims, check_token};

/// Where a document's files come from: the host reads, the core does not.
pub trait Files {
    /// The bytes of a file that the document names; `None` where there is no such file.
    ///
    /// # Errors
    ///
    /// Why a file that is there can't be read, for the operator.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String>;

    /// How diagnostics name the file; the host may show where it looked.
    fn display_name(&self, path: &str) -> String {
        path.to_string()
    }
}

/// No files: for documents that carry all of theirs.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
}

/// What became of a configuration.
#[derive(Debug)]
pub struct Compiled {
    /// The ruleset; `None` where any diagnostic is an error.
    pub ruleset: Option<Ruleset>,
    /// All that is to be said, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
}

impl Ruleset {
    /// Compiles a configuration document, which `name` names in diagnostics, with the files that it names.
    ///
    /// It is compiled as a whole or refused as a whole, with every reason at once.
    pub fn compile(name: &str, document: &[u8], files: &dyn Files) -> Compiled {
        let mut own = Diagnostics::new(name, Strictness::Load);
        let Some(config) = Config::read(document, &mut own) else {
            return Compiled { ruleset: None, diagnostics: own.into_items_by_position() };
        };
        let mut compiler =
            Compiler { own, others: Vec::new(), files: Inlined { config: &config, beyond: files } };
        let ruleset = compiler.compile(&config);
        let mut diagnostics = compiler.own.into_items_by_position();
        diagnostics.append(&mut compiler.others);
        let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        Compiled { ruleset: ruleset.filter(|_| !refused), diagnostics }
    }
}

/// The files in the document before those of the host.
struct Inlined<'c> {
    config: &'c Config,
    beyond: &'c dyn Files,
}

impl Files for Inlined<'_> {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match self.config.files.0.iter().find(|(name, _)| name == path) {
            Some((_, text)) => Ok(Some(text.clone().into_bytes())),
            None => self.beyond.read(path),
        }
    }

    fn display_name(&self, path: &str) -> String {
        match self.config.files.0.iter().any(|(name, _)| name == path) {
            true => path.to_string(),
            false => self.beyond.display_name(path),
        }
    }
}

struct Compiler<'c> {
    /// About the document itself.
    own: Diagnostics,
    /// About the files that it names.
    others: Vec<Diagnostic>,
    files: Inlined<'c>,
}

/// A feed of the configuration, under the names by which agents may refer to it.
struct NamedFeed<'c> {
    config: &'c FeedConfig,
    /// `None`: not usable.
    id: Option<u16>,
}

/// An agent before its feeds are looked up.
struct AgentDraft {
    token: String,
    feeds: Vec<Placed<String>>,
    services: Vec<String>,
    purposes: Vec<String>,
    action: AgentAction,
}

impl Compiler<'_> {
    fn compile(&mut self, config: &Config) -> Option<Ruleset> {
        let catalog = self.catalog(config)?;
        let mut values = Values::default();
        let mut entries = Vec::new();
        let mut loaded = Vec::new();
        let feeds = self.feeds(config, &mut loaded, &mut values, &mut entries);
        let agents = self.agents(config, &catalog, &feeds, &values);
        name_sole_agents(&mut loaded, &agents);
        let sites = self.sites(&config.sites, &agents);
        self.check_purpose_header(&config.purpose_header);
        let claims = match Claims::new(agents.iter().map(|agent| &*agent.token)) {
            Ok(claims) => claims,
            Err(error) => {
                // A bad token has been reported already, with its place.
                if !self.own.has_errors() {
                    self.own.error(None, None, format!("the agents' tokens can't be compiled: {error}"));
                }
                return None;
            }
        };
        let table = match PrefixTable::build(entries) {
            Ok(table) => table,
            Err(error) => {
                self.own.error(None, None, format!("the feeds can't be compiled: {error}"));
                return None;
            }
        };
        Some(Ruleset {
            mode: config.mode,
            purpose_header: config.purpose_header.to_ascii_lowercase().into(),
            agents,
            claims,
            feeds: loaded,
            values: values.list,
            table,
            sites,
        })
    }

    fn catalog(&mut self, config: &Config) -> Option<Catalog> {
        let path = config.catalog.as_str();
        if path == "none" {
            return Some(Catalog::default());
        }
        if path == "builtin" {
            let (name, bytes) = Catalog::builtin();
            return self.collect(name, |diagnostics| Catalog::parse(bytes, diagnostics));
        }
        let bytes = self.must_read(path, config.catalog.position)?;
        let name = self.display_name(path);
        self.collect(&name, |diagnostics| Catalog::parse(&bytes, diagnostics))
    }

    /// Reads one more source and keeps what there is to say of it.
    fn collect<T>(&mut self, name: &str, read: impl FnOnce(&mut Diagnostics) -> T) -> T {
        let mut diagnostics = Diagnostics::new(name, Strictness::Load);
        let result = read(&mut diagnostics);
        self.others.extend(diagnostics.into_items());
        result
    }

    /// The bytes of a file that has to be there.
    fn must_read(&mut self, path: &str, position: Option<Position>) -> Option<Vec<u8>> {
        let name = self.display_name(path);
        match self.files.read(path) {
            Ok(Some(bytes)) => Some(bytes),
            Ok(None) => {
                self.own.error(position, None, format!("there is no file {name}"));
                None
            }
            Err(why) => {
                self.own.error(position, None, format!("can't read {name}: {why}"));
                None
            }
        }
    }

    fn display_name(&self, path: &str) -> String {
        self.files.display_name(path)
    }

    fn feeds<'c>(
        &mut self,
        config: &'c Config,
        loaded: &mut Vec<LoadedFeed>,
        values: &mut Values,
        entries: &mut Vec<Entry>,
    ) -> Vec<NamedFeed<'c>> {
        let mut named: Vec<NamedFeed<'c>> = Vec::new();
        for feed in &config.feeds {
            if named.iter().any(|other| *other.config.name == *feed.name) {
                self.own.error(
                    feed.name.position,
                    None,
                    format!("another feed is named `{}`, too", *feed.name),
                );
                continue;
            }
            if !is_plain_name(&feed.name) {
                self.own.error(
                    feed.name.position,
                    None,
                    "a feed's name is 1 to 64 printable ASCII characters",
                );
            }
            let Ok(id) = u16::try_from(loaded.len()) else {
                self.own.error(feed.name.position, None, format!("more than {} feeds", u16::MAX));
                break;
            };
            let content = self.feed(feed);
            if let Some(content) = &content {
                let ids: Vec<u32> = content.values.iter().map(|value| values.intern(value)).collect();
                entries.extend(content.entries.iter().map(|(prefix, value)| {
                    let value = usize::try_from(*value).ok().and_then(|value| ids.get(value)).copied();
                    Entry { prefix: *prefix, feed: id, value: value.unwrap_or_default() }
                }));
            }
            named.push(NamedFeed { config: feed, id: content.as_ref().map(|_| id) });
            loaded.push(LoadedFeed {
                name: feed.name.as_str().into(),
                format: feed.format,
                prefixes: content.as_ref().map_or(0, |content| content.entries.len()),
                notes: content.and_then(|content| content.notes),
                sole_agent: None,
            });
        }
        named
    }

    /// A feed's content; `None` where it is not usable.
    fn feed(&mut self, config: &FeedConfig) -> Option<feed::Feed> {
        let name = self.display_name(&config.source);
        let authority = self.authority(config);
        match self.files.read(&config.source) {
            Ok(Some(bytes)) => self.collect(&name, |diagnostics| {
                let options = ReadOptions { authority: &authority, ..ReadOptions::default() };
                feed::read(config.format, &bytes, &options, diagnostics)
            }),
            Ok(None) => {
                let message = format!(
                    "the feed `{}` has no file {name} yet: it proves nobody, and nobody who claims its agents is spoofed",
                    *config.name
                );
                self.own.warning(config.source.position, None, message);
                None
            }
            Err(why) => {
                self.own.error(config.source.position, None, format!("can't read {name}: {why}"));
                None
            }
        }
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

    fn agents(
        &mut self,
        config: &Config,
        catalog: &Catalog,
        feeds: &[NamedFeed<'_>],
        values: &Values,
    ) -> Vec<Agent> {
        let mut drafts: Vec<AgentDraft> = Vec::new();
        for own in &config.agents {
            self.check_token(&own.token);
            if drafts.iter().any(|other| other.token.eq_ignore_ascii_case(&own.token)) {
                self.own.error(
                    own.token.position,
                    None,
                    format!("another agent has the token `{}`, too", *own.token),
                );
            }
            drafts.push(draft(own, catalog));
        }
        for agent in &catalog.agents {
            if !drafts.iter().any(|other| other.token.eq_ignore_ascii_case(&agent.token)) {
                drafts.push(AgentDraft {
                    token: agent.token.clone(),
                    feeds: unplaced_all(&agent.feeds),
                    services: Vec::new(),
                    purposes: agent.purposes.clone(),
                    action: AgentAction::Policy,
                });
            }
        }
        if drafts.len() > usize::from(u16::MAX) {
            self.own.error(None, None, format!("more than {} agents", u16::MAX));
        }
        drafts.into_iter().map(|draft| self.agent(draft, catalog, feeds, values)).collect()
    }

    fn agent(
        &mut self,
        draft: AgentDraft,
        catalog: &Catalog,
        feeds: &[NamedFeed<'_>],
        values: &Values,
    ) -> Agent {
        let mut ids = Vec::new();
        let mut has_unusable_feed = false;
        for name in &draft.feeds {
            match self.find_feed(name, catalog, feeds) {
                Some(id) => ids.push(id),
                None => has_unusable_feed = true,
            }
        }
        let proving_values = (!draft.services.is_empty()).then(|| values.of_services(&draft.services));
        Agent {
            token: draft.token.into(),
            feeds: ids,
            has_unusable_feed,
            proving_values,
            purposes: draft.purposes.into_iter().map(Into::into).collect(),
            action: draft.action,
        }
    }

    /// The loaded feed of a name: one that the configuration calls so, or one with the URL of the catalog's feed.
    fn find_feed(
        &mut self,
        name: &Placed<String>,
        catalog: &Catalog,
        feeds: &[NamedFeed<'_>],
    ) -> Option<u16> {
        if let Some(feed) = feeds.iter().find(|feed| *feed.config.name == **name) {
            return feed.id;
        }
        let Some(published) = catalog.feeds.iter().find(|feed| feed.name == **name) else {
            let known = feeds.iter().map(|feed| feed.config.name.as_str());
            let suggestion =
                suggestion(name, known.chain(catalog.feeds.iter().map(|feed| feed.name.as_str())));
            self.own.error(name.position, None, format!("no feed is named `{}`{suggestion}", **name));
            return None;
        };
        feeds
            .iter()
            .find(|feed| feed.config.url.as_deref() == Some(published.url.as_str()))
            .and_then(|feed| feed.id)
    }

    fn check_token(&mut self, token: &Placed<String>) {
        if let Err(why) = check_token(token) {
            self.own.error(token.position, None, format!("`{}` is no agent token: {why}", **token));
        }
    }

    fn check_purpose_header(&mut self, name: &Placed<String>) {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            self.own.error(name.position, None, format!("`{}` is no header name", **name));
        }
    }
}

/// What the configuration says of an agent, over what the catalog says of it.
fn draft(own: &AgentConfig, catalog: &Catalog) -> AgentDraft {
    let known = catalog.agents.iter().find(|agent| agent.token.eq_ignore_ascii_case(&own.token));
    AgentDraft {
        token: own.token.value.clone(),
        feeds: own
            .feeds
            .clone()
            .or_else(|| known.map(|known| unplaced_all(&known.feeds)))
            .unwrap_or_default(),
        services: own.services.clone().unwrap_or_default(),
        purposes: own
            .purposes
            .clone()
            .or_else(|| known.map(|known| known.purposes.clone()))
            .unwrap_or_default(),
        action: own.action.unwrap_or_default(),
    }
}

fn unplaced_all(names: &[String]) -> Vec<Placed<String>> {
    names.iter().map(|name| Placed { value: name.clone(), position: None }).collect()
}

/// Notes in each feed the agent that names it, where it is the only one.
fn name_sole_agents(feeds: &mut [LoadedFeed], agents: &[Agent]) {
    for (feed, id) in feeds.iter_mut().zip(0_u16..) {
        let mut naming = agents.iter().zip(0_u16..).filter(|(agent, _)| agent.feeds.contains(&id));
        let first = naming.next().map(|(_, agent)| agent);
        feed.sole_agent = first.filter(|_| naming.next().is_none());
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
    list: Vec<FeedValue>,
    ids: HashMap<FeedValue, u32>,
}

impl Values {
    fn intern(&mut self, value: &FeedValue) -> u32 {
        if let Some(id) = self.ids.get(value) {
            return *id;
        }
        let id = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(value.clone());
        self.ids.insert(value.clone(), id);
        id
    }

    /// The values with one of these services, sorted.
    fn of_services(&self, services: &[String]) -> Vec<u32> {
        let is_listed = |value: &FeedValue| match value {
            FeedValue::Range { service: Some(service) } => {
                services.iter().any(|listed| **listed == **service)
            }
            _ => false,
        };
        let mut ids: Vec<u32> =
            self.ids.iter().filter(|(value, _)| is_listed(value)).map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids
    }
}
