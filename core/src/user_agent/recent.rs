//! The User-Agents that a worker read last.

use alloc::boxed::Box;
use core::cell::RefCell;
use core::{array, fmt};

use super::claims::{Claims, Speaker};
use crate::hash;

/// The clients that the User-Agents claim that one worker read last, for one ruleset. Most requests have one of a few:
/// to compare bytes is faster than to read words.
pub struct RecentSpeakers(Box<[RefCell<Read>; 1 << BITS]>);

const BITS: u32 = 7;

/// Longer ones are not remembered. Nearly all are shorter.
const LONGEST: usize = 256;

/// A User-Agent that was read, in a room of its own: a decision allocates nothing.
struct Read {
    bytes: [u8; LONGEST],
    /// None: nothing was read yet.
    length: Option<usize>,
    speaker: Speaker,
}

impl RecentSpeakers {
    /// [`Claims::speaker`], by the claims of this ruleset.
    #[inline]
    pub(crate) fn speaker(&self, claims: &Claims, user_agent: Option<&[u8]>) -> Speaker {
        let Some(text) = user_agent.filter(|text| text.len() <= LONGEST) else {
            return claims.speaker(user_agent);
        };
        let place = usize::try_from(hash::of_bytes(text) >> (u64::BITS - BITS)).unwrap_or_default();
        let Some(place) = self.0.get(place) else { return claims.speaker(user_agent) };
        if let Ok(read) = place.try_borrow()
            && read.length.is_some_and(|length| {
                read.bytes.get(..length).is_some_and(|bytes| hash::is_same(bytes, text))
            })
        {
            return read.speaker;
        }
        let speaker = claims.speaker(user_agent);
        if let Ok(mut read) = place.try_borrow_mut() {
            read.bytes.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
            read.length = Some(text.len());
            read.speaker = speaker;
        }
        speaker
    }
}

impl Default for RecentSpeakers {
    fn default() -> Self {
        let nothing = || Read { bytes: [0; LONGEST], length: None, speaker: Speaker::Automation };
        Self(Box::new(array::from_fn(|_| RefCell::new(nothing()))))
    }
}

impl fmt::Debug for RecentSpeakers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentSpeakers").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn what_is_remembered_is_what_would_be_read() {
        let claims = Claims::new(["Googlebot", "bingbot"]).unwrap();
        let recent = RecentSpeakers::default();
        let long = "Googlebot ".repeat(LONGEST);
        let mut texts: Vec<&[u8]> = ["", " ", "Googlebot", "googlebot", "Googlebot/2.1", "curl/8", "bingbot"]
            .map(str::as_bytes)
            .into();
        // More than are remembered, so that they take each other's places.
        texts.extend((0..LONGEST * 2).filter_map(|length| long.as_bytes().get(..length)));
        for _ in 0..3 {
            for text in &texts {
                for text in [None, Some(*text)] {
                    assert_eq!(recent.speaker(&claims, text), claims.speaker(text), "{text:?}");
                }
            }
        }
    }
}
