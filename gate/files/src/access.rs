//! The rights of another user on a file: those that a server has once it has given up root's.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::getxattr;

use crate::audience::{Audience, Permissions, User};

/// The reason why a user cannot read a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    path: PathBuf,
    permissions: Permissions,
    is_folder: bool,
    has_acl: bool,
}

impl Obstacle {
    /// Returns true if the file or folder has an access control list, which may permit what its mode does not.
    pub fn has_acl(&self) -> bool {
        self.has_acl
    }

    /// The arguments of `chmod` for the least change that lets everybody through.
    pub fn remedy(&self) -> String {
        let right = if self.is_folder { "o+x" } else { "o+r" };
        format!("chmod {right} {}", self.path.display())
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_folder { "enter the folder" } else { "read the file" };
        write!(f, "may not {verb} {} ({})", self.path.display(), self.permissions)
    }
}

/// The first thing on the way to a file that keeps a user from reading it, by owner, group and mode.
///
/// # Errors
///
/// If this process cannot look at the file or at a folder on the way.
pub fn obstacle(path: &Path, user: &User) -> io::Result<Option<Obstacle>> {
    let audience = Audience::User(user.clone());
    let whole = std::path::absolute(path)?;
    // A link can lead through folders that its own path does not have.
    let target = fs::canonicalize(&whole)?;
    let folders = whole.ancestors().skip(1).chain(target.ancestors().skip(1)).map(|folder| (folder, true));
    for (path, is_folder) in folders.chain([(&*target, false)]) {
        let permissions = Permissions::from(&fs::metadata(path)?);
        let is_permitted = match is_folder {
            true => audience.can_enter(permissions),
            false => audience.can_read(permissions),
        };
        if !is_permitted {
            let path = path.to_path_buf();
            let has_acl = getxattr(&path, "system.posix_acl_access", &mut [0_u8; 1024]).is_ok();
            return Ok(Some(Obstacle { path, permissions, is_folder, has_acl }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn the_first_thing_in_the_way_is_named_and_links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let set_mode =
            |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let path = |name: &str| folder.path().join(name);
        let (inner, file, link) = (path("inner"), path("inner/feed"), path("link"));
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "").unwrap();
        symlink("inner/feed", &link).unwrap();
        let nobody = User { name: "nobody".into(), uid: 65_534, gids: vec![65_534] };
        for (outer, mode, file_mode, expected) in [
            (0o755, 0o755, 0o644, None),
            (0o700, 0o755, 0o644, Some(format!("chmod o+x {}", folder.path().display()))),
            (0o755, 0o750, 0o644, Some(format!("chmod o+x {}", inner.display()))),
            (0o755, 0o755, 0o640, Some(format!("chmod o+r {}", file.display()))),
        ] {
            set_mode(folder.path(), outer);
            set_mode(&inner, mode);
            set_mode(&file, file_mode);
            for path in [&file, &link] {
                let found = obstacle(path, &nobody).unwrap();
                assert_eq!(found.map(|found| found.remedy()), expected, "{}", path.display());
            }
        }
        assert!(obstacle(&path("none"), &nobody).is_err());
    }
}
