//! Detects the end of a change of files.

use std::mem;
use std::path::PathBuf;
use std::time::Duration;

use crawlpike_core::GoodFeed;

use crate::snapshot::Snapshot;
use crate::{FileErrors, FilesBeside};

/// The result of a look at the files that were read.
#[derive(Debug)]
pub enum Look<T> {
    /// They are as they were.
    Unchanged,
    /// They have changed, and may still be changing: look again after [`Watch::SETTLING_TIME`].
    Changing,
    /// They are as they were, but the system failed to read one of them, which will be read again: look again after
    /// [`Watch::SETTLING_TIME`].
    Waiting,
    /// They had changed, and were read again.
    Changed {
        /// Those that had changed, or could not be read before, and those that are read for the first time.
        files: Vec<PathBuf>,
        /// The result of reading all of them.
        made: T,
    },
}

/// Looks at the files that were read, and reads them again when they have changed.
///
/// A file that is written in place is empty at first, and then incomplete for a while. A feed's guard would hold that, but
/// half a robots.txt is a robots.txt: so a change counts when two looks in a row have found the same, and what was read
/// while a file changed does not count.
///
/// A program that writes a file all the time cannot postpone this for ever: see [`Watch::PATIENCE`].
///
/// A file that the system failed to read is read again at the second look, and from then on each time after [`Watch::PATIENCE`]
/// more. If the same files fail again, nothing new is reported.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The files, as they were when they were read.
    read: Snapshot,
    /// As they were at the last look.
    last: Snapshot,
    /// The number of looks in a row that found a change that was not over.
    changing: u32,
    /// The number of looks since a file could not be read.
    waited: u32,
    /// True if files were read only because they could not be read before.
    is_retried: bool,
}

impl Watch {
    /// The time between two looks after which a change is taken to be over.
    pub const SETTLING_TIME: Duration = Duration::from_secs(1);

    /// After so many looks in a row that found a change that was not over, the files are read as they are, and what is made of
    /// them counts. A file that changes during its own reading is still refused.
    pub const PATIENCE: u32 = 10;

    /// Looks at files that were read before.
    pub(crate) fn new(read: Snapshot) -> Self {
        Self { last: read.clone(), read, ..Self::default() }
    }

    /// Looks once. After a change that is over, `read` reads the files; it records each of them just before.
    pub fn look<T>(&mut self, read: impl FnOnce(&Snapshot) -> T) -> Look<T> {
        let before = self.observe();
        if !self.is_as_read() {
            if self.changing >= Self::PATIENCE || self.last.is_as(&before) {
                return self.read_observed(read);
            }
            self.changing += 1;
            return Look::Changing;
        }
        self.changing = 0;
        let failed = self.read.failed();
        if failed.is_empty() {
            return Look::Unchanged;
        }
        if self.waited < if self.is_retried { Self::PATIENCE } else { 1 } {
            self.waited += 1;
            return Look::Waiting;
        }
        match self.read_observed(read) {
            Look::Changed { .. } if self.is_retried && self.read.failed() == failed => Look::Waiting,
            look => look,
        }
    }

    /// Reads the files at once, changed or not, as [`Self::look`] does after a change.
    pub fn read<T>(&mut self, read: impl FnOnce(&Snapshot) -> T) -> Look<T> {
        self.observe();
        self.read_observed(read)
    }

    /// Takes note of what the files are now; gives what they were at the last look.
    fn observe(&mut self) -> Snapshot {
        mem::replace(&mut self.last, self.read.now())
    }

    fn is_as_read(&self) -> bool {
        self.last.is_as(&self.read)
    }

    fn read_observed<T>(&mut self, read: impl FnOnce(&Snapshot) -> T) -> Look<T> {
        let snapshot = Snapshot::default();
        let made = read(&snapshot);
        let is_whole = snapshot.now().agrees_with(&snapshot) && self.last.agrees_with(&snapshot);
        if is_whole || self.changing >= Self::PATIENCE {
            let failed = self.read.failed();
            let mut files = self.read.differing_from(&self.last);
            files.extend(failed.iter().cloned());
            // Those that are named by what changed.
            if !files.is_empty() {
                files.extend(snapshot.new_beside(&self.read));
            }
            let is_retried = self.is_as_read() && !failed.is_empty();
            *self = Self { is_retried, ..Self::new(snapshot) };
            return Look::Changed { files: files.into_iter().collect(), made };
        }
        // A file changed meanwhile, and may be incomplete.
        self.read.add_as_unread(&snapshot);
        self.last = Snapshot::default();
        self.changing += 1;
        Look::Changing
    }

    /// The files as they were when they were read.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.read
    }

    /// Keeps good versions of feeds as [`FilesBeside::keep`] does. The files that it writes do not count as changed.
    ///
    /// # Errors
    ///
    /// For each file that cannot be written; the others are kept.
    pub fn keep(&self, files: &FilesBeside, good_feeds: &[GoodFeed]) -> Result<(), FileErrors> {
        let kept = files.keep(good_feeds);
        for good in good_feeds {
            let path = files.last_good_path(&good.path);
            self.read.record_again(&path);
            self.last.record_again(&path);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use rustix::io::Errno;

    use super::*;

    /// Reads files into their lengths.
    fn lengths(snapshot: &Snapshot, paths: &[&Path]) -> Vec<usize> {
        let length = |path: &&Path| {
            snapshot.record(path);
            fs::read(path).unwrap().len()
        };
        paths.iter().map(length).collect()
    }

    fn watch(paths: &[&Path]) -> Watch {
        let mut watch = Watch::default();
        assert!(matches!(watch.read(|snapshot| lengths(snapshot, paths)), Look::Changed { .. }));
        watch
    }

    /// A look that must find no change that is over.
    fn glance(watch: &mut Watch) -> Look<()> {
        watch.look(|_| panic!("the change is not over"))
    }

    #[test]
    fn a_change_is_over_when_two_looks_in_a_row_found_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.txt");
        let write = |content: &str| fs::write(&path, content).unwrap();
        write("Disallow: /\n");
        let mut watch = watch(&[&path]);
        assert!(matches!(glance(&mut watch), Look::Unchanged));
        for content in ["", "D", "Disallow: ", "Disallow: /private\n"] {
            write(content);
            assert!(matches!(glance(&mut watch), Look::Changing), "{content}");
        }
        let Look::Changed { files, made } = watch.look(|snapshot| lengths(snapshot, &[&path])) else {
            panic!("it is over")
        };
        assert_eq!((files, made), (vec![path.clone()], vec![19]));
        assert!(matches!(glance(&mut watch), Look::Unchanged));
    }

    #[test]
    fn a_change_that_never_ends_is_read_after_ten_looks_and_again_after_ten_more() {
        let folder = tempfile::tempdir().unwrap();
        let (busy, policy) = (folder.path().join("busy"), folder.path().join("robots.txt"));
        let mut length = 0;
        let mut write_more = || {
            length += 1;
            fs::write(&busy, "x".repeat(length)).unwrap();
            length
        };
        write_more();
        fs::write(&policy, "old").unwrap();
        let mut watch = watch(&[&busy, &policy]);
        fs::write(&policy, "newer").unwrap();
        for _ in 0..2 {
            for look in 0..Watch::PATIENCE {
                write_more();
                assert!(matches!(glance(&mut watch), Look::Changing), "{look}");
            }
            let at_the_look = write_more();
            let read = watch.look(|snapshot| {
                let made = lengths(snapshot, &[&busy, &policy]);
                // The file changes while others are read, too.
                write_more();
                made
            });
            let Look::Changed { files, made } = read else { panic!("it waits for ever") };
            assert_eq!(made, [at_the_look, 5]);
            assert!(files.contains(&busy));
        }
        // When it is quiet at last, that counts as any change that is over.
        assert!(matches!(glance(&mut watch), Look::Changing));
        assert!(matches!(watch.look(|snapshot| lengths(snapshot, &[&busy])), Look::Changed { .. }));
        assert!(matches!(glance(&mut watch), Look::Unchanged));
    }

    #[test]
    fn what_changed_between_the_look_and_the_reading_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.txt");
        fs::write(&path, "a").unwrap();
        let mut watch = watch(&[&path]);
        fs::write(&path, "ab").unwrap();
        assert!(matches!(glance(&mut watch), Look::Changing));
        let emptied = watch.look(|snapshot| {
            fs::write(&path, "").unwrap();
            lengths(snapshot, &[&path])
        });
        assert!(matches!(emptied, Look::Changing));
        assert!(matches!(glance(&mut watch), Look::Changing));
        let read = watch.look(|snapshot| lengths(snapshot, &[&path]));
        assert!(matches!(read, Look::Changed { made, .. } if made == [0]));
        assert!(matches!(glance(&mut watch), Look::Unchanged));
    }

    #[test]
    fn what_changed_while_it_was_read_does_not_count_be_it_new_or_known() {
        let folder = tempfile::tempdir().unwrap();
        let (known, new) = (folder.path().join("known"), folder.path().join("new"));
        for changing in [&known, &new] {
            fs::write(&known, "a").unwrap();
            fs::write(&new, "a").unwrap();
            let mut watch = watch(&[&known]);
            let read = watch.read(|snapshot| {
                lengths(snapshot, &[&known, &new]);
                fs::write(changing, "").unwrap();
            });
            assert!(matches!(read, Look::Changing));
            assert!(matches!(glance(&mut watch), Look::Changing));
            let Look::Changed { files, .. } = watch.look(|snapshot| lengths(snapshot, &[&known, &new]))
            else {
                panic!("it is over")
            };
            assert_eq!(files.len(), if changing == &new { 1 } else { 2 });
            assert!(matches!(glance(&mut watch), Look::Unchanged));
        }
    }

    #[test]
    fn a_file_that_could_not_be_read_is_read_again_after_two_looks_and_then_each_time_after_ten() {
        let folder = tempfile::tempdir().unwrap();
        let (policy, feed) = (folder.path().join("robots.txt"), folder.path().join("feed"));
        fs::write(&policy, "a").unwrap();
        fs::write(&feed, "a").unwrap();
        // The feed is read only if the policy could be, as with a document and the files that it names.
        let read = |snapshot: &Snapshot, fails: Option<Errno>| {
            let read = || fails.map_or_else(|| fs::read(&policy), |errno| Err(errno.into()));
            let length = snapshot.read(&policy, read).ok()?.len();
            Some(length + lengths(snapshot, &[&feed])[0])
        };
        let mut watch = Watch::default();
        watch.read(|snapshot| read(snapshot, None));
        fs::write(&policy, "ab").unwrap();
        assert!(matches!(glance(&mut watch), Look::Changing));
        let failed = watch.look(|snapshot| read(snapshot, Some(Errno::IO)));
        assert!(matches!(failed, Look::Changed { made: None, .. }), "it is not silent");
        let waits = |watch: &mut Watch, looks| {
            for look in 0..looks {
                assert!(matches!(glance(watch), Look::Waiting), "{look}");
            }
        };
        let both = vec![feed.clone(), policy.clone()];
        for looks in [1, Watch::PATIENCE] {
            waits(&mut watch, looks);
            let mut is_read = false;
            let failed = watch.look(|snapshot| {
                is_read = true;
                read(snapshot, Some(Errno::NOMEM))
            });
            assert!(matches!(failed, Look::Waiting), "it has been reported");
            assert!(is_read, "it waits for ever");
        }
        waits(&mut watch, Watch::PATIENCE);
        let Look::Changed { files, made } = watch.look(|snapshot| read(snapshot, None)) else {
            panic!("it can be read")
        };
        assert_eq!((files, made), (both.clone(), Some(3)), "with those that it names");
        // A change meanwhile is one like any other.
        watch.read(|snapshot| read(snapshot, Some(Errno::IO)));
        waits(&mut watch, 1);
        for content in ["", "abc", "ab"] {
            fs::write(&policy, content).unwrap();
            assert!(matches!(glance(&mut watch), Look::Changing), "{content}");
        }
        let Look::Changed { files, made } = watch.look(|snapshot| read(snapshot, None)) else {
            panic!("the change is over")
        };
        assert_eq!((files, made), (both, Some(3)));
        assert!(matches!(glance(&mut watch), Look::Unchanged));
        fs::write(&feed, "abc").unwrap();
        assert!(matches!(glance(&mut watch), Look::Changing), "the feed is watched again");
        // Other files are read as soon as they have changed.
        let failed = watch.look(|snapshot| {
            lengths(snapshot, &[&feed]).len() + usize::from(read(snapshot, Some(Errno::IO)).is_some())
        });
        assert!(matches!(failed, Look::Changed { made: 1, .. }));
        fs::write(&feed, "abcd").unwrap();
        assert!(matches!(glance(&mut watch), Look::Changing));
        let read_again = watch.look(|snapshot| read(snapshot, None));
        assert!(matches!(read_again, Look::Changed { made: Some(6), .. }));
        for lasting in [Errno::ACCESS, Errno::NOENT] {
            watch.read(|snapshot| read(snapshot, Some(lasting)));
            assert!(matches!(glance(&mut watch), Look::Unchanged), "it passes when the file changes");
        }
    }

    #[test]
    fn what_changes_while_it_is_first_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.txt");
        let mut watch = Watch::default();
        let read = watch.read(|snapshot| {
            snapshot.record(&path);
            fs::write(&path, "a").unwrap();
        });
        assert!(matches!(read, Look::Changing));
        assert!(matches!(glance(&mut watch), Look::Changing));
        assert!(matches!(watch.look(|snapshot| lengths(snapshot, &[&path])), Look::Changed { .. }));
    }
}
