//! What the hosts of `crawlward-core` that have a file system share: nginx and the command line.

mod origin;
mod seen;
mod watch;

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crawlward_core::{Compiled, Files, FoundFile, Ruleset, is_stored};
use zerocopy::IntoBytes;

pub use origin::Origin;
pub use seen::Seen;
pub use watch::{Change, Watch};

/// The largest file that is read, in bytes: over it, a path is more likely a mistake than a feed.
pub const LARGEST_FILE: u64 = 1 << 30;

/// What is added to the name of a feed's file for that of its last good version.
const LAST_GOOD: &str = ".last-good";

/// The files beside a configuration document.
#[derive(Clone, Debug)]
pub struct FilesBeside {
    folder: PathBuf,
    accepted: Vec<String>,
}

impl FilesBeside {
    /// Files relative to the folder of `document`.
    pub fn new(document: &Path) -> Self {
        Self { folder: document.parent().map(Path::to_path_buf).unwrap_or_default(), accepted: Vec::new() }
    }

    /// Lets the new versions of these feeds in, whatever their guards say.
    #[must_use]
    pub fn accepting(self, feeds: &[String]) -> Self {
        Self { accepted: feeds.to_vec(), ..self }
    }

    /// Keeps [`Compiled::good_feeds`], each beside its source.
    ///
    /// # Errors
    ///
    /// Those of the file system, with the files' names; the other files are kept.
    pub fn keep(&self, good_feeds: &[(String, Vec<u8>)]) -> Result<(), String> {
        let failures = good_feeds.iter().filter_map(|(path, bytes)| {
            let (source, path) = (self.path(path), self.last_good_path(path));
            // Whoever may read the source may read this, the user of nginx's workers among them, and nobody else.
            let error = replace_with(&path, bytes, |file| permit_as(file, &source)).err()?;
            Some(format!("{} can't be written: {error}", path.display()))
        });
        match failures.collect::<Vec<_>>() {
            none if none.is_empty() => Ok(()),
            some => Err(some.join("; ")),
        }
    }

    /// Where the file that a document calls `path` is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Where the last good version of the feed at `path` is kept.
    pub fn last_good_path(&self, path: &str) -> PathBuf {
        let mut name = OsString::from(self.path(path));
        name.push(LAST_GOOD);
        name.into()
    }

    fn find_last_good(&self, path: &str) -> io::Result<FoundFile> {
        found(&self.last_good_path(path))
    }
}

impl Files for FilesBeside {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        match found(&self.path(path)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.find_last_good(path).ok()
    }

    fn accepts(&self, feed: &str) -> bool {
        self.accepted.iter().any(|accepted| accepted == feed)
    }

    fn display_name(&self, path: &str) -> String {
        self.path(path).display().to_string()
    }
}

fn found(path: &Path) -> io::Result<FoundFile> {
    let (bytes, metadata) = read_with_metadata(path)?;
    Ok(FoundFile { bytes, modified: metadata.modified().ok().map(seconds) })
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .unwrap_or_default()
}

/// The time, in seconds since the Unix epoch.
pub fn now() -> i64 {
    seconds(SystemTime::now())
}

/// Reads a regular file of at most [`LARGEST_FILE`] bytes, whole.
///
/// # Errors
///
/// Those of the file system; a folder, a device, a larger file and one that is being written are errors, too.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_with_metadata(path).map(|(bytes, _)| bytes)
}

fn read_with_metadata(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let mut file = open_regular(path)?;
    let before = file.metadata()?;
    let mut bytes = Vec::new();
    // The limit holds for a file that grows while it is read, too.
    Read::by_ref(&mut file).take(LARGEST_FILE).read_to_end(&mut bytes)?;
    let after = file.metadata()?;
    if (before.len(), before.modified().ok()) != (after.len(), after.modified().ok()) {
        return Err(io::Error::other(
            "written to while it was read: replace files in one step, as `mv` does",
        ));
    }
    Ok((bytes, after))
}

fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    // Without it, a pipe would be waited for until somebody writes to it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(io::Error::other(format!("over {LARGEST_FILE} bytes")));
    }
    Ok(file)
}

/// Replaces a file in one step: whoever reads it sees the old one or the new one, whole.
///
/// # Errors
///
/// Those of the file system; then the old file is as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, bytes, |_| Ok(()))
}

/// Replaces a file by one that was prepared while it was empty.
fn replace_with(path: &Path, bytes: &[u8], prepare: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    // Its own name for each: processes that share a folder can have the same id, in two containers.
    name.push(format!(".{:016x}.tmp", RandomState::new().hash_one(())));
    let unfinished = path.with_file_name(name);
    let written = create(&unfinished)
        .and_then(|mut file| {
            prepare(&file)?;
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // What can't be removed, either, is no worse than the error that is reported.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// A new file that its owner alone can write: nginx's master, which is root, has no umask when it reloads. A link that
/// somebody else laid there is not followed.
fn create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options.open(path)
}

/// Lets those read a file of ours who may read another one, whatever the umask.
#[cfg(unix)]
fn permit_as(file: &File, other: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let other = fs::metadata(other)?;
    let is_of_group = rustix::fs::fchown(file, None, Some(rustix::fs::Gid::from_raw(other.gid()))).is_ok();
    let readers = if is_of_group { 0o044 } else { 0o004 };
    file.set_permissions(fs::Permissions::from_mode(0o600 | (other.mode() & readers)))
}
#[cfg(not(unix))]
fn permit_as(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Compiles the configuration document at `path`, or loads the compiled ruleset there, and tells which of its feeds
/// are stale by now.
///
/// # Errors
///
/// Where the file itself can't be read; all else is in the diagnostics.
pub fn compile(path: &Path, files: &dyn Files) -> io::Result<Compiled> {
    let name = path.display().to_string();
    let mut compiled = match document(path)? {
        Some(document) => Ruleset::compile(&name, &document, files),
        None => Compiled::load(&name, words(path)?),
    };
    compiled.warn_of_stale_feeds(&name, now());
    Ok(compiled)
}

/// The configuration document at `path`; `None` where a compiled ruleset is there.
fn document(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = open_regular(path)?;
    let mut start = [0; 4];
    let length = Read::by_ref(&mut file).take(4).read(&mut start)?;
    let is_stored = length == start.len() && is_stored(&start);
    if is_stored { Ok(None) } else { read_file(path).map(Some) }
}

/// A file of whole words, read into place. What is left over of a file that was cut is dropped; the length that the
/// file's header gives tells.
fn words(path: &Path) -> io::Result<Vec<u32>> {
    let mut file = open_regular(path)?;
    let count = usize::try_from(file.metadata()?.len() / 4).map_err(io::Error::other)?;
    let mut words = vec![0_u32; count];
    file.read_exact(words.as_mut_bytes())?;
    Ok(words)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Mutex;
    use std::thread;

    use rustix::fs::Mode;
    use rustix::process::umask;

    use super::*;

    /// It is that of the whole process.
    fn under_umask<T>(mask: u32, run: impl FnOnce() -> T) -> T {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap();
        let before = umask(Mode::from_bits_retain(mask));
        let result = run();
        umask(before);
        result
    }

    #[test]
    fn a_version_that_is_kept_can_be_read_by_those_who_can_read_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let files = FilesBeside::new(&folder.path().join("crawlward.json"));
        let source = folder.path().join("lab.txt");
        fs::write(&source, "192.0.2.0/24\n").unwrap();
        for (mode, expected) in [(0o644, 0o644), (0o640, 0o640), (0o600, 0o600), (0o755, 0o644)] {
            fs::set_permissions(&source, fs::Permissions::from_mode(mode)).unwrap();
            // As in a service that is hardened.
            under_umask(0o077, || files.keep(&[("lab.txt".to_owned(), b"192.0.2.0/24\n".to_vec())])).unwrap();
            let made = fs::metadata(folder.path().join("lab.txt.last-good")).unwrap().permissions().mode();
            assert_eq!(made & 0o777, expected, "{mode:o}");
        }
    }

    #[test]
    fn a_version_that_cannot_be_kept_keeps_no_other_from_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a.last-good")).unwrap();
        let feeds = ["a", "b"].map(|name| {
            fs::write(folder.path().join(name), "192.0.2.0/24\n").unwrap();
            (name.to_owned(), b"192.0.2.0/24\n".to_vec())
        });
        let why = FilesBeside::new(&folder.path().join("crawlward.json")).keep(&feeds).unwrap_err();
        assert!(why.contains("a.last-good can't be written: "), "{why}");
        assert_eq!(fs::read(folder.path().join("b.last-good")).unwrap(), b"192.0.2.0/24\n");
    }

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn only_the_owner_can_write_what_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feed");
        // As in a daemon, nginx's being one.
        under_umask(0, || replace(&path, b"ours")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ours");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(names(folder.path()), ["feed"]);
    }

    #[test]
    fn those_who_replace_a_file_at_once_do_not_disturb_each_other() {
        const LENGTH: usize = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("feed");
        replace(path, &[0; LENGTH]).unwrap();
        // Threads have the same process id, as processes of two containers can have.
        thread::scope(|scope| {
            for content in 1..=3 {
                scope.spawn(move || (0..20).for_each(|_| replace(path, &[content; LENGTH]).unwrap()));
            }
            for _ in 0..100 {
                let bytes = fs::read(path).unwrap();
                let first = bytes[0];
                assert!(bytes.len() == LENGTH && bytes.iter().all(|byte| *byte == first));
            }
        });
        assert_eq!(names(folder.path()), ["feed"]);
    }
}
