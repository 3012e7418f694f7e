//! `crawlward_refresh`: files that the document names are read again when they change, without a reload.

use std::cell::RefCell;

use crawlward_core::Ruleset;
use crawlward_core::diagnostic::{Diagnostic, Severity};
use crawlward_core::measures::ReloadResult;
use crawlward_host::Origin;

use crate::directives::MainConf;
use crate::nginx::{Background, LogLevel, internal_error, log, with_counters};

/// Milliseconds between two looks at whether a ruleset is compiled.
const SOON: u64 = 20;

/// What a worker keeps of a configuration to make its ruleset anew.
#[derive(Debug, Default)]
pub(crate) struct Refresh {
    /// Milliseconds between two looks at the files; none, or 0: they are never looked at.
    pub(crate) interval: Option<u64>,
    /// What the newest ruleset was made of, be it in force or refused.
    origin: RefCell<Option<Origin>>,
    /// The one that is being made.
    making: RefCell<Option<Background<Made>>>,
}

impl Refresh {
    fn interval(&self) -> Option<u64> {
        self.interval.filter(|interval| *interval > 0)
    }

    /// Begins with what the configuration was read from.
    pub(crate) fn begin_with(&mut self, origin: Origin) {
        *self.origin.get_mut() = Some(origin);
    }
}

/// A ruleset that was made aside.
#[derive(Debug)]
struct Made {
    origin: Origin,
    /// The names of the files that had changed.
    changed: Vec<String>,
    /// `None`: refused.
    ruleset: Option<Ruleset>,
    diagnostics: Vec<Diagnostic>,
}

/// Milliseconds until a worker first looks; `None` where the configuration is not to be refreshed. The workers' looks
/// are spread over the interval, so that they don't all compile at once. One that takes the place of a dead worker has
/// the ruleset of the last reload, and looks at once where a file has changed since.
pub(crate) fn first_delay(conf: &MainConf, worker: u64, workers: u64) -> Option<u64> {
    let interval = conf.refresh.interval()?;
    let has_changed = conf.refresh.origin.borrow().as_ref().map(|origin| !origin.changed().is_empty())?;
    let share = interval / workers.max(1);
    Some(if has_changed { SOON } else { interval - share * worker.min(workers.saturating_sub(1)) })
}

/// Looks at the files, or at how far the compiling is. Gives the milliseconds until it is to be called again.
pub(crate) fn on_timer(conf: &MainConf) -> Option<u64> {
    let interval = conf.refresh.interval()?;
    let Some(making) = conf.refresh.making.take() else {
        let origin = conf.refresh.origin.borrow().clone()?;
        return Some(if make(conf, origin) { SOON } else { interval });
    };
    if !making.is_over() {
        conf.refresh.making.replace(Some(making));
        return Some(SOON);
    }
    match making.result() {
        Ok(made) => take(conf, made),
        Err(panic) => internal_error(&format!("the ruleset in force stays: {panic}")),
    }
    Some(interval)
}

/// Begins to compile where a file has changed. Tells whether it did.
fn make(conf: &MainConf, mut origin: Origin) -> bool {
    let changed: Vec<String> = origin.changed().iter().map(|path| path.display().to_string()).collect();
    if changed.is_empty() {
        return false;
    }
    let making = Background::start(move || {
        #[cfg(feature = "panic-for-tests")]
        panic_if_asked(&changed);
        let compiled = origin.compile();
        if compiled.ruleset.is_some() {
            // A worker writes no files: who serves clients is not to change what the next start trusts.
            origin.remember(compiled.good_feeds);
        }
        Made { origin, changed, ruleset: compiled.ruleset, diagnostics: compiled.diagnostics }
    });
    match making {
        Ok(making) => {
            conf.refresh.making.replace(Some(making));
            true
        }
        Err(error) => {
            log(LogLevel::ERROR, &format!("crawlward: can't refresh, the ruleset in force stays: {error}"));
            false
        }
    }
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(changed: &[String]) {
    if changed.iter().any(|name| name.ends_with("/panic.txt")) {
        panic!("a file asked for it");
    }
}

/// Puts a new ruleset in force, whole; requests that are being served keep theirs.
fn take(conf: &MainConf, made: Made) {
    let Made { origin, changed, ruleset, diagnostics } = made;
    let document = origin.name();
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
    *conf.refresh.origin.borrow_mut() = Some(origin);
}
