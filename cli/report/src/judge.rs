//! From a line to the decision of a configuration.

use std::borrow::Cow;

use crawlpike_core::{
    Action, Decision, DocumentProspect, Fact, Identity, Overrides, PlainRequest, Reason, Ruleset, Step,
    decide_traced,
};

use crate::changes::Changes;
use crate::events;
use crate::job::Job;
use crate::limit::{self, Crowds, Passage};
use crate::line::{Fault, Record};
use crate::tally::client::Client;
use crate::tally::group::Outcome;
use crate::tally::{Judged, Tally, name_of_unknown};

/// A line that says nothing, as an example in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Example {
    /// The number of the source.
    pub(crate) source: usize,
    /// From 1.
    pub(crate) line: u64,
    pub(crate) fault: Fault,
}

/// The counts of one thread.
#[derive(Debug)]
pub(crate) struct Lane<'r> {
    pub(crate) tally: Tally<'r>,
    pub(crate) changes: Changes<'r>,
    pub(crate) examples: Vec<Example>,
    /// Lines of JSON that have not been written, if any are to be.
    pub(crate) events: Option<Vec<u8>>,
    pub(crate) crowds: Crowds,
    /// Requests that have not been passed on to the limits.
    pub(crate) passages: Vec<Passage>,
}

/// The part of what a thread has found that is needed in the order of the logs.
#[derive(Debug)]
pub(crate) struct InOrder {
    pub(crate) events: Vec<u8>,
    pub(crate) passages: Vec<Passage>,
}

impl<'r> Lane<'r> {
    const EXAMPLES: usize = 5;

    pub(crate) fn new(writes_events: bool) -> Self {
        let events = writes_events.then(Vec::new);
        Self {
            tally: Tally::new(),
            changes: Changes::default(),
            examples: Vec::new(),
            events,
            crowds: Crowds::default(),
            passages: Vec::new(),
        }
    }

    /// Takes what is needed in the order of the logs.
    pub(crate) fn take_in_order(&mut self) -> InOrder {
        let events = self.events.as_mut().map(std::mem::take).unwrap_or_default();
        InOrder { events, passages: std::mem::take(&mut self.passages) }
    }

    /// Counts a line that says nothing of a request.
    pub(crate) fn reject(&mut self, source: usize, line: u64, fault: Fault) {
        *self.tally.faults.entry(fault).or_default() += 1;
        // Lines come in their order, so the first ones of each kind are the examples.
        let of_kind = self.examples.iter().filter(|example| example.fault == fault).count();
        if of_kind < Self::EXAMPLES {
            self.examples.push(Example { source, line, fault });
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.tally.merge(other.tally);
        self.changes.merge(other.changes);
        self.crowds.merge(other.crowds);
        self.examples.extend(other.examples);
        self.examples.sort_unstable_by_key(|example| (example.fault, example.source, example.line));
        let mut kept: Vec<Example> = Vec::new();
        for example in std::mem::take(&mut self.examples) {
            if kept.iter().filter(|known| known.fault == example.fault).count() < Self::EXAMPLES {
                kept.push(example);
            }
        }
        self.examples = kept;
    }
}

impl<'r> Job<'r, '_> {
    /// Judges a line, without its end, and counts it.
    pub(crate) fn judge_line(&self, line: &[u8], source: usize, number: u64, lane: &mut Lane<'r>) {
        lane.tally.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return;
        }
        match self.reader.read(line) {
            Ok(record) => self.count(record, lane),
            Err(fault) => lane.reject(source, number, fault),
        }
    }

    fn count<'l>(&'l self, mut record: Record<'l>, lane: &mut Lane<'r>) {
        if let (None, Some(host)) = (&record.authority, &self.options.default_host) {
            record.authority = Some(Cow::Borrowed(host.as_bytes()));
        }
        let is_of_host =
            self.options.host.as_ref().is_none_or(|host| is_host(record.authority.as_deref(), host));
        let is_recent = self.options.since.map_or(Some(true), |since| Some(record.time? >= since));
        let left_out = match is_recent {
            Some(true) if is_of_host => None,
            None if is_of_host => Some(&mut lane.tally.undated),
            _ => Some(&mut lane.tally.filtered),
        };
        if let Some(count) = left_out {
            *count += 1;
            return;
        }
        let client = record.address.map(|address| Client::new(address, self.options.anonymize));
        let (judged, passage) = self.judge(&record, client, self.ruleset);
        if self.options.agent.as_ref().is_some_and(|agent| !is_agent(&judged, agent)) {
            lane.tally.filtered += 1;
            return;
        }
        lane.tally.add(&judged);
        lane.crowds.add(&record, passage.as_ref());
        lane.passages.extend(passage);
        if let Some(lines) = &mut lane.events {
            events::write(&judged, lines);
        }
        if let Some(other) = self.other {
            lane.changes.add(&judged, &self.judge(&record, client, other).0);
        }
    }

    fn judge<'a>(
        &self,
        record: &'a Record<'a>,
        client: Option<Client>,
        ruleset: &'r Ruleset,
    ) -> (Judged<'a, 'r>, Option<Passage>) {
        let known = [(ruleset.purpose_header(), &record.purpose), ("accept", &record.accept)];
        let [purpose, accept] = known.map(|(name, value)| Some((name, value.as_deref()?)));
        let both = [purpose.or(accept), accept].map(Option::unwrap_or_default);
        let count = usize::from(purpose.is_some()) + usize::from(accept.is_some());
        let asked = record.request(&both[..count], self.now);
        let mut asks_policy = false;
        let mut note = |step| asks_policy |= matches!(step, Step::Policy(_) | Step::Place(_));
        let decision = decide_traced(ruleset, &asked, Overrides::default(), &mut note);
        let facts = ruleset.named(&decision);
        let is_uncovered = facts.identity != Identity::None
            && facts.action == Action::Allow
            && facts.reason == Reason::Allowed
            && !asks_policy;
        let document = document(ruleset, &decision, &asked, record.status);
        let passage = self.passage(ruleset, &decision, &asked, record);
        let uses = if Outcome::from(&facts).is_automated() {
            ruleset.usage_by_purpose(&decision, &asked)
        } else {
            Vec::new()
        };
        let judged = Judged {
            record,
            client,
            facts,
            doubt: decision.doubt,
            uses,
            document,
            is_covered: !is_uncovered,
            is_off: decision.is_off(),
        };
        (judged, passage)
    }
}

impl Job<'_, '_> {
    /// The request for the limits, if one of them counts it.
    fn passage(
        &self,
        ruleset: &Ruleset,
        decision: &Decision,
        asked: &PlainRequest<'_>,
        record: &Record<'_>,
    ) -> Option<Passage> {
        let (address, seconds) = (record.address?, record.time?);
        let network = ruleset.network_of(address);
        let limits = &self.options.limits;
        let is_costly = limits.iter().any(|limit| limit.is_for_costly)
            && ruleset.client_fact(Fact::Costly, decision, asked).is_some();
        let mut keys = [None; limit::MOST];
        for (key, limit) in keys.iter_mut().zip(limits) {
            *key = limit.key_of(ruleset, decision, asked).filter(|_| is_costly || !limit.is_for_costly);
        }
        keys.iter().any(Option::is_some).then(|| Passage {
            time: seconds * 1000 + i64::from(record.milliseconds.unwrap_or(0)),
            number: 0,
            address,
            network: if self.options.anonymize { network.at_most(Client::BITS) } else { network },
            asn: ruleset.system_of(address).map(|system| system.asn),
            identity: Identity::ALL.iter().position(|known| *known == decision.identity).unwrap_or(0) as u8,
            keys,
        })
    }
}

/// The answer to the request if its client wants a document, as if each response with the status 200 were a page.
fn document(
    ruleset: &Ruleset,
    decision: &Decision,
    asked: &PlainRequest<'_>,
    status: Option<u16>,
) -> DocumentProspect {
    const OK: u16 = 200;
    let page = [(&b"content-type"[..], &b"text/html"[..])];
    ruleset.document_prospect(decision, asked, status.unwrap_or(OK), page.into_iter())
}

fn is_host(authority: Option<&[u8]>, host: &str) -> bool {
    let authority = authority.unwrap_or_default();
    let without_port = match memchr::memrchr(b':', authority) {
        Some(colon) if authority[colon + 1..].iter().all(u8::is_ascii_digit) => &authority[..colon],
        _ => authority,
    };
    without_port.strip_suffix(b".").unwrap_or(without_port).eq_ignore_ascii_case(host.as_bytes())
}

fn is_agent(judged: &Judged<'_, '_>, agent: &str) -> bool {
    match judged.facts.agent {
        Some(token) => token.eq_ignore_ascii_case(agent),
        None => {
            judged.facts.identity == Identity::Generic
                && name_of_unknown(judged.record.user_agent.as_deref()).eq_ignore_ascii_case(agent.as_bytes())
        }
    }
}
