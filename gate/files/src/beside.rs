//! The files beside a configuration document.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crawlpike_core::{FeedFile, Files, FoundFile, Source};

use crate::error::{FileError, FileErrors};
use crate::policy::{self, PolicyError};
use crate::replace::{remove_unfinished, replace_beside};
use crate::{Audience, read};

/// The suffix of the file with the last good version of a feed.
const LAST_GOOD: &str = ".last-good";

/// The files beside a configuration document.
///
/// Policies are served to clients, so a symbolic link to one is followed only if it has the same owner as its target.
#[derive(Clone, Debug)]
pub struct FilesBeside {
    folder: PathBuf,
    accepted: Vec<String>,
    audience: Option<Audience>,
    /// True if large feeds are left in their files.
    is_paged: bool,
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
    pub fn keep(&self, good_feeds: &[(String, Vec<u8>)]) -> Result<(), FileErrors> {
        let keep = |(path, bytes): &(String, Vec<u8>)| self.keep_one(path, &**bytes).err();
        FileErrors::check(good_feeds.iter().filter_map(keep).collect())
    }

    /// Keeps the good version of one feed beside its source.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn keep_one<'a>(&self, path: &str, bytes: impl Into<Source<'a>>) -> Result<(), FileError> {
        let (source, path) = (self.path(path), self.last_good_path(path));
        replace_beside(&source, &path, bytes.into()).map_err(|error| FileError::writing(path, error))
    }

    /// The location of a file that the document names.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// The location of the last good version of a feed.
    pub(crate) fn last_good_path(&self, path: &str) -> PathBuf {
        let mut name = OsString::from(self.path(path));
        name.push(LAST_GOOD);
        name.into()
    }

    /// Removes the files that killed processes have left while they replaced a feed, or its last good version.
    pub fn remove_unfinished(&self, path: &str) {
        remove_unfinished(&self.path(path));
        remove_unfinished(&self.last_good_path(path));
    }

    pub(crate) fn read_last_good(&self, path: &str) -> io::Result<FoundFile> {
        read::find(&self.last_good_path(path))
    }
}

/// A file that may be missing.
fn if_there<F>(file: io::Result<F>) -> Result<Option<F>, String> {
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
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
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
        if_there(read::find(&self.path(path)))
    }

    fn read_feed(&self, path: &str) -> Result<Option<FeedFile>, String> {
        if !self.is_paged {
            return Ok(self.read(path)?.map(FeedFile::from));
        }
        if_there(read::find_feed(&self.path(path)))
    }

    fn read_policy(&self, path: &str) -> Result<Option<FoundFile>, String> {
        let opened = policy::open(&self.folder, Path::new(path), self.audience.as_ref());
        match opened.and_then(|file| Ok(read::found(file)?)) {
            Ok(file) => Ok(Some(file)),
            Err(PolicyError::System(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(PolicyError::System(error)) => Err(why_unreadable(&error)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.read_last_good(path).ok()
    }

    fn last_good_feed(&self, path: &str) -> Option<FeedFile> {
        match self.is_paged {
            true => read::find_feed(&self.last_good_path(path)).ok(),
            false => self.last_good(path).map(FeedFile::from),
        }
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
            (name.to_owned(), b"192.0.2.0/24\n".to_vec())
        });
        let errors = FilesBeside::new(&folder.path().join("crawlpike.json")).keep(&feeds).unwrap_err();
        let [error] = errors.errors() else { panic!("{errors}") };
        assert_eq!(error.path(), folder.path().join("a.last-good"));
        assert!(errors.to_string().ends_with("/a.last-good: not a regular file"), "{errors}");
        assert_eq!(fs::read(folder.path().join("b.last-good")).unwrap(), b"192.0.2.0/24\n");
    }
}
