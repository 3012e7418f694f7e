//! The rulesets in force, and their sources: a text that Envoy delivers, or files. All workers share one ruleset.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU32};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::ArcSwap;
use crawlpike_core::metrics::{Event, ReloadResult};
use crawlpike_core::{Compiled, Diagnostic, NoFiles, Ruleset, Severity, is_stored};
use crawlpike_files::{Look, Origin};

use crate::clock;
use crate::envoy::{LogLevel, log};
use crate::statistics;

/// The name of a configuration that Envoy delivers, in diagnostics.
const INLINE: &str = "configuration";

/// A ruleset. A request keeps the one with which it began.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) ruleset: Ruleset,
    /// No other ruleset of the process has it.
    pub(crate) version: u32,
}

impl Loaded {
    fn new(ruleset: Ruleset) -> Self {
        static NEWEST: AtomicU32 = AtomicU32::new(0);
        Self { ruleset, version: NEWEST.fetch_add(1, Relaxed) }
    }
}

/// The origin of a ruleset, with the ruleset that is in force.
#[derive(Debug)]
pub(crate) struct Source {
    name: String,
    in_force: ArcSwap<Loaded>,
    /// The time until which stale feeds have been reported, in seconds since the Unix epoch.
    checked: AtomicI64,
    /// The files, if it comes from files. Locked until what was read is in force.
    origin: Option<Mutex<Origin>>,
}

/// The sources that are in use.
static SOURCES: Mutex<Vec<Weak<Source>>> = Mutex::new(Vec::new());

/// Those that come from files, by the path of the document: configurations that name the same file share its ruleset.
static FILES: Mutex<BTreeMap<PathBuf, Weak<Source>>> = Mutex::new(BTreeMap::new());

/// The newest text that Envoy delivered, as a hash. One text can come many times, as for each listener.
static NEWEST_TEXT: Mutex<Option<u64>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Source {
    fn start(name: String, ruleset: Ruleset, origin: Option<Origin>) -> Arc<Self> {
        let in_force = ArcSwap::from_pointee(Loaded::new(ruleset));
        let now = crawlpike_files::now();
        let checked = AtomicI64::new(now);
        let source = Arc::new(Self { name, in_force, checked, origin: origin.map(Mutex::new) });
        statistics::show(&source.name, &source.ruleset(), now);
        let mut sources = lock(&SOURCES);
        sources.retain(|source| source.strong_count() > 0);
        sources.push(Arc::downgrade(&source));
        source
    }

    /// The source of a document with its files, or of a compiled ruleset, that Envoy delivers; `None` if it is refused.
    pub(crate) fn of_text(text: &[u8]) -> Option<Arc<Self>> {
        let mut hasher = DefaultHasher::new();
        hasher.write(text);
        let hash = hasher.finish();
        let mut compiled = match is_stored(text) {
            true => Compiled::load(INLINE, words(text)),
            false => Ruleset::compile(INLINE, text, &NoFiles),
        };
        compiled.warn_of_stale_feeds(INLINE, crawlpike_files::now());
        report(&compiled, |_| true);
        let mut newest = lock(&NEWEST_TEXT);
        // The first configuration replaces none.
        if newest.is_some_and(|before| before != hash) {
            let result = ReloadResult::of(compiled.ruleset.as_ref(), crawlpike_files::now());
            statistics::count_event(Event::Reload(result));
        }
        let ruleset = compiled.ruleset?;
        *newest = Some(hash);
        Some(Self::start(INLINE.to_owned(), ruleset, None))
    }

    /// The source of the document in a file, or of the compiled ruleset there; `None` if it is refused. The files are watched as
    /// long as the source is in use.
    pub(crate) fn of_file(path: &Path) -> Option<Arc<Self>> {
        let mut files = lock(&FILES);
        if let Some(source) = files.get(path).and_then(Weak::upgrade) {
            return source.is_newest().then_some(source);
        }
        let mut origin = Origin::follow(path);
        let mut compiled = origin.compile();
        report(&compiled, |_| true);
        let ruleset = compiled.ruleset.take()?;
        // A server of clients must not change the files that the next start trusts, so the last good versions stay in memory.
        origin.remember(mem::take(&mut compiled.good_feeds));
        let source = Self::start(path.display().to_string(), ruleset, Some(origin));
        files.retain(|_, source| source.strong_count() > 0);
        files.insert(path.to_path_buf(), Arc::downgrade(&source));
        clock::watch(&source);
        Some(source)
    }

    /// The ruleset in force.
    pub(crate) fn ruleset(&self) -> Arc<Loaded> {
        self.in_force.load_full()
    }

    /// Takes what has changed at once, also if a change is not over. Returns false if it is refused.
    fn is_newest(&self) -> bool {
        let Some(origin) = &self.origin else { return true };
        let mut origin = lock(origin);
        match origin.look() {
            Look::Unchanged | Look::Waiting => true,
            Look::Changing => {
                let made = origin.compile();
                self.accept(&mut origin, &[], made)
            }
            Look::Changed { files, made } => self.accept(&mut origin, &files, made),
        }
    }

    /// Looks once at the files, and takes what has changed.
    pub(crate) fn look(&self) {
        let Some(origin) = &self.origin else { return };
        let mut origin = lock(origin);
        if let Look::Changed { files, made } = origin.look() {
            self.accept(&mut origin, &files, made);
        }
    }

    /// Remembers the good versions of feeds, and puts a new ruleset in force, if there is one.
    ///
    /// Nobody else reads the files meanwhile, since the caller has them locked: an older ruleset never replaces a newer one.
    fn accept(&self, origin: &mut Origin, changed: &[PathBuf], mut compiled: Compiled) -> bool {
        if compiled.ruleset.is_some() {
            origin.remember(mem::take(&mut compiled.good_feeds));
        }
        self.take(changed, compiled)
    }

    /// Puts a new ruleset in force, if there is one. Requests that are being served keep theirs.
    fn take(&self, changed: &[PathBuf], compiled: Compiled) -> bool {
        let changed: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
        // The others have been logged before.
        report(&compiled, |file| {
            changed.is_empty() || file == self.name || changed.iter().any(|one| one == file)
        });
        let changed = changed.join(", ");
        let now = crawlpike_files::now();
        statistics::count_event(Event::Reload(ReloadResult::of(compiled.ruleset.as_ref(), now)));
        let Some(ruleset) = compiled.ruleset else {
            let message = format!(
                "crawlpike: {}: refused after changes in {changed}, keeping the current ruleset, see the errors above",
                self.name
            );
            log(LogLevel::Error, &message);
            return false;
        };
        let loaded = Arc::new(Loaded::new(ruleset));
        self.in_force.store(Arc::clone(&loaded));
        self.checked.store(now, Relaxed);
        statistics::show(&self.name, &loaded, now);
        log(LogLevel::Info, &format!("crawlpike: {}: in force after changes in {changed}", self.name));
        true
    }

    /// Updates the ages and states of the feeds of all sources, and reports those that have become stale.
    pub(crate) fn update_all() {
        let sources: Vec<_> = lock(&SOURCES).iter().filter_map(Weak::upgrade).collect();
        for source in sources {
            let (loaded, now) = (source.ruleset(), crawlpike_files::now());
            statistics::update(&source.name, &loaded, now);
            for feed in loaded.ruleset.became_stale(source.checked.swap(now, Relaxed), now) {
                log(LogLevel::Warn, &format!("crawlpike: {}: warning: {feed}", source.name));
            }
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        statistics::forget(&self.name, &self.ruleset());
    }
}

/// Logs the diagnostics about files for which `is_new` returns true.
fn report(compiled: &Compiled, is_new: impl Fn(&str) -> bool) {
    for diagnostic in Diagnostic::by_cause(&compiled.diagnostics).iter().filter(|one| is_new(&one.file)) {
        let level = match diagnostic.severity {
            Severity::Error => LogLevel::Error,
            Severity::Warning => LogLevel::Warn,
        };
        log(level, &format!("crawlpike: {diagnostic}"));
    }
}

/// The whole words in some bytes. Only a ruleset that was cut has other bytes at its end; the length in its header shows that.
fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(size_of::<u32>());
    words.filter_map(|word| word.first_chunk().copied()).map(u32::from_ne_bytes).collect()
}
