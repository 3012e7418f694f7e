//! A request on its way through: decided, then answered, or passed on with what is known.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crawlpike_core::{
    Decision, HeaderNames, NameLookup, Overrides, RecentHeaders, RecentSpeakers, Reply, Ruleset,
    UPSTREAM_HEADER, connection_without_ours, decide, decide_remembering, is_forgery,
};

use crate::document::{PageEdits, PageRequest};
use crate::stream::{Change, ChangedHeaders, HeaderLines, HostRequest, Stream};

/// The next step of a request.
#[derive(Debug)]
pub enum Outcome<'r> {
    /// It goes on to the next filter, with the form that it asks for if its site sends documents and the gate makes them.
    Continues(Option<Box<PageRequest>>),
    /// The gate answers it, which is the last call of Envoy that it makes for the request: the stream may end in the call.
    Answers(Box<Answer<'r>>),
    /// Nothing was done yet: only a name of its client's address can verify the client.
    Asks(NameLookup),
}

/// The values of the last requests of a worker, for one ruleset.
#[derive(Debug, Default)]
pub struct Recent {
    speakers: RecentSpeakers,
    headers: RecentHeaders,
}

/// The consequences of a decision. The parts that few requests have are in boxes, so that others do not carry their places along.
struct Verdict<'r> {
    decision: Decision,
    reply: Option<Box<Reply<'r>>>,
    /// The value of `X-Crawlpike`; `None` for people.
    upstream: Option<Rc<str>>,
    /// The single facts that the configuration asks for, by name.
    facts: Option<Box<[(&'static str, String)]>>,
    page: Option<(Box<PageRequest>, Box<PageEdits>)>,
    /// The lookup that may verify the client.
    lookup: Option<Box<NameLookup>>,
}

/// The treatment of a request if only a name of its client's address can verify the client, and it was not looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownName {
    /// The gate looks it up before it decides.
    Ask,
    /// The client stays unverified.
    Leave,
}

/// Removes the client's own `X-Crawlpike` and decides. Then it records the decision, and either denies the request or passes it
/// on with what is known. `decided` is called as soon as the decision counts.
///
/// # Errors
///
/// Envoy refuses a call. The request then passes.
pub fn on_request<'r, S: Stream>(
    stream: &mut S,
    ruleset: &'r Ruleset,
    recent: &Recent,
    overrides: Overrides,
    unknown: UnknownName,
    decided: impl FnOnce(&Decision),
) -> Result<Outcome<'r>, S::Error> {
    let mut are_removed = false;
    let verdict = loop {
        let forgeries = {
            let request = stream.request()?;
            let HeaderNames { may_hide_ours, are_signed } = request.header_names();
            let forgeries = (may_hide_ours && !are_removed).then(|| forgeries(&request));
            let Some(forgeries) = forgeries.filter(|forgeries| !forgeries.is_empty()) else {
                let overrides = Overrides { is_unsigned: !are_signed, ..overrides };
                break verdict::<S>(ruleset, recent, &request, overrides, unknown)?;
            };
            forgeries
        };
        // Envoy chooses the route again when a header is removed, even one that is not there.
        for (name, others) in &forgeries {
            let change = if others.is_empty() { Change::Remove } else { Change::Replace(others) };
            stream.change(ChangedHeaders::Request, name, change)?;
        }
        are_removed = true;
    };
    if let Some(lookup) = verdict.lookup {
        return Ok(Outcome::Asks(*lookup));
    }
    decided(&verdict.decision);
    if let Some(value) = &verdict.upstream {
        stream.show(None, value)?;
        if verdict.reply.is_none() {
            // The client's own is gone, and to replace a header makes Envoy look for it.
            let change = Change::Add(value.as_bytes());
            stream.change(ChangedHeaders::Request, UPSTREAM_HEADER.lowercase.as_bytes(), change)?;
        }
    }
    for (fact, text) in verdict.facts.iter().flatten() {
        stream.show(Some(fact), text)?;
    }
    match (verdict.reply, verdict.page) {
        (Some(reply), _) => {
            Ok(Outcome::Answers(Box::new(Answer { ruleset, decision: verdict.decision, reply: *reply })))
        }
        (None, None) => Ok(Outcome::Continues(None)),
        (None, Some((page, edits))) => {
            edits.carry_out(&page, stream)?;
            Ok(Outcome::Continues(Some(page)))
        }
    }
}

/// Removes what a client's trailers say in our name: an upstream may add them to the headers.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn on_request_trailers<S: Stream>(stream: &mut S) -> Result<(), S::Error> {
    let forgeries: Vec<Vec<u8>> = {
        let trailers = stream.lines(ChangedHeaders::RequestTrailers)?;
        let names = trailers.lines().map(|(name, _)| name);
        names.filter(|name| is_forgery(name)).map(<[u8]>::to_vec).collect()
    };
    forgeries.iter().try_for_each(|name| stream.change(ChangedHeaders::RequestTrailers, name, Change::Remove))
}

/// Decides about a request for the sake of documents alone: another filter counts it and carries the decision out.
///
/// # Errors
///
/// Envoy refuses a call.
pub fn on_page_request<S: Stream>(
    stream: &mut S,
    ruleset: &Ruleset,
    overrides: Overrides,
) -> Result<Option<(Decision, Box<PageRequest>)>, S::Error> {
    let request = stream.request()?;
    let are_signed = request.header_names().are_signed;
    let decision = decide(ruleset, &request, Overrides { is_unsigned: !are_signed, ..overrides });
    request.facts_complete()?;
    let page = PageRequest::new(ruleset, &decision, &request, overrides);
    drop(request);
    let Some((page, edits)) = page else { return Ok(None) };
    edits.carry_out(&page, stream)?;
    Ok(Some((decision, page)))
}

/// Names of headers, each with the rest of its value.
type Forgeries = Vec<(Vec<u8>, Vec<u8>)>;

/// The headers with which a client says something in our name.
fn forgeries(request: &impl HostRequest) -> Forgeries {
    let ours = request.names().filter(|name| is_forgery(name));
    let mut forgeries: Forgeries = ours.map(|name| (name.to_vec(), Vec::new())).collect();
    // Of an upgrade, Envoy keeps this header.
    forgeries.extend(connection_without_ours(request).map(|options| (b"connection".to_vec(), options)));
    forgeries
}

fn verdict<'r, S: Stream>(
    ruleset: &'r Ruleset,
    recent: &Recent,
    request: &S::Request<'_>,
    overrides: Overrides,
    unknown: UnknownName,
) -> Result<Verdict<'r>, S::Error> {
    #[cfg(feature = "faults-for-tests")]
    panic_if_asked(request);
    let decision = decide_remembering(ruleset, &recent.speakers, request, overrides);
    let reply = ruleset.reply(&decision, request, None).map(Box::new);
    request.facts_complete()?;
    let upstream = recent.headers.value(ruleset, &decision);
    let facts = match ruleset.filter_state(&decision) {
        [] => None,
        _ => {
            let texts = ruleset.shown_facts(&decision, request);
            // A fact about the client may ask for what the decision did not.
            request.facts_complete()?;
            Some(texts)
        }
    };
    let page = match S::MAKES_DOCUMENTS && reply.is_none() {
        true => PageRequest::new(ruleset, &decision, request, overrides),
        false => None,
    };
    let lookup = match unknown {
        UnknownName::Ask => ruleset.name_lookup(&decision, request, overrides.name.as_ref()).map(Box::new),
        UnknownName::Leave => None,
    };
    Ok(Verdict { decision, reply, upstream, facts, page, lookup })
}

#[cfg(feature = "faults-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(request: &impl crawlpike_core::Request) {
    if request.header("x-panic").is_some() {
        panic!("a request asked for it");
    }
}

/// The response of a gate to a request, in place of the upstream's.
#[derive(Debug)]
pub struct Answer<'r> {
    ruleset: &'r Ruleset,
    decision: Decision,
    reply: Reply<'r>,
}

impl Answer<'_> {
    /// Sends it.
    ///
    /// # Errors
    ///
    /// Envoy refuses. The request then passes.
    pub fn send<S: Stream>(&self, stream: &mut S) -> Result<(), S::Error> {
        let Self { ruleset, decision, reply } = self;
        let own = reply.headers().map(|(name, value)| (name.as_bytes(), Cow::Borrowed(value.as_bytes())));
        let mut headers: Vec<(&[u8], Cow<'_, [u8]>)> = own.collect();
        if !S::SEES_OWN_RESPONSES
            && let Some(plan) = ruleset.response_plan(decision)
        {
            let edits =
                plan.header_edits(reply.headers().map(|(name, value)| (name.as_bytes(), value.as_bytes())));
            for (header, lines) in edits.replaced() {
                headers.retain(|(name, _)| !name.eq_ignore_ascii_case(header.lowercase.as_bytes()));
                headers.extend(lines.iter().map(|line| (header.sent.as_bytes(), Cow::Owned(line.to_vec()))));
            }
            headers.retain(|(name, _)| !plan.removes(name));
        }
        let headers: Vec<(&[u8], &[u8])> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        stream.respond(reply.status, &decision.response_details(), &headers, &reply.body)
    }
}
