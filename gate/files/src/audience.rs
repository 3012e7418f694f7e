//! The readers of a file, by its owner, its group and its mode. Access control lists are not looked at.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Those who have to be able to read a policy, because it is served to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everybody, by the mode of the file itself.
    Everybody,
    /// One user, who must be able to reach the file, too.
    User(User),
}

/// A user, as far as reading files goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name, for messages.
    pub name: String,
    /// The user id.
    pub uid: u32,
    /// All groups of the user.
    pub gids: Vec<u32>,
}

/// The owner, the group and the mode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permissions {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) mode: u32,
}

impl From<&Metadata> for Permissions {
    fn from(metadata: &Metadata) -> Self {
        Self { uid: metadata.uid(), gid: metadata.gid(), mode: metadata.mode() & 0o7777 }
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "owner {}, group {}, mode {:04o}", self.uid, self.gid, self.mode)
    }
}

const READ: u32 = 0o4;
const ENTER: u32 = 0o1;

impl Audience {
    pub(crate) fn can_read(&self, file: Permissions) -> bool {
        match self {
            Self::Everybody => file.mode & READ != 0,
            Self::User(user) => user.has(READ, file),
        }
    }

    pub(crate) fn can_enter(&self, folder: Permissions) -> bool {
        match self {
            Self::Everybody => true,
            Self::User(user) => user.has(ENTER, folder),
        }
    }
}

impl User {
    fn has(&self, right: u32, Permissions { uid, gid, mode }: Permissions) -> bool {
        let class = match self.uid {
            0 => return true,
            own if own == uid => mode >> 6,
            _ if self.gids.contains(&gid) => mode >> 3,
            _ => mode,
        };
        class & right != 0
    }
}

/// Those who may read a file that is made of other files: only those who may read each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readers {
    owner: Which,
    group: Which,
    others: bool,
}

/// Which user may own a file, or which group may have rights by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Any,
    Only(u32),
    None,
}

impl Which {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, which) | (which, Self::Any) => which,
            (Self::Only(one), Self::Only(another)) if one == another => self,
            _ => Self::None,
        }
    }

    fn admits(self, id: u32) -> bool {
        self == Self::Any || self == Self::Only(id)
    }
}

impl Readers {
    /// No file is private.
    pub const EVERYBODY: Self = Self { owner: Which::Any, group: Which::Any, others: true };

    /// Those who may read one file.
    pub(crate) fn of(Permissions { uid, gid, mode }: Permissions) -> Self {
        let owner = Which::Only(uid);
        match (mode & 0o040 != 0, mode & 0o004 != 0) {
            (true, true) => Self::EVERYBODY,
            (true, false) => Self { owner, group: Which::Only(gid), others: false },
            (false, _) => Self { owner, group: Which::None, others: false },
        }
    }

    /// Those who are among both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            owner: self.owner.and(other.owner),
            group: self.group.and(other.group),
            others: self.others && other.others,
        }
    }

    /// The group that has to be that of the file, if it is to have any rights.
    pub(crate) fn gid(self) -> Option<u32> {
        match self.group {
            Which::Only(gid) => Some(gid),
            Which::Any | Which::None => None,
        }
    }

    /// Returns true if a user may own the file.
    pub(crate) fn admit_owner(self, uid: u32) -> bool {
        self.owner.admits(uid)
    }

    /// The mode without the rights of others than these, for a file of this group.
    pub(crate) fn restrict(self, gid: u32, mode: u32) -> u32 {
        let others = if self.others { 0o007 } else { 0 };
        let group = if self.group.admits(gid) { 0o070 } else { 0 };
        mode & (0o700 | group | others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(uid: u32, gid: u32, mode: u32) -> Permissions {
        Permissions { uid, gid, mode }
    }

    #[test]
    fn a_user_has_the_rights_of_the_first_class_that_fits() {
        let www = Audience::User(User { name: "www".into(), uid: 33, gids: vec![33, 50] });
        for (permissions, expected) in [
            (file(0, 0, 0o644), true),
            (file(0, 0, 0o640), false),
            (file(0, 33, 0o640), true),
            (file(0, 50, 0o640), true),
            (file(33, 0, 0o400), true),
            (file(33, 33, 0o044), false),
            (file(0, 33, 0o604), false),
        ] {
            assert_eq!(www.can_read(permissions), expected, "{permissions}");
        }
        assert!(www.can_enter(file(0, 0, 0o711)) && !www.can_enter(file(0, 0, 0o744)));
        let root = Audience::User(User { name: "root".into(), uid: 0, gids: vec![] });
        assert!(root.can_read(file(1, 1, 0)) && root.can_enter(file(1, 1, 0)));
        assert!(
            Audience::Everybody.can_read(file(0, 0, 0o604))
                && !Audience::Everybody.can_read(file(0, 0, 0o640))
        );
    }

    #[test]
    fn what_is_made_of_files_is_as_private_as_the_most_private() {
        let readers = |files: &[Permissions]| {
            files.iter().fold(Readers::EVERYBODY, |readers, file| readers.and(Readers::of(*file)))
        };
        let (public, private) = (file(0, 0, 0o644), file(0, 0, 0o600));
        let (of_one, of_two) = (file(7, 1, 0o640), file(8, 2, 0o640));
        for (files, mode, gid, owners) in [
            (&[][..], 0o644, None, [true, true]),
            (&[public, public], 0o644, None, [true, true]),
            (&[public, of_one, of_one], 0o640, Some(1), [true, false]),
            (&[of_one, public, of_two], 0o600, None, [false, false]),
            (&[of_one, private], 0o600, None, [false, false]),
            (&[file(8, 0, 0o604)], 0o600, None, [false, true]),
        ] {
            let readers = readers(files);
            let result = readers.restrict(gid.unwrap_or(9), 0o644);
            assert_eq!((result, readers.gid()), (mode, gid), "{files:?}");
            assert_eq!([7, 8].map(|uid| readers.admit_owner(uid)), owners, "{files:?}");
        }
        assert_eq!(readers(&[of_one]).restrict(2, 0o644), 0o600, "another group");
    }
}
