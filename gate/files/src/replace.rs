//! Files that are replaced in one step: whoever reads one sees the old one or the new one, whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::SystemTime;

use crawlpike_core::Source;
use rustix::fs::{Gid, Uid, fchown};
use rustix::process::geteuid;

use crate::audience::{Permissions, Readers};
use crate::read::holds;
use crate::unfinished::create_beside;

/// The outcome of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// It has this content already, and is left as it is.
    Unchanged,
    /// It was written.
    Written {
        /// True if fewer users may read it than could if none of the files that it is made of were private.
        is_restricted: bool,
    },
}

/// Writes a file, unless it has this content already; one that is there is replaced in one step.
///
/// Only `readers` may read it. Apart from that it keeps its owner, its group and its mode, as far as the process may set
/// them; a new file is readable as the umask says, and writable by its owner alone.
///
/// # Errors
///
/// Those of the file system; then the old file is as it was.
pub fn replace<'a>(path: &Path, bytes: impl Into<Source<'a>>, readers: Readers) -> io::Result<Replaced> {
    let bytes = bytes.into();
    let present = present(path)?;
    let is_for_readers = |Permissions { uid, gid, mode }: Permissions| {
        let has_owner = readers.admit_owner(uid) || uid == geteuid().as_raw();
        has_owner && readers.restrict(gid, mode) == mode & 0o777
    };
    if present.is_some_and(is_for_readers) && holds(path, bytes).unwrap_or(false) {
        return Ok(Replaced::Unchanged);
    }
    let mut is_restricted = false;
    write_whole(path, bytes, |file| {
        let own = Permissions::from(&file.metadata()?);
        let like = present.unwrap_or(own);
        let gid = readers.gid().unwrap_or(like.gid);
        let uid = if readers.admit_owner(like.uid) { like.uid } else { own.uid };
        let mode = readers.restrict(gid, like.mode);
        is_restricted = mode != like.mode & 0o777;
        permit(file, Permissions { uid, gid, mode })
    })?;
    Ok(Replaced::Written { is_restricted })
}

/// Sets the modification of a file to `now`: its content is known to be current, and feeds age from then on.
///
/// # Errors
///
/// Those of the file system, such as that the file is somebody else's.
pub fn renew(path: &Path, now: SystemTime) -> io::Result<()> {
    File::open(path)?.set_modified(now)
}

/// Writes a file that those may read who may read `source`, the user of nginx's workers among them, and nobody else.
pub(crate) fn replace_beside(source: &Path, path: &Path, bytes: Source<'_>) -> io::Result<()> {
    present(path)?;
    write_whole(path, bytes, |file| {
        let (source, own) = (fs::metadata(source)?, file.metadata()?);
        let mode = 0o600 | (source.mode() & 0o044);
        permit(file, Permissions { uid: own.uid(), gid: source.gid(), mode })
    })
}

/// The permissions of a file that can be replaced.
fn present(path: &Path) -> io::Result<Option<Permissions>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(Some((&metadata).into())),
        Ok(_) => Err(io::Error::other("not a regular file")),
        Err(_) => Ok(None),
    }
}

/// Writes a file beside the one that it replaces; `prepare` is called while it is still empty.
fn write_whole(
    path: &Path,
    bytes: Source<'_>,
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let unfinished = create_beside(path)?;
    let mut file = unfinished.as_file();
    prepare(file)?;
    bytes.each_page(|page| file.write_all(page).map_err(WriteError::Write)).map_err(WriteError::into_io)?;
    file.sync_all()?;
    unfinished.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The reason why bytes are not copied.
enum WriteError {
    Read(String),
    Write(io::Error),
}

impl From<String> for WriteError {
    fn from(error: String) -> Self {
        Self::Read(error)
    }
}

impl WriteError {
    fn into_io(self) -> io::Error {
        match self {
            Self::Read(error) => io::Error::other(error),
            Self::Write(error) => error,
        }
    }
}

/// Sets the owner, the group and the mode of a file, independent of the umask. If the group cannot be set, the group of the
/// process gets no rights. If the owner cannot be set, the file stays ours.
fn permit(file: &File, Permissions { uid, gid, mode }: Permissions) -> io::Result<()> {
    let has_group = fchown(file, None, Some(Gid::from_raw(gid))).is_ok();
    let mode = if has_group { mode & 0o777 } else { mode & 0o707 };
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    // Last: afterwards the file may be somebody else's.
    let _ = fchown(file, Some(Uid::from_raw(uid)), None);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;

    use rustix::fs::Mode;
    use rustix::process::umask;

    use super::*;

    /// The umask of the whole process, as long as the value lives.
    struct Umask {
        before: Mode,
        _alone: MutexGuard<'static, ()>,
    }

    impl Umask {
        fn set(mask: u32) -> Self {
            static ALONE: Mutex<()> = Mutex::new(());
            let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
            Self { before: umask(Mode::from_bits_retain(mask)), _alone: alone }
        }
    }

    impl Drop for Umask {
        fn drop(&mut self) {
            umask(self.before);
        }
    }

    fn names(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn written(is_restricted: bool) -> Replaced {
        Replaced::Written { is_restricted }
    }

    #[test]
    fn a_version_that_is_kept_can_be_read_by_those_who_can_read_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let [source, kept] = ["lab.txt", "lab.txt.last-good"].map(|name| folder.path().join(name));
        fs::write(&source, "192.0.2.0/24\n").unwrap();
        for (of_source, expected) in [(0o644, 0o644), (0o640, 0o640), (0o600, 0o600), (0o755, 0o644)] {
            set_mode(&source, of_source);
            // As in a service that is hardened.
            let umask = Umask::set(0o077);
            replace_beside(&source, &kept, b"192.0.2.0/24\n".into()).unwrap();
            drop(umask);
            assert_eq!(mode(&kept), expected, "{of_source:o}");
        }
    }

    #[test]
    fn a_new_file_is_readable_as_the_umask_says_and_only_its_owner_can_write_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feed");
        // Without a umask as in a daemon, nginx's being one.
        for (mask, expected) in [(0, 0o644), (0o022, 0o644), (0o027, 0o640), (0o077, 0o600)] {
            let umask = Umask::set(mask);
            assert_eq!(replace(&path, b"ours", Readers::EVERYBODY).unwrap(), written(false));
            drop(umask);
            assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"ours".to_vec(), expected));
            assert_eq!(names(folder.path()), ["feed"]);
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_file_keeps_its_owner_group_and_mode_and_is_left_alone_where_it_is_right() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let state = || {
            let metadata = fs::metadata(&path).unwrap();
            (metadata.ino(), metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
        };
        fs::write(&path, "old").unwrap();
        set_mode(&path, 0o660);
        // Only root can give files away.
        if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(7), Some(8)).unwrap();
        }
        let (inode, uid, gid, mode) = state();
        assert_eq!(replace(&path, b"new", Readers::EVERYBODY).unwrap(), written(false));
        let after = state();
        assert!(after.0 != inode && (after.1, after.2, after.3) == (uid, gid, mode), "{after:?}");
        assert_eq!(replace(&path, b"new", Readers::EVERYBODY).unwrap(), Replaced::Unchanged);
        assert_eq!(state(), after);
    }

    #[test]
    fn what_is_made_of_private_files_is_private_whatever_was_there() {
        let _umask = Umask::set(0o022);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        let private = Readers::of(Permissions { uid: 0, gid: 0, mode: 0o600 });
        assert_eq!(replace(&path, b"a", private).unwrap(), written(true));
        assert_eq!(mode(&path), 0o600);
        set_mode(&path, 0o644);
        assert_eq!(replace(&path, b"a", private).unwrap(), written(true), "same content, but open to all");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(replace(&path, b"a", private).unwrap(), Replaced::Unchanged);
        // A file that another user has put there does not become that user's.
        if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(7), None).unwrap();
            replace(&path, b"a", private).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().uid(), 0);
            let of_group = Readers::of(Permissions { uid: 0, gid: 8, mode: 0o640 });
            set_mode(&path, 0o644);
            replace(&path, b"b", of_group).unwrap();
            assert_eq!((fs::metadata(&path).unwrap().gid(), mode(&path)), (8, 0o640));
        }
    }

    #[test]
    fn those_who_replace_a_file_at_once_do_not_disturb_each_other() {
        const LENGTH: usize = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = &folder.path().join("feed");
        let replace = |content: u8| replace(path, &[content; LENGTH], Readers::EVERYBODY).unwrap();
        replace(0);
        // Threads have the same process id, as processes of two containers can have.
        thread::scope(|scope| {
            for content in 1..=3 {
                scope.spawn(move || (0..20).for_each(|_| _ = replace(content)));
            }
            for _ in 0..100 {
                let bytes = fs::read(path).unwrap();
                let first = bytes[0];
                assert!(bytes.len() == LENGTH && bytes.iter().all(|byte| *byte == first));
            }
        });
        assert_eq!(names(folder.path()), ["feed"]);
    }

    #[test]
    fn a_file_that_cannot_be_replaced_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        let error = replace(&folder.path().join("a"), b"", Readers::EVERYBODY).unwrap_err();
        assert_eq!(error.to_string(), "not a regular file");
        let error = replace(Path::new("/"), b"", Readers::EVERYBODY).unwrap_err();
        assert_eq!(error.to_string(), "not a regular file");
        let error = replace(&folder.path().join("no/where"), b"", Readers::EVERYBODY).unwrap_err();
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        assert!(replace_beside(&folder.path().join("gone"), &folder.path().join("b"), b"".into()).is_err());
        assert_eq!(names(folder.path()), ["a"]);
    }
}
