//! Clients that only the name of their address can verify: which requests wait for DNS, and what comes of it.

use std::cell::RefCell;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use crawlpike_core::metrics::Event;
use crawlpike_core::{NameLookup, NameLookupResult};

use crate::conf::LocationConf;
use crate::counters::{count_event, with_names};
use crate::gate;
use crate::module::Request;
use crate::nginx::{NameAnswer, NameQuestion};

/// The number of requests of a worker that wait at the same time. A request beyond that does not wait.
const MOST_WAITING: usize = 128;

/// The number of requests of this worker that wait now.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// A place among the requests that wait.
#[derive(Debug)]
struct Place(());

impl Place {
    fn take() -> Option<Self> {
        let is_taken = WAITING.fetch_add(1, Relaxed) < MOST_WAITING;
        let place = Self(());
        is_taken.then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Relaxed);
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
        self.lookup.candidates([name].into_iter()).next()
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
    let Some(place) = Place::take() else {
        let result = NameLookupResult::OverLimit;
        count_event(main_thread, Event::NameLookup(result));
        state.name.set(Some(lookup.fact(result.outcome())));
        return None;
    };
    Some(Question { lookup, patience, place: RefCell::new(Some(place)) })
}

/// Notes what came of a lookup, for this request and for the next ones.
pub(crate) fn on_answer(request: &Request<'_>, question: &Question, answer: NameAnswer) {
    drop(question.place.take());
    let (result, valid_until) = match answer {
        NameAnswer::Confirmed { valid_until } => (NameLookupResult::Confirmed, valid_until),
        NameAnswer::Refuted { valid_until } => (NameLookupResult::Refuted, valid_until),
        NameAnswer::NoName { valid_until } => (NameLookupResult::NoName, valid_until),
        NameAnswer::TimedOut => (NameLookupResult::TimedOut, 0),
        NameAnswer::Failed => (NameLookupResult::Failed, 0),
    };
    let outcome = result.outcome();
    let (lookup, main_thread) = (&question.lookup, request.main_thread());
    count_event(main_thread, Event::NameLookup(result));
    with_names(main_thread, |names| names.put(lookup, outcome, valid_until, main_thread.now()));
    if let Some(state) = request.state() {
        state.name.set(Some(lookup.fact(outcome)));
    }
}
