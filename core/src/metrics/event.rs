//! The events that a gate counts beside requests.

use super::{
    DOCUMENT_BYTES, DOCUMENT_TIME, DOCUMENTS, DOUBTS, Direction, ERRORS, Metric, NAME_LOOKUPS, RELOADS,
    ReloadResult, SIGNATURES,
};
use crate::decide::decision::Decision;
use crate::identity::{Doubt, NameLookupResult, SignatureResult};
use crate::response::document::{DocumentForm, DocumentOutcome, DocumentResult};

/// An event that a gate counts, in a metric with a few series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An internal error, or an unclear question of a proxy, without a decision.
    Error,
    /// A new ruleset.
    Reload(ReloadResult),
    /// A request whose signatures were examined.
    Signature(SignatureResult),
    /// A lookup of the name of an address.
    NameLookup(NameLookupResult),
    /// A claim without a proof that is not called a forgery.
    Doubt(Doubt),
    /// A page that was to become a document.
    Document(DocumentForm, DocumentOutcome),
    /// Bytes of a page that became a document, or of the document.
    DocumentBytes(DocumentForm, Direction),
    /// Microseconds of a conversion.
    DocumentTime,
}

/// The values of an event's labels.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventLabels {
    None,
    One([&'static str; 1]),
    Two([&'static str; 2]),
}

impl EventLabels {
    /// The values, in the order of the metric's labels.
    pub(super) fn as_slice(&self) -> &[&'static str] {
        match self {
            Self::None => &[],
            Self::One(values) => values,
            Self::Two(values) => values,
        }
    }
}

impl Event {
    /// The number of events.
    pub(super) const COUNT: usize = 1
        + ReloadResult::ALL.len()
        + SignatureResult::ALL.len()
        + NameLookupResult::ALL.len()
        + Doubt::ALL.len()
        + DocumentForm::ALL.len() * (DocumentOutcome::ALL.len() + Direction::ALL.len())
        + 1;

    /// Every event, in the order of their places.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let reloads = ReloadResult::ALL.iter().copied().map(Self::Reload);
        let signatures = SignatureResult::ALL.iter().copied().map(Self::Signature);
        let lookups = NameLookupResult::ALL.iter().copied().map(Self::NameLookup);
        let doubts = Doubt::ALL.iter().copied().map(Self::Doubt);
        let outcomes = |form: DocumentForm| {
            DocumentOutcome::ALL.iter().map(move |outcome| Self::Document(form, *outcome))
        };
        let documents = DocumentForm::ALL.into_iter().flat_map(outcomes);
        let bytes = |form: DocumentForm| {
            Direction::ALL.iter().map(move |direction| Self::DocumentBytes(form, *direction))
        };
        let documents = documents.chain(DocumentForm::ALL.into_iter().flat_map(bytes));
        let without_documents = core::iter::once(Self::Error).chain(reloads).chain(signatures);
        without_documents.chain(lookups).chain(doubts).chain(documents).chain([Self::DocumentTime])
    }

    /// The place among [`Self::COUNT`].
    pub(super) const fn place(self) -> usize {
        const SIGNATURES: usize = 1 + ReloadResult::ALL.len();
        const LOOKUPS: usize = SIGNATURES + SignatureResult::ALL.len();
        const DOUBTS: usize = LOOKUPS + NameLookupResult::ALL.len();
        const DOCUMENTS: usize = DOUBTS + Doubt::ALL.len();
        const BYTES: usize = DOCUMENTS + DocumentForm::ALL.len() * DocumentOutcome::ALL.len();
        match self {
            Self::Error => 0,
            Self::Reload(result) => 1 + result as usize,
            Self::Signature(result) => SIGNATURES + result as usize,
            Self::NameLookup(result) => LOOKUPS + result as usize,
            Self::Doubt(doubt) => DOUBTS + doubt as usize,
            Self::Document(form, outcome) => {
                DOCUMENTS + form as usize * DocumentOutcome::ALL.len() + outcome as usize
            }
            Self::DocumentBytes(form, direction) => {
                BYTES + form as usize * Direction::ALL.len() + direction as usize
            }
            Self::DocumentTime => Self::COUNT - 1,
        }
    }

    /// The events of a decision, each counted once for the request.
    pub fn of(decision: &Decision) -> impl Iterator<Item = Self> {
        let signature = decision.signature().map(Self::Signature);
        signature.into_iter().chain(decision.doubt.map(Self::Doubt))
    }

    /// The events of a request for a document, each with what it adds to its counter.
    pub fn of_document(result: &DocumentResult) -> impl Iterator<Item = (Self, u64)> + use<> {
        let DocumentResult { form, outcome, page_bytes, document_bytes, microseconds } = *result;
        let bytes = [(Direction::In, page_bytes), (Direction::Out, document_bytes)];
        let bytes = bytes.map(|(direction, bytes)| (Self::DocumentBytes(form, direction), bytes as u64));
        let is_made = outcome == DocumentOutcome::Made;
        let of_all = [(Self::Document(form, outcome), 1), (Self::DocumentTime, microseconds)];
        let all = of_all.into_iter().chain(bytes.into_iter().filter(move |_| is_made));
        all.filter(|(_, added)| *added != 0)
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
            Self::Document(..) => DOCUMENTS,
            Self::DocumentBytes(..) => DOCUMENT_BYTES,
            Self::DocumentTime => DOCUMENT_TIME,
        }
    }

    /// The values of the metric's labels.
    pub(super) fn labels(self) -> EventLabels {
        match self {
            Self::Error | Self::DocumentTime => EventLabels::None,
            Self::Reload(result) => EventLabels::One([result.as_str()]),
            Self::Signature(result) => EventLabels::One([result.as_str()]),
            Self::NameLookup(result) => EventLabels::One([result.as_str()]),
            Self::Doubt(doubt) => EventLabels::One([doubt.as_str()]),
            Self::Document(form, outcome) => EventLabels::Two([form.as_str(), outcome.as_str()]),
            Self::DocumentBytes(form, direction) => EventLabels::Two([form.as_str(), direction.as_str()]),
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

    #[test]
    fn each_event_has_a_value_for_each_label() {
        for event in Event::all() {
            assert_eq!(event.labels().as_slice().len(), event.metric().labels.len(), "{event:?}");
        }
    }
}
