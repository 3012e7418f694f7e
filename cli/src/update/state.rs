//! The state that is saved from one run to the next, in one small file, which may get lost. Then each publisher is asked once
//! more, and nothing else happens.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_files::{Readers, read_file, replace};
use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::update::subject::{Kind, Subject};

/// The longest validator that is kept, in bytes. A longer one costs a transfer.
const LONGEST_VALIDATOR: usize = 1024;

/// The saved state.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// By the feed's name.
    pub(super) feeds: BTreeMap<String, Entry>,
    /// By the policy's file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) policies: BTreeMap<String, Entry>,
    /// By the file of the directory of keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) directories: BTreeMap<String, Entry>,
    /// True if the server, or the command of `--exec`, has not been notified of a change.
    #[serde(default)]
    pub(super) is_undelivered: bool,
}

/// The saved state of a feed. Times are in seconds since the Unix epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The URL of the feed. An entry for another URL does not count.
    pub(super) url: String,
    /// The file of the last attempt.
    #[serde(default)]
    pub(super) source: String,
    /// When we last tried to reach the publisher.
    #[serde(default)]
    pub(super) tried: Option<i64>,
    /// When the publisher was last reached.
    pub(super) asked: Option<i64>,
    /// When the publisher last said what is current.
    pub(super) current: Option<i64>,
    /// From when on to ask again.
    pub(super) due: i64,
    /// The failures since then.
    pub(super) failures: u32,
    /// True if the last attempt reached the publisher.
    pub(super) was_asked: bool,
    /// The reason why the last attempt failed.
    pub(super) error: Option<String>,
    /// Redirects to other URLs, with their statuses.
    pub(super) redirects: Vec<(u16, String)>,
    /// The copy, which makes the next request conditional.
    pub(super) copy: Option<Copy>,
}

/// The copy that we have of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Copy {
    /// The URL that gave it.
    pub(super) url: String,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    /// The seconds for which it is fresh, as the publisher stated; a 304 need not repeat it.
    pub(super) freshness: i64,
    /// SHA-256 of the bytes, in hexadecimal. Another file than this one has to be asked for whole.
    pub(super) digest: String,
}

impl Entry {
    /// Makes the publisher due if a time is one of the future: a clock that was set back says nothing about the time since.
    fn distrust_the_future(&mut self, now: i64) {
        if self.tried.max(self.asked) > Some(now) {
            (self.tried, self.asked, self.due) = (None, None, now);
        }
    }
}

impl State {
    /// Makes those due that were asked in the future of `now`.
    pub(super) fn distrust_the_future(&mut self, now: i64) {
        let Self { feeds, policies, directories, .. } = self;
        let entries = feeds.values_mut().chain(policies.values_mut()).chain(directories.values_mut());
        entries.for_each(|entry| entry.distrust_the_future(now));
    }

    /// The entries of all subjects of a kind.
    pub(super) fn entries(&mut self, kind: Kind) -> &mut BTreeMap<String, Entry> {
        match kind {
            Kind::Feed(_) => &mut self.feeds,
            Kind::Policy(_) => &mut self.policies,
            Kind::Directory { .. } => &mut self.directories,
        }
    }

    /// The saved state of a subject at its URL.
    pub(super) fn entry(&self, subject: &Subject<'_>) -> Option<&Entry> {
        let entries = match subject.kind {
            Kind::Feed(_) => &self.feeds,
            Kind::Policy(_) => &self.policies,
            Kind::Directory { .. } => &self.directories,
        };
        entries.get(subject.name).filter(|entry| entry.url == subject.url)
    }
}

/// A validator that can be kept.
pub(super) fn validator(text: &str) -> Option<String> {
    (text.len() <= LONGEST_VALIDATOR).then(|| text.to_owned())
}

/// The state, while no other run can change it.
#[derive(Debug)]
pub(super) struct Locked {
    path: PathBuf,
    /// Those who may read the file.
    readers: Readers,
    pub(super) state: State,
    /// The reason why the file could not be used, if it could not.
    pub(super) warning: Option<String>,
    /// Closing it opens the lock, also after a crash.
    _lock: Option<File>,
}

/// The file that has the state of a configuration, unless `--state` names another.
pub(crate) fn state_beside(config: &Path) -> PathBuf {
    with_suffix(config, ".update-state")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

impl Locked {
    /// Waits up to `patience` for another run to end, and reads the state, which only `readers` may read once it is saved.
    ///
    /// # Errors
    ///
    /// If the state could not be written later, or if the other run does not end.
    pub(super) fn open(path: &Path, readers: Readers, patience: Duration) -> Result<Self, String> {
        let lock_path = with_suffix(path, ".lock");
        let failed = |error: io::Error| {
            format!(
                "cannot lock {}: {error}; name a file that can be written with --state",
                lock_path.display()
            )
        };
        let lock = open_lock(&lock_path).map_err(failed)?;
        let started = Instant::now();
        while let Err(error) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(failed(error.into()));
            }
            if started.elapsed() >= patience {
                let (path, waited) = (path.display(), patience.as_secs());
                return Err(format!("another run uses {path}; it did not end within {waited} s"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(Self { _lock: Some(lock), readers, ..Self::peek(path) })
    }

    /// Reads the state without a lock. It must not be saved.
    pub(super) fn peek(path: &Path) -> Self {
        let (state, warning) = match read(path) {
            Ok(state) => (state, None),
            Err(why) => {
                (State::default(), Some(format!("{}: {why}; asking every publisher again", path.display())))
            }
        };
        Self { path: path.to_path_buf(), readers: Readers::EVERYBODY, state, warning, _lock: None }
    }

    /// Saves that the server has to be notified of a change that is about to be made, so that the next run does it if this one
    /// cannot.
    ///
    /// # Errors
    ///
    /// If the state cannot be written. Then the change must not be made.
    pub(super) fn announce_change(&mut self) -> Result<(), String> {
        if self.state.is_undelivered {
            return Ok(());
        }
        self.state.is_undelivered = true;
        self.save().inspect_err(|_| self.state.is_undelivered = false)
    }

    /// Writes the state, in one step.
    pub(super) fn save(&self) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot write {}: {error}", self.path.display());
        let mut text = serde_json::to_string_pretty(&self.state).map_err(|error| failed(&error))?;
        text.push('\n');
        replace(&self.path, text.as_bytes(), self.readers).map_err(|error| failed(&error))?;
        Ok(())
    }
}

/// Opens the file to lock, which nobody else can open: whoever can read a file can lock it.
fn open_lock(path: &Path) -> io::Result<File> {
    const PRIVATE: u32 = 0o600;
    let lock = File::options().create(true).append(true).mode(PRIVATE).open(path)?;
    if lock.metadata()?.uid() == geteuid().as_raw() {
        lock.set_permissions(Permissions::from_mode(PRIVATE))?;
    }
    Ok(lock)
}

fn read(path: &Path) -> Result<State, String> {
    match read_file(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| format!("corrupt: {error}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = state_beside(&folder.path().join("crawlpike.json"));
        let open = |patience| Locked::open(&path, Readers::EVERYBODY, patience);
        let mut locked = open(Duration::ZERO).unwrap();
        let entry = Entry { url: "https://a.example/".into(), due: 5, ..Entry::default() };
        locked.state.feeds.insert("a".into(), entry);
        locked.save().unwrap();
        let other = open(Duration::from_millis(100)).unwrap_err();
        assert!(
            other.contains("another run uses") && other.contains("crawlpike.json.update-state"),
            "{other}"
        );
        let state = locked.state;
        assert_eq!(Locked::peek(&path).state, state);
        drop(locked._lock);
        assert_eq!(open(Duration::ZERO).unwrap().state, state);
    }
}
