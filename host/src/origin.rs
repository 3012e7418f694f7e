//! What a ruleset was made of, so that it can be made anew when one of the files has changed.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawlward_core::diagnostic::Diagnostic;
use crawlward_core::{Compiled, Files, FoundFile, Ruleset};

use crate::seen::{Look, Seen};
use crate::{Change, FilesBeside, Watch, document, now, words};

/// What a ruleset is made of: a configuration document, as it was when it was first read, and the files that it names,
/// which are read again each time.
///
/// ```no_run
/// # use crawlward_host::{Change, Origin};
/// let mut origin = Origin::read("crawlward.json".as_ref())?;
/// let first = origin.compile();
/// origin.keep(first.good_feeds).expect("a folder of ours");
/// // Again and again:
/// if origin.look() == Change::Over && let Some(next) = origin.compile_changed() {
///     origin.remember(next.good_feeds);
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Origin {
    path: PathBuf,
    document: Document,
    files: FilesBeside,
    /// Looks at the files that were asked for.
    watch: Watch,
    remembered: Vec<Remembered>,
    /// The feeds of which the newest ruleset has a version.
    in_force: Vec<String>,
}

#[derive(Clone, Debug)]
enum Document {
    Text(Arc<[u8]>),
    /// It is in the compiled ruleset, which is the file to look at; `None` until that was loaded.
    Compiled(Option<Arc<[u8]>>),
}

/// What was compiled, and what was seen meanwhile.
struct Noted {
    compiled: Compiled,
    /// The files as they were just before they were read.
    seen: Seen,
    /// The last good versions that are there and can't be read.
    unreadable: Vec<Diagnostic>,
}

/// A good version of a feed that is in no file.
#[derive(Clone, Debug)]
struct Remembered {
    path: String,
    file: Arc<FoundFile>,
    /// The last good version in a file, which this one takes the place of; one that was put there later counts more.
    instead_of: Look,
}

impl Remembered {
    /// Whether it counts where the last good version in a file looks like this. One that is gone is no other one.
    fn counts_beside(&self, file: Look) -> bool {
        file.is_err() || file == self.instead_of
    }
}

impl Origin {
    /// Reads the configuration document at `path`, or finds a compiled ruleset there.
    ///
    /// # Errors
    ///
    /// Where the file can't be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let document = document(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            document: document.map_or(Document::Compiled(None), |text| Document::Text(text.into())),
            files: FilesBeside::new(path),
            watch: Watch::default(),
            remembered: Vec::new(),
            in_force: Vec::new(),
        })
    }

    /// How diagnostics name the document.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Compiles the document with the files that it names, as they are now. A compiled ruleset is loaded, and refused
    /// where the document in it is no longer the one that it was.
    pub fn compile(&mut self) -> Compiled {
        let Noted { compiled, seen, .. } = self.compile_noting();
        self.watch = Watch::new(seen);
        self.note_feeds_of(&compiled);
        compiled
    }

    /// Compiles again, after a change that [was over](Self::look). What a document makes of files is refused where a feed
    /// that was in force would be no more, as when a folder is gone, and where a last good version can't be read, by which
    /// a new one is judged: what there was is better. `None`: a file has changed since, so that what was read is not what
    /// was looked at; then it is to be looked at again.
    pub fn compile_changed(&mut self) -> Option<Compiled> {
        let Noted { mut compiled, seen, unreadable } = self.compile_noting();
        if !self.watch.take(seen) {
            return None;
        }
        if matches!(self.document, Document::Text(_)) {
            self.refuse_losses(&mut compiled, unreadable);
        }
        self.note_feeds_of(&compiled);
        Some(compiled)
    }

    fn note_feeds_of(&mut self, compiled: &Compiled) {
        if let Some(ruleset) = &compiled.ruleset {
            let usable = ruleset.feeds(now()).filter(|feed| feed.is_usable);
            self.in_force = usable.map(|feed| feed.name.to_owned()).collect();
        }
    }

    fn refuse_losses(&self, compiled: &mut Compiled, unreadable: Vec<Diagnostic>) {
        let Some(ruleset) = &compiled.ruleset else { return };
        let is_lost = |name: &str| self.in_force.iter().any(|known| known == name);
        let lost = ruleset.feeds(now()).filter(|feed| !feed.is_usable && is_lost(feed.name)).map(|feed| {
            let name = feed.name;
            let message =
                format!("the feed `{name}` was in force, and no version of it is left: mend it, or reload");
            Diagnostic::error(self.name(), message)
        });
        let lost: Vec<Diagnostic> = lost.chain(unreadable).collect();
        if !lost.is_empty() {
            compiled.ruleset = None;
            compiled.diagnostics.extend(lost);
        }
    }

    fn compile_noting(&mut self) -> Noted {
        let (name, seen, unreadable) = (self.name(), Seen::default(), RefCell::default());
        let mut compiled = match &mut self.document {
            Document::Text(text) => {
                let beside = &self.files;
                let files =
                    Noting { beside, remembered: &self.remembered, seen: &seen, unreadable: &unreadable };
                let compiled = Ruleset::compile(&name, text, &files);
                // What somebody has put another version in the place of is remembered no more.
                self.remembered.retain(|one| one.counts_beside(seen.look(&beside.last_good_path(&one.path))));
                compiled
            }
            Document::Compiled(first) => {
                seen.note(&self.path);
                load(&name, &self.path, first)
            }
        };
        compiled.warn_of_stale_feeds(&name, now());
        Noted { compiled, seen, unreadable: unreadable.into_inner() }
    }

    /// Looks at the files that were compiled. See [`Watch`].
    pub fn look(&mut self) -> Change {
        self.watch.look()
    }

    /// The files that had changed at the last look.
    pub fn changed(&self) -> Vec<PathBuf> {
        self.watch.changed()
    }

    /// Keeps [`Compiled::good_feeds`], each beside its source, as [`FilesBeside::keep`] does. Where that fails they are
    /// [remembered](Self::remember).
    ///
    /// # Errors
    ///
    /// Those of the file system, with the files' names.
    pub fn keep(&mut self, good_feeds: Vec<(String, Vec<u8>)>) -> Result<(), String> {
        let kept = self.files.keep(&good_feeds);
        // What was written here is no change.
        for (path, _) in &good_feeds {
            self.watch.note_again(&self.files.last_good_path(path));
        }
        if kept.is_err() {
            self.remember(good_feeds);
        }
        kept
    }

    /// Remembers [`Compiled::good_feeds`], where the host may not or will not write files: from now on they are the last
    /// good ones, until somebody writes others beside the sources.
    pub fn remember(&mut self, good_feeds: Vec<(String, Vec<u8>)>) {
        for (path, bytes) in good_feeds {
            let source = self.watch.read().look(&self.files.path(&path));
            let modified = source.ok().and_then(|stamp| stamp.modified).map(crate::seconds);
            let instead_of = self.watch.read().look(&self.files.last_good_path(&path));
            self.remembered.retain(|other| other.path != path);
            self.remembered.push(Remembered {
                path,
                file: Arc::new(FoundFile { bytes, modified }),
                instead_of,
            });
        }
    }
}

/// Loads a compiled ruleset. The document in it is remembered the first time, and must be the same from then on: what a
/// host has made of it, such as the names of its sites, holds.
fn load(name: &str, path: &Path, first: &mut Option<Arc<[u8]>>) -> Compiled {
    let mut compiled = match words(path) {
        Ok(words) => Compiled::load(name, words),
        Err(error) => Compiled::refused(vec![Diagnostic::error(name, format!("can't be read: {error}"))]),
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

/// The files beside a document, noting how those that are asked for look.
struct Noting<'o> {
    beside: &'o FilesBeside,
    remembered: &'o [Remembered],
    seen: &'o Seen,
    unreadable: &'o RefCell<Vec<Diagnostic>>,
}

impl Noting<'_> {
    fn tell(&self, file: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            let message = format!("can't be read, so no new version is let in: {error}");
            self.unreadable.borrow_mut().push(Diagnostic::error(file.display().to_string(), message));
        }
    }
}

impl Files for Noting<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        self.seen.note(&self.beside.path(path));
        self.beside.read(path)
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        let file = self.beside.last_good_path(path);
        self.seen.note(&file);
        let mut remembered = self.remembered.iter();
        match remembered.find(|one| one.path == path && one.counts_beside(self.seen.look(&file))) {
            Some(one) => Some(FoundFile::clone(&one.file)),
            None => self.beside.find_last_good(path).map_err(|error| self.tell(&file, &error)).ok(),
        }
    }

    fn display_name(&self, path: &str) -> String {
        self.beside.display_name(path)
    }
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

    /// The files that have changed, now.
    fn changed(origin: &mut Origin) -> Vec<PathBuf> {
        origin.look();
        origin.changed()
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
            assert_eq!(changed(&mut origin), Vec::<PathBuf>::new(), "what was just kept is no change");
            let content = fs::read_to_string(lab.path(name)).unwrap();
            lab.write("new", &content);
            fs::rename(lab.path("new"), lab.path(name)).unwrap();
            assert_eq!(changed(&mut origin), [lab.path(name)], "replaced by its like");
            origin.compile();
            assert!(changed(&mut origin).is_empty());
            lab.write(name, "# longer\n");
            assert_eq!(changed(&mut origin), [lab.path(name)], "written to");
            fs::remove_file(lab.path(name)).unwrap();
            origin.compile();
            assert!(changed(&mut origin).is_empty(), "gone");
            lab.write(name, &content);
            assert_eq!(changed(&mut origin), [lab.path(name)], "there again");
            // The document takes a reload.
            lab.write("crawlward.json", "{}");
            let compiled = origin.compile();
            assert!(compiled.ruleset.is_some_and(|ruleset| ruleset.feeds(0).count() == 1));
            assert!(changed(&mut origin).is_empty());
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
        assert_eq!(changed(&mut origin), [lab.path("lab.txt.last-good")]);
        assert!(covers(&origin.compile(), "198.51.100.1"));
        assert!(origin.remembered.is_empty());
    }

    #[test]
    fn what_changes_between_the_look_and_the_compiling_is_not_compiled() {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        lab.write("robots.txt", "User-agent: *\nDisallow: /\n");
        assert_eq!([origin.look(), origin.look()], [Change::UnderWay, Change::Over]);
        // As whoever writes in place begins.
        lab.write("robots.txt", "");
        assert!(origin.compile_changed().is_none());
        lab.write("robots.txt", "User-agent: *\nDisallow: /a\n");
        assert_eq!([origin.look(), origin.look()], [Change::UnderWay, Change::Over]);
        assert_eq!(origin.changed(), [lab.path("robots.txt")]);
        assert!(origin.compile_changed().is_some_and(|compiled| compiled.ruleset.is_some()));
        assert_eq!(origin.look(), Change::None);
    }

    #[test]
    fn what_cannot_be_compiled_is_tried_again_when_it_has_changed() {
        let lab = Lab::new();
        let mut origin = lab.loaded();
        fs::remove_file(lab.path("robots.txt")).unwrap();
        assert!(origin.compile().ruleset.is_none());
        assert!(changed(&mut origin).is_empty());
        lab.write("robots.txt", "User-agent: *\n");
        assert_eq!(changed(&mut origin), [lab.path("robots.txt")]);
        assert!(origin.compile().ruleset.is_some());
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
        assert!(changed(&mut origin).is_empty(), "the feeds are in it");
        store(DOCUMENT);
        assert_eq!(changed(&mut origin), [lab.path("crawlward.bin")]);
        assert!(covers(&origin.compile(), "203.0.113.9"));
        store(&DOCUMENT.replace("robots.txt", "lab.txt"));
        let refused = origin.compile();
        let [why] = &refused.diagnostics[..] else { panic!("{:?}", refused.diagnostics) };
        assert!(
            why.to_string()
                .ends_with("crawlward.bin: error: the document in it has changed, which takes a reload")
        );
        store(DOCUMENT);
        assert!(origin.compile().ruleset.is_some());
    }
}
