//! How files looked when they were read, so that changes are noticed.
//!
//! Files are looked at by path: that sees files that editors and `mv` replace, symbolic links that Kubernetes switches,
//! and other machines' changes on a network file system, of which inotify tells nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files that were read, as they were just before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen(RefCell<BTreeMap<PathBuf, Look>>);

/// How a path looks; an error where it leads to nothing.
pub(crate) type Look = Result<Stamp, io::ErrorKind>;

/// How a path looks that was not read: as no path does, since nothing is looked at halfway.
const UNREAD: Look = Err(io::ErrorKind::Interrupted);

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    length: u64,
    pub(crate) modified: Option<SystemTime>,
    identity: Identity,
}

/// The device, the inode and the time of its last change, which nobody can set: `cp -p` and `chmod` are seen, too.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);
#[cfg(not(unix))]
type Identity = ();

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}

fn look_at(path: &Path) -> Look {
    let metadata = fs::metadata(path).map_err(|error| error.kind())?;
    let (length, modified) = (metadata.len(), metadata.modified().ok());
    Ok(Stamp { length, modified, identity: identity(&metadata) })
}

impl Seen {
    /// To be called before a file is read, so that a change while it is read counts as one; also for a file that is
    /// not there, whose coming is a change. What was noted first stays.
    pub fn note(&self, path: &Path) {
        self.0.borrow_mut().entry(path.to_path_buf()).or_insert_with(|| look_at(path));
    }

    /// To be called after a file was written, where that is to be no change.
    pub(crate) fn note_again(&self, path: &Path) {
        if let Some(look) = self.0.borrow_mut().get_mut(path) {
            *look = look_at(path);
        }
    }

    /// How a file looked; one that was not noted looks like none.
    pub(crate) fn look(&self, path: &Path) -> Look {
        self.0.borrow().get(path).copied().unwrap_or(Err(io::ErrorKind::NotFound))
    }

    /// The same files as they are now.
    #[must_use]
    pub(crate) fn now(&self) -> Self {
        Self(RefCell::new(self.0.borrow().keys().map(|path| (path.clone(), look_at(path))).collect()))
    }

    /// The files of this one that look otherwise there, or are not there.
    pub(crate) fn differing_from(&self, other: &Self) -> Vec<PathBuf> {
        let (files, other) = (self.0.borrow(), other.0.borrow());
        files
            .iter()
            .filter(|(path, look)| other.get(*path) != Some(look))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Whether the files that both have look the same in both.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        let (files, other) = (self.0.borrow(), other.0.borrow());
        files.iter().all(|(path, look)| other.get(path).is_none_or(|there| there == look))
    }

    /// Adds the files of another one that this one does not have, so that each of them counts as changed.
    pub(crate) fn add_as_unread(&self, other: &Self) {
        for path in other.0.borrow().keys() {
            self.0.borrow_mut().entry(path.clone()).or_insert(UNREAD);
        }
    }
}
