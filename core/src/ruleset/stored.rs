//! The compiled form of a ruleset: bytes that load in milliseconds, natively and in Wasm.
//!
//! The feeds take the time of compiling, so their table is stored as it lies in memory and is used in place. The
//! document and its policy files are stored as they were written, and compiled again when they are loaded, so that the
//! compiled form means what the sources mean, in every version that reads it.
//!
//! ```text
//! word 0      magic; in another byte order it reads differently
//! word 1      version of the format
//! word 2      number of words in all
//! word 3      length of the small part in bytes
//! words 4, 5  XXH3-64 of everything from word 6 on, low half first
//! from 6 on   the small part (postcard), padded with zeros to whole words
//! then        the words of the prefix table
//! then        the words of the table of autonomous systems
//! ```

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;

use crate::feed::FeedValue;
use crate::ids::{FeedId, List, ValueId};
use crate::networks::SystemTable;
use crate::prefix_table::{PrefixTable, TableError, TableWords};
use crate::ruleset::compile::{Compiled, Feeds, NoFiles, Sources};
use crate::ruleset::data::LoadedFeed;
use crate::source::diagnostic::{Diagnostics, Load};

/// "CWR", and a byte that no text has; the same in both halves of no word.
const MAGIC: u32 = 0x4357_52f1;
const VERSION: u32 = 5;
const HEADER: usize = 6;

/// The reason why bytes are not a compiled ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredError {
    /// They don't begin like one, or were written on a machine of another byte order.
    Format,
    /// They were written by a version that is not this one's.
    Version(u32),
    /// There are more or fewer bytes than were written.
    Length,
    /// They were altered.
    Checksum,
    /// Their content is invalid.
    Content,
    /// The prefix table in them is damaged.
    Table(TableError),
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format => f.write_str("not a compiled ruleset"),
            Self::Version(version) => {
                write!(
                    f,
                    "a compiled ruleset of format {version}, not {VERSION}: compile it with this version"
                )
            }
            Self::Length => f.write_str("the compiled ruleset is cut short or has bytes added"),
            Self::Checksum => f.write_str("the compiled ruleset was altered: its checksum does not match"),
            Self::Content => f.write_str("the compiled ruleset is corrupt: compile it again"),
            Self::Table(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for StoredError {}

/// Returns true if bytes begin like a compiled ruleset, and not like a JSON document.
pub fn is_stored(bytes: &[u8]) -> bool {
    bytes.first_chunk() == Some(&MAGIC.to_ne_bytes())
}

/// Everything but the prefix table.
#[derive(Serialize, Deserialize)]
struct SmallPart {
    sources: Sources,
    feeds: List<FeedId, LoadedFeed>,
    values: List<ValueId, FeedValue>,
    /// The names of autonomous systems.
    system_names: Box<str>,
    /// The number of words of the table of autonomous systems.
    system_words: usize,
}

impl Compiled {
    /// The compiled form of the ruleset, for [`Compiled::load`]; `None` where there is no ruleset.
    pub fn store(&self) -> Option<Vec<u32>> {
        let ruleset = self.ruleset.as_ref()?;
        let (system_words, system_names) = ruleset.client.systems.parts();
        let small = SmallPart {
            sources: self.sources.clone(),
            feeds: ruleset.feeds.clone(),
            values: ruleset.values.clone(),
            system_names: system_names.into(),
            system_words: system_words.len(),
        };
        let mut small = postcard::to_allocvec(&small).ok()?;
        let length = u32::try_from(small.len()).ok()?;
        small.resize(small.len().next_multiple_of(4), 0);
        let mut words = alloc::vec![0; HEADER];
        words.extend(
            small.chunks_exact(4).filter_map(|chunk| chunk.first_chunk().copied()).map(u32::from_ne_bytes),
        );
        words.extend_from_slice(ruleset.table.as_words());
        words.extend_from_slice(system_words);
        let count = u32::try_from(words.len()).ok()?;
        let (low, high) = checksum(&words);
        *words.first_chunk_mut()? = [MAGIC, VERSION, count, length, low, high];
        Some(words)
    }

    /// Loads what [`Compiled::store`] gave; `name` names it in diagnostics.
    ///
    /// Checked at once are the header, the length and the checksum of the whole, so that a flipped bit or a cut file is
    /// an error and never a wrong answer. Positions inside the prefix table are checked by the lookups that follow
    /// them, while they wait for memory; checking them here would read the table a second time and find nothing that
    /// the checksum does not.
    pub fn load(name: &str, words: Vec<u32>) -> Self {
        match Self::from_words(words) {
            Ok(compiled) => compiled,
            Err(error) => {
                let mut diagnostics = Diagnostics::new(name, Load);
                diagnostics.error(None, None, format!("{error}"));
                Self::refused(diagnostics.into_items())
            }
        }
    }

    fn from_words(mut words: Vec<u32>) -> Result<Self, StoredError> {
        let Some(&[magic, version, count, length, low, high]) = words.first_chunk() else {
            return Err(StoredError::Format);
        };
        if magic != MAGIC {
            return Err(StoredError::Format);
        }
        if version != VERSION {
            return Err(StoredError::Version(version));
        }
        if usize::try_from(count) != Ok(words.len()) {
            return Err(StoredError::Length);
        }
        if (low, high) != checksum(&words) {
            return Err(StoredError::Checksum);
        }
        let length = usize::try_from(length).map_err(|_| StoredError::Content)?;
        let rest = words.get(HEADER..).unwrap_or_default().as_bytes();
        let small = rest.get(..length).ok_or(StoredError::Content)?;
        let (small, behind): (SmallPart, _) =
            postcard::take_from_bytes(small).map_err(|_| StoredError::Content)?;
        // The checksum covers no header: a length that takes in the padding would pass.
        if !behind.is_empty() {
            return Err(StoredError::Content);
        }
        let start = HEADER + length.div_ceil(4);
        let behind = words.len().checked_sub(small.system_words).ok_or(StoredError::Content)?;
        let systems =
            SystemTable::load(words.split_off(behind), small.system_names).ok_or(StoredError::Content)?;
        words.shrink_to_fit();
        let table = PrefixTable::from_words(TableWords::new(words, start)).map_err(StoredError::Table)?;
        let feeds = Feeds { loaded: small.feeds, values: small.values, table, systems };
        Ok(Self::new(small.sources, &NoFiles, Some(feeds)))
    }
}

/// The checksum of everything behind the header, low half first.
fn checksum(words: &[u32]) -> (u32, u32) {
    let sum = XxHash3_64::oneshot(words.get(HEADER..).unwrap_or_default().as_bytes());
    #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
    let low = sum as u32;
    (low, (sum >> 32) as u32)
}
