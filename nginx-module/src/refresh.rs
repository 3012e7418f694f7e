//! `crawlpike_refresh`: a worker reads changed files without a reload.

use std::cell::{Cell, RefCell};
use std::mem;
use std::path::PathBuf;
use std::time::Duration;

use crawlpike_core::metrics::{Event, ReloadResult};
use crawlpike_core::{Compiled, Diagnostic, Severity};
use crawlpike_files::{Look, Origin, Watch};

use crate::counters::{count_event, report_bug};
use crate::feed_states::is_news;
use crate::nginx::{Background, LogLevel, MainThread, Worker, trim};
use crate::ruleset::InForce;

/// The time after which a worker first asks if a look is over. It then waits twice as long each time: a look takes
/// microseconds, compiling takes up to a second, and a network file system may never answer.
const SOON: Duration = Duration::from_millis(20);

/// The state by which a worker keeps its ruleset up to date.
#[derive(Debug, Default)]
pub(crate) struct Refresh {
    /// The value of `crawlpike_refresh`, if it is there: the time between two looks at the files, or `off`.
    pub(crate) interval: Option<Option<Duration>>,
    /// The origin of the newest ruleset, which is in force or was refused.
    origin: RefCell<Option<Origin>>,
    /// The time from the first look of this worker to the second.
    first_interval: Cell<Option<Duration>>,
    /// The look that is in progress: one at most, however long it takes.
    looking: RefCell<Option<Looking>>,
}

#[derive(Debug)]
struct Looking {
    thread: Background<(Origin, Found)>,
    /// The time that the worker last waited for it.
    waited: Duration,
}

/// The result of a look.
#[derive(Debug)]
struct Found {
    look: Look<Compiled>,
    /// When it began, in seconds since the Unix epoch.
    since: i64,
}

impl Refresh {
    /// Starts from what nginx read with its configuration.
    pub(crate) fn start_from(&mut self, origin: Origin) {
        *self.origin.get_mut() = Some(origin);
    }

    /// Returns when a worker first looks at the files, if at all. It looks as soon as it starts: one that replaces a dead worker
    /// has the ruleset of the last reload. Its later looks and those of the other workers are spread over the interval, so that
    /// not all of them compile at once.
    pub(crate) fn on_worker(&self, worker: Worker) -> Option<Duration> {
        let interval = self.interval??;
        let turn = worker.number.min(worker.count.saturating_sub(1));
        let share = interval / worker.count.max(1);
        self.first_interval.set(Some(interval.saturating_sub(share.saturating_mul(turn))));
        Some(SOON)
    }

    /// Starts a look at the files, or takes what a look has found. Returns when it is to be called again.
    pub(crate) fn on_timer(&self, in_force: &InForce, main_thread: MainThread<'_>) -> Option<Duration> {
        let interval = self.interval??;
        let moment = interval.min(Watch::SETTLING_TIME);
        let Some(Looking { thread, waited }) = self.looking.take() else {
            let origin = self.origin.borrow().clone()?;
            return Some(match Background::start("crawlpike", || look(origin)) {
                Ok(thread) => {
                    self.looking.replace(Some(Looking { thread, waited: SOON }));
                    SOON
                }
                Err(error) => {
                    let message = format!("crawlpike: cannot refresh, keeping the current ruleset: {error}");
                    main_thread.log(LogLevel::ERROR, &message);
                    interval
                }
            });
        };
        if !thread.is_over() {
            let waited = waited.saturating_mul(2).min(moment);
            self.looking.replace(Some(Looking { thread, waited }));
            return Some(waited);
        }
        let (origin, found) = match thread.result() {
            Ok(result) => result,
            Err(panic) => {
                report_bug(main_thread, "keeping the current ruleset", &panic);
                return Some(interval);
            }
        };
        let document = origin.name();
        self.origin.replace(Some(origin));
        let Found { look, since } = found;
        Some(match look {
            Look::Unchanged => self.first_interval.take().unwrap_or(interval),
            Look::Changing | Look::Waiting => moment,
            Look::Changed { files, made } => {
                take(in_force, main_thread, &document, &files, made, since);
                interval
            }
        })
    }
}

/// Looks at the files, and compiles them after a change. It waits for the file system, and so not in the event loop.
fn look(mut origin: Origin) -> (Origin, Found) {
    let since = crawlpike_files::now();
    let mut look = origin.look();
    #[cfg(feature = "faults-for-tests")]
    if let Look::Changed { files, .. } = &look {
        panic_if_asked(files);
    }
    if let Look::Changed { made, .. } = &mut look {
        // A worker writes no files: what serves clients must not change what the next start trusts.
        if made.ruleset.is_some() {
            origin.remember(mem::take(&mut made.good_feeds));
        }
        trim();
    }
    (origin, Found { look, since })
}

#[cfg(feature = "faults-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(changed: &[PathBuf]) {
    if changed.iter().any(|path| path.ends_with("panic.txt")) {
        panic!("a file asked for it");
    }
}

/// Puts a new ruleset in force, whose files were read after `since`. Requests that are being served keep theirs.
fn take(
    in_force: &InForce,
    main_thread: MainThread<'_>,
    document: &str,
    changed: &[PathBuf],
    compiled: Compiled,
    since: i64,
) {
    let changed: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
    let Compiled { ruleset, diagnostics, .. } = compiled;
    let feeds = ruleset.iter().flat_map(|ruleset| ruleset.feeds(since));
    let known: Vec<String> =
        feeds.filter(|feed| !is_news(feed, main_thread)).map(|feed| feed.heading()).collect();
    // The others have been logged before, the states of feeds perhaps by another worker.
    let is_new = |diagnostic: &Diagnostic| {
        let is_known = known.iter().any(|heading| diagnostic.message.starts_with(heading));
        !is_known && (diagnostic.file == document || changed.contains(&diagnostic.file))
    };
    let news: Vec<Diagnostic> = diagnostics.into_iter().filter(is_new).collect();
    for diagnostic in Diagnostic::by_cause(&news) {
        let level = match diagnostic.severity {
            Severity::Error => LogLevel::ERROR,
            Severity::Warning => LogLevel::WARN,
        };
        main_thread.log(level, &format!("crawlpike: {diagnostic}"));
    }
    let changed = changed.join(", ");
    count_event(main_thread, Event::Reload(ReloadResult::of(ruleset.as_ref(), since)));
    match ruleset {
        Some(ruleset) => {
            in_force.set(ruleset, since);
            main_thread.log(LogLevel::NOTICE, &format!("crawlpike: refreshed after changes in {changed}"));
        }
        None => {
            let message = format!(
                "crawlpike: refresh failed after changes in {changed}, keeping the current ruleset, see the errors above"
            );
            main_thread.log(LogLevel::ERROR, &message);
        }
    }
}
