//! From documents to a [`Ruleset`]: everything is read and checked, and every reason against it is reported at once.

mod feeds;
mod lint;
mod sites;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::config::{AgentAction, AgentConfig, Config, InlinedFile};
use crate::diagnostic::{Diagnostic, Diagnostics, Position, Severity, Strictness};
use crate::feed::FeedFormat;
use crate::ruleset::{Agent, FeedState, LoadedFeed, Ruleset, is_token_byte};
use crate::sites::NamedPurposes;
use crate::typed_json::{Placed, suggestion};
use crate::user_agent::{Claims, check_token};

pub(crate) use feeds::Feeds;

/// A file, as a host found it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFile {
    /// What it holds.
    pub bytes: Vec<u8>,
    /// When it was last modified, in seconds since the Unix epoch, where the host knows.
    pub modified: Option<i64>,
}

/// Where a document's files come from: the host reads, the core does not.
pub trait Files {
    /// A file that the document names; `None` where there is no such file.
    ///
    /// # Errors
    ///
    /// Why a file that is there can't be read, for the operator.
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String>;

    /// The last version of a feed that was good: what the host keeps of [`Compiled::good_feeds`].
    fn last_good(&self, path: &str) -> Option<FoundFile> {
        let _ = path;
        None
    }

    /// Whether the operator lets the new version of a feed in, whatever its guard says.
    fn accepts(&self, feed: &str) -> bool {
        let _ = feed;
        false
    }

    /// How diagnostics name the file; the host may show where it looked.
    fn display_name(&self, path: &str) -> String {
        path.to_string()
    }
}

/// No files: for documents that carry all of theirs.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Option<FoundFile>, String> {
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
    /// New versions of feeds that are good, by the path of the feed: a host that gives [`Files::last_good`] keeps them.
    pub good_feeds: Vec<(String, Vec<u8>)>,
    /// What the ruleset was made of, apart from the feeds.
    pub(crate) sources: Sources,
}

/// A document and the files that it names, apart from the feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sources {
    /// How diagnostics name the document.
    pub(crate) name: String,
    pub(crate) document: Vec<u8>,
    pub(crate) files: Vec<(String, FoundFile)>,
}

impl Ruleset {
    /// Compiles a configuration document, which `name` names in diagnostics, with the files that it names.
    ///
    /// It is compiled as a whole or refused as a whole, with every reason at once.
    pub fn compile(name: &str, document: &[u8], files: &dyn Files) -> Compiled {
        let sources = Sources { name: name.to_string(), document: document.to_vec(), files: Vec::new() };
        Compiled::new(sources, files, None)
    }

    /// Checks a configuration document with the files that it names as strictly as their authors may want it: what
    /// [`Self::compile`] says, the policies read like `lint` reads them, and what has no effect.
    pub fn lint(name: &str, document: &[u8], files: &dyn Files) -> Vec<Diagnostic> {
        let sources = Sources { name: name.to_string(), document: document.to_vec(), files: Vec::new() };
        let beyond = lint::without_effect(&sources, files);
        let mut diagnostics = Compiled::read(sources, files, None, Strictness::Lint).diagnostics;
        diagnostics.extend(beyond);
        let (mut own, others): (Vec<_>, Vec<_>) =
            diagnostics.into_iter().partition(|diagnostic| diagnostic.file == name);
        own.sort_by_key(|diagnostic| diagnostic.position);
        own.extend(others);
        own
    }
}

impl Compiled {
    /// Compiles sources; their feeds are read from `beyond`, unless they were read before.
    pub(crate) fn new(sources: Sources, beyond: &dyn Files, feeds: Option<Feeds>) -> Self {
        Self::read(sources, beyond, feeds, Strictness::Load)
    }

    /// As [`Self::new`]; `policies` tells how strictly the sites' policies are read.
    fn read(sources: Sources, beyond: &dyn Files, feeds: Option<Feeds>, policies: Strictness) -> Self {
        let mut own = Diagnostics::new(sources.name.as_str(), Strictness::Load);
        let Some(config) = Config::read(&sources.document, &mut own) else {
            return Self::refused(own.into_items_by_position());
        };
        let files = KnownFiles::new(&config, &sources.files, beyond);
        let mut compiler = Compiler {
            is_whole: !own.has_errors(),
            own,
            others: Vec::new(),
            files,
            policies,
            read: Vec::new(),
            good_feeds: Vec::new(),
        };
        let ruleset = compiler.compile(&config, feeds);
        let Compiler { own, others, read, good_feeds, .. } = compiler;
        let mut diagnostics = own.into_items_by_position();
        diagnostics.extend(others);
        if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Self::refused(diagnostics);
        }
        Self { ruleset, diagnostics, good_feeds, sources: Sources { files: read, ..sources } }
    }

    /// Adds a warning for each feed that is stale at `now`, in seconds since the Unix epoch: what a host that has loaded
    /// the ruleset tells its operator.
    pub fn warn_of_stale_feeds(&mut self, name: &str, now: i64) {
        let Some(ruleset) = &self.ruleset else { return };
        let mut diagnostics = Diagnostics::new(name, Strictness::Load);
        for feed in ruleset.feeds(now).filter(|feed| feed.state == FeedState::Stale) {
            let why = feed.why.unwrap_or_default();
            let message = format!(
                "the feed `{}` is stale: {why}; it proves nobody, and nobody who claims its agents is spoofed",
                feed.name
            );
            diagnostics.warning(None, None, message);
        }
        self.diagnostics.extend(diagnostics.into_items());
    }

    /// The document that was compiled; empty where it was refused.
    pub fn document(&self) -> &[u8] {
        &self.sources.document
    }

    /// No ruleset, for these reasons.
    pub fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self { ruleset: None, diagnostics, good_feeds: Vec::new(), sources: Sources::default() }
    }
}

/// The files in the document and those that were stored with it, before those of the host.
struct KnownFiles<'c> {
    inlined: BTreeMap<&'c str, &'c InlinedFile>,
    stored: BTreeMap<&'c str, &'c FoundFile>,
    beyond: &'c dyn Files,
}

impl<'c> KnownFiles<'c> {
    fn new(config: &'c Config, stored: &'c [(String, FoundFile)], beyond: &'c dyn Files) -> Self {
        Self {
            inlined: config.files.0.iter().map(|(name, file)| (name.as_str(), file)).collect(),
            stored: stored.iter().map(|(name, file)| (name.as_str(), file)).collect(),
            beyond,
        }
    }

    fn known(&self, path: &str) -> Option<FoundFile> {
        let inlined = self
            .inlined
            .get(path)
            .map(|file| FoundFile { bytes: file.text.clone().into_bytes(), modified: file.modified });
        inlined.or_else(|| self.stored.get(path).copied().cloned())
    }
}

impl Files for KnownFiles<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        match self.known(path) {
            Some(file) => Ok(Some(file)),
            None => self.beyond.read(path),
        }
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.beyond.last_good(path)
    }

    fn accepts(&self, feed: &str) -> bool {
        self.beyond.accepts(feed)
    }

    fn display_name(&self, path: &str) -> String {
        let is_known = self.inlined.contains_key(path) || self.stored.contains_key(path);
        if is_known { path.to_string() } else { self.beyond.display_name(path) }
    }
}

struct Compiler<'c> {
    /// Whether all that names others was read: only then is it said what is missing.
    is_whole: bool,
    /// About the document itself.
    own: Diagnostics,
    /// About the files that it names.
    others: Vec<Diagnostic>,
    files: KnownFiles<'c>,
    /// How strictly the sites' policies are read.
    policies: Strictness,
    /// The files that were read, apart from the feeds.
    read: Vec<(String, FoundFile)>,
    good_feeds: Vec<(String, Vec<u8>)>,
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
    fn compile(&mut self, config: &Config, feeds: Option<Feeds>) -> Option<Ruleset> {
        let catalog = self.catalog(config).unwrap_or_else(|| {
            self.is_whole = false;
            Catalog::default()
        });
        let mut feeds = match feeds {
            Some(feeds) => feeds,
            None => self.feeds(config)?,
        };
        self.report_states(config, &feeds.loaded);
        let agents = self.agents(config, &catalog, &feeds);
        name_sole_agents(&mut feeds.loaded, &agents);
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
        let purposes = config.agents.iter().filter_map(|agent| agent.purposes.as_ref()).flatten();
        let purposes = match NamedPurposes::new(purposes.map(String::as_str)) {
            Ok(purposes) => purposes,
            Err(error) => {
                self.own.error(None, "AUTO-21", format!("the agents' purposes can't be compiled: {error}"));
                return None;
            }
        };
        Some(Ruleset {
            mode: config.mode,
            purpose_header: config.purpose_header.to_ascii_lowercase().into(),
            agents,
            purposes,
            claims,
            first_expiry: feeds.loaded.iter().filter_map(|feed| feed.expires).min(),
            feeds: feeds.loaded,
            values: feeds.values,
            table: feeds.table,
            sites,
            filter_state: config.filter_state.clone(),
        })
    }

    fn catalog(&mut self, config: &Config) -> Option<Catalog> {
        let path = config.catalog.as_str();
        if path == "none" {
            return Some(Catalog::default());
        }
        if path == "builtin" {
            let (name, bytes) = Catalog::builtin();
            return self.collect(name, Strictness::Load, |diagnostics| Catalog::parse(bytes, diagnostics));
        }
        let FoundFile { bytes, .. } = self.must_read(path, config.catalog.position)?;
        let name = self.display_name(path);
        self.collect(&name, Strictness::Load, |diagnostics| Catalog::parse(&bytes, diagnostics))
    }

    /// Reads one more source and keeps what there is to say of it.
    fn collect<T>(
        &mut self,
        name: &str,
        strictness: Strictness,
        read: impl FnOnce(&mut Diagnostics) -> T,
    ) -> T {
        let mut diagnostics = Diagnostics::new(name, strictness);
        let result = read(&mut diagnostics);
        self.others.extend(diagnostics.into_items_by_position());
        result
    }

    /// A file that has to be there.
    fn must_read(&mut self, path: &str, position: Option<Position>) -> Option<FoundFile> {
        let name = self.display_name(path);
        match self.files.read(path) {
            Ok(Some(file)) => {
                self.read.push((path.to_string(), file.clone()));
                Some(file)
            }
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

    fn agents(&mut self, config: &Config, catalog: &Catalog, feeds: &Feeds) -> Vec<Agent> {
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
        drafts.into_iter().map(|draft| self.agent(draft, config, catalog, feeds)).collect()
    }

    fn agent(&mut self, draft: AgentDraft, config: &Config, catalog: &Catalog, feeds: &Feeds) -> Agent {
        let mut ids = Vec::new();
        let mut has_unusable_feed = false;
        for name in &draft.feeds {
            let found = self.find_feed(name, config, catalog).and_then(|name| feeds.usable(name));
            match found {
                Some(id) => ids.push(id),
                None => has_unusable_feed = true,
            }
        }
        let proving_values = (!draft.services.is_empty()).then(|| feeds.values_of_services(&draft.services));
        Agent {
            token: draft.token.into(),
            feeds: ids,
            has_unusable_feed,
            proving_values,
            purposes: draft.purposes.into_iter().map(Into::into).collect(),
            action: draft.action,
        }
    }

    /// The name of the configuration's feed that stands for a name: its own, or that of the catalog's feed with the
    /// same URL.
    fn find_feed<'c>(
        &mut self,
        name: &Placed<String>,
        config: &'c Config,
        catalog: &Catalog,
    ) -> Option<&'c str> {
        let mut feeds = config.feeds.iter();
        if let Some(feed) = feeds.clone().find(|feed| *feed.name == **name) {
            if feed.format == FeedFormat::Geofeed {
                let message = format!(
                    "the geofeed `{}` says where prefixes are used, not whose they are: it proves no agent",
                    **name
                );
                self.own.error(name.position, None, message);
                return None;
            }
            return Some(feed.name.as_str());
        }
        let Some(published) = catalog.feeds.iter().find(|feed| feed.name == **name) else {
            if !self.is_whole {
                return None;
            }
            let known = feeds.map(|feed| feed.name.as_str());
            let suggestion =
                suggestion(name, known.chain(catalog.feeds.iter().map(|feed| feed.name.as_str())));
            self.own.error(name.position, None, format!("no feed is named `{}`{suggestion}", **name));
            return None;
        };
        feeds.find(|feed| feed.url.as_deref() == Some(published.url.as_str())).map(|feed| feed.name.as_str())
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
