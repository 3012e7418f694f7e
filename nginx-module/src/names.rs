//! Clients that only the name of their address can verify: which requests wait for DNS, and what comes of it.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use crawlpike_core::metrics::Event;
use crawlpike_core::{NameDesk, NameLookup, NameLookupResult, NameShares, NameStage};

use crate::conf::LocationConf;
use crate::counters::{count_event, with_names};
use crate::gate;
use crate::module::Request;
use crate::nginx::{NameAnswer, NameQuestion};

thread_local! {
    /// The lookups of this worker: only its main thread asks.
    static DESK: RefCell<NameDesk> = RefCell::new(NameDesk::new(RandomState::new().build_hasher().finish()));
}

/// A place among the requests that wait.
#[derive(Debug)]
struct Place {
    shares: NameShares,
    /// The question that was asked last.
    stage: Cell<NameStage>,
}

impl Place {
    fn take(lookup: &NameLookup, now: i64) -> Result<Self, NameLookupResult> {
        let shares = NameShares::of(lookup);
        DESK.with_borrow_mut(|desk| desk.take(shares, now))
            .map(|()| Self { shares, stage: Cell::new(NameStage::Name) })
    }

    /// Notes that the addresses of a name are asked for now.
    fn advance(&self) {
        if self.stage.replace(NameStage::Addresses) == NameStage::Name {
            DESK.with_borrow_mut(|desk| desk.advance(self.shares));
        }
    }

    fn note(&self, result: NameLookupResult, now: i64) {
        DESK.with_borrow_mut(|desk| desk.note(self.shares, self.stage.get(), result, now));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // When the process ends, the desk may be gone.
        let _ = DESK.try_with(|desk| desk.borrow_mut().give_back(self.shares, self.stage.get()));
    }
}

/// The lookup that a request waits for.
#[derive(Debug)]
pub(crate) struct Question {
    lookup: NameLookup,
    patience: Duration,
    /// Given back with the answer, or with the request if that comes first.
    place: RefCell<Option<Place>>,
}

impl NameQuestion for Question {
    fn address(&self) -> IpAddr {
        self.lookup.address()
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn candidate(&self, name: &[u8]) -> Option<String> {
        let candidate = self.lookup.candidates([name].into_iter()).next();
        if candidate.is_some()
            && let Some(place) = &*self.place.borrow()
        {
            place.advance();
        }
        candidate
    }

    fn is_confirmed_by(&self, addresses: &mut dyn Iterator<Item = IpAddr>) -> bool {
        self.lookup.is_confirmed_by(addresses)
    }
}

/// The lookup that a request has to wait for. `None` if its client is known, if no lookup can help, or if lookups are off.
pub(crate) fn question(request: &Request<'_>) -> Option<Question> {
    let patience = request.location_conf().and_then(LocationConf::rdns)?;
    let state = request.state()?;
    let decision = gate::judge(request, state).decision;
    let lookup = state.ruleset.name_lookup(&decision, request, state.name.get().as_ref())?;
    let main_thread = request.main_thread();
    if let Some(outcome) = with_names(main_thread, |names| names.get(&lookup, main_thread.now())).flatten() {
        state.name.set(Some(lookup.fact(outcome)));
        return None;
    }
    match Place::take(&lookup, main_thread.now()) {
        Ok(place) => Some(Question { lookup, patience, place: RefCell::new(Some(place)) }),
        Err(result) => {
            count_event(main_thread, Event::NameLookup(result));
            state.name.set(Some(lookup.fact(result.outcome())));
            None
        }
    }
}

/// Notes what came of a lookup, for this request and for the next ones.
pub(crate) fn on_answer(request: &Request<'_>, question: &Question, answer: NameAnswer) {
    let (result, valid_until) = match answer {
        NameAnswer::Confirmed { valid_until } => (NameLookupResult::Confirmed, valid_until),
        NameAnswer::Refuted { valid_until } => (NameLookupResult::Refuted, valid_until),
        NameAnswer::NoName { valid_until } => (NameLookupResult::NoName, valid_until),
        NameAnswer::TimedOut => (NameLookupResult::TimedOut, 0),
        NameAnswer::Failed => (NameLookupResult::Failed, 0),
    };
    if let Some(place) = question.place.take() {
        place.note(result, request.main_thread().now());
    }
    let outcome = result.outcome();
    let (lookup, main_thread) = (&question.lookup, request.main_thread());
    count_event(main_thread, Event::NameLookup(result));
    with_names(main_thread, |names| names.put(lookup, outcome, valid_until, main_thread.now()));
    if let Some(state) = request.state() {
        state.name.set(Some(lookup.fact(outcome)));
    }
}
