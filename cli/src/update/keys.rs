//! Directories of keys: checks answers, and compares their keys with those before.

use std::fmt;

use crawlpike_core::sign::DIRECTORY_TYPE;
use crawlpike_core::{DirectoryKeys, Subscriptions};
use serde::Serialize;
use ureq::http::header::{self, HeaderMap};

/// For how many seconds a directory is fresh at most, because a key counts for that long after its publisher has revoked it.
pub(super) const FRESH: i64 = 24 * 3600;

/// For how many seconds a publisher is left alone at most who could not be asked, and who did not say for how long (SIG-8).
pub(super) const LONGEST_PAUSE: i64 = 5 * 60;

/// The keys of a new version of a directory, compared with the version before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct KeysChange {
    /// The number of usable keys.
    count: usize,
    /// The numbers of those that are new.
    added: Vec<String>,
    /// The numbers of those that are gone: no signature by them is verified any more.
    removed: Vec<String>,
    /// The number of unusable keys.
    unusable: usize,
}

impl KeysChange {
    /// Judges an answer with these headers; `old` is the file of the directory.
    ///
    /// # Errors
    ///
    /// The reason why it is not a directory of keys.
    pub(super) fn judge(
        url: &str,
        is_well_known: bool,
        headers: &HeaderMap,
        new: &[u8],
        old: Option<&[u8]>,
    ) -> Result<Self, String> {
        let media_type = headers.get(header::CONTENT_TYPE).map_or(b"".as_slice(), |value| value.as_bytes());
        let essence = media_type.split(|byte| *byte == b';').next().unwrap_or_default();
        // The type of another set of keys is not fixed.
        if is_well_known && !essence.trim_ascii().eq_ignore_ascii_case(DIRECTORY_TYPE.as_bytes()) {
            let shown = String::from_utf8_lossy(media_type);
            return Err(format!("its Content-Type is {shown:?}; it must be {DIRECTORY_TYPE}"));
        }
        let DirectoryKeys { ids, unusable } = Subscriptions::read_directory(url, new)?;
        let old = old.and_then(|old| Subscriptions::read_directory(url, old).ok()).unwrap_or_default().ids;
        let without = |ids: &[String], others: &[String]| {
            ids.iter().filter(|id| !others.contains(id)).cloned().collect::<Vec<_>>()
        };
        let (added, removed) = (without(&ids, &old), without(&old, &ids));
        Ok(Self { count: ids.len(), added, removed, unusable })
    }

    /// Possible mistakes in the directory.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let none = (self.count == 0).then(|| "it has no keys, so it verifies no signature".to_owned());
        let plural = if self.unusable == 1 { "" } else { "s" };
        let unusable = (self.unusable > 0).then(|| {
            let Self { unusable, .. } = self;
            format!(
                "{unusable} key{plural} cannot be used; `crawlpike lint --format key-directory` shows why"
            )
        });
        none.into_iter().chain(unusable)
    }
}

impl fmt::Display for KeysChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.count == 1 { "" } else { "s" };
        write!(f, "{} key{plural} ({} added, {} removed)", self.count, self.added.len(), self.removed.len())
    }
}
