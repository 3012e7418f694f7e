//! What a ruleset was made of, so that it can be made anew when one of the files has changed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawlward_core::{Compiled, Diagnostic, FoundFile, Ruleset};

use crate::read::{document, words};
use crate::snapshot::{Snapshot, State};
use crate::{Audience, FileError, FileErrors, FilesBeside, Look, Recording, Watch, now};

/// What a ruleset is made of: a configuration document, as it was when it was first read, and the files that it names,
/// which are read again each time.
///
/// ```no_run
/// # use crawlward_files::{Look, Origin};
/// let mut origin = Origin::read("crawlward.json".as_ref())?;
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
    /// The feeds of which the newest ruleset has a version.
    feeds_in_force: Vec<String>,
}

#[derive(Clone, Debug)]
enum Document {
    Text(Arc<[u8]>),
    /// It is in the compiled ruleset, which is the file to look at; `None` until that was loaded.
    Compiled(Option<Arc<[u8]>>),
    /// What is in the file is read again each time, be it a document or a compiled ruleset.
    Followed,
}

/// A good version of a feed that is in no file.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    path: String,
    file: Arc<FoundFile>,
    /// The last good version in a file, whose place this one takes; one that was put there later counts more.
    instead_of: State,
}

impl Remembered {
    pub(crate) fn is_of(&self, path: &str) -> bool {
        self.path == path
    }

    /// Whether it counts if the last good version in a file is in this state. A file that is gone does not replace it.
    pub(crate) fn counts_beside(&self, file: State) -> bool {
        file.is_err() || file == self.instead_of
    }

    pub(crate) fn file(&self) -> FoundFile {
        FoundFile::clone(&self.file)
    }
}

impl Origin {
    /// Reads the configuration document at `path`, or finds a compiled ruleset there.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let document = document(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            document: document.map_or(Document::Compiled(None), |text| Document::Text(text.into())),
            files: FilesBeside::new(path),
            watch: Watch::default(),
            remembered: Vec::new(),
            feeds_in_force: Vec::new(),
        })
    }

    /// The configuration document at `path`, or the compiled ruleset there, for hosts that take a changed document like any
    /// other changed file. As root, it takes only policies that everybody may read.
    pub fn follow(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            document: Document::Followed,
            files: FilesBeside::new(path).readable_by_everybody_if_root(),
            watch: Watch::default(),
            remembered: Vec::new(),
            feeds_in_force: Vec::new(),
        }
    }

    /// Refuses policies that these can't read: see [`FilesBeside::readable_by`].
    #[must_use]
    pub fn readable_by(self, audience: Audience) -> Self {
        Self { files: self.files.readable_by(audience), ..self }
    }

    /// How diagnostics name the document.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Compiles the document with the files that it names, as they are now. A compiled ruleset is loaded, and refused if its
    /// document has changed.
    pub fn compile(&mut self) -> Compiled {
        let snapshot = Snapshot::default();
        let (compiled, _) = self.compile_recording(&snapshot);
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
            Look::Changed { files, made: (mut compiled, unreadable) } => {
                if !matches!(self.document, Document::Compiled(_)) {
                    self.refuse_losses(&mut compiled, &unreadable);
                }
                self.note_feeds_of(&compiled);
                Look::Changed { files, made: compiled }
            }
        }
    }

    fn note_feeds_of(&mut self, compiled: &Compiled) {
        if let Some(ruleset) = &compiled.ruleset {
            let usable = ruleset.feeds(now()).filter(|feed| feed.is_usable);
            self.feeds_in_force = usable.map(|feed| feed.name.to_owned()).collect();
        }
    }

    fn refuse_losses(&self, compiled: &mut Compiled, unreadable: &[FileError]) {
        let Some(ruleset) = &compiled.ruleset else { return };
        let was_in_force = |name: &str| self.feeds_in_force.iter().any(|known| known == name);
        let lost = ruleset.feeds(now()).filter(|feed| !feed.is_usable && was_in_force(feed.name));
        let lost = lost.map(|feed| {
            let name = feed.name;
            let message = format!(
                "the feed `{name}` was in force, and no version of it is left: restore its file, or reload"
            );
            Diagnostic::error(self.name(), message)
        });
        let unreadable = unreadable.iter().map(|error| {
            let message = format!(
                "the last good version cannot be read, so no new one is accepted: {}",
                error.reason()
            );
            Diagnostic::error(error.path().display().to_string(), message)
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
            Document::Compiled(first) => {
                snapshot.record(&self.path);
                (load(&name, &self.path, first), Vec::new())
            }
            Document::Followed => {
                snapshot.record(&self.path);
                match document(&self.path) {
                    Ok(Some(text)) => self.compile_text(&name, &text, snapshot),
                    Ok(None) => (load(&name, &self.path, &mut None), Vec::new()),
                    Err(error) => (unreadable_document(&name, &error), Vec::new()),
                }
            }
        };
        compiled.warn_of_stale_feeds(&name, now());
        (compiled, unreadable)
    }

    fn compile_text(&mut self, name: &str, text: &[u8], snapshot: &Snapshot) -> (Compiled, Vec<FileError>) {
        let files = Recording::new(&self.files, snapshot).with_remembered(&self.remembered);
        let compiled = Ruleset::compile(name, text, &files);
        let unreadable = files.into_unreadable();
        let state = |one: &Remembered| snapshot.state(&self.files.last_good_path(&one.path));
        // A version in whose place somebody has put another one is forgotten.
        self.remembered.retain(|one| one.counts_beside(state(one)));
        (compiled, unreadable)
    }

    /// Keeps [`Compiled::good_feeds`], each beside its source, as [`FilesBeside::keep`] does. If that fails, they are
    /// [remembered](Self::remember).
    ///
    /// # Errors
    ///
    /// For each file that cannot be written.
    pub fn keep(&mut self, good_feeds: Vec<(String, Vec<u8>)>) -> Result<(), FileErrors> {
        let kept = self.watch.keep(&self.files, &good_feeds);
        if kept.is_err() {
            self.remember(good_feeds);
        }
        kept
    }

    /// Remembers [`Compiled::good_feeds`], for hosts that cannot or do not write files. They are the last good versions until
    /// others are written beside the sources.
    pub fn remember(&mut self, good_feeds: Vec<(String, Vec<u8>)>) {
        for (path, bytes) in good_feeds {
            let source = self.watch.snapshot().state(&self.files.path(&path));
            let modified = source.ok().and_then(|file| file.modified).map(crate::seconds);
            let instead_of = self.watch.snapshot().state(&self.files.last_good_path(&path));
            self.remembered.retain(|other| other.path != path);
            self.remembered.push(Remembered {
                path,
                file: Arc::new(FoundFile { bytes, modified }),
                instead_of,
            });
        }
    }
}

fn unreadable_document(name: &str, error: &io::Error) -> Compiled {
    Compiled::refused(vec![Diagnostic::error(name, format!("cannot be read: {error}"))])
}

/// Loads a compiled ruleset. The document in it is remembered the first time, and must be the same from then on: what a
/// host has made of it, such as the names of its sites, holds.
fn load(name: &str, path: &Path, first: &mut Option<Arc<[u8]>>) -> Compiled {
    let mut compiled = match words(path) {
        Ok(words) => Compiled::load(name, words),
        Err(error) => unreadable_document(name, &error),
    };
    if compiled.ruleset.is_some() {
        let known = first.get_or_insert_with(|| compiled.document().into());
        if **known != *compiled.document() {
            let message = "the document in it has changed, which takes a reload";
            compiled = Compiled::refused(vec![Diagnostic::error(name, message)]);
        }
    }
    compiled
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::IpAddr;

    use super::*;

    const DOCUMENT: &str = r#"{ "catalog": "none",
        "feeds": [ { "name": "lab", "format": "cidr", "source": "lab.txt" } ],
        "sites": [ { "robots_txt": "robots.txt" } ] }"#;

    struct Lab(tempfile::TempDir);

    impl Lab {
        fn new() -> Self {
            let lab = Self(tempfile::tempdir().unwrap());
            lab.write("crawlward.json", DOCUMENT);
            lab.write("lab.txt", "192.0.2.0/24\n");
            lab.write("robots.txt", "User-agent: *\n");
            lab
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, content: &str) {
            fs::write(self.path(name), content).unwrap();
        }

        /// An origin whose first version is kept in a file.
        fn loaded(&self) -> Origin {
            let mut origin = Origin::read(&self.path("crawlward.json")).unwrap();
            let compiled = origin.compile();
            assert!(compiled.ruleset.is_some(), "{:?}", compiled.diagnostics);
            origin.keep(compiled.good_feeds).unwrap();
            origin
        }
    }

    fn is_unchanged(origin: &mut Origin) -> bool {
        matches!(origin.look(), Look::Unchanged)
    }

    /// What is compiled after a change, with the files that have changed.
    fn renewed(origin: &mut Origin) -> (Compiled, Vec<PathBuf>) {
        assert!(matches!(origin.look(), Look::Changing));
        match origin.look() {
            Look::Changed { files, made } => (made, files),
            other => panic!("{other:?}"),
        }
    }

    fn covers(compiled: &Compiled, address: &str) -> bool {
        let address: IpAddr = address.parse().unwrap();
        compiled.ruleset.as_ref().unwrap().lookup(address).next().is_some()
    }

    #[test]
    fn each_kind_of_change_is_seen_and_none_where_there_was_none() {
        for name in ["lab.txt", "robots.txt", "lab.txt.last-good"] {
            let lab = Lab::new();
            let mut origin = lab.loaded();
            assert!(is_unchanged(&mut origin), "what was just kept is not a change");
            let content = fs::read_to_string(lab.path(name)).unwrap();
            lab.write("new", &content);
            fs::rename(lab.path("new"), lab.path(name)).unwrap();
            assert_eq!(renewed(&mut origin).1, [lab.path(name)], "replaced by its like");
            assert!(is_unchanged(&mut origin));
            lab.write(name, "# longer\n");
            assert_eq!(renewed(&mut origin).1, [lab.path(name)], "written to");
            fs::remove_file(lab.path(name)).unwrap();
            renewed(&mut origin);
            assert!(is_unchanged(&mut origin), "gone");
            lab.write(name, &content);
            assert_eq!(renewed(&mut origin).1, [lab.path(name)], "there again");
            // The document takes a reload.
            lab.write("crawlward.json", "{}");
            let compiled = origin.compile();
            assert!(compiled.ruleset.is_some_and(|ruleset| ruleset.feeds(0).count() == 1));
            assert!(is_unchanged(&mut origin));
        }
    }

    #[test]
    fn a_remembered_version_counts_until_another_is_kept_beside_the_source() {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        lab.write("lab.txt", "192.0.2.0/24\n203.0.113.0/24\n");
        let compiled = origin.compile();
        origin.remember(compiled.good_feeds);
        assert_eq!(fs::read_to_string(lab.path("lab.txt.last-good")).unwrap(), "192.0.2.0/24\n");

        lab.write("lab.txt", "");
        let compiled = origin.compile();
        assert!(covers(&compiled, "203.0.113.9"), "the remembered one: {:?}", compiled.diagnostics);
        assert!(compiled.good_feeds.is_empty());
        // Again, since it is still the last good one.
        lab.write("lab.txt", "<html>\n");
        assert!(covers(&origin.compile(), "203.0.113.9"));

        // As `crawlward compile --accept lab` does.
        lab.write("lab.txt", "198.51.100.0/24\n");
        assert!(!covers(&origin.compile(), "198.51.100.1"), "held: all has changed");
        lab.write("lab.txt.last-good", "198.51.100.0/24\n");
        let (compiled, files) = renewed(&mut origin);
        assert_eq!(files, [lab.path("lab.txt.last-good")]);
        assert!(covers(&compiled, "198.51.100.1"));
        assert!(origin.remembered.is_empty());
    }

    #[test]
    fn a_feed_that_was_in_force_is_not_lost() {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        fs::remove_file(lab.path("lab.txt")).unwrap();
        fs::remove_file(lab.path("lab.txt.last-good")).unwrap();
        let (compiled, _) = renewed(&mut origin);
        assert!(compiled.ruleset.is_none());
        let said = compiled.diagnostics.last().unwrap().to_string();
        assert!(said.contains("the feed `lab` was in force, and no version of it is left"), "{said}");
        lab.write("lab.txt", "192.0.2.0/24\n");
        assert!(renewed(&mut origin).0.ruleset.is_some());
    }

    #[test]
    fn without_the_last_good_version_no_new_one_is_let_in() {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        fs::remove_file(lab.path("lab.txt.last-good")).unwrap();
        fs::create_dir(lab.path("lab.txt.last-good")).unwrap();
        let (compiled, _) = renewed(&mut origin);
        assert!(compiled.ruleset.is_none());
        let said = compiled.diagnostics.last().unwrap().to_string();
        let expected = "lab.txt.last-good: error: the last good version cannot be read, so no new one is accepted: \
                        not a regular file";
        assert!(said.ends_with(expected), "{said}");
    }

    #[test]
    fn what_cannot_be_compiled_is_tried_again_when_it_has_changed() {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        fs::remove_file(lab.path("robots.txt")).unwrap();
        assert!(renewed(&mut origin).0.ruleset.is_none());
        assert!(is_unchanged(&mut origin));
        lab.write("robots.txt", "User-agent: *\n");
        let (compiled, files) = renewed(&mut origin);
        assert_eq!((compiled.ruleset.is_some(), files), (true, vec![lab.path("robots.txt")]));
    }

    #[test]
    fn a_compiled_ruleset_is_loaded_again_as_long_as_its_document_is_the_same() {
        let lab = Lab::new();
        let store = |document: &str| {
            lab.write("crawlward.json", document);
            let words = lab.loaded().compile().store().unwrap();
            fs::write(lab.path("crawlward.bin"), zerocopy::IntoBytes::as_bytes(&words[..])).unwrap();
        };
        store(DOCUMENT);
        let mut origin = Origin::read(&lab.path("crawlward.bin")).unwrap();
        assert!(origin.compile().ruleset.is_some());
        lab.write("lab.txt", "192.0.2.0/24\n203.0.113.0/24\n");
        assert!(is_unchanged(&mut origin), "the feeds are in it");
        store(DOCUMENT);
        let (compiled, files) = renewed(&mut origin);
        assert_eq!(files, [lab.path("crawlward.bin")]);
        assert!(covers(&compiled, "203.0.113.9"));
        store(&DOCUMENT.replace("robots.txt", "lab.txt"));
        let (refused, _) = renewed(&mut origin);
        let [why] = &refused.diagnostics[..] else { panic!("{:?}", refused.diagnostics) };
        assert!(
            why.to_string()
                .ends_with("crawlward.bin: error: the document in it has changed, which takes a reload")
        );
        store(DOCUMENT);
        assert!(renewed(&mut origin).0.ruleset.is_some());
    }
}
