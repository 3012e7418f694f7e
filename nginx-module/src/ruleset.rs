//! The ruleset in force.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use crawlpike_core::metrics::RecentSlots;
use crawlpike_core::{RecentHeaders, RecentSpeakers, Ruleset};

use crate::nginx::TrimAfter;

/// A ruleset, with what belongs to it as long as it is in force.
#[derive(Debug)]
pub(crate) struct LoadedRuleset {
    ruleset: Ruleset,
    /// When it was loaded, in seconds since the Unix epoch: just before its files were read.
    pub(crate) since: i64,
    /// When this worker last looked for feeds that have become stale.
    pub(crate) looked: Cell<i64>,
    /// The positions of this worker's counters.
    pub(crate) recent: RecentSlots,
    /// The values that this worker read last, and sent to upstreams last.
    pub(crate) recent_speakers: RecentSpeakers,
    pub(crate) recent_headers: RecentHeaders,
    /// A ruleset is large: what it took goes back to the system.
    _freed: TrimAfter,
}

impl Deref for LoadedRuleset {
    type Target = Ruleset;

    fn deref(&self) -> &Ruleset {
        &self.ruleset
    }
}

/// The place of the ruleset that new requests use. Once there is one, there always is: only another ruleset replaces it.
#[derive(Debug, Default)]
pub(crate) struct InForce(RefCell<Option<Rc<LoadedRuleset>>>);

impl InForce {
    /// The ruleset. A request takes it once and keeps it, because the numbers in a decision mean nothing in another ruleset.
    pub(crate) fn get(&self) -> Option<Rc<LoadedRuleset>> {
        self.0.borrow().clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_none()
    }

    /// Puts a ruleset in force, for requests that start from now on. Its files were read after `since`.
    pub(crate) fn set(&self, ruleset: Ruleset, since: i64) {
        let loaded = LoadedRuleset {
            ruleset,
            since,
            looked: Cell::new(since),
            recent: RecentSlots::default(),
            recent_speakers: RecentSpeakers::default(),
            recent_headers: RecentHeaders::default(),
            _freed: TrimAfter,
        };
        self.0.replace(Some(Rc::new(loaded)));
    }
}
