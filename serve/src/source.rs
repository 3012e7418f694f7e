//! The ruleset in force, the files that it comes from, and the counters. All threads share them.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use crawlpike_core::metrics::{Counters, Event, OnceAMinute, Page, RecentSlots, ReloadResult};
use crawlpike_core::{Compiled, Decision, Diagnostic, Ruleset};
use crawlpike_envoy_gate::Recent;
use crawlpike_files::{Look, Origin, Watch, catch, now};
use zerocopy::FromZeros;

/// The looks at files between two looks for feeds that have become stale.
const LOOKS_OF_FEEDS: u32 = 10;

/// A ruleset. A request keeps the one with which it began.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) ruleset: Ruleset,
    /// No other ruleset of the process has it.
    version: u32,
    /// The time, in seconds since the Unix epoch.
    at: i64,
}

/// The values of the last requests of a thread, for one ruleset.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) recent: Recent,
    slots: RecentSlots,
}

/// The origin of the ruleset in force.
#[derive(Debug)]
pub(crate) struct Source {
    in_force: ArcSwap<Loaded>,
    origin: Mutex<Origin>,
    counters: Box<Counters>,
    /// The time until which stale feeds have been reported, in seconds since the Unix epoch.
    checked: AtomicI64,
}

impl Loaded {
    fn new(ruleset: Ruleset) -> Self {
        static NEWEST: AtomicU32 = AtomicU32::new(0);
        Self { ruleset, version: NEWEST.fetch_add(1, Relaxed), at: now() }
    }

    /// The memory of this thread for it.
    pub(crate) fn memory(&self) -> Rc<Memory> {
        thread_local! {
            static MEMORY: RefCell<Option<(u32, Rc<Memory>)>> = const { RefCell::new(None) };
        }
        MEMORY.with_borrow_mut(|memory| match memory {
            Some((version, memory)) if *version == self.version => Rc::clone(memory),
            _ => Rc::clone(&memory.insert((self.version, Rc::default())).1),
        })
    }
}

impl Source {
    /// Compiles the document, or loads the compiled ruleset. `None`: it is refused, and the log has the reasons.
    pub(crate) fn load(path: &Path) -> Option<Self> {
        let mut origin = Origin::follow(path);
        let mut compiled = origin.compile();
        report(&compiled, |_| true);
        let ruleset = compiled.ruleset.take()?;
        // A server must not change the files that its next start trusts, so the last good versions stay in memory.
        origin.remember(mem::take(&mut compiled.good_feeds));
        Some(Self {
            in_force: ArcSwap::from_pointee(Loaded::new(ruleset)),
            origin: Mutex::new(origin),
            counters: Counters::new_box_zeroed().ok()?,
            checked: AtomicI64::new(now()),
        })
    }

    /// The ruleset in force.
    pub(crate) fn ruleset(&self) -> Arc<Loaded> {
        self.in_force.load_full()
    }

    /// Watches the files until nobody can ask for a reload any more; each message of `asked` asks for one.
    pub(crate) fn watch(&self, asked: &Receiver<()>) {
        for look in 1_u32.. {
            let step = match asked.recv_timeout(Watch::SETTLING_TIME) {
                Ok(()) => catch(|| self.reload()),
                Err(RecvTimeoutError::Timeout) => catch(|| self.look()),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if let Err(panic) = step {
                self.note_error(&panic);
            }
            if look.is_multiple_of(LOOKS_OF_FEEDS) {
                self.report_stale_feeds();
            }
        }
    }

    fn reload(&self) {
        let compiled = self.origin().compile();
        self.take(&[], compiled);
    }

    fn look(&self) {
        // Apart, because what is locked there would stay locked in the branch.
        let look = self.origin().look();
        if let Look::Changed { files, made } = look {
            self.take(&files, made);
        }
    }

    /// Puts a new ruleset in force, if there is one. Requests that are being decided keep theirs.
    fn take(&self, changed: &[PathBuf], mut compiled: Compiled) {
        let name = self.origin().name();
        let changed: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
        // The others have been logged before.
        report(&compiled, |file| changed.is_empty() || file == name || changed.iter().any(|one| one == file));
        let result = ReloadResult::of(compiled.ruleset.as_ref(), now());
        self.count(Event::Reload(result));
        let Some(ruleset) = compiled.ruleset.take() else {
            return say(format_args!(
                "crawlpike: {name}: refused, keeping the current ruleset, see the errors above"
            ));
        };
        self.origin().remember(mem::take(&mut compiled.good_feeds));
        self.checked.store(now(), Relaxed);
        self.in_force.store(Arc::new(Loaded::new(ruleset)));
        say(format_args!("crawlpike: {name}: in force"));
    }

    fn report_stale_feeds(&self) {
        let (loaded, now) = (self.ruleset(), now());
        for feed in loaded.ruleset.became_stale(self.checked.swap(now, Relaxed), now) {
            say(format_args!("crawlpike: warning: {feed}"));
        }
    }

    fn origin(&self) -> MutexGuard<'_, Origin> {
        self.origin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a decision.
    pub(crate) fn count_request(&self, decision: &Decision, loaded: &Loaded, memory: &Memory) {
        if let Some(series) = crawlpike_core::metrics::Series::of(decision) {
            self.counters.count_request(series, &loaded.ruleset, &memory.slots);
        }
        Event::of(decision).for_each(|event| self.count(event));
    }

    /// Counts an event; the first of its kind may bring advice.
    pub(crate) fn count(&self, event: Event) {
        if self.counters.add(event, 1)
            && let Some(advice) = event.advice()
        {
            say(format_args!("crawlpike: {advice}"));
        }
    }

    /// Counts an error, and logs it at most once a minute.
    pub(crate) fn note_error(&self, error: &dyn Display) {
        static LOGGED: OnceAMinute = OnceAMinute::new();
        self.count(Event::Error);
        if LOGGED.is_due(now()) {
            say(format_args!("crawlpike: error: {error}"));
        }
    }

    /// The measures.
    pub(crate) fn page<'r>(&self, loaded: &'r Loaded) -> Page<'r> {
        self.counters.page(&loaded.ruleset, loaded.at, now())
    }
}

/// Logs the diagnostics about files for which `is_new` returns true.
fn report(compiled: &Compiled, is_new: impl Fn(&str) -> bool) {
    for diagnostic in Diagnostic::by_cause(&compiled.diagnostics).iter().filter(|one| is_new(&one.file)) {
        say(diagnostic);
    }
}

/// Writes a line to standard error, which is the log.
pub(crate) fn say(line: impl Display) {
    // If it is closed, nobody reads it; eprintln! would panic.
    let _ = writeln!(io::stderr(), "{line}");
}
