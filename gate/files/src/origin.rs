//! The sources of a ruleset, so that it can be made anew when one of the files has changed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawlpike_core::{Compiled, Diagnostic, FoundFile, GoodFeed, Ruleset, Severity};

use crate::beside::is_of_the_last_days;
use crate::read::{document, words};
use crate::recording::{Earlier, Remembered};
use crate::snapshot::Snapshot;
use crate::{Audience, FeedsInForce, FileError, FileErrors, FilesBeside, Look, Recording, Watch, now};

/// The sources of a ruleset: a configuration document, as it was when it was first read, and the files that it names,
/// which are read again each time.
///
/// ```no_run
/// # use crawlpike_files::{Look, Origin};
/// let mut origin = Origin::read("crawlpike.json".as_ref())?;
/// let first = origin.compile();
/// origin.keep(first.good_feeds).expect("a folder of ours");
/// // Again and again:
/// if let Look::Changed { made, .. } = origin.look() {
///     origin.remember(made.good_feeds);
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Origin {
    path: PathBuf,
    document: Document,
    files: FilesBeside,
    watch: Watch,
    remembered: Vec<Remembered>,
    /// The good versions that were there and could not be read the last time.
    unreadable: Vec<PathBuf>,
    feeds_in_force: FeedsInForce,
}

#[derive(Clone, Debug)]
enum Document {
    Text(Arc<[u8]>),
    /// It is in the compiled ruleset, which is the file to look at; `None` until that was loaded.
    Compiled(Option<Arc<[u8]>>),
    /// The file is read again each time, as a document or as a compiled ruleset.
    Followed,
}

impl Origin {
    /// Reads the configuration document at `path`, or finds a compiled ruleset there.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = document(path)?;
        let document = text.map_or(Document::Compiled(None), |text| Document::Text(text.into()));
        Ok(Self::new(path, document, FilesBeside::new(path)))
    }

    fn new(path: &Path, document: Document, files: FilesBeside) -> Self {
        Self {
            path: path.to_path_buf(),
            document,
            files,
            watch: Watch::default(),
            remembered: Vec::new(),
            unreadable: Vec::new(),
            feeds_in_force: FeedsInForce::default(),
        }
    }

    /// The configuration document at `path`, or the compiled ruleset there, for hosts that take a changed document like any
    /// other changed file. As root, it takes only policies that everybody may read.
    pub fn follow(path: &Path) -> Self {
        Self::new(path, Document::Followed, FilesBeside::new(path).readable_by_everybody_if_root())
    }

    /// Refuses policies that these can't read: see [`FilesBeside::readable_by`].
    #[must_use]
    pub fn readable_by(self, audience: Audience) -> Self {
        Self { files: self.files.readable_by(audience), ..self }
    }

    /// The name of the document in diagnostics.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Compiles the document with the files that it names, as they are now. A compiled ruleset is loaded, and refused if its
    /// document has changed.
    ///
    /// If the last good version of a feed cannot be read, nothing judges the new one: a warning says so, and [`Self::keep`] does
    /// not replace that version.
    pub fn compile(&mut self) -> Compiled {
        let snapshot = Snapshot::default();
        let (mut compiled, unreadable) = self.compile_recording(&snapshot);
        for error in &unreadable {
            let message = format!("{error}; the new version of the feed is not compared with it");
            let error = Diagnostic::error(self.name(), message);
            compiled.diagnostics.push(Diagnostic { severity: Severity::Warning, ..error });
        }
        self.note_unreadable(&unreadable);
        self.watch = Watch::new(snapshot);
        self.note_feeds_of(&compiled);
        compiled
    }

    /// Looks once at the files that were compiled, and compiles them again after a change that is over.
    ///
    /// The result is refused if a feed that was in force would be lost, as when a folder is gone, and if the last good
    /// version of a feed cannot be read, by which a new one is judged: the ruleset in force is better.
    pub fn look(&mut self) -> Look<Compiled> {
        let mut watch = std::mem::take(&mut self.watch);
        let look = watch.look(|snapshot| self.compile_recording(snapshot));
        self.watch = watch;
        match look {
            Look::Unchanged => Look::Unchanged,
            Look::Changing => Look::Changing,
            Look::Waiting => Look::Waiting,
            Look::Changed { files, made: (mut compiled, unreadable) } => {
                if !matches!(self.document, Document::Compiled(_)) {
                    self.refuse_losses(&mut compiled, &unreadable);
                }
                self.note_unreadable(&unreadable);
                self.note_feeds_of(&compiled);
                Look::Changed { files, made: compiled }
            }
        }
    }

    fn note_unreadable(&mut self, unreadable: &[FileError]) {
        self.unreadable = unreadable.iter().map(|error| error.path().to_path_buf()).collect();
    }

    fn note_feeds_of(&mut self, compiled: &Compiled) {
        if let Some(ruleset) = &compiled.ruleset {
            self.feeds_in_force = FeedsInForce::of(ruleset);
        }
    }

    fn refuse_losses(&self, compiled: &mut Compiled, unreadable: &[FileError]) {
        let new = compiled.ruleset.iter();
        let lost = new.flat_map(|ruleset| self.feeds_in_force.lost_in(ruleset, &self.name()));
        // A version that nothing judged judges those that come.
        let unjudged = self.remembered.iter().filter(|one| one.is_unjudged);
        let unjudged: Vec<PathBuf> = unjudged.map(|one| self.files.last_good_path(&one.path)).collect();
        let unreadable = unreadable.iter().filter(|error| unjudged.iter().all(|file| file != error.path()));
        let unreadable = unreadable.map(|error| {
            // Of the document, so that hosts that report only what is new about changed files report it.
            let message = format!("{error}; until it can be read, no new version of the feed is accepted");
            Diagnostic::error(self.name(), message)
        });
        let reasons: Vec<Diagnostic> = lost.chain(unreadable).collect();
        if !reasons.is_empty() {
            compiled.ruleset = None;
            compiled.diagnostics.extend(reasons);
        }
    }

    /// Compiles with files that are recorded just before they are read; also gives the last good versions that are there
    /// and cannot be read.
    fn compile_recording(&mut self, snapshot: &Snapshot) -> (Compiled, Vec<FileError>) {
        let name = self.name();
        let (mut compiled, unreadable) = match &mut self.document {
            Document::Text(text) => {
                let text = Arc::clone(text);
                self.compile_text(&name, &text, snapshot)
            }
            Document::Compiled(first) => (load(&name, &self.path, first, snapshot), Vec::new()),
            Document::Followed => match snapshot.read(&self.path, || document(&self.path)) {
                Ok(Some(text)) => self.compile_text(&name, &text, snapshot),
                Ok(None) => (load(&name, &self.path, &mut None, snapshot), Vec::new()),
                Err(error) => (unreadable_document(&name, &error), Vec::new()),
            },
        };
        compiled.warn_of_stale_feeds(&name, now());
        (compiled, unreadable)
    }

    fn compile_text(&mut self, name: &str, text: &[u8], snapshot: &Snapshot) -> (Compiled, Vec<FileError>) {
        let files = Recording::new(&self.files, snapshot).with_remembered(&self.remembered);
        let compiled = Ruleset::compile(name, text, &files);
        let unreadable = files.into_unreadable();
        let failed = snapshot.failed();
        // A version in whose place somebody has put another one that can be read is forgotten.
        self.remembered.retain(|one| {
            let file = self.files.last_good_path(&one.path);
            failed.contains(&file) || one.counts_beside(snapshot.state(&file))
        });
        (compiled, unreadable)
    }

    /// Keeps [`Compiled::good_feeds`], each beside its source, as [`FilesBeside::keep`] does. If that fails, they are
    /// [remembered](Self::remember), and so are those in whose place a version is that could not be read.
    ///
    /// # Errors
    ///
    /// For each file that cannot be written.
    pub fn keep(&mut self, good_feeds: Vec<GoodFeed>) -> Result<(), FileErrors> {
        let (unjudged, good): (Vec<_>, Vec<_>) =
            good_feeds.into_iter().partition(|good| self.is_unjudged(&good.path));
        let kept = self.watch.keep(&self.files, &good);
        if kept.is_err() {
            self.remember(good);
        }
        self.remember(unjudged);
        kept
    }

    /// Returns true if a good version of a feed could not be read, by which a new one is judged.
    fn is_unjudged(&self, path: &str) -> bool {
        let files = [self.files.last_good_path(path), self.files.earlier_good_path(path)];
        files.iter().any(|file| self.unreadable.contains(file))
    }

    /// Remembers [`Compiled::good_feeds`], for hosts that cannot or do not write files. They are the last good versions until
    /// others are written beside the sources.
    pub fn remember(&mut self, good_feeds: Vec<GoodFeed>) {
        for GoodFeed { path, bytes, .. } in good_feeds {
            let source = self.watch.snapshot().state(&self.files.path(&path));
            let modified = source.ok().and_then(|file| file.modified).map(crate::seconds);
            let instead_of = self.watch.snapshot().state(&self.files.last_good_path(&path));
            let earlier = self.earlier_of(&path);
            let is_unjudged = self.is_unjudged(&path);
            self.remembered.retain(|other| other.path != path);
            self.remembered.push(Remembered {
                path,
                file: Arc::new(FoundFile { bytes, modified }),
                instead_of,
                earlier,
                is_unjudged,
            });
        }
    }

    /// The version before the changes of the last days, now that the last good one is replaced.
    fn earlier_of(&self, path: &str) -> Option<Earlier> {
        let former = self.remembered.iter().find(|one| one.is_of(path));
        let known = former.and_then(|former| former.earlier.as_ref());
        match known {
            Some(known) if is_of_the_last_days(known.since) => Some(known.clone()),
            None if self.files.earlier_good_since(path).is_some() => None,
            _ => Some(Earlier { file: former.map(|former| Arc::clone(&former.file)), since: now() }),
        }
    }
}

fn unreadable_document(name: &str, error: &io::Error) -> Compiled {
    Compiled::refused(vec![Diagnostic::error(name, format!("cannot be read: {error}"))])
}

/// Loads a compiled ruleset. The document in it is remembered the first time, and must be the same from then on: what a
/// host has made of it, such as the names of its sites, holds.
fn load(name: &str, path: &Path, first: &mut Option<Arc<[u8]>>, snapshot: &Snapshot) -> Compiled {
    let mut compiled = match snapshot.read(path, || words(path)) {
        Ok(words) => Compiled::load(name, words),
        Err(error) => unreadable_document(name, &error),
    };
    if compiled.ruleset.is_some() {
        let known = first.get_or_insert_with(|| compiled.document().into());
        if **known != *compiled.document() {
            let message = "the document in it has changed; reload to use it";
            compiled = Compiled::refused(vec![Diagnostic::error(name, message)]);
        }
    }
    compiled
}

#[cfg(test)]
mod tests;
