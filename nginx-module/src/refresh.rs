//! `crawlward_refresh`: files that the document names are read again when they change, without a reload.

use std::cell::{Cell, RefCell};

use crawlward_core::Ruleset;
use crawlward_core::diagnostic::{Diagnostic, Severity};
use crawlward_core::measures::ReloadResult;
use crawlward_host::{Change, Origin, Watch};

use crate::directives::MainConf;
use crate::nginx::{Background, LogLevel, internal_error, log, with_counters};

/// Milliseconds until a worker first asks whether a look is over. From then on it waits twice as long each time: a look
/// takes microseconds, compiling up to a second, and a network file system may never answer.
const SOON: u64 = 20;

/// What a worker keeps of a configuration to make its ruleset anew.
#[derive(Debug, Default)]
pub(crate) struct Refresh {
    /// Milliseconds between two looks at the files; none, or 0: they are never looked at.
    pub(crate) interval: Option<u64>,
    /// What the newest ruleset was made of, be it in force or refused.
    origin: RefCell<Option<Origin>>,
    /// Milliseconds from the first look of this worker to the second.
    first_interval: Cell<Option<u64>>,
    /// The look that is under way: one at most, whatever it takes.
    looking: RefCell<Option<Looking>>,
}

#[derive(Debug)]
struct Looking {
    thread: Background<(Origin, Found)>,
    /// Milliseconds for which it was last waited.
    waited: u64,
}

impl Refresh {
    fn interval(&self) -> Option<u64> {
        self.interval.filter(|interval| *interval > 0)
    }

    /// Milliseconds between two looks at files that have changed.
    fn moment(&self) -> Option<u64> {
        let moment = u64::try_from(Watch::MOMENT.as_millis()).unwrap_or(u64::MAX);
        self.interval().map(|interval| interval.min(moment))
    }

    /// Begins with what the configuration was read from.
    pub(crate) fn begin_with(&mut self, origin: Origin) {
        *self.origin.get_mut() = Some(origin);
    }
}

/// What a look found.
#[derive(Debug)]
enum Found {
    Nothing,
    /// A change that is not over.
    Changing,
    Changed(Box<Compiled>),
}

#[derive(Debug)]
struct Compiled {
    /// The names of the files that had changed.
    changed: Vec<String>,
    /// `None`: refused.
    ruleset: Option<Ruleset>,
    diagnostics: Vec<Diagnostic>,
}

/// Milliseconds until a worker first looks; `None` where the configuration is not to be refreshed. It looks as soon as it
/// begins: one that takes the place of a dead worker has the ruleset of the last reload. The later looks of the workers are
/// spread over the interval, so that they don't all compile at once.
pub(crate) fn first_delay(conf: &MainConf, worker: u64, workers: u64) -> Option<u64> {
    let interval = conf.refresh.interval()?;
    let share = interval / workers.max(1);
    conf.refresh.first_interval.set(Some(interval - share * worker.min(workers.saturating_sub(1))));
    Some(SOON)
}

/// Begins to look at the files, or takes what a look found. Gives the milliseconds until it is to be called again.
pub(crate) fn on_timer(conf: &MainConf) -> Option<u64> {
    let refresh = &conf.refresh;
    let (interval, moment) = (refresh.interval()?, refresh.moment()?);
    let Some(Looking { thread, waited }) = refresh.looking.take() else {
        let origin = refresh.origin.borrow().clone()?;
        return Some(match Background::start(|| look(origin)) {
            Ok(thread) => {
                refresh.looking.replace(Some(Looking { thread, waited: SOON }));
                SOON
            }
            Err(error) => {
                log(
                    LogLevel::ERROR,
                    &format!("crawlward: can't refresh, the ruleset in force stays: {error}"),
                );
                interval
            }
        });
    };
    if !thread.is_over() {
        let waited = waited.saturating_mul(2).min(moment);
        refresh.looking.replace(Some(Looking { thread, waited }));
        return Some(waited);
    }
    let (origin, found) = match thread.result() {
        Ok(result) => result,
        Err(panic) => {
            internal_error(&format!("the ruleset in force stays: {panic}"));
            return Some(interval);
        }
    };
    let document = origin.name();
    refresh.origin.replace(Some(origin));
    Some(match found {
        Found::Nothing => refresh.first_interval.take().unwrap_or(interval),
        Found::Changing => moment,
        Found::Changed(compiled) => {
            take(conf, &document, *compiled);
            interval
        }
    })
}

/// Looks at the files, and compiles them after a change. It waits for the file system, and so not in the event loop.
fn look(mut origin: Origin) -> (Origin, Found) {
    let found = match origin.look() {
        Change::None => Found::Nothing,
        Change::UnderWay => Found::Changing,
        Change::Over => compile(&mut origin).map_or(Found::Changing, Found::Changed),
    };
    (origin, found)
}

/// `None`: a file changed meanwhile.
fn compile(origin: &mut Origin) -> Option<Box<Compiled>> {
    let changed: Vec<String> = origin.changed().iter().map(|path| path.display().to_string()).collect();
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(&changed);
    let compiled = origin.compile_changed()?;
    if compiled.ruleset.is_some() {
        // A worker writes no files: who serves clients is not to change what the next start trusts.
        origin.remember(compiled.good_feeds);
    }
    Some(Box::new(Compiled { changed, ruleset: compiled.ruleset, diagnostics: compiled.diagnostics }))
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(changed: &[String]) {
    if changed.iter().any(|name| name.ends_with("/panic.txt")) {
        panic!("a file asked for it");
    }
}

/// Puts a new ruleset in force, whole; requests that are being served keep theirs.
fn take(conf: &MainConf, document: &str, compiled: Compiled) {
    let Compiled { changed, ruleset, diagnostics } = compiled;
    for diagnostic in &diagnostics {
        // What there is to say of the other files has been said.
        if diagnostic.file == document || changed.contains(&diagnostic.file) {
            let level = match diagnostic.severity {
                Severity::Error => LogLevel::ERROR,
                Severity::Warning => LogLevel::WARN,
            };
            log(level, &format!("crawlward: {diagnostic}"));
        }
    }
    let changed = changed.join(", ");
    let result = if ruleset.is_some() { ReloadResult::Success } else { ReloadResult::Failure };
    with_counters(|counters| counters.count_reload(result));
    match ruleset {
        Some(ruleset) => {
            conf.replace(ruleset);
            log(LogLevel::NOTICE, &format!("crawlward: refreshed, changed: {changed}"));
        }
        None => {
            log(
                LogLevel::ERROR,
                &format!("crawlward: the ruleset in force stays, changed: {changed}, see above"),
            );
        }
    }
}
