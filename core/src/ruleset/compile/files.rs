//! The files that a document names: what hosts find of them, and those that the document holds itself.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::config::{Config, InlinedFile};
use crate::feed::TableReader;
use crate::sort::map_of;
use crate::source::pages::Content;

/// A file, as a host found it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundFile {
    /// The content.
    pub bytes: Vec<u8>,
    /// When it was last modified, in seconds since the Unix epoch, where the host knows.
    pub modified: Option<i64>,
}

/// A version of a feed, as a host found it: [`FoundFile`], of which the host need not read everything beforehand.
#[derive(Clone, Debug, Default)]
pub struct FeedFile {
    /// The content.
    pub content: Content,
    /// When it was last modified, in seconds since the Unix epoch, where the host knows.
    pub modified: Option<i64>,
}

impl FeedFile {
    /// When the feed was last known to be what its publisher publishes, in seconds since the Unix epoch: since when it ages.
    pub(crate) fn current_at(&self) -> Option<i64> {
        self.modified
    }
}

/// A new version of a feed that is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoodFeed {
    /// The path of the feed.
    pub path: String,
    /// The content.
    pub bytes: Vec<u8>,
    /// True if the operator accepts it, whatever was good before.
    pub is_accepted: bool,
}

impl From<FoundFile> for FeedFile {
    fn from(FoundFile { bytes, modified }: FoundFile) -> Self {
        Self { content: bytes.into(), modified }
    }
}

/// The source of a document's files: the host reads, the core does not.
pub trait Files {
    /// A file that the document names; `None` where there is no such file.
    ///
    /// # Errors
    ///
    /// The reason why a file that is there cannot be read, for the operator.
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String>;

    /// A policy that the document names. The gates serve it to their clients, so a host that may read more than they may
    /// refuses here what they must not see.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    fn read_policy(&self, path: &str) -> Result<Option<FoundFile>, String> {
        self.read(path)
    }

    /// A feed that the document names, for a host that does not want large ones in memory.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    fn read_feed(&self, path: &str) -> Result<Option<FeedFile>, String> {
        Ok(self.read(path)?.map(FeedFile::from))
    }

    /// The last version of a feed that was good: what the host keeps of [`Compiled::good_feeds`].
    fn last_good(&self, path: &str) -> Option<FoundFile> {
        let _ = path;
        None
    }

    /// As [`Self::last_good`], for a host that does not want large ones in memory.
    fn last_good_feed(&self, path: &str) -> Option<FeedFile> {
        self.last_good(path).map(FeedFile::from)
    }

    /// The version of a feed that was good before the changes of the last days, for a host that keeps it. The guard compares new
    /// versions with this one, too, so that many small changes in a row count as the large one that they are.
    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        let _ = path;
        None
    }

    /// The reason why a fetcher holds a newer version of a feed than that in its file, for a host that knows. The file may lack
    /// addresses that the feed has by now.
    fn held(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }

    /// The reader of tables of autonomous systems, for a host that has one.
    fn table_reader(&self) -> Option<TableReader> {
        None
    }

    /// Returns true if the operator lets the new version of a feed in, whatever its guard says.
    fn accepts(&self, feed: &str) -> bool {
        let _ = feed;
        false
    }

    /// The name of the file in diagnostics; the host may show where it looked.
    fn display_name(&self, path: &str) -> String {
        path.to_string()
    }
}

/// No files: for documents that carry all of theirs.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Option<FoundFile>, String> {
        Ok(None)
    }
}

/// The files in the document and those that were stored with it, before those of the host.
pub(crate) struct KnownFiles<'c> {
    inlined: BTreeMap<&'c str, &'c InlinedFile>,
    stored: BTreeMap<&'c str, &'c FoundFile>,
    beyond: &'c dyn Files,
}

impl<'c> KnownFiles<'c> {
    pub(crate) fn new(config: &'c Config, stored: &'c [(String, FoundFile)], beyond: &'c dyn Files) -> Self {
        Self {
            inlined: map_of(config.files.0.iter().map(|(name, file)| (name.as_str(), file))),
            stored: map_of(stored.iter().map(|(name, file)| (name.as_str(), file))),
            beyond,
        }
    }

    /// Returns true if a file does not come from the host, so that nobody can put another one in its place there.
    pub(super) fn is_known(&self, path: &str) -> bool {
        self.inlined.contains_key(path) || self.stored.contains_key(path)
    }

    fn known(&self, path: &str) -> Option<FoundFile> {
        let inlined = self
            .inlined
            .get(path)
            .map(|file| FoundFile { bytes: file.text.clone().into_bytes(), modified: file.modified });
        inlined.or_else(|| self.stored.get(path).copied().cloned())
    }
}

impl Files for KnownFiles<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        match self.known(path) {
            Some(file) => Ok(Some(file)),
            None => self.beyond.read(path),
        }
    }

    fn read_policy(&self, path: &str) -> Result<Option<FoundFile>, String> {
        match self.known(path) {
            Some(file) => Ok(Some(file)),
            None => self.beyond.read_policy(path),
        }
    }

    fn read_feed(&self, path: &str) -> Result<Option<FeedFile>, String> {
        match self.known(path) {
            Some(file) => Ok(Some(file.into())),
            None => self.beyond.read_feed(path),
        }
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.beyond.last_good(path)
    }

    fn last_good_feed(&self, path: &str) -> Option<FeedFile> {
        self.beyond.last_good_feed(path)
    }

    fn earlier_good_feed(&self, path: &str) -> Option<FeedFile> {
        self.beyond.earlier_good_feed(path)
    }

    fn held(&self, path: &str) -> Option<String> {
        if self.is_known(path) { None } else { self.beyond.held(path) }
    }

    fn table_reader(&self) -> Option<TableReader> {
        self.beyond.table_reader()
    }

    fn accepts(&self, feed: &str) -> bool {
        self.beyond.accepts(feed)
    }

    fn display_name(&self, path: &str) -> String {
        if self.is_known(path) { path.to_string() } else { self.beyond.display_name(path) }
    }
}
