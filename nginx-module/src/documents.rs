//! Pages that become documents: from nginx's request and response to the core's plan, and back.

use std::cell::Cell;
use std::iter;
use std::thread;
use std::time::Duration;

use crawlpike_core::metrics::{Event, OnceAMinute};
use crawlpike_core::{
    Decision, DocumentHeaders, DocumentOutcome, DocumentResult, DocumentTreatment, HeaderName as Name,
    NetworkKey, page_url, rfc_3339,
};
use crawlpike_document_gate::{CacheStatus, Finished, Held, Job, Memory, NO_ROOM, PageSource, clock};

use crate::counters;
use crate::gate;
use crate::module::Request;
use crate::nginx::{Body, FromCache, HeaderName, LogLevel, trim};
use crate::ruleset::InForce;
use crate::state::{AskedDocument, RequestState};

/// From how many bytes on a page is converted in a thread: smaller ones take less than a millisecond.
const LARGE: usize = 64 << 10;

/// The memory that the pages of this worker hold.
static HELD: Memory = Memory::new();

/// When a page without room was last logged.
static REFUSED: OnceAMinute = OnceAMinute::new();

/// The time between two looks for memory of a conversion that waits for others.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// The time between two looks for memory that the C library keeps although it is free: after a flood of requests, that is as much
/// as all pages may hold.
const TRIM_INTERVAL: Duration = Duration::from_secs(5);

/// From how many bytes on it is worth its time: 1 ms for 10 MiB that are free.
const WORTH_TRIMMING: usize = 8 << 20;

/// The headers of a request that are changed.
const CHANGED: [HeaderName; 6] = [
    HeaderName::new("Accept", "accept"),
    HeaderName::new("Accept-Encoding", "accept-encoding"),
    HeaderName::new("If-Modified-Since", "if-modified-since"),
    HeaderName::new("If-None-Match", "if-none-match"),
    HeaderName::new("If-Range", "if-range"),
    HeaderName::new("Range", "range"),
];

/// The body of a page that becomes a document.
#[derive(Debug)]
pub(crate) struct PageBody(Job);

impl Body for PageBody {
    type Converted = Finished;
    type Bytes = Held;

    fn push(&mut self, bytes: &[u8]) -> bool {
        #[cfg(feature = "faults-for-tests")]
        panic_if_asked(bytes, "panic while it is collected");
        self.0.push(bytes)
    }

    fn is_large(&self) -> bool {
        self.0.body().len() > LARGE
    }

    fn convert(&self, is_wanted: &dyn Fn() -> bool, may_wait: bool) -> Finished {
        #[cfg(feature = "faults-for-tests")]
        panic_if_asked(self.0.body(), "panic while it is converted");
        let wait: fn() = || thread::sleep(LOOK_INTERVAL);
        self.0.finish(is_wanted, may_wait.then_some(wait), clock)
    }

    fn into_bytes(self) -> Held {
        self.0.into_body()
    }
}

/// Puts the path of a page in the place of its markdown's, before nginx rewrites it and chooses a location by it.
pub(crate) fn on_request(request: &mut Request<'_>) {
    let Some(state) = request.state() else { return };
    let added = state.ruleset.added_to_page(request, gate::overrides_of_server(request));
    if let Some(added) = added {
        state.is_at_page.set(request.shorten_path(added));
    }
}

/// Notes what is asked for, and has the origin send the page as a whole.
pub(crate) fn on_access(request: &mut Request<'_>, state: &RequestState, decision: &Decision) {
    // After an internal redirect, the request has been changed already.
    if state.document.get().is_some() {
        return;
    }
    let Some(wish) = state.ruleset.document_wish(decision, request, state.is_at_page.get()) else { return };
    let edits = wish.request_edits(request);
    for (name, value) in edits.replaced() {
        let known = CHANGED.into_iter().find(|known| known.is(name.lowercase));
        // If there is no memory for that, the origin sees the request as it is, and its answer is sent as it is or converted.
        known.map(|known| request.edit_request_header(known, value));
    }
    let _ = state.document.set(Box::new(AskedDocument { wish, known: edits.known, shown: Cell::default() }));
}

/// Returns the collector for the body of the response, if that becomes a document.
pub(crate) fn on_response(
    request: &mut Request<'_>,
    state: &RequestState,
    decision: &Decision,
) -> Option<PageBody> {
    let AskedDocument { wish, known, .. } = &**state.document.get()?;
    let has_md_paths = || state.ruleset.serves_md_paths(request, gate::overrides_of_server(request));
    let plan = state.ruleset.document_plan(decision, *wish)?.announcing_if(has_md_paths);
    let status = request.response_status().and_then(|status| u16::try_from(status).ok())?;
    let length = request.response_length().map(|length| length.to_string());
    let apart = [
        request.response_content_type().map(|value| (&b"content-type"[..], value)),
        length.as_ref().map(|length| (&b"content-length"[..], length.as_bytes())),
    ];
    // nginx has its own way to say that it can send parts.
    let can_have_ranges = iter::once((&b"accept-ranges"[..], &b"bytes"[..]));
    let lines = request.response_headers().chain(apart.into_iter().flatten()).chain(can_have_ranges);
    let treatment = plan.treat(status, lines, request.target(), known);
    match treatment {
        DocumentTreatment::Unchanged => None,
        DocumentTreatment::Headers(headers) => {
            edit(request, &headers);
            headers.result.iter().for_each(|result| report(request, result));
            None
        }
        DocumentTreatment::Conversion(conversion) => {
            let url = page_url(request, state.is_at_page.get());
            let cache = match request.cached() {
                FromCache::Nothing => CacheStatus::Miss,
                FromCache::Stored => CacheStatus::Hit,
                FromCache::Revalidated => CacheStatus::StaleRevalidated,
            };
            let source = PageSource { url, fetched_at: rfc_3339(request.main_thread().now()), cache };
            let most = request.main_conf().and_then(|main| main.document_memory);
            let network = NetworkKey::of(state.ruleset.client_address(request));
            let share = HELD.share(most.unwrap_or(state.ruleset.document_memory()), network);
            Some(PageBody(Job::new(conversion, source, share)))
        }
    }
}

/// Makes the head of the response that of the document, which is returned, or of the page.
pub(crate) fn on_converted(request: &mut Request<'_>, finished: Finished) -> Option<Held> {
    let Finished { headers, document, result } = finished;
    edit(request, &headers);
    #[cfg(feature = "faults-for-tests")]
    panic_if_asked(document.as_ref().map_or(&[], AsRef::as_ref), "panic while its head is changed");
    report(request, &result);
    document
}

/// Makes the head of the response that of a page that is sent as it is.
pub(crate) fn on_unconverted(request: &mut Request<'_>, body: &PageBody) {
    let Finished { headers, result, .. } = body.0.refused();
    edit(request, &headers);
    report(request, &result);
}

/// The client has left.
pub(crate) fn on_abandoned(request: &Request<'_>, body: &PageBody) {
    report(request, &body.0.abandoned(true));
}

/// Counts a result, logs it, and keeps it for the variable.
fn report(request: &Request<'_>, result: &DocumentResult) {
    let main_thread = request.main_thread();
    Event::of_document(result).for_each(|(event, added)| counters::add(main_thread, event, added));
    if result.outcome == DocumentOutcome::Busy && REFUSED.is_due(main_thread.now()) {
        request.log(LogLevel::WARN, || format!("crawlpike: {NO_ROOM}"));
    }
    let Some(state) = request.state() else { return };
    // nginx adds nothing to a line of this level.
    request.log(LogLevel::DEBUG, || {
        let url = page_url(request, state.is_at_page.get());
        format!("crawlpike: {result}, {}", url.as_deref().unwrap_or("-"))
    });
    if let Some(asked) = state.document.get() {
        asked.shown.set(Some(result.as_str()));
    }
}

/// Returns when a worker first looks for memory that it can return to the system, if it makes documents.
pub(crate) fn on_worker(in_force: &InForce) -> Option<Duration> {
    in_force.get().filter(|ruleset| ruleset.sends_documents()).map(|_| TRIM_INTERVAL)
}

/// Returns what the C library keeps to the system, if pages had much of it. Returns when to look again.
pub(crate) fn on_timer() -> Option<Duration> {
    if HELD.take_given_back() >= WORTH_TRIMMING {
        trim();
    }
    Some(TRIM_INTERVAL)
}

#[cfg(feature = "faults-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(page: &[u8], request: &str) {
    if page.windows(request.len()).any(|part| part == request.as_bytes()) {
        panic!("a page asked for it");
    }
}

fn edit(request: &mut Request<'_>, headers: &DocumentHeaders) {
    for (Name { sent, lowercase }, lines) in headers.replaced() {
        // If there is no memory for that, nginx has none to send the response either.
        let _ = request.edit_response_header(sent, lowercase, lines);
    }
    if headers.status.is_some() {
        request.set_not_modified();
    }
}
