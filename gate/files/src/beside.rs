//! The files beside a configuration document.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crawlpike_core::{EarlierGood, FeedFile, Files, FoundFile, GoodFeed, Source, TableReader};

use crate::error::{FileError, FileErrors};
use crate::policy;
use crate::read::{self, PagedFile, holds};
use crate::replace::replace_beside;
use crate::unfinished::remove_unfinished;
use crate::{Audience, now, read_table};

/// The suffix of the file with the last good version of a feed.
const LAST_GOOD: &str = ".last-good";

/// The suffix of the file with the version of a feed that was good before the changes of the last days.
const EARLIER_GOOD: &str = ".earlier-good";

/// The suffix of the file that says why a newer version of a feed is held.
const HELD: &str = ".held";

/// The characters of that reason that are kept.
const LONGEST_REASON: usize = 1024;

/// Returns true if a version that was kept at a time, in seconds since the Unix epoch, is the one before the changes of the last
/// days.
pub(crate) fn is_of_the_last_days(time: i64) -> bool {
    EarlierGood::counts(time, now())
}

/// The files beside a configuration document.
///
/// Policies are served to clients, so a symbolic link to one is followed only if it has the same owner as its target.
#[derive(Clone, Debug)]
pub struct FilesBeside {
    folder: PathBuf,
    accepted: Vec<String>,
    audience: Option<Audience>,
    /// True if large feeds are left in their files.
    pub(crate) is_paged: bool,
}

impl FilesBeside {
    /// Files relative to the folder of `document`.
    pub fn new(document: &Path) -> Self {
        let folder = document.parent().unwrap_or(Path::new("")).to_path_buf();
        Self { folder, accepted: Vec::new(), audience: None, is_paged: false }
    }

    /// Accepts the new versions of these feeds, even if their guards hold them.
    #[must_use]
    pub fn accepting(self, feeds: &[String]) -> Self {
        Self { accepted: feeds.to_vec(), ..self }
    }

    /// Reads large feeds piece by piece, which takes little memory and more time. The files must not be written to meanwhile;
    /// that they are replaced does no harm.
    #[must_use]
    pub fn in_pages(self) -> Self {
        Self { is_paged: true, ..self }
    }

    /// Refuses policies that this audience cannot read. For processes that may read more, such as nginx's master.
    #[must_use]
    pub fn readable_by(self, audience: Audience) -> Self {
        Self { audience: Some(audience), ..self }
    }

    /// As [`Self::readable_by`] everybody, if the process is root's, which may read everything.
    #[must_use]
    pub fn readable_by_everybody_if_root(self) -> Self {
        if rustix::process::geteuid().is_root() { self.readable_by(Audience::Everybody) } else { self }
    }

    /// Keeps [`Compiled::good_feeds`](crawlpike_core::Compiled::good_feeds), each beside its source.
    ///
    /// # Errors
    ///
    /// For each file that cannot be written; the others are kept.
    pub fn keep(&self, good_feeds: &[GoodFeed]) -> Result<(), FileErrors> {
        let keep = |good: &GoodFeed| self.keep_one(&good.path, &*good.bytes, good.is_accepted).err();
        FileErrors::check(good_feeds.iter().filter_map(keep).collect())
    }

    /// Keeps the good version of one feed beside its source. If it is the first change in some days, the version before is kept,
    /// too. Nothing that was good before counts beside a version that the operator accepted.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn keep_one<'a>(
        &self,
        path: &str,
        bytes: impl Into<Source<'a>>,
        is_accepted: bool,
    ) -> Result<(), FileError> {
        let bytes = bytes.into();
        let (source, last_good) = (self.path(path), self.last_good_path(path));
        if is_accepted || !holds(&last_good, bytes).unwrap_or(false) {
            let earlier = self.earlier_good_path(path);
            keep_earlier(&source, &last_good, &earlier, is_accepted)
                .map_err(|error| FileError::writing(earlier, error))?;
        }
        replace_beside(&source, &last_good, bytes).map_err(|error| FileError::writing(last_good, error))
    }

    /// The location of a file that the document names.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// The location of the last good version of a feed.
    pub(crate) fn last_good_path(&self, path: &str) -> PathBuf {
        self.path_with(path, LAST_GOOD)
    }

    /// The location of the version of a feed that was good before the changes of the last days.
    pub(crate) fn earlier_good_path(&self, path: &str) -> PathBuf {
        self.path_with(path, EARLIER_GOOD)
    }

    /// The location of the reason why a newer version of a feed is held.
    pub(crate) fn held_path(&self, path: &str) -> PathBuf {
        self.path_with(path, HELD)
    }

    /// Returns true if [`Self::note_held`] has nothing to do.
    pub fn is_held_noted(&self, path: &str, why: Option<&str>) -> bool {
        match self.note_for(path, why) {
            Some(why) => self.held(path) == Some(why),
            None => !self.held_path(path).exists(),
        }
    }

    /// Notes beside a feed that a newer version of it is held, for this reason, or that none is.
    ///
    /// # Errors
    ///
    /// If the file cannot be written or removed.
    pub fn note_held(&self, path: &str, why: Option<&str>) -> Result<(), FileError> {
        let note = self.held_path(path);
        let noted = match self.note_for(path, why) {
            Some(why) => replace_beside(&self.path(path), &note, Source::Bytes(why.as_bytes())),
            None => fs::remove_file(&note),
        };
        match noted {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::writing(note, error)),
            _ => Ok(()),
        }
    }

    /// The text of a note. A feed without a file needs none.
    fn note_for(&self, path: &str, why: Option<&str>) -> Option<String> {
        why.filter(|_| self.path(path).exists()).and_then(reason)
    }

    fn path_with(&self, path: &str, suffix: &str) -> PathBuf {
        let mut name = OsString::from(self.path(path));
        name.push(suffix);
        name.into()
    }

    /// Removes the files that killed processes have left while they replaced these files, or what is kept of them.
    pub fn remove_unfinished<'p>(&self, paths: impl IntoIterator<Item = &'p str>) {
        let all = |path| {
            [self.path(path), self.last_good_path(path), self.earlier_good_path(path), self.held_path(path)]
        };
        remove_unfinished(paths.into_iter().flat_map(all));
    }

    /// A file that the document names.
    pub(crate) fn find(&self, path: &str) -> io::Result<FoundFile> {
        read::find(&self.path(path))
    }

    /// A policy, if it may be served to clients.
    pub(crate) fn find_policy(&self, path: &str) -> io::Result<FoundFile> {
        read::found(policy::open(&self.folder, Path::new(path), self.audience.as_ref())?)
    }

    pub(crate) fn read_last_good(&self, path: &str) -> io::Result<FoundFile> {
        read::find(&self.last_good_path(path))
    }

    /// When the changes of the last days began; `None` if there were none.
    pub(crate) fn earlier_good_since(&self, path: &str) -> Option<i64> {
        modified(&self.earlier_good_path(path)).filter(|since| is_of_the_last_days(*since))
    }

    /// The last good version of a feed.
    pub(crate) fn find_last_good(&self, path: &str) -> io::Result<FeedFile> {
        self.find_version(&self.last_good_path(path))
    }

    /// The version before the changes of the last days, if there were any.
    pub(crate) fn find_earlier_good(&self, path: &str) -> io::Result<FeedFile> {
        self.earlier_good_since(path).ok_or(io::ErrorKind::NotFound)?;
        self.find_version(&self.earlier_good_path(path))
    }

    /// A version of a feed, by its file.
    pub(crate) fn find_version(&self, file: &Path) -> io::Result<FeedFile> {
        if self.is_paged { read::find_feed(file) } else { read::find(file).map(FeedFile::from) }
    }
}

/// Keeps the last good version as the one before the changes of the last days, if such changes begin now; keeps none if the
/// next good version has none before it.
fn keep_earlier(source: &Path, last_good: &Path, earlier: &Path, is_accepted: bool) -> io::Result<()> {
    let before = PagedFile::open(last_good).ok();
    match (EarlierGood::next(before.is_some(), is_accepted, modified(earlier), now()), before) {
        (EarlierGood::Stays, _) => Ok(()),
        (EarlierGood::Begins, Some(before)) => replace_beside(source, earlier, Source::Pages(&before)),
        (EarlierGood::Begins, None) | (EarlierGood::Ends, _) => match fs::remove_file(earlier) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// The part of a reason that counts: its first line, up to [`LONGEST_REASON`].
fn reason(text: &str) -> Option<String> {
    Some(text.lines().next()?.chars().take(LONGEST_REASON).collect())
}

/// The modification of a file, in seconds since the Unix epoch.
fn modified(path: &Path) -> Option<i64> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok().map(crate::seconds)
}

/// A file that may be missing.
pub(crate) fn if_there<F>(file: io::Result<F>) -> Result<Option<F>, String> {
    match file {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(why_unreadable(&error)),
    }
}

/// The reason why a file cannot be read: if it is a matter of rights, with the user who lacks them.
pub fn why_unreadable(error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return error.to_string();
    }
    let uid = rustix::process::geteuid().as_raw();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    let user = name.map_or_else(|| format!("with the id {uid}"), |name| format!("`{name}`"));
    format!("{error}; let the user {user} read it and enter its folders, or run this as another user")
}

impl Files for FilesBeside {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        if_there(self.find(path))
    }

    fn read_feed(&self, path: &str) -> Result<Option<FeedFile>, String> {
        if_there(self.find_version(&self.path(path)))
    }

    fn read_policy(&self, path: &str) -> Result<Option<FoundFile>, String> {
        if_there(self.find_policy(path))
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.read_last_good(path).ok()
    }

    fn last_good_feed(&self, path: &str) -> Option<FeedFile> {
        self.find_last_good(path).ok()
    }

    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        self.find_earlier_good(path).ok()
    }

    fn held(&self, path: &str) -> Option<String> {
        let note = self.held_path(path);
        // A file that somebody has put there since is another version.
        modified(&note).filter(|since| modified(&self.path(path)).is_some_and(|source| source <= *since))?;
        reason(&String::from_utf8(read::read_file(&note).ok()?).ok()?)
    }

    fn table_reader(&self) -> Option<TableReader> {
        Some(read_table)
    }

    fn accepts(&self, feed: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted == feed)
    }

    fn display_name(&self, path: &str) -> String {
        self.path(path).display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn who_may_not_read_a_file_is_named() {
        let said = why_unreadable(&io::Error::from(io::ErrorKind::PermissionDenied));
        let uid = rustix::process::geteuid();
        let user = if uid.is_root() { "the user `root` ".to_owned() } else { "the user ".to_owned() };
        assert!(said.contains(&user) && said.contains("read it and enter its folders"), "{said}");
        assert_eq!(why_unreadable(&io::Error::other("torn")), "torn");
    }

    #[test]
    fn a_version_that_cannot_be_kept_keeps_no_other_from_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a.last-good")).unwrap();
        let feeds = ["a", "b"].map(|name| {
            fs::write(folder.path().join(name), "192.0.2.0/24\n").unwrap();
            GoodFeed { path: name.to_owned(), bytes: b"192.0.2.0/24\n".to_vec(), is_accepted: false }
        });
        let errors = FilesBeside::new(&folder.path().join("crawlpike.json")).keep(&feeds).unwrap_err();
        let [error] = errors.errors() else { panic!("{errors}") };
        assert_eq!(error.path(), folder.path().join("a.last-good"));
        assert!(errors.to_string().ends_with("/a.last-good: not a regular file"), "{errors}");
        assert_eq!(fs::read(folder.path().join("b.last-good")).unwrap(), b"192.0.2.0/24\n");
    }

    #[test]
    fn a_long_reason_is_new_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = FilesBeside::new(&folder.path().join("crawlpike.json"));
        fs::write(folder.path().join("a"), "").unwrap();
        let why = "x".repeat(2 * LONGEST_REASON);
        for why in [Some(&*why), None] {
            assert!(!files.is_held_noted("a", why));
            files.note_held("a", why).unwrap();
            assert!(files.is_held_noted("a", why));
        }
    }

    #[test]
    fn the_version_before_the_changes_of_the_last_days_is_kept_beside_the_last_good_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = FilesBeside::new(&folder.path().join("crawlpike.json"));
        fs::write(folder.path().join("a"), "").unwrap();
        let keep = |text: &str, is_accepted| files.keep_one("a", text.as_bytes(), is_accepted).unwrap();
        let read = |suffix: &str| fs::read_to_string(folder.path().join(format!("a{suffix}"))).ok();
        let age = |days: u64| {
            let file = fs::File::open(folder.path().join("a.earlier-good")).unwrap();
            let by = std::time::Duration::from_secs(days * 24 * 60 * 60);
            file.set_modified(std::time::SystemTime::now() - by).unwrap();
        };
        for (version, earlier) in [("1", None), ("2", Some("1")), ("3", Some("1")), ("3", Some("1"))] {
            keep(version, false);
            assert_eq!(
                (read(".last-good").as_deref(), read(".earlier-good").as_deref()),
                (Some(version), earlier)
            );
        }
        assert!(files.earlier_good_feed("a").is_some());
        age(3);
        assert!(files.earlier_good_feed("a").is_none(), "it is of some days ago");
        keep("3", false);
        assert_eq!(read(".earlier-good").as_deref(), Some("1"), "nothing is new");
        keep("4", false);
        assert_eq!(read(".earlier-good").as_deref(), Some("3"));
        keep("5", false);
        assert_eq!(read(".earlier-good").as_deref(), Some("3"));
        keep("5", true);
        assert_eq!((read(".last-good").as_deref(), read(".earlier-good")), (Some("5"), None), "accepted");
        keep("6", false);
        fs::remove_file(folder.path().join("a.last-good")).unwrap();
        keep("7", false);
        assert_eq!(read(".earlier-good"), None, "the operator begins anew");
    }
}
