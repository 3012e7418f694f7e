//! The states of feeds that a server has reported, so that its processes report each of them once.

use alloc::format;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use twox_hash::XxHash3_64;
use zerocopy::FromBytes;

use crate::feed::state::FeedState;
use crate::ruleset::info::FeedInfo;

/// The number of feeds that have a place of their own, more or less.
const PLACES: usize = 1024;

/// The last report about each feed, by any of the processes that share this. All zero: nothing.
///
/// Two feeds can have the same place. Then each report of the one makes that of the other news again: a line too many, never
/// one too few.
#[derive(Debug, FromBytes)]
#[repr(C)]
pub struct FeedNews([AtomicU64; PLACES]);

impl FeedNews {
    /// Notes the state of a feed. Returns whether it is to be reported: it is a problem, and nobody has noted the same one
    /// since the feed was in another state.
    pub fn note(&self, feed: &FeedInfo<'_>) -> bool {
        let FeedInfo { name, state, why, expires, .. } = feed;
        // The reason why a feed is stale changes with the time.
        let noted = match state {
            FeedState::Stale => format!("{name}\n{state}\n{expires:?}"),
            _ => format!("{name}\n{state}\n{why:?}"),
        };
        let hash = |text: &str| XxHash3_64::oneshot(text.as_bytes());
        let place = usize::try_from(hash(name) % (PLACES as u64)).ok().and_then(|place| self.0.get(place));
        let is_new = place.is_none_or(|place| place.swap(hash(&noted), Relaxed) != hash(&noted));
        is_new && *state != FeedState::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::FeedFormat;
    use zerocopy::FromZeros;

    fn feed(name: &'static str, state: FeedState, why: &'static str, expires: i64) -> FeedInfo<'static> {
        FeedInfo {
            name,
            format: FeedFormat::Cidr,
            prefixes: 0,
            state,
            why: Some(why.into()),
            is_usable: true,
            has_version: true,
            age: None,
            exempts: false,
            expires: Some(expires),
        }
    }

    #[test]
    fn a_state_is_news_once_until_there_is_another_one() {
        let news = FeedNews::new_box_zeroed().unwrap();
        for (name, state, why, expires, is_news) in [
            ("a", FeedState::Ok, "", 9, false),
            ("a", FeedState::Held, "it became empty", 9, true),
            ("b", FeedState::Held, "it became empty", 9, true),
            ("a", FeedState::Held, "it became empty", 9, false),
            ("a", FeedState::Held, "it shrank", 9, true),
            ("a", FeedState::Ok, "", 9, false),
            ("a", FeedState::Held, "it shrank", 9, true),
            ("a", FeedState::Stale, "it is 7d old", 9, true),
            ("a", FeedState::Stale, "it is 8d old", 9, false),
            ("a", FeedState::Stale, "it is 7d old", 10, true),
            ("b", FeedState::Missing, "", 9, true),
            ("b", FeedState::Missing, "", 9, false),
        ] {
            assert_eq!(
                news.note(&feed(name, state, why, expires)),
                is_news,
                "{name} {state} {why} {expires}"
            );
        }
    }
}
