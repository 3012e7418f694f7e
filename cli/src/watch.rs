//! Doing something again whenever one of its files changes, or SIGHUP asks for it, until SIGTERM or SIGINT.
//!
//! Files are looked at once a second, by path: that sees files that editors and `mv` replace, symbolic links that
//! Kubernetes switches, and other machines' changes on a network file system, of which inotify tells nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often files are looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// `None` where there is no file.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

/// The files that were read, as they were just before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen(RefCell<BTreeMap<PathBuf, Option<Stamp>>>);

impl Seen {
    /// To be called before a file is read, so that a change while it is read counts as one; also for a file that is
    /// not there, whose coming is a change.
    pub(crate) fn note(&self, path: &Path) {
        self.0.borrow_mut().entry(path.to_path_buf()).or_insert_with(|| Stamp::of(path));
    }

    /// The same files as they are now.
    fn now(&self) -> Self {
        Self(RefCell::new(self.0.borrow().keys().map(|path| (path.clone(), Stamp::of(path))).collect()))
    }

    fn differs_from(&self, other: &Self) -> bool {
        *self.0.borrow() != *other.0.borrow()
    }
}

/// Calls `act`, which notes the files that it reads, now, after each change of one of them, and on SIGHUP. A change
/// counts when it is over: when nothing has changed any more for a second.
///
/// # Errors
///
/// Where signals can't be received.
pub(crate) fn run(mut act: impl FnMut(&Seen)) -> io::Result<()> {
    let signals = signals()?;
    loop {
        let seen = Seen::default();
        act(&seen);
        let mut before = seen.clone();
        loop {
            match signals.recv_timeout(INTERVAL) {
                Ok(SIGHUP) => break,
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let now = seen.now();
                    if now.differs_from(&seen) && !now.differs_from(&before) {
                        break;
                    }
                    before = now;
                }
            }
        }
    }
}

/// The signals of this process, as they come, instead of what they would do.
fn signals() -> io::Result<Receiver<i32>> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let (sender, receiver) = channel();
    thread::spawn(move || signals.forever().try_for_each(|signal| sender.send(signal)));
    Ok(receiver)
}
