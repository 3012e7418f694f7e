//! `crawlpike update`: keeps published files current: feeds, policies and directories of keys.

mod failures;
mod keep;
mod keys;
mod notify;
mod parallel;
mod policy;
mod report;
mod round;
mod schedule;
mod state;
mod subject;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use clap::value_parser;
use crawlpike_core::{Diagnostic, Subscriptions, suggestion};
use crawlpike_files::{FilesBeside, Readers, Recording, Snapshot, Watch, is_compiled};
use serde::Serialize;
use signal_hook::consts::SIGHUP;

use crate::document::ConfiguredFeed;
use crate::failure::{Failure, UNUSABLE, say, say_all};
use crate::http::{Client, Contact, TimeLimits};
use crate::source;
use crate::update::report::Reporter;
use crate::update::round::{Round, Settled};
use crate::update::state::Locked;
pub(crate) use crate::update::state::state_beside;
use crate::watch::{self, Watched};

/// The exit status if a file is not the version that its publisher publishes.
const NOT_CURRENT: u8 = 1;

/// The time for which a run waits for another one that uses the same state.
const PATIENCE: Duration = Duration::from_secs(60);

/// The file with the state of all units, charts and images that come with Crawlpike.
const SHARED_STATE: &str = "/var/lib/crawlpike/update-state";

/// The seconds after which `--watch` tries again after a failure of this machine.
const RETRY: i64 = 60;

/// Fetch the feeds that have a `url`, policies that have one, and directories of keys, and replace their files
///
/// A new version goes through the same reader and the same guard as when it is loaded. Then it replaces the file in one step,
/// and is kept as the last good version. Anything else leaves the file as it is: an error, a page of HTML, a list that is
/// empty or cut off.
///
/// Each run asks the publishers whose last answer is no longer fresh: as long as its Cache-Control or Expires says, or else
/// for about a day. Without such a header, no publisher is asked more than once an hour.
///
/// The exit status is 0 if each feed is current, 1 if at least one is not (its file is left unchanged, and the reason is on
/// stderr), and 2 if an argument or the configuration is invalid, the state cannot be written, or the server cannot be
/// notified of the changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Environment:
  https_proxy, http_proxy, all_proxy, no_proxy   the proxies to use, as for curl
  SSL_CERT_FILE, SSL_CERT_DIR                    the authorities to trust, instead of the system's

Examples:
  crawlpike update --config crawlpike.json
      In a nginx with `crawlpike_refresh 60s;`, new versions are in force within a minute.
  crawlpike update --config crawlpike.json --pid-file /run/nginx.pid
      Reloads nginx if something changed.
  crawlpike update --config crawlpike.json --watch
      Keeps running, and asks for each feed when it is due.
  crawlpike update --config crawlpike.json --only googlebot --accept googlebot
      Accepts the version that the guard holds.")]
pub(crate) struct Arguments {
    /// The configuration document
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Look at this feed, or at the policy or the directory of keys in this file, only, and ask for it even if the last answer
    /// is fresh, but not sooner than an hour after it; can be repeated
    #[arg(long, value_name = "FEED")]
    only: Vec<String>,
    /// Ask for this feed now, and accept the new version, even if its guard holds it; can be repeated
    #[arg(long, value_name = "FEED", conflicts_with = "watch")]
    accept: Vec<String>,
    /// Send SIGHUP to the process whose number is in this file, such as nginx's, if something changed
    #[arg(long, value_name = "FILE")]
    pid_file: Option<PathBuf>,
    /// Run this command of the shell if something changed
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
    /// Keep running, and ask for each feed when it is due, until SIGTERM; SIGHUP reads the configuration again
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// Ask and judge, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Exit with 0 even if a feed is not current, because its last good version stays in force
    #[arg(long, conflicts_with = "watch")]
    best_effort: bool,
    /// Print a JSON object for each feed
    #[arg(long)]
    json: bool,
    /// The number of publishers to ask at once
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// The most seconds that an answer may take, with its redirects
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u32).range(1..=86_400))]
    timeout: u32,
    /// The most seconds to connect, to begin an answer, and for each 1024 bytes of it
    #[arg(long, value_name = "SECONDS", default_value_t = 15, value_parser = value_parser!(u32).range(1..=86_400))]
    stall: u32,
    /// A URL or an email address for the User-Agent, so that publishers can reach you
    #[arg(long, value_name = "URL|MAIL")]
    contact: Option<Contact>,
    /// Warn if more than this share of a geofeed's prefixes changed their country
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = value_parser!(u8).range(0..=100))]
    moved: u8,
    /// The file with the state between runs [default: CONFIG.update-state]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

/// The saved state of a feed, for other commands. Times are in seconds since the Unix epoch.
#[derive(Debug, Serialize)]
pub(crate) struct Remembered {
    /// When the publisher was last reached.
    pub(crate) asked: Option<i64>,
    /// When the publisher last said what is current.
    current: Option<i64>,
    /// From when on to ask again.
    due: i64,
    /// The reason why the last attempt failed.
    pub(crate) error: Option<String>,
}

/// The file with the saved state of a configuration, which each run writes: the given one, or else the newer one of that beside
/// the configuration and that of the units and images, if it is of these feeds.
pub(crate) fn state_file(config: &Path, given: Option<&Path>, feeds: &[ConfiguredFeed]) -> PathBuf {
    if let Some(given) = given {
        return given.to_path_buf();
    }
    let (beside, shared) = (state_beside(config), PathBuf::from(SHARED_STATE));
    let modified = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let is_of = |entry: &state::Entry| feeds.iter().any(|feed| feed.source == entry.source);
    let is_shared =
        modified(&shared) > modified(&beside) && Locked::peek(&shared).state.feeds.values().any(is_of);
    if is_shared { shared } else { beside }
}

/// The saved states of feeds, by their names.
pub(crate) fn remembered(state: &Path) -> BTreeMap<String, Remembered> {
    let entries = Locked::peek(state).state.feeds.into_iter();
    let remembered = entries.map(|(name, entry)| {
        let state::Entry { asked, current, due, error, .. } = entry;
        (name, Remembered { asked, current, due, error })
    });
    remembered.collect()
}

/// The policies that the last attempt left as they are, by their files, with the reasons.
pub(crate) fn failed_policies(state: &Path) -> impl Iterator<Item = (String, String)> {
    let policies = Locked::peek(state).state.policies.into_iter();
    policies.filter_map(|(file, entry)| Some((file, entry.error?)))
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    let limits = TimeLimits { whole: seconds(arguments.timeout), stall: seconds(arguments.stall) };
    let user_agent = Contact::crawlpike(arguments.contact.as_ref());
    let client = Arc::new(Client::new(&user_agent, limits).map_err(Failure::because)?);
    if arguments.watch {
        let (reporter, last) = (arguments.reporter(), crawlpike_files::now());
        watch::run(&mut Watching { arguments, client, reporter, configured: None, next: 0, last })?;
        return Ok(ExitCode::SUCCESS);
    }
    let configured = arguments.read(&Snapshot::default())?;
    let mut locked = match arguments.dry_run {
        true => Locked::peek(&arguments.state_path()),
        false => arguments.lock(&configured, PATIENCE)?,
    };
    let mut reporter = arguments.reporter();
    let Done { settled, is_delivered } =
        arguments.round(&configured.subscriptions, &client, &mut locked, &mut reporter, &mut || false)?;
    reporter.sum_up();
    Ok(match is_delivered {
        false => ExitCode::from(UNUSABLE),
        true if settled.all_current || arguments.best_effort => ExitCode::SUCCESS,
        true => ExitCode::from(NOT_CURRENT),
    })
}

/// The files to fetch by a configuration.
struct Configured {
    subscriptions: Subscriptions,
    /// Those who may read the configuration, and so the state, which has its URLs.
    readers: Readers,
}

/// The files to fetch, relative to the configuration, with the URL of each.
fn fetched(subscriptions: &Subscriptions) -> impl Iterator<Item = (&str, &str)> {
    let feeds = subscriptions.feeds().map(|feed| (feed.source, feed.url));
    let policies = subscriptions.policies().map(|policy| (policy.source, policy.url));
    let directories = subscriptions.key_directories().map(|directory| (directory.source, directory.url));
    feeds.chain(policies).chain(directories)
}

/// The result of a round and its notifications.
struct Done {
    settled: Settled,
    /// True if nobody waits for a notification.
    is_delivered: bool,
}

impl Arguments {
    fn state_path(&self) -> PathBuf {
        self.state.clone().unwrap_or_else(|| state_beside(&self.config))
    }

    fn lock(&self, configured: &Configured, patience: Duration) -> Result<Locked, Failure> {
        Locked::open(&self.state_path(), configured.readers, patience).map_err(Failure::because)
    }

    fn reporter(&self) -> Reporter {
        Reporter::new(self.config.display().to_string(), self.json, self.dry_run, self.watch, self.moved)
    }

    fn files(&self) -> FilesBeside {
        FilesBeside::new(&self.config).accepting(&self.accept).in_pages()
    }

    /// Reads the feeds of the configuration; records its files before.
    fn read(&self, snapshot: &Snapshot) -> Result<Configured, Failure> {
        let files = self.files();
        let document = source::read_configuration(&self.config, snapshot)?;
        let shown = self.config.display().to_string();
        if is_compiled(&document) {
            return Err(Failure::because(format_args!(
                "{shown} is a compiled ruleset; give the configuration document that it is made of"
            )));
        }
        let read = Subscriptions::read(&shown, &document, &Recording::new(&files, snapshot));
        let subscriptions = read.map_err(|diagnostics| {
            say_all(&diagnostics);
            Failure::Reported
        })?;
        check_sources(&subscriptions, &files, snapshot)?;
        for (option, name) in self
            .only
            .iter()
            .map(|name| ("--only", name))
            .chain(self.accept.iter().map(|name| ("--accept", name)))
        {
            check_name(&subscriptions, option, name)?;
        }
        Ok(Configured { subscriptions, readers: snapshot.readers() })
    }

    /// Runs one round, and notifies the server of changes.
    fn round(
        &self,
        subscriptions: &Subscriptions,
        client: &Arc<Client>,
        locked: &mut Locked,
        reporter: &mut Reporter,
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Done, Failure> {
        if let Some(warning) = locked.warning.take() {
            reporter.say("warning", warning);
        }
        let (files, snapshot) = (self.files(), Snapshot::default());
        let round = Round {
            subscriptions,
            files: &files,
            versions: &Recording::new(&files, &snapshot),
            client,
            jobs: self.jobs.into(),
            only: &self.only,
            accepted: &self.accept,
            dry_run: self.dry_run,
            is_watch: self.watch,
        };
        let done = round.run(locked, reporter, stopped);
        reporter.end_round();
        let is_delivered = self.dry_run || self.deliver(locked, reporter)?;
        Ok(Done { settled: done.map_err(Failure::because)?, is_delivered })
    }

    /// Notifies the server of changes of this run, or of an earlier one that could not. Returns false if that failed, and
    /// reports the reason.
    fn deliver(&self, locked: &mut Locked, reporter: &Reporter) -> Result<bool, Failure> {
        if !locked.state.is_undelivered {
            return Ok(true);
        }
        let signalled = self.pid_file.as_deref().map_or(Ok(None), notify::signal);
        let executed = self.exec.as_deref().map_or(Ok(()), notify::execute);
        if let Ok(Some(remark)) = &signalled {
            reporter.say("note", remark);
        }
        let errors: Vec<String> = signalled.err().into_iter().chain(executed.err()).collect();
        if errors.is_empty() {
            locked.state.is_undelivered = false;
            locked.save().map_err(Failure::because)?;
            return Ok(true);
        }
        for error in errors {
            reporter.say("error", format_args!("{error}; the next run tries again"));
        }
        Ok(false)
    }
}

/// A failure if something is fetched into a file that this command reads.
fn check_sources(
    subscriptions: &Subscriptions,
    files: &FilesBeside,
    snapshot: &Snapshot,
) -> Result<(), Failure> {
    match fetched(subscriptions).find(|(source, _)| snapshot.has(&files.path(source))) {
        Some((source, url)) => {
            let document = subscriptions.document();
            let message = format!("{source} is read by this command; fetch {url} into another file");
            say(Diagnostic::error(document, message));
            Err(Failure::Reported)
        }
        None => Ok(()),
    }
}

/// A failure if an option names a feed that is not fetched.
fn check_name(subscriptions: &Subscriptions, option: &str, name: &str) -> Result<(), Failure> {
    let is_file = option == "--only"
        && (subscriptions.policies().any(|policy| policy.source == name)
            || subscriptions.key_directories().any(|directory| directory.source == name));
    if is_file || subscriptions.feeds().any(|feed| feed.name == name) {
        return Ok(());
    }
    if subscriptions.names().any(|known| known == name) {
        return Err(Failure::because(format_args!(
            "{option}: the feed `{name}` has no `url` to fetch it from"
        )));
    }
    let suggestion = suggestion(name, subscriptions.names());
    Err(Failure::because(format_args!("{option}: no feed is named `{name}`{suggestion}")))
}

/// `--watch`.
struct Watching<'a> {
    arguments: &'a Arguments,
    client: Arc<Client>,
    reporter: Reporter,
    /// The last valid configuration.
    configured: Option<Configured>,
    /// When the next round is due, in seconds since the Unix epoch.
    next: i64,
    /// The time of the last look.
    last: i64,
}

impl Watched for Watching<'_> {
    type Made = Result<Configured, Failure>;

    fn make(&self, snapshot: &Snapshot) -> Self::Made {
        let configured = self.arguments.read(snapshot)?;
        // A file that is lost is fetched again.
        let files = self.arguments.files();
        for (source, _) in fetched(&configured.subscriptions) {
            snapshot.record(&files.path(source));
        }
        Ok(configured)
    }

    fn deliver(&mut self, _: &Watch, read: Self::Made) -> Option<Self::Made> {
        match read {
            Ok(read) => {
                self.configured = Some(read);
                self.next = 0;
            }
            Err(failure) => {
                failure.report();
                if self.configured.is_some() {
                    self.reporter.say("note", "the configuration before this change stays in force");
                }
            }
        }
        None
    }

    /// Runs a round if one is due.
    fn idle(&mut self, signals: &Receiver<i32>) -> ControlFlow<()> {
        let Some(configured) = &self.configured else { return ControlFlow::Continue(()) };
        let now = crawlpike_files::now();
        let is_due = self.next <= now || now < self.last;
        self.last = now;
        if !is_due {
            return ControlFlow::Continue(());
        }
        let mut is_stopped = false;
        let mut stopped = || {
            // SIGHUP would start what is being done.
            is_stopped |= !matches!(signals.try_recv(), Ok(SIGHUP) | Err(TryRecvError::Empty));
            is_stopped
        };
        let Self { arguments, client, reporter, .. } = self;
        let done = arguments.lock(configured, Duration::from_secs(1)).and_then(|mut locked| {
            arguments.round(&configured.subscriptions, client, &mut locked, reporter, &mut stopped)
        });
        self.next = match done {
            Ok(Done { settled, is_delivered: true }) => settled.next,
            Ok(Done { settled, is_delivered: false }) => settled.next.min(now + RETRY),
            Err(failure) => {
                failure.report();
                now + RETRY
            }
        };
        if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
