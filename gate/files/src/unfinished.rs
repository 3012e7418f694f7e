//! Files that are being written, beside those that they replace. A process that is killed leaves its own behind. Each is locked
//! while it is written, and the kernel opens the lock of whoever is gone, so the next one knows which it can remove.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use tempfile::NamedTempFile;

/// The ending of a file that is not finished yet.
const UNFINISHED: &str = ".tmp";

/// The number of random characters before it.
const RANDOM: usize = 6;

/// The age at which a file counts as left behind where files cannot be locked.
const HOUR: Duration = Duration::from_secs(3600);

/// Creates a file beside the one that it will replace, and removes those that were left behind there.
pub(crate) fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    remove_unfinished([path.to_path_buf()]);
    let mut prefix = OsString::from(name);
    prefix.push(".");
    tempfile::Builder::new()
        .prefix(&prefix)
        .rand_bytes(RANDOM)
        .suffix(UNFINISHED)
        .make_in(folder_of(path), create_locked)
}

/// Creates a file with a lock on it. If somebody else was faster and removes the file as one that was left behind, another
/// name is tried.
fn create_locked(path: &Path) -> io::Result<File> {
    // Less what the umask takes away. nginx's master, which is root, has no umask when it reloads.
    let file = File::options().write(true).create_new(true).mode(0o644).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(io::ErrorKind::AlreadyExists.into()),
        Ok(()) if file.metadata()?.nlink() == 0 => Err(io::ErrorKind::AlreadyExists.into()),
        // A file system without locks has the age of the file.
        Ok(()) | Err(_) => Ok(file),
    }
}

/// Removes the files that killed processes have left while they replaced these files. Files that cannot be removed do no harm.
pub(crate) fn remove_unfinished(paths: impl IntoIterator<Item = PathBuf>) {
    let mut folders: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
    for path in paths {
        let Some(name) = path.file_name() else { continue };
        folders.entry(folder_of(&path).to_path_buf()).or_default().insert(name.to_owned());
    }
    for (folder, names) in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_ours = replaced_by(&entry.file_name()).is_some_and(|name| names.contains(name));
            if is_ours {
                let _ = remove_if_left(&entry.path());
            }
        }
    }
}

/// The name of the file that one of this name would replace.
fn replaced_by(name: &OsStr) -> Option<&OsStr> {
    let rest = name.as_bytes().strip_suffix(UNFINISHED.as_bytes())?;
    let (rest, random) = rest.split_at_checked(rest.len().checked_sub(RANDOM)?)?;
    let name = rest.strip_suffix(b".").filter(|_| random.iter().all(u8::is_ascii_alphanumeric))?;
    Some(OsStr::from_bytes(name))
}

fn remove_if_left(path: &Path) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let metadata = file.metadata()?;
    let is_left = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => true,
        Err(Errno::WOULDBLOCK) => false,
        Err(_) => metadata.modified()?.elapsed().is_ok_and(|age| age > HOUR),
    };
    // The lock is held until the file is gone, so nobody begins to write it meanwhile.
    if is_left && metadata.is_file() { fs::remove_file(path) } else { Ok(()) }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_never_finished_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let others = [
            "feed",
            "feed.tmp",
            "feed.last-good.aB3dE6.tmp",
            "feed.aB3dE67.tmp",
            "my.feed.aB3dE6.tmp",
            ".tmp",
        ];
        others.iter().for_each(|name| fs::write(path(name), "").unwrap());
        fs::write(path("feed.aB3dE6.tmp"), "half of").unwrap();
        let written = create_beside(&path("feed")).unwrap();
        assert!(!path("feed.aB3dE6.tmp").exists());
        // Somebody is still writing this one.
        remove_unfinished([path("feed"), path("no/where")]);
        assert!(written.path().exists() && others.iter().all(|name| path(name).exists()));
        // A process that is killed closes its files, and removes nothing.
        let (file, left) = written.keep().unwrap();
        drop(file);
        remove_unfinished([path("feed")]);
        assert!(!left.exists());
    }

    #[test]
    fn those_who_clean_up_disturb_nobody_who_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("feed");
        std::thread::scope(|scope| {
            let writers = [(); 2].map(|()| {
                scope.spawn(|| (0..300).for_each(|_| _ = create_beside(path).unwrap().persist(path).unwrap()))
            });
            while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                remove_unfinished([path.clone()]);
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
