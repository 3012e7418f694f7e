//! The state of files when they were read, so that changes are noticed.
//!
//! Files are looked at by path: that shows files that editors and `mv` replace, symbolic links that Kubernetes switches,
//! and changes that other machines make on a network file system, none of which inotify reports.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};
use std::time::SystemTime;

use rustix::io::Errno;

use crate::audience::{Permissions, Readers};

/// The files that were read, as they were just before.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    files: RefCell<BTreeMap<PathBuf, State>>,
    /// Those that could not be read, for a reason that may pass.
    failed: RefCell<BTreeSet<PathBuf>>,
}

/// The state of a path; an error if nothing is there.
pub(crate) type State = Result<Fingerprint, io::ErrorKind>;

/// The state of a path that was not read. No path has it, because looking at one is never interrupted.
const UNREAD: State = Err(io::ErrorKind::Interrupted);

/// Errors that do not pass until something about the file changes: a missing right, a socket, no file.
const LASTING: [Errno; 4] = [Errno::ACCESS, Errno::PERM, Errno::NXIO, Errno::NOENT];

/// The properties that distinguish one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    length: u64,
    pub(crate) modified: Option<SystemTime>,
    device: u64,
    inode: u64,
    /// When the inode last changed, which nobody can set: `cp -p` and `chmod` show, too.
    changed: (i64, i64),
    permissions: Permissions,
}

impl From<Metadata> for Fingerprint {
    fn from(metadata: Metadata) -> Self {
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            permissions: (&metadata).into(),
        }
    }
}

fn state_of(path: &Path) -> State {
    fs::metadata(path).map(Fingerprint::from).map_err(|error| error.kind())
}

/// The place to which a path leads, without links; `None` if its folder is not there.
fn place_of(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = absolute(path).ok()?.parent()?.canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    })
}

impl Snapshot {
    /// Adds a file. To be called before it is read, so that a change while it is read is noticed; also for a file that is
    /// not there, whose arrival is a change. The state that was recorded first stays.
    pub fn record(&self, path: &Path) {
        self.files.borrow_mut().entry(path.to_path_buf()).or_insert_with(|| state_of(path));
    }

    /// Adds a file, and reads it. If the system fails to read a file that is there, [`Watch`](crate::Watch) has it read again,
    /// although nothing about it changes.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn read<T>(&self, path: &Path, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.record(path);
        read().inspect_err(|error| self.note_failure(path, error))
    }

    /// Takes note that a file that was added could not be read.
    pub(crate) fn note_failure(&self, path: &Path, error: &io::Error) {
        let may_pass = Errno::from_io_error(error).is_some_and(|errno| !LASTING.contains(&errno));
        if may_pass && self.state(path).is_ok() {
            self.failed.borrow_mut().insert(path.to_path_buf());
        }
    }

    /// The files that could not be read, for a reason that may pass.
    pub(crate) fn failed(&self) -> BTreeSet<PathBuf> {
        self.failed.borrow().clone()
    }

    /// Those who may read every file of it.
    pub fn readers(&self) -> Readers {
        let files = self.files.borrow();
        let present = files.values().filter_map(|state| state.as_ref().ok());
        present.fold(Readers::EVERYBODY, |readers, file| readers.and(Readers::of(file.permissions)))
    }

    /// The files of it that are there, with the times when they were last modified.
    pub fn present(&self) -> Vec<(PathBuf, Option<SystemTime>)> {
        let files = self.files.borrow();
        let present = files.iter().filter_map(|(path, state)| Some((path, state.as_ref().ok()?)));
        present.map(|(path, file)| (path.clone(), file.modified)).collect()
    }

    /// Returns true if a path leads to one of its files, also to one that is not there yet.
    pub fn has(&self, path: &Path) -> bool {
        let place = place_of(path);
        place.is_some() && self.files.borrow().keys().any(|file| place_of(file) == place)
    }

    /// A file of it that not everybody may read.
    pub fn private_file(&self) -> Option<PathBuf> {
        let files = self.files.borrow();
        let is_private = |file: &Fingerprint| Readers::of(file.permissions) != Readers::EVERYBODY;
        let private = files.iter().find(|(_, state)| state.as_ref().is_ok_and(is_private));
        private.map(|(path, _)| path.clone())
    }

    /// Records a file again that we have written ourselves, so that it does not count as changed.
    pub(crate) fn record_again(&self, path: &Path) {
        if let Some(state) = self.files.borrow_mut().get_mut(path) {
            *state = state_of(path);
        }
    }

    /// The state of a file; one that was not recorded is as one that is not there.
    pub(crate) fn state(&self, path: &Path) -> State {
        self.files.borrow().get(path).copied().unwrap_or(Err(io::ErrorKind::NotFound))
    }

    /// The same files as they are now.
    #[must_use]
    pub(crate) fn now(&self) -> Self {
        let files = self.files.borrow().keys().map(|path| (path.clone(), state_of(path))).collect();
        Self { files: RefCell::new(files), failed: RefCell::default() }
    }

    /// Returns true if both have the same files, in the same states.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        self.files == other.files
    }

    /// The files of this one whose state is another one there, or which are not there.
    pub(crate) fn differing_from(&self, other: &Self) -> BTreeSet<PathBuf> {
        let (files, other) = (self.files.borrow(), other.files.borrow());
        files
            .iter()
            .filter(|(path, state)| other.get(*path) != Some(state))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// The files of this one that are there, and that the other one does not have.
    pub(crate) fn new_beside(&self, other: &Self) -> Vec<PathBuf> {
        let (files, other) = (self.files.borrow(), other.files.borrow());
        let is_new = |(path, state): &(&PathBuf, &State)| state.is_ok() && !other.contains_key(*path);
        files.iter().filter(is_new).map(|(path, _)| path.clone()).collect()
    }

    /// Returns true if the files that both have are in the same state in both.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let (files, other) = (self.files.borrow(), other.files.borrow());
        files.iter().all(|(path, state)| other.get(path).is_none_or(|there| there == state))
    }

    /// Adds the files of another one that this one does not have, so that each of them counts as changed.
    pub(crate) fn add_as_unread(&self, other: &Self) {
        for path in other.files.borrow().keys() {
            self.files.borrow_mut().entry(path.clone()).or_insert(UNREAD);
        }
    }
}
