//! Copies of feeds that come with the program, so that agents can be verified before the first update.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use crate::clock::parse_rfc3339;
use crate::failure::Failure;

/// When each copy was fetched.
const DATES: &[u8] = include_bytes!("../../../core/data/feeds.json");

/// The copies, each with its file name.
macro_rules! copies {
    ($($file:literal),* $(,)?) => {
        [$(($file, include_bytes!(concat!("../../../core/data/feeds/", $file)).as_slice())),*]
    };
}

const COPIES: [(&str, &[u8]); 10] = copies![
    "ahrefs-crawler.json",
    "apple-applebot.json",
    "google-googlebot.json",
    "google-user-triggered-agents.json",
    "google-user-triggered-google.json",
    "google-user-triggered.json",
    "openai-chatgpt-user.json",
    "openai-gptbot.json",
    "perplexity-bot.json",
    "perplexity-user.json",
];

/// A copy of a feed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub(super) bytes: &'static [u8],
    /// When its publisher published it so.
    pub(super) fetched: SystemTime,
}

/// All copies.
#[derive(Debug, Deserialize)]
pub(super) struct Shipped {
    feeds: Vec<Dated>,
}

#[derive(Debug, Deserialize)]
struct Dated {
    name: String,
    file: String,
    fetched: String,
}

impl Shipped {
    pub(super) fn read() -> Result<Self, Failure> {
        Ok(serde_json::from_slice(DATES)?)
    }

    /// The copy of the feed that the catalog names so.
    pub(super) fn copy(&self, name: &str) -> Option<Copy> {
        let dated = self.feeds.iter().find(|feed| feed.name == name)?;
        let (_, bytes) = COPIES.iter().find(|(file, _)| *file == dated.file)?;
        let fetched = parse_rfc3339(&dated.fetched)?;
        Some(Copy { bytes, fetched: UNIX_EPOCH + Duration::from_secs(fetched.try_into().ok()?) })
    }

    /// When the newest copy was fetched, which is before the program was made.
    pub(super) fn newest(&self) -> Option<SystemTime> {
        self.feeds.iter().filter_map(|feed| Some(self.copy(&feed.name)?.fetched)).max()
    }

    /// The day on which the oldest copy was fetched, such as `2026-09-02`.
    pub(super) fn day(&self) -> &str {
        let days = self.feeds.iter().filter_map(|feed| feed.fetched.get(..10));
        days.min().unwrap_or_default()
    }
}
