//! From documents to a [`Ruleset`]: everything is read and checked, and every reason against it is reported at once.

mod agents;
mod bindings;
mod drafts;
mod exempt;
mod feeds;
mod files;
mod keys;
mod misplaced;
mod policies;
pub(crate) mod published_files;
mod published_keys;
mod published_policies;
mod sites;
mod subscriptions;
mod tokens;
mod usage;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use ipnet::{IpNet, Ipv6Net};
use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::config::{Config, NetworkBits};
use crate::feed::FeedFormat;
use crate::feed::prefix::parse_prefix;
use crate::feed::state::FeedState;
use crate::feed::table::NO_READER;
use crate::http::token::is_token_byte;
use crate::json::typed::UpTo;
use crate::networks::{ClientSettings, SystemTable};
use crate::reason::problem;
use crate::ruleset::data::{LoadedFeed, Ruleset};
use crate::ruleset::sites::{NamedPurposes, TooManyPurposes};
use crate::source::byte_order_mark::without_byte_order_mark;
use crate::source::cause::Cause;
use crate::source::diagnostic::{Diagnostic, Diagnostics, Load, Severity};
use crate::source::position::{Placed, Position};
use crate::source::quoted::Quoted;
use crate::user_agent::Claims;

pub(crate) use feeds::Feeds;
pub(crate) use files::KnownFiles;
pub use files::{FeedFile, Files, FoundFile, GoodFeed, NoFiles};
use policies::Lenient;
pub(crate) use policies::{PolicyReader, PolicySource};
pub use published_keys::{DirectoryKeys, KeySubscription};
pub use published_policies::PolicySubscription;
pub use subscriptions::{Judge, Subscription, Subscriptions, Verdict};

use agents::name_sole_agents;
use bindings::{FeedUsers, KnownFeeds};
use misplaced::instead_of_path;

/// The result of compiling a configuration.
#[derive(Debug)]
pub struct Compiled {
    /// The ruleset; `None` where any diagnostic is an error.
    pub ruleset: Option<Ruleset>,
    /// All that is to be said, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// New versions of feeds that are good: a host that gives [`Files::last_good`] keeps them.
    pub good_feeds: Vec<GoodFeed>,
    /// The parts of which the ruleset was made, apart from the feeds.
    pub(crate) sources: Sources,
}

/// A document and the files that it names, apart from the feeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sources {
    /// The name of the document in diagnostics.
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
}

impl Compiled {
    /// Compiles sources; their feeds are read from `beyond`, unless they were read before.
    pub(crate) fn new(sources: Sources, beyond: &dyn Files, feeds: Option<Feeds>) -> Self {
        let mut own = Diagnostics::new(sources.name.as_str(), Load);
        match Config::read(&sources.document, &mut own) {
            Some(config) => Self::of(&config, own, sources, beyond, feeds, &mut Lenient),
            None => Self::refused(own.into_items_by_position()),
        }
    }

    /// Compiles a document that was read; `own` is what there is to say of it so far.
    pub(crate) fn of(
        config: &Config,
        own: Diagnostics,
        sources: Sources,
        beyond: &dyn Files,
        feeds: Option<Feeds>,
        policies: &mut dyn PolicyReader,
    ) -> Self {
        let files = KnownFiles::new(config, &sources.files, beyond);
        let mut compiler = Compiler::new(&sources.name, own, files, policies);
        let ruleset = compiler.compile(config, feeds);
        let Compiler { own, others, read, good_feeds, .. } = compiler;
        let mut diagnostics = own.into_items_by_position();
        diagnostics.extend(others);
        if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Self::refused(diagnostics);
        }
        Self { ruleset, diagnostics, good_feeds, sources: Sources { files: read, ..sources } }
    }

    /// Adds a warning for each feed that is stale at `now`, in seconds since the Unix epoch, for the operator of a host
    /// that has loaded the ruleset.
    pub fn warn_of_stale_feeds(&mut self, name: &str, now: i64) {
        let Some(ruleset) = &self.ruleset else { return };
        let mut diagnostics = Diagnostics::new(name, Load);
        for feed in ruleset.feeds(now).filter(|feed| feed.state == FeedState::Stale) {
            let is_of_the_future = feed.expires.is_some_and(|expires| expires > now);
            let cause = if is_of_the_future { Cause::FutureFeed } else { Cause::OldFeed };
            diagnostics.warning_because(Some(cause), None, None, feed.to_string());
        }
        self.diagnostics.extend(diagnostics.into_items());
    }

    /// The document that was compiled, without byte order mark; empty where it was refused.
    pub fn document(&self) -> &[u8] {
        without_byte_order_mark(&self.sources.document)
    }

    /// The content of a file that the document names, as it was compiled, without byte order mark. Feeds are not kept.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        let (_, file) = self.sources.files.iter().find(|(known, _)| known == path)?;
        Some(without_byte_order_mark(&file.bytes))
    }

    /// No ruleset, for these reasons.
    pub fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        Self { ruleset: None, diagnostics, good_feeds: Vec::new(), sources: Sources::default() }
    }
}

struct Compiler<'c> {
    /// True if all that names others was read: only then is it said what is missing.
    is_whole: bool,
    /// About the document itself.
    own: Diagnostics,
    /// About the files that it names.
    others: Vec<Diagnostic>,
    files: KnownFiles<'c>,
    policies: &'c mut dyn PolicyReader,
    /// The name of the document in diagnostics.
    document: String,
    /// Names of the feeds whose newest versions an operator can accept.
    acceptable: BTreeSet<String>,
    /// The files that were read, apart from the feeds.
    read: Vec<(String, FoundFile)>,
    good_feeds: Vec<GoodFeed>,
}

impl<'c> Compiler<'c> {
    fn new(
        document: &str,
        own: Diagnostics,
        files: KnownFiles<'c>,
        policies: &'c mut dyn PolicyReader,
    ) -> Self {
        Self {
            is_whole: !own.has_errors(),
            own,
            others: Vec::new(),
            files,
            policies,
            document: document.into(),
            acceptable: BTreeSet::new(),
            read: Vec::new(),
            good_feeds: Vec::new(),
        }
    }
}

impl Compiler<'_> {
    fn compile(&mut self, config: &Config, feeds: Option<Feeds>) -> Option<Ruleset> {
        let catalog = self.catalog(config).unwrap_or_else(|| {
            self.is_whole = false;
            Catalog::default()
        });
        let drafts = self.drafts(config, &catalog);
        let known = KnownFeeds::new(config, &catalog);
        let bindings = self.bindings(&drafts, &known);
        let nat64 = self.nat64(config);
        let exemptions = self.exemptions(config, &known, &nat64);
        let users = FeedUsers::new(config, &drafts, &bindings, exemptions.feeds());
        self.warn_of_bindings(&users, &known);
        let mut feeds = match feeds {
            Some(feeds) => feeds,
            None if cfg!(target_family = "wasm") && !config.networks.is_empty() => {
                self.own.error(None, None, NO_READER);
                return None;
            }
            None => self.feeds(&known, &users, &exemptions)?,
        };
        users.mark_exempting(&mut feeds.loaded);
        self.report_states(&known, &feeds.loaded);
        let (agents, products) = self.agents(config, drafts, &bindings, &feeds)?;
        name_sole_agents(&mut feeds.loaded, &agents);
        let keys = self.keys(config, &agents);
        let exempt = exemptions.numbered(&feeds.loaded, config.sites.len());
        let sites = self.sites(&config.sites, &products, exempt.sites);
        self.check_published_policies(config);
        self.check_published_keys(config);
        self.warn_of_other_hosts(config, &sites);
        self.check_header(&config.purpose_header);
        let claims = match Claims::new(agents.iter().map(|agent| &*agent.token)) {
            Ok(claims) => claims.counting_at_beginning(agents.iter().map(|agent| agent.begins)),
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
            Err(too_many) => {
                self.too_many_purposes(&too_many);
                return None;
            }
        };
        Some(Ruleset {
            mode: config.mode.value,
            purpose_header: config.purpose_header.to_ascii_lowercase().into(),
            agents,
            purposes,
            claims,
            keys,
            fresh_at: feeds
                .loaded
                .iter()
                .filter(|feed| !matches!(feed.format, FeedFormat::Table(_)))
                .filter_map(LoadedFeed::fresh_at)
                .reduce(|one, other| one.start.max(other.start)..one.end.min(other.end)),
            feeds: feeds.loaded,
            values: feeds.values,
            table: feeds.table,
            sites,
            denials: problem::documents(),
            filter_state: config.filter_state.clone(),
            trusted_hops: config.trusted_hops.map(|UpTo(hops)| hops),
            document_memory: config.document_memory,
            nat64,
            exempt: exempt.document,
            client: self.client(config, feeds.systems),
        })
    }

    fn nat64(&mut self, config: &Config) -> Vec<Ipv6Net> {
        /// The lengths that a prefix of translated addresses can have (RFC 6052, 2.2).
        const LENGTHS: [u8; 6] = [32, 40, 48, 56, 64, 96];
        let mut prefixes = Vec::new();
        for text in &config.nat64 {
            match parse_prefix(text) {
                Ok(IpNet::V6(prefix)) if LENGTHS.contains(&prefix.prefix_len()) => {
                    prefixes.push(prefix);
                }
                Ok(_) => {
                    let message = format!(
                        "`{}`: use an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits (RFC 6052)",
                        **text
                    );
                    self.own.error(text.position, None, message);
                }
                Err(why) => self.own.error(text.position, None, format!("`{}`: {why}", **text)),
            }
        }
        prefixes
    }

    fn too_many_purposes(&mut self, too_many: &TooManyPurposes) {
        self.own.error(None, "AUTO-21", format!("the agents have {too_many}"));
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
        let found = self.files.read(path);
        let FoundFile { bytes, .. } = self.must_be_there(path, config.catalog.position, found)?;
        let name = self.display_name(path);
        self.collect(&name, |diagnostics| Catalog::parse(&bytes, diagnostics))
    }

    /// Reads one more source and keeps what there is to say of it.
    fn collect<T>(&mut self, name: &str, read: impl FnOnce(&mut Diagnostics) -> T) -> T {
        let mut diagnostics = Diagnostics::new(name, Load);
        let result = read(&mut diagnostics);
        self.others.extend(diagnostics.into_items_by_position());
        result
    }

    /// Notes what was found of a file that has to be there.
    fn must_be_there(
        &mut self,
        path: &str,
        position: Option<Position>,
        found: Result<Option<FoundFile>, String>,
    ) -> Option<FoundFile> {
        if !matches!(found, Ok(Some(_)))
            && let Some(advice) = instead_of_path(path)
        {
            self.own.error(position, None, format!("{}: {advice}", Quoted(path)));
            return None;
        }
        let name = self.display_name(path);
        match found {
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

    fn client(&mut self, config: &Config, systems: SystemTable) -> ClientSettings {
        let Config {
            network_bits: NetworkBits { v4: UpTo(v4), v6: UpTo(v6) },
            crowd_key,
            fingerprint_header,
            filter_state,
            ..
        } = config;
        let of_sites = config.sites.iter().filter_map(|site| site.filter_state.as_ref());
        fingerprint_header.iter().for_each(|name| self.check_header(name));
        ClientSettings {
            systems,
            bits: (*v4, *v6),
            crowd_key: crowd_key.as_slice().into(),
            fingerprint_header: fingerprint_header.as_ref().map(|name| name.to_ascii_lowercase().into()),
            is_shown: of_sites.chain([filter_state]).flatten().any(|fact| fact.is_of_client()),
        }
    }

    fn check_header(&mut self, name: &Placed<String>) {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            self.own.error(name.position, None, format!("`{}` is not a valid header name", **name));
        }
    }
}
