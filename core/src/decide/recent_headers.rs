//! The headers that a worker made last.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::RefCell;
use core::{array, fmt};

use crate::decide::decision::Decision;
use crate::hash;
use crate::identity::{Evidence, Identity};
use crate::ids::Id;
use crate::reason::Reason;
use crate::ruleset::data::Ruleset;

/// The values of [`UPSTREAM_HEADER`](crate::UPSTREAM_HEADER) that one worker made last, for one ruleset. Few agents send
/// most requests, and each sends many.
pub struct RecentHeaders(Box<[RefCell<Option<Made>>; 1 << BITS]>);

/// The parts of a decision on which the header depends, and the header.
type Made = (Decision, Rc<str>);

const BITS: u32 = 7;

impl RecentHeaders {
    /// [`Ruleset::header_value`] of a decision that this ruleset made.
    pub fn value(&self, ruleset: &Ruleset, decision: &Decision) -> Option<Rc<str>> {
        if decision.identity == Identity::None {
            return None;
        }
        let shown = shown(decision);
        let place = self.0.get(place(&shown))?;
        if let Ok(made) = place.try_borrow()
            && let Some((known, value)) = &*made
            && *known == shown
        {
            return Some(Rc::clone(value));
        }
        let value: Rc<str> = ruleset.header_value(decision)?.into();
        if let Ok(mut made) = place.try_borrow_mut() {
            *made = Some((shown, Rc::clone(&value)));
        }
        Some(value)
    }
}

/// The decision without what the header does not show.
const fn shown(decision: &Decision) -> Decision {
    Decision {
        reason: Reason::Allowed,
        enforced: false,
        ignored: false,
        rule: None,
        doubt: None,
        site: None,
        served: None,
        tag: None,
        ..*decision
    }
}

/// The place in which the header is kept.
fn place(decision: &Decision) -> usize {
    let range = decision.evidence.and_then(Evidence::ip_range);
    let range =
        range.map_or(0, |range| u64::from(range.value.number()) << 16 | u64::from(range.feed.number()));
    let who = decision.agent.map_or(0, |agent| agent.index() as u64 + 1) << 8 | decision.identity as u64;
    let place = decision.place.map_or(0, |place| u64::from(place.number()));
    (hash::mix(range ^ who << 40 ^ place << 20) >> (u64::BITS - BITS)) as usize
}

impl Default for RecentHeaders {
    fn default() -> Self {
        Self(Box::new(array::from_fn(|_| RefCell::default())))
    }
}

impl fmt::Debug for RecentHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentHeaders").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tests::Asked;
    use crate::{NoFiles, Overrides, decide};

    #[test]
    fn what_is_remembered_is_what_would_be_made() {
        let document = br#"{ "mode": "enforce", "catalog": "none",
            "feeds": [ { "name": "lab", "format": "cidr", "source": "lab" },
                       { "name": "places", "format": "geofeed", "source": "places" } ],
            "agents": [ { "token": "LabBot", "feeds": ["lab"] }, { "token": "LoneBot" } ],
            "sites": [ { "robots_txt": "robots" } ],
            "files": { "lab": { "text": "192.0.2.0/24\n" },
                       "places": { "text": "192.0.2.0/25,PL,,,\n198.51.100.0/24,DE,,,\n" },
                       "robots": { "text": "User-agent: *\nDisallow: /private/\n" } } }"#;
        let ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.unwrap();
        let recent = RecentHeaders::default();
        for _ in 0..2 {
            for host in [1, 200] {
                for network in [[192, 0, 2], [198, 51, 100], [203, 0, 113]] {
                    for user_agent in ["LabBot/1", "LoneBot", "curl/8", Asked::default().user_agent] {
                        for path in ["/", "/private/"] {
                            let [a, b, c] = network;
                            let address = Some([a, b, c, host].into());
                            let request = Asked { address, user_agent, path, ..Asked::default() };
                            let decision = decide(&ruleset, &request, Overrides::default());
                            let value = recent.value(&ruleset, &decision);
                            assert_eq!(value.as_deref(), ruleset.header_value(&decision).as_deref());
                        }
                    }
                }
            }
        }
    }
}
