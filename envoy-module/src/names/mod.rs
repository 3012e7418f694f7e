//! Names of addresses, asked for over HTTPS (RFC 8484) through a cluster of Envoy.
//!
//! A worker never waits: the request that a name may verify is stopped, and its question is left here. The main thread sends it
//! to the cluster, reads the answer, notes the result for all workers, and has the worker let the request go on. Envoy ends
//! each question in time, so no request waits longer than that.

mod message;

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crawlpike_core::metrics::{Event, OnceAMinute};
use crawlpike_core::{
    NameCache, NameDesk, NameLookup, NameLookupResult, NameOutcome, NamePlaces, NameShares, NameStage,
};

use crate::configuration::NameService;
use crate::envoy::{
    Answer, Callout, CalloutId, LogLevel, Scheduled, Scheduler, StreamHandle, StreamScheduler, log,
};
use crate::statistics;
use message::{MEDIA_TYPE, MOST_BYTES, Question};

/// The number of the event by which questions are sent.
pub(crate) const ASK: u64 = 1;

/// The most requests that may wait for lookups. A request beyond that does not wait.
const MOST_WAITING: usize = 1024;

/// The results of lookups, for all configurations and workers. `None`: there is no memory, and nothing is known.
static KNOWN: LazyLock<Option<Box<NameCache>>> = LazyLock::new(NameCache::empty);

/// The knowledge of a client's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// A lookup had this result, or cannot be made now.
    Outcome(NameOutcome),
    /// A lookup is under way, after which the stream is scheduled.
    UnderWay,
}

/// The lookups of one configuration.
#[derive(Debug)]
pub(crate) struct Names {
    service: NameService,
    scheduler: Arc<Scheduler>,
    lookups: Mutex<Lookups>,
}

#[derive(Debug)]
struct Lookups {
    under_way: Vec<Lookup>,
    desk: NameDesk,
    /// The requests that wait, several for some lookups.
    waiting: NamePlaces,
    /// The number of the next one.
    next: u64,
    /// The one whose question is being sent: Envoy can answer before its number is known.
    sending: Option<u64>,
}

/// A lookup that is under way.
#[derive(Debug)]
struct Lookup {
    number: u64,
    about: NameLookup,
    deadline: Instant,
    waiting: Vec<StreamScheduler>,
    /// The question that was sent. `None`: none yet.
    question: Option<Question>,
    callout: Option<CalloutId>,
    /// The names whose addresses are still to be asked for. `None`: the names themselves are.
    candidates: Option<VecDeque<String>>,
    /// The time that the answers are valid, in seconds.
    life: u32,
    /// The reason that a question about a name has no answer, if one has none.
    doubt: Option<NameLookupResult>,
}

/// The next step after an answer.
#[derive(Clone, Copy, Debug)]
enum Next {
    Ask,
    Done(NameLookupResult),
}

/// The result of a lookup, if it is known.
pub(crate) fn outcome(lookup: &NameLookup) -> Option<NameOutcome> {
    KNOWN.as_ref()?.get(lookup, crawlpike_files::now())
}

impl Names {
    pub(crate) fn new(service: NameService, scheduler: Arc<Scheduler>) -> Self {
        let lookups = Lookups {
            under_way: Vec::new(),
            desk: NameDesk::new(RandomState::new().build_hasher().finish()),
            waiting: NamePlaces::new(MOST_WAITING),
            next: 0,
            sending: None,
        };
        Self { service, scheduler, lookups: Mutex::new(lookups) }
    }

    /// Returns what is known; if nothing is, starts a lookup for this stream.
    pub(crate) fn know(&self, about: &NameLookup, handle: &StreamHandle<'_>) -> Knowledge {
        if let Some(outcome) = outcome(about) {
            return Knowledge::Outcome(outcome);
        }
        let Some(stream) = handle.scheduler() else { return Knowledge::Outcome(NameOutcome::Unknown) };
        let mut lookups = self.lookups();
        // It may have ended meanwhile.
        if let Some(outcome) = outcome(about) {
            return Knowledge::Outcome(outcome);
        }
        let shares = NameShares::of(about);
        let not_asked = |result: NameLookupResult| {
            statistics::count_event(Event::NameLookup(result));
            Knowledge::Outcome(result.outcome())
        };
        if !lookups.waiting.take(shares) {
            return not_asked(NameLookupResult::OverLimit);
        }
        if let Some(lookup) = lookups.under_way.iter_mut().find(|lookup| lookup.about.asks_as(about)) {
            lookup.waiting.push(stream);
            return Knowledge::UnderWay;
        }
        if let Err(result) = lookups.desk.take(shares, crawlpike_files::now()) {
            lookups.waiting.give_back(shares);
            return not_asked(result);
        }
        let number = lookups.next;
        lookups.next += 1;
        lookups.under_way.push(Lookup {
            number,
            about: about.clone(),
            deadline: Instant::now() + self.service.patience,
            waiting: vec![stream],
            question: None,
            callout: None,
            candidates: None,
            life: u32::MAX,
            doubt: None,
        });
        drop(lookups);
        self.scheduler.schedule(ASK);
        Knowledge::UnderWay
    }

    /// Sends the questions that no worker can send, in the main thread.
    pub(crate) fn on_scheduled(&self, scheduled: &Scheduled<'_>) {
        loop {
            let mut lookups = self.lookups();
            let Some(lookup) = lookups.under_way.iter_mut().find(|lookup| lookup.question.is_none()) else {
                return;
            };
            lookup.question = Some(Question::names_of(lookup.about.address()));
            let number = lookup.number;
            drop(lookups);
            self.ask(scheduled, number);
        }
    }

    /// An answer came, or none in time.
    pub(crate) fn on_answer(&self, scheduled: &Scheduled<'_>, answer: &Answer<'_>) {
        let message = message_of(answer);
        let mut lookups = self.lookups();
        let sending = lookups.sending.take();
        let is_meant = |lookup: &&mut Lookup| {
            sending.map_or(lookup.callout == Some(answer.id), |number| lookup.number == number)
        };
        let Some(lookup) = lookups.under_way.iter_mut().find(is_meant) else { return };
        lookup.callout = None;
        let (number, had_names, shares) =
            (lookup.number, lookup.candidates.is_some(), NameShares::of(&lookup.about));
        let next = lookup.advance(message);
        if !had_names && lookup.candidates.is_some() {
            lookups.desk.advance(shares);
        }
        drop(lookups);
        match next {
            Next::Ask => self.ask(scheduled, number),
            Next::Done(result) => self.finish(number, result),
        }
    }

    /// Sends the question of a lookup. No lock is held while Envoy sends it, because Envoy may answer in the call.
    fn ask(&self, scheduled: &Scheduled<'_>, number: u64) {
        let mut lookups = self.lookups();
        let Some(lookup) = lookups.under_way.iter().find(|lookup| lookup.number == number) else { return };
        let message = lookup.question.as_ref().and_then(Question::message);
        let patience = lookup.deadline.saturating_duration_since(Instant::now());
        let Some(message) = message.filter(|_| !patience.is_zero()) else {
            drop(lookups);
            let result =
                if patience.is_zero() { NameLookupResult::TimedOut } else { NameLookupResult::Failed };
            return self.finish(number, result);
        };
        lookups.sending = Some(number);
        drop(lookups);
        let sent = self.send(scheduled, &message, patience);
        let mut lookups = self.lookups();
        if lookups.sending.take_if(|sending| *sending == number).is_none() {
            // The answer has come already.
            return;
        }
        match sent {
            Some(id) => {
                let lookup = lookups.under_way.iter_mut().find(|lookup| lookup.number == number);
                if let Some(lookup) = lookup {
                    lookup.callout = Some(id);
                }
            }
            None => {
                drop(lookups);
                self.finish(number, NameLookupResult::Failed);
            }
        }
    }

    fn send(&self, scheduled: &Scheduled<'_>, message: &[u8], patience: Duration) -> Option<CalloutId> {
        static LOGGED: OnceAMinute = OnceAMinute::new();
        let NameService { cluster, authority, path, .. } = &self.service;
        let length = message.len().to_string();
        let headers = [
            (":method", "POST"),
            (":scheme", "https"),
            (":authority", authority),
            (":path", path),
            ("accept", MEDIA_TYPE),
            ("content-type", MEDIA_TYPE),
            ("content-length", &length),
        ];
        let sent = scheduled.call_out(&Callout { cluster, headers: &headers, body: message, patience });
        if sent.is_err() && LOGGED.is_due(crawlpike_files::now()) {
            let message = format!(
                "crawlpike: rdns: Envoy cannot send to the cluster \"{cluster}\"; define a cluster of this name that has a host"
            );
            log(LogLevel::Warn, &message);
        }
        sent.ok()
    }

    /// Notes the result of a lookup, and lets the requests go on that wait for it.
    fn finish(&self, number: u64, result: NameLookupResult) {
        let mut lookups = self.lookups();
        let Some(place) = lookups.under_way.iter().position(|lookup| lookup.number == number) else { return };
        let Lookup { about, waiting, life, candidates, .. } = lookups.under_way.swap_remove(place);
        let (shares, now) = (NameShares::of(&about), crawlpike_files::now());
        let stage = if candidates.is_some() { NameStage::Addresses } else { NameStage::Name };
        lookups.desk.give_back(shares, stage);
        lookups.desk.note(shares, stage, result, now);
        waiting.iter().for_each(|_| lookups.waiting.give_back(shares));
        if let Some(known) = KNOWN.as_ref() {
            known.put(&about, result.outcome(), now.saturating_add(life.into()), now);
        }
        drop(lookups);
        statistics::count_event(Event::NameLookup(result));
        for stream in waiting {
            stream.schedule();
        }
    }

    fn lookups(&self) -> MutexGuard<'_, Lookups> {
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lookup {
    /// Takes the answer to its question, and returns the next step.
    fn advance(&mut self, message: Result<Vec<u8>, NameLookupResult>) -> Next {
        let read = |message: Vec<u8>| self.question.as_ref().and_then(|question| question.answer(&message));
        let records = message.and_then(|message| read(message).ok_or(NameLookupResult::Failed));
        if let Ok(records) = &records {
            self.life = self.life.min(records.life);
        }
        match (&mut self.candidates, records) {
            (None, Err(why)) => return Next::Done(why),
            (candidates @ None, Ok(records)) => {
                let names: Vec<String> = records.names().collect();
                if names.is_empty() {
                    return Next::Done(NameLookupResult::NoName);
                }
                *candidates = Some(self.about.candidates(names.iter().map(String::as_bytes)).collect());
            }
            (Some(_), Ok(records)) if self.about.is_confirmed_by(records.addresses()) => {
                return Next::Done(NameLookupResult::Confirmed);
            }
            (Some(_), Ok(_)) => {}
            (Some(_), Err(why)) => self.doubt = Some(why),
        }
        let next = self.candidates.as_mut().and_then(VecDeque::pop_front);
        match next.map(|name| Question::addresses_of(&name, self.about.address())) {
            Some(question @ Some(_)) => {
                self.question = question;
                Next::Ask
            }
            Some(None) => Next::Done(NameLookupResult::Failed),
            None => Next::Done(self.doubt.unwrap_or(NameLookupResult::Refuted)),
        }
    }
}

/// The message of DNS in an answer, or the reason that there is none. Envoy itself answers with 504 if no server does in time.
fn message_of(answer: &Answer<'_>) -> Result<Vec<u8>, NameLookupResult> {
    let status = answer.header(":status");
    let is_message = status == Some(b"200")
        && answer.header("content-type").is_some_and(|kind| kind.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes()));
    match status {
        Some(b"504") => Err(NameLookupResult::TimedOut),
        _ if is_message => answer.body(MOST_BYTES).ok_or(NameLookupResult::Failed),
        _ => Err(NameLookupResult::Failed),
    }
}
