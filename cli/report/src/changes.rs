//! The decisions of another configuration about the same requests.

use hashbrown::HashMap;

use crate::tally::group::{Outcome, Sums};
use crate::tally::{Judged, Sender};

/// A change: whose requests, and what was decided by each of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Changed<'r> {
    /// By the first configuration; `None` for automation that claims no known agent.
    pub(crate) sender: Option<Sender<'r>>,
    pub(crate) before: Outcome<'r>,
    pub(crate) after: Outcome<'r>,
}

/// Sums of requests that two configurations decide differently. Exact; as many as the configurations have rules.
#[derive(Debug, Default)]
pub(crate) struct Changes<'r>(pub(crate) HashMap<Changed<'r>, Sums>);

impl<'r> Changes<'r> {
    /// Counts a request if its decision changes. A different line of a policy with the same effect is not a change.
    pub(crate) fn add(&mut self, before: &Judged<'_, 'r>, after: &Judged<'_, 'r>) {
        let effect = |judged: &Judged<'_, 'r>| {
            let facts = judged.facts;
            (facts.action, facts.enforced, facts.reason, facts.identity, facts.agent)
        };
        if effect(before) == effect(after) {
            return;
        }
        let changed = Changed {
            sender: before.sender(),
            before: Outcome::from(&before.facts),
            after: Outcome::from(&after.facts),
        };
        self.0.entry(changed).or_default().add(Sums { requests: 1, bytes: before.record.bytes });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (changed, sums) in other.0 {
            self.0.entry(changed).or_default().add(sums);
        }
    }
}
