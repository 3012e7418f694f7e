//! Opening a file whose content is served to clients.
//!
//! The process that reads it may have more rights than its audience: nginx's master is root. So a symbolic link is followed
//! only if it has the same owner as its target, as with nginx's `disable_symlinks if_not_owner`, and the audience must be able
//! to read the file. The path is walked folder by folder, so that nobody can change it meanwhile.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::audience::{Audience, Permissions};

/// The most links that are followed, as in Linux.
const MOST_LINKS: u32 = 40;

/// The flags to open a folder: on Linux that does not take the right to list it.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY;

/// The reason why a policy cannot be served.
#[derive(Debug)]
pub(crate) enum PolicyError {
    /// The error of the system.
    System(io::Error),
    /// A link whose owner may not be allowed to read what it leads to.
    ForeignLink { link: PathBuf, owner: u32, target: PathBuf, target_owner: u32 },
    /// The audience cannot read the file, or cannot enter a folder on the way to it.
    Unreadable { user: Option<String>, folder: Option<PathBuf>, permissions: Permissions },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::ForeignLink { link, owner, target, target_owner } => write!(
                f,
                "the symbolic link {} and {}, to which it points, have different owners ({owner} and {target_owner}); give \
                 the path of the file itself",
                link.display(),
                target.display()
            ),
            Self::Unreadable { user: None, permissions, .. } => write!(
                f,
                "it is served to clients, but not everybody may read it ({permissions}); make it readable, or name \
                 another file"
            ),
            Self::Unreadable { user: Some(user), folder: None, permissions } => write!(
                f,
                "it is served to clients, but the user `{user}` may not read it ({permissions}); make it readable, or \
                 name another file"
            ),
            Self::Unreadable { user: Some(user), folder: Some(folder), permissions } => write!(
                f,
                "it is served to clients, but the user `{user}` may not enter the folder {} ({permissions})",
                if folder.as_os_str().is_empty() { Path::new(".") } else { folder }.display()
            ),
        }
    }
}

impl Error for PolicyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::System(error) => Some(error),
            Self::ForeignLink { .. } | Self::Unreadable { .. } => None,
        }
    }
}

impl From<io::Error> for PolicyError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<PolicyError> for io::Error {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::System(error) => error,
            _ => Self::other(error),
        }
    }
}

impl From<Errno> for PolicyError {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

/// Opens the policy at `path`, which may be relative to `folder`. The way to the folder is the operator's choice, and
/// links there are followed whoever owns them.
pub(crate) fn open(folder: &Path, path: &Path, audience: Option<&Audience>) -> Result<File, PolicyError> {
    let mut walk = Walk { audience, links: 0 };
    let start = if path.is_absolute() { Path::new("/") } else { folder };
    let policy = walk.to(&walk.start(start)?, path, Wanted::File)?;
    walk.check(policy.permissions()?, None, Audience::can_read)?;
    Ok(policy.handle)
}

struct Walk<'a> {
    audience: Option<&'a Audience>,
    /// The number of links that were followed.
    links: u32,
}

/// The kind of file that is wanted at the end of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    File,
    Folder,
}

/// A file or folder on the way.
struct Opened {
    handle: File,
    /// For messages.
    path: PathBuf,
}

impl Opened {
    fn permissions(&self) -> Result<Permissions, PolicyError> {
        Ok((&self.handle.metadata()?).into())
    }
}

impl Walk<'_> {
    fn start(&self, folder: &Path) -> Result<Opened, PolicyError> {
        let opened = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if self.audience.is_some() {
            for folder in fs::canonicalize(opened)?.ancestors().skip(1) {
                self.check((&fs::metadata(folder)?).into(), Some(folder), Audience::can_enter)?;
            }
        }
        Ok(Opened { path: folder.to_path_buf(), ..open_folder(CWD, opened, OFlags::empty())? })
    }

    /// Opens the end of a path that begins in a folder.
    fn to(&mut self, folder: &Opened, path: &Path, wanted: Wanted) -> Result<Opened, PolicyError> {
        let mut opened = Opened { handle: folder.handle.try_clone()?, path: folder.path.clone() };
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            let wanted = if components.peek().is_some() { Wanted::Folder } else { wanted };
            opened = match component {
                Component::RootDir => open_folder(CWD, Path::new("/"), OFlags::empty())?,
                Component::CurDir => opened,
                Component::ParentDir | Component::Normal(_) => {
                    self.check(opened.permissions()?, Some(&opened.path), Audience::can_enter)?;
                    self.step(&opened, Path::new(&component), wanted)?
                }
                Component::Prefix(_) => return Err(Errno::INVAL.into()),
            };
        }
        Ok(opened)
    }

    /// One name further: the file itself, or what a link leads to.
    fn step(&mut self, folder: &Opened, name: &Path, wanted: Wanted) -> Result<Opened, PolicyError> {
        let found = statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode).is_symlink() {
            return self.follow(folder, name, &found, wanted);
        }
        let path = folder.path.join(name);
        match wanted {
            Wanted::Folder => Ok(Opened { path, ..open_folder(&folder.handle, name, OFlags::NOFOLLOW)? }),
            Wanted::File => {
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let handle = openat(&folder.handle, name, flags, Mode::empty())?.into();
                Ok(Opened { handle, path })
            }
        }
    }

    fn follow(
        &mut self,
        folder: &Opened,
        name: &Path,
        link: &Stat,
        wanted: Wanted,
    ) -> Result<Opened, PolicyError> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = readlinkat(&folder.handle, name, Vec::new())?;
        let target = Path::new(OsStr::from_bytes(target.as_bytes()));
        // The owner of the link was read before its text: it must still be the same link.
        let identity = |link: &Stat| (link.st_dev, link.st_ino, link.st_ctime, link.st_ctime_nsec);
        if identity(link) != identity(&statat(&folder.handle, name, AtFlags::SYMLINK_NOFOLLOW)?) {
            return Err(Errno::AGAIN.into());
        }
        let opened = self.to(folder, target, wanted)?;
        let target_owner = opened.permissions()?.uid;
        if target_owner != link.st_uid {
            return Err(PolicyError::ForeignLink {
                link: folder.path.join(name),
                owner: link.st_uid,
                target: opened.path,
                target_owner,
            });
        }
        Ok(opened)
    }

    fn check(
        &self,
        permissions: Permissions,
        folder: Option<&Path>,
        is_permitted: impl FnOnce(&Audience, Permissions) -> bool,
    ) -> Result<(), PolicyError> {
        match self.audience {
            Some(audience) if !is_permitted(audience, permissions) => Err(PolicyError::Unreadable {
                user: match audience {
                    Audience::Everybody => None,
                    Audience::User(user) => Some(user.name.clone()),
                },
                folder: folder.map(Path::to_path_buf),
                permissions,
            }),
            _ => Ok(()),
        }
    }
}

fn open_folder(from: impl AsFd, path: &Path, more: OFlags) -> Result<Opened, PolicyError> {
    let handle = openat(from, path, FOLDER | OFlags::DIRECTORY | OFlags::CLOEXEC | more, Mode::empty())?;
    Ok(Opened { handle: handle.into(), path: path.to_path_buf() })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    use super::*;
    use crate::User;

    /// A folder that goes with the value, which everybody may enter. Its path has no links.
    struct Folder {
        path: PathBuf,
        _guard: tempfile::TempDir,
    }

    impl Folder {
        fn new() -> Self {
            let guard = tempfile::tempdir().unwrap();
            let folder = Self { path: guard.path().canonicalize().unwrap(), _guard: guard };
            folder.set_mode("", 0o755);
            folder
        }

        fn set_mode(&self, name: &str, mode: u32) {
            fs::set_permissions(self.path.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }

        fn write(&self, name: &str, mode: u32) {
            let folder = Path::new(name).parent().and_then(Path::to_str).unwrap();
            if !self.path.join(folder).exists() {
                fs::create_dir_all(self.path.join(folder)).unwrap();
                // Whatever the umask is that another test has set.
                self.set_mode(folder, 0o755);
            }
            fs::write(self.path.join(name), name).unwrap();
            self.set_mode(name, mode);
        }

        /// A link of a user.
        fn link(&self, target: &str, name: &str, owner: u32) {
            symlink(target, self.path.join(name)).unwrap();
            lchown(self.path.join(name), Some(owner), None).unwrap();
        }

        /// The content of a file, or why it cannot be read.
        fn read(&self, path: &str, audience: Option<&Audience>) -> Result<String, String> {
            let mut text = String::new();
            let mut file = open(&self.path, Path::new(path), audience).map_err(|error| error.to_string())?;
            file.read_to_string(&mut text).unwrap();
            Ok(text)
        }
    }

    fn www() -> Audience {
        Audience::User(User { name: "www".into(), uid: 33, gids: vec![33] })
    }

    fn own() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn links_of_the_owner_are_followed() {
        // As Kubernetes mounts a ConfigMap.
        let folder = Folder::new();
        folder.write("2026/robots.txt", 0o644);
        folder.link("2026", "..data", own());
        folder.link("..data/robots.txt", "robots.txt", own());
        folder.link("2026/../robots.txt", "again", own());
        folder.link(folder.path.join("robots.txt").to_str().unwrap(), "absolute", own());
        let absolute = folder.path.join("again");
        for path in
            ["robots.txt", "again", "absolute", "./2026/../..data/robots.txt", absolute.to_str().unwrap()]
        {
            assert_eq!(folder.read(path, None).as_deref(), Ok("2026/robots.txt"), "{path}");
        }
        folder.link("loop", "loop", own());
        assert!(folder.read("loop", None).unwrap_err().contains("symbolic links"));
        folder.link("nowhere", "dangling", own());
        assert!(matches!(
            open(&folder.path, Path::new("dangling"), None),
            Err(PolicyError::System(error)) if error.kind() == io::ErrorKind::NotFound
        ));
    }

    #[test]
    fn a_link_of_somebody_else_is_not_followed() {
        let folder = Folder::new();
        // A user who can put links into the folder; only root can act for another one.
        let user = if own() == 0 { 33 } else { own() };
        folder.link("/etc/passwd", "robots.txt", user);
        folder.link("/etc", "docs", user);
        folder.link("robots.txt", "another", user);
        let refused = |path: &str, link: &str, target: &str| {
            let expected = format!(
                "the symbolic link {} and {target}, to which it points, have different owners ({user} and 0); give the \
                 path of the file itself",
                folder.path.join(link).display(),
            );
            assert_eq!(folder.read(path, None), Err(expected), "{path}");
        };
        refused("robots.txt", "robots.txt", "/etc/passwd");
        refused("docs/passwd", "docs", "/etc");
        refused("another", "robots.txt", "/etc/passwd");
        // The way to the folder of the document is the operator's choice.
        assert!(open(&folder.path.join("docs"), Path::new("passwd"), None).is_ok());
    }

    #[test]
    fn a_policy_is_readable_by_its_audience() {
        let folder = Folder::new();
        folder.write("open", 0o644);
        folder.write("private", 0o640);
        folder.write("closed/open", 0o644);
        folder.set_mode("closed", 0o750);
        let (everybody, www) = (Audience::Everybody, www());
        for audience in [None, Some(&everybody), Some(&www)] {
            assert_eq!(folder.read("open", audience).as_deref(), Ok("open"));
        }
        assert!(folder.read("private", None).is_ok());
        let said = folder.read("private", Some(&everybody)).unwrap_err();
        assert!(said.starts_with("it is served to clients, but not everybody may read it (owner "), "{said}");
        let said = folder.read("private", Some(&www)).unwrap_err();
        assert!(
            said.starts_with("it is served to clients, but the user `www` may not read it (owner "),
            "{said}"
        );
        assert!(said.contains("mode 0640"), "{said}");
        let said = folder.read("closed/open", Some(&www)).unwrap_err();
        let expected =
            format!("the user `www` may not enter the folder {} (", folder.path.join("closed").display());
        assert!(said.contains(&expected), "{said}");
        assert!(folder.read("closed/open", Some(&everybody)).is_ok());
        // The way to the document counts, too.
        let said = open(&folder.path.join("closed"), Path::new("open"), Some(&www)).unwrap_err().to_string();
        assert!(said.contains(&expected), "{said}");
        folder.set_mode("", 0o700);
        assert!(folder.read("open", Some(&www)).is_err());
        folder.set_mode("", 0o711);
        assert!(folder.read("open", Some(&www)).is_ok());
    }

    #[test]
    fn the_shadow_of_passwords_is_no_policy() {
        let said = open(Path::new("."), Path::new("/etc/shadow"), Some(&www())).unwrap_err().to_string();
        // As another user than root, the system says it.
        assert!(
            said.contains("the user `www` may not read it") || said.contains("ermission denied"),
            "{said}"
        );
    }

    #[test]
    fn what_is_no_file_is_refused_without_waiting() {
        let folder = Folder::new();
        fs::create_dir(folder.path.join("folder")).unwrap();
        for path in ["folder", "folder/..", ".", "/"] {
            let error = open(&folder.path, Path::new(path), None)
                .map_err(|error| error.to_string())
                .and_then(|file| crate::read::found(file).map_err(|error| error.to_string()))
                .unwrap_err();
            assert!(error.contains("not a regular file"), "{path}: {error}");
        }
    }
}
