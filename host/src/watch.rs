//! When a change of files is over.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::seen::Seen;

/// What has become of files since they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They are as they were.
    None,
    /// They are not, and the last two looks saw different things: somebody may be writing.
    UnderWay,
    /// They are not, and the last two looks saw the same.
    Over,
}

/// Looks at the files that were read, and tells when they are to be read again.
///
/// A file that is written in place is empty at first, and then cut for a while. A feed's guard would hold that, but half a
/// robots.txt is a robots.txt: so a change counts when it is over, and what was read while a file changed does not count.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The files, as they were when they were read.
    read: Seen,
    /// As they were at the last look.
    last: Seen,
}

impl Watch {
    /// The time between two looks after which a change is taken to be over.
    pub const MOMENT: Duration = Duration::from_secs(1);

    /// Looks at the files that were read.
    pub fn new(read: Seen) -> Self {
        Self { last: read.clone(), read }
    }

    /// Looks once.
    pub fn look(&mut self) -> Change {
        let now = self.read.now();
        let before = std::mem::replace(&mut self.last, now);
        match self.last == self.read {
            true => Change::None,
            false if self.last == before => Change::Over,
            false => Change::UnderWay,
        }
    }

    /// The files that had changed at the last look.
    pub fn changed(&self) -> Vec<PathBuf> {
        self.read.differing_from(&self.last)
    }

    /// Takes what was read since the last look, each file having been noted just before. `false`: a file changed
    /// meanwhile, and what was read is not to be used; the change is then under way.
    #[must_use]
    pub fn take(&mut self, seen: Seen) -> bool {
        let is_settled = seen.now() == seen && self.last.agrees_with(&seen);
        if is_settled {
            *self = Self::new(seen);
        } else {
            self.read.add_as_unread(&seen);
            self.last = Seen::default();
        }
        is_settled
    }

    /// The files as they were when they were read.
    pub(crate) fn read(&self) -> &Seen {
        &self.read
    }

    /// To be called after a file was written, where that is to be no change.
    pub(crate) fn note_again(&self, path: &Path) {
        self.read.note_again(path);
        self.last.note_again(path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn noted(paths: &[&Path]) -> Seen {
        let seen = Seen::default();
        paths.iter().for_each(|path| seen.note(path));
        seen
    }

    #[test]
    fn a_change_is_over_when_two_looks_in_a_row_saw_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.txt");
        let write = |content: &str| fs::write(&path, content).unwrap();
        write("Disallow: /\n");
        let mut watch = Watch::new(noted(&[&path]));
        assert_eq!(watch.look(), Change::None);
        for content in ["", "D", "Disallow: ", "Disallow: /private\n"] {
            write(content);
            assert_eq!(watch.look(), Change::UnderWay, "{content}");
            assert_eq!(watch.changed(), std::slice::from_ref(&path));
        }
        assert_eq!(watch.look(), Change::Over);
        assert_eq!(watch.look(), Change::Over, "as long as nobody reads it");
        assert!(watch.take(noted(&[&path])));
        assert_eq!((watch.look(), watch.changed()), (Change::None, vec![]));
    }

    #[test]
    fn what_changed_between_the_look_and_the_reading_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.txt");
        fs::write(&path, "a").unwrap();
        let mut watch = Watch::new(noted(&[&path]));
        fs::write(&path, "ab").unwrap();
        assert_eq!([watch.look(), watch.look()], [Change::UnderWay, Change::Over]);
        fs::write(&path, "").unwrap();
        assert!(!watch.take(noted(&[&path])));
        assert_eq!([watch.look(), watch.look()], [Change::UnderWay, Change::Over]);
        assert!(watch.take(noted(&[&path])));
        assert_eq!(watch.look(), Change::None);
    }

    #[test]
    fn what_changed_while_it_was_read_does_not_count_be_it_new_or_known() {
        let folder = tempfile::tempdir().unwrap();
        let (known, new) = (folder.path().join("known"), folder.path().join("new"));
        for changing in [&known, &new] {
            fs::write(&known, "a").unwrap();
            fs::write(&new, "a").unwrap();
            let mut watch = Watch::new(noted(&[&known]));
            let seen = noted(&[&known, &new]);
            fs::write(changing, "").unwrap();
            assert!(!watch.take(seen));
            assert_eq!([watch.look(), watch.look()], [Change::UnderWay, Change::Over]);
            assert_eq!(watch.changed().len(), if changing == &new { 1 } else { 2 });
            assert!(watch.take(noted(&[&known, &new])));
            assert_eq!(watch.look(), Change::None);
        }
    }

    #[test]
    fn what_was_never_looked_at_is_looked_at_when_it_changed_while_it_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.txt");
        let seen = noted(&[&path]);
        fs::write(&path, "a").unwrap();
        let mut watch = Watch::default();
        assert!(!watch.take(seen));
        assert_eq!([watch.look(), watch.look()], [Change::UnderWay, Change::Over]);
    }
}
