//! The events that a gate counts beside requests.

use super::{DOUBTS, ERRORS, Metric, NAME_LOOKUPS, RELOADS, ReloadResult, SIGNATURES};
use crate::decide::decision::Decision;
use crate::identity::{Doubt, NameLookupResult, SignatureResult};

/// An event that a gate counts, in a metric with one label at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An internal error; the request at hand passed undecided.
    Error,
    /// A new ruleset.
    Reload(ReloadResult),
    /// A request whose signatures were examined.
    Signature(SignatureResult),
    /// A lookup of the name of an address.
    NameLookup(NameLookupResult),
    /// A claim without a proof that is not called a forgery.
    Doubt(Doubt),
}

impl Event {
    /// The number of events.
    pub(super) const COUNT: usize = 1
        + ReloadResult::ALL.len()
        + SignatureResult::ALL.len()
        + NameLookupResult::ALL.len()
        + Doubt::ALL.len();

    /// Every event, in the order of their places.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let reloads = ReloadResult::ALL.iter().copied().map(Self::Reload);
        let signatures = SignatureResult::ALL.iter().copied().map(Self::Signature);
        let lookups = NameLookupResult::ALL.iter().copied().map(Self::NameLookup);
        let doubts = Doubt::ALL.iter().copied().map(Self::Doubt);
        core::iter::once(Self::Error).chain(reloads).chain(signatures).chain(lookups).chain(doubts)
    }

    /// The place among [`Self::COUNT`].
    pub(super) const fn place(self) -> usize {
        const SIGNATURES: usize = 1 + ReloadResult::ALL.len();
        const LOOKUPS: usize = SIGNATURES + SignatureResult::ALL.len();
        const DOUBTS: usize = LOOKUPS + NameLookupResult::ALL.len();
        match self {
            Self::Error => 0,
            Self::Reload(result) => 1 + result as usize,
            Self::Signature(result) => SIGNATURES + result as usize,
            Self::NameLookup(result) => LOOKUPS + result as usize,
            Self::Doubt(doubt) => DOUBTS + doubt as usize,
        }
    }

    /// The events of a decision, each counted once for the request.
    pub fn of(decision: &Decision) -> impl Iterator<Item = Self> {
        let signature = decision.signature().map(Self::Signature);
        signature.into_iter().chain(decision.doubt.map(Self::Doubt))
    }

    /// The remedy, for the log of a gate that counts it for the first time.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::Doubt(doubt) => doubt.advice(),
            _ => None,
        }
    }

    /// The metric that counts it.
    pub(super) const fn metric(self) -> Metric {
        match self {
            Self::Error => ERRORS,
            Self::Reload(_) => RELOADS,
            Self::Signature(_) => SIGNATURES,
            Self::NameLookup(_) => NAME_LOOKUPS,
            Self::Doubt(_) => DOUBTS,
        }
    }

    /// The value of the metric's label, if it has one.
    pub(super) fn label(self) -> Option<&'static str> {
        match self {
            Self::Error => None,
            Self::Reload(result) => Some(result.as_str()),
            Self::Signature(result) => Some(result.as_str()),
            Self::NameLookup(result) => Some(result.as_str()),
            Self::Doubt(doubt) => Some(doubt.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_a_place_of_its_own() {
        assert!(Event::all().map(Event::place).eq(0..Event::COUNT));
    }
}
