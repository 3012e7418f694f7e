//! Files that are recorded when a ruleset is made of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crawlpike_core::{FeedFile, Files, FoundFile, GoodFeed, TableReader};

use crate::beside::{if_there, is_of_the_last_days};
use crate::snapshot::State;
use crate::{FileError, FilesBeside, Snapshot};

/// The files beside a document, each recorded before it is read.
#[derive(Debug)]
pub struct Recording<'a> {
    beside: &'a FilesBeside,
    snapshot: &'a Snapshot,
    contents: Option<&'a Contents>,
    /// Last good versions that are in no file.
    remembered: &'a [Remembered],
    /// The last good versions that exist and cannot be read.
    unreadable: RefCell<Vec<FileError>>,
}

impl<'a> Recording<'a> {
    /// Records the states of files in `snapshot`.
    pub fn new(beside: &'a FilesBeside, snapshot: &'a Snapshot) -> Self {
        Self { beside, snapshot, contents: None, remembered: &[], unreadable: RefCell::default() }
    }

    /// Records the contents of the files, too.
    #[must_use]
    pub fn with_contents(self, contents: &'a Contents) -> Self {
        Self { contents: Some(contents), ..self }
    }

    pub(crate) fn with_remembered(self, remembered: &'a [Remembered]) -> Self {
        Self { remembered, ..self }
    }

    /// The good versions of feeds that are there and could not be read, so that no new version was compared with them.
    pub fn into_unreadable(self) -> Vec<FileError> {
        self.unreadable.into_inner()
    }

    /// The reason why a good version of a feed cannot be read, or could not, by which a new one is judged.
    pub fn why_unjudged(&self, path: &str) -> Option<String> {
        // Reading notes what cannot be read.
        let _ = (self.last_good_feed(path), self.earlier_good_feed(path));
        let files = [self.beside.last_good_path(path), self.beside.earlier_good_path(path)];
        let unreadable = self.unreadable.borrow();
        unreadable
            .iter()
            .find(|error| files.iter().any(|file| file == error.path()))
            .map(FileError::to_string)
    }

    fn record(
        &self,
        path: &str,
        find: impl FnOnce() -> io::Result<FoundFile>,
    ) -> Result<Option<FoundFile>, String> {
        let found = if_there(self.snapshot.read(&self.beside.path(path), find))?;
        if let (Some(contents), Some(file)) = (self.contents, &found) {
            contents.newest.borrow_mut().insert(path.to_owned(), file.clone());
        }
        Ok(found)
    }

    /// A good version of a feed, which was read from a file. If that failed, it is noted for the last one, since the others are
    /// not watched.
    fn good<F>(&self, feed: &str, file: PathBuf, read: io::Result<F>) -> Option<F> {
        let error = match read {
            Ok(found) => return Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => error,
        };
        self.snapshot.note_failure(&self.beside.last_good_path(feed), &error);
        self.unreadable.borrow_mut().push(FileError::reading(file, error));
        None
    }
}

/// A good version of a feed that is in no file.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    pub(crate) path: String,
    pub(crate) file: Arc<FoundFile>,
    /// The last good version in a file, whose place this one takes; one that was put there later counts more.
    pub(crate) instead_of: State,
    /// The version before the changes of the last days; `None`: the one in a file.
    pub(crate) earlier: Option<Earlier>,
    /// The last good version in a file could not be read, and judges this one as soon as it can.
    pub(crate) is_unjudged: bool,
}

/// The version of a feed before the changes of the last days, which is in no file of its own.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    /// `None`: the last good version in a file.
    pub(crate) file: Option<Arc<FoundFile>>,
    /// When these changes began, in seconds since the Unix epoch.
    pub(crate) since: i64,
}

impl Remembered {
    pub(crate) fn is_of(&self, path: &str) -> bool {
        self.path == path
    }

    /// Returns true if it counts beside a last good version in a file with this state. A file that is gone does not replace it.
    pub(crate) fn counts_beside(&self, file: State) -> bool {
        file.is_err() || file == self.instead_of
    }

    pub(crate) fn file(&self) -> FoundFile {
        FoundFile::clone(&self.file)
    }
}

/// The contents of the files of a document, by their paths in the document.
#[derive(Debug, Default)]
pub struct Contents {
    newest: RefCell<BTreeMap<String, FoundFile>>,
    last_good: RefCell<BTreeMap<String, FoundFile>>,
}

impl Contents {
    /// The versions that are in force, if compiling says that those in `good_feeds` are good. A file that is not there is
    /// left out.
    pub fn into_versions_in_force(self, good_feeds: &[GoodFeed]) -> BTreeMap<String, FoundFile> {
        let mut in_force = self.newest.into_inner();
        for (path, file) in self.last_good.into_inner() {
            let is_newest = in_force.get(&path).is_some_and(|newest| newest.bytes == file.bytes);
            if !is_newest && good_feeds.iter().all(|good| good.path != path) {
                in_force.insert(path, file);
            }
        }
        in_force
    }
}

impl Files for Recording<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        self.record(path, || self.beside.find(path))
    }

    fn read_feed(&self, path: &str) -> Result<Option<FeedFile>, String> {
        if !self.beside.is_paged {
            return Ok(self.read(path)?.map(FeedFile::from));
        }
        let file = self.beside.path(path);
        if_there(self.snapshot.read(&file, || self.beside.find_version(&file)))
    }

    fn read_policy(&self, path: &str) -> Result<Option<FoundFile>, String> {
        self.record(path, || self.beside.find_policy(path))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        let file = self.beside.last_good_path(path);
        // `crawlpike compile --accept` changes it.
        self.snapshot.record(&file);
        let state = self.snapshot.state(&file);
        let remembered = self.remembered.iter().find(|one| one.is_of(path) && one.counts_beside(state));
        if let Some(remembered) = remembered.filter(|one| !one.is_unjudged) {
            return Some(remembered.file());
        }
        let Some(found) = self.good(path, file, self.beside.read_last_good(path)) else {
            return remembered.map(Remembered::file);
        };
        if let Some(contents) = self.contents {
            contents.last_good.borrow_mut().insert(path.to_owned(), found.clone());
        }
        Some(found)
    }

    fn last_good_feed(&self, path: &str) -> Option<FeedFile> {
        if !self.beside.is_paged {
            return self.last_good(path).map(FeedFile::from);
        }
        let file = self.beside.last_good_path(path);
        self.snapshot.record(&file);
        self.good(path, file, self.beside.find_last_good(path))
    }

    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        let state = self.snapshot.state(&self.beside.last_good_path(path));
        let remembered = self.remembered.iter().find(|one| one.is_of(path) && one.counts_beside(state));
        let (file, read) = match remembered.and_then(|one| one.earlier.as_ref()) {
            Some(Earlier { since, .. }) if !is_of_the_last_days(*since) => return None,
            Some(Earlier { file: Some(file), .. }) => return Some(FoundFile::clone(file).into()),
            // If it could not be read, it was not in force when these changes began.
            Some(Earlier { file: None, .. }) => {
                return self.beside.find_last_good(path).ok();
            }
            None => (self.beside.earlier_good_path(path), self.beside.find_earlier_good(path)),
        };
        self.good(path, file, read)
    }

    fn held(&self, path: &str) -> Option<String> {
        self.snapshot.record(&self.beside.held_path(path));
        self.beside.held(path)
    }

    fn table_reader(&self) -> Option<TableReader> {
        self.beside.table_reader()
    }

    fn accepts(&self, feed: &str) -> bool {
        self.beside.accepts(feed)
    }

    fn display_name(&self, path: &str) -> String {
        self.beside.display_name(path)
    }
}
