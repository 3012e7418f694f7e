//! The files and configurations that the checks look at, read once.

use std::io;
use std::path::{Path, PathBuf};

use crawlpike_core::{Argument, Compiled, FeedInfo, Files};
use crawlpike_files::{Audience, FilesBeside, Recording, Snapshot, User, now};

use crate::document::{ConfiguredFeed, Document};
use crate::failure::Failure;
use crate::nginx_conf::NginxConf;
use crate::update;

/// The configurations as they are on this machine.
pub(crate) struct Situation {
    /// The document, or a compiled ruleset.
    pub(crate) config: PathBuf,
    pub(crate) compiled: io::Result<Compiled>,
    /// The files that it was made of.
    pub(crate) files: Snapshot,
    /// The configuration of nginx, if there is one.
    pub(crate) nginx: Option<NginxConf>,
    /// The user who has to be able to read the files; an error if there is no such user.
    pub(crate) user: Option<Result<User, String>>,
    /// True if the user was named on the command line.
    pub(crate) is_user_given: bool,
    /// The resource of Envoy that `--envoy` names.
    pub(crate) envoy: Option<PathBuf>,
    /// The file in which `crawlpike update` keeps its state.
    pub(crate) state: PathBuf,
    pub(crate) now: i64,
}

impl Situation {
    /// Reads the configuration as the server with this user would.
    ///
    /// # Errors
    ///
    /// If the user that was named does not exist.
    pub(crate) fn read(
        config: &Path,
        nginx: Option<NginxConf>,
        as_user: Option<&str>,
    ) -> Result<Self, Failure> {
        let of_nginx = || nginx.as_ref().filter(|conf| uses(conf, config)).map(NginxConf::user);
        let user = as_user.map(|name| (name, None)).or_else(of_nginx);
        let user = user.map(|(name, group)| super::user::user(name, group));
        if let (Some(_), Some(Err(why))) = (as_user, &user) {
            return Err(Failure::because(format_args!("--as-user: {why}")));
        }
        let files = Snapshot::default();
        files.record(config);
        let beside = match &user {
            Some(Ok(user)) => FilesBeside::new(config).readable_by(Audience::User(user.clone())),
            _ => FilesBeside::new(config),
        };
        let compiled = crawlpike_files::compile(config, &Recording::new(&beside, &files));
        Ok(Self {
            config: config.to_path_buf(),
            compiled,
            files,
            nginx,
            user,
            is_user_given: as_user.is_some(),
            envoy: None,
            state: update::state_beside(config),
            now: now(),
        })
    }

    /// The feeds, if the configuration can be used.
    pub(super) fn feeds(&self) -> Vec<FeedInfo<'_>> {
        let ruleset = self.compiled.as_ref().ok().and_then(|compiled| compiled.ruleset.as_ref());
        ruleset.into_iter().flat_map(|ruleset| ruleset.feeds(self.now)).collect()
    }

    /// The feeds as the document has them.
    pub(crate) fn configured(&self) -> Vec<ConfiguredFeed> {
        let document = self.compiled.as_ref().ok().and_then(|compiled| Document::of(compiled).ok());
        document.unwrap_or_default().feeds
    }

    /// The file of the state, if it is not the one beside the configuration.
    pub(super) fn state_elsewhere(&self) -> Option<&Path> {
        Some(&*self.state).filter(|state| **state != update::state_beside(&self.config))
    }

    /// The command that updates the files of the document.
    pub(super) fn update(&self) -> String {
        let state = self.state_elsewhere();
        let state = state.map(|state| format!(" --state {}", Argument(&state.display().to_string())));
        format!("crawlpike update --config {}{}", self.argument(), state.unwrap_or_default())
    }

    /// The document as an argument of a command.
    pub(super) fn argument(&self) -> String {
        Argument(&self.config.display().to_string()).to_string()
    }

    /// The path of a file that the document names.
    pub(super) fn path(&self, source: &str) -> PathBuf {
        FilesBeside::new(&self.config).path(source)
    }

    /// Returns true if a feed has a last good version.
    pub(super) fn has_last_good(&self, source: &str) -> bool {
        FilesBeside::new(&self.config).last_good(source).is_some()
    }
}

/// Returns true if nginx uses this document.
pub(crate) fn uses(conf: &NginxConf, config: &Path) -> bool {
    let same = |path: PathBuf| path.canonicalize().ok().zip(config.canonicalize().ok());
    conf.crawlpike_config().and_then(same).is_some_and(|(one, other)| one == other)
}
