//! The body of a response that may become a document.
//!
//! The module takes the bytes as they come, up to the site's limit, so that no limit of Envoy's own buffers counts. The head
//! waits until the page is complete, or too large.

use std::cell::Cell;
use std::sync::Arc;

use crawlpike_core::metrics::{Event, OnceAMinute};
use crawlpike_core::{Conversion, Decision, DocumentOutcome, DocumentResult, rfc_3339};
use crawlpike_document_gate::{Finished, Job, Memory, NO_ROOM, PageSource, clock};
use crawlpike_envoy_gate::{PageRequest, finish_head, finish_trailers, show_result};

use crate::envoy::{Body, BodyPlace, LogLevel, Refused, StreamHandle, catch, log};
use crate::errors;
use crate::request::HostStream;
use crate::source::Loaded;
use crate::statistics;

/// The memory that the pages of all workers hold.
static HELD: Memory = Memory::new();

/// A page that is being collected.
#[derive(Debug)]
pub(crate) struct Page {
    loaded: Arc<Loaded>,
    decision: Decision,
    /// In a box, since hardly any stream has a page.
    job: Box<Job>,
}

impl Page {
    pub(crate) fn new(
        conversion: Box<Conversion>,
        request: &PageRequest,
        loaded: &Arc<Loaded>,
        decision: &Decision,
    ) -> Self {
        let url = request.url().map(str::to_owned);
        let source =
            PageSource { url, fetched_at: rfc_3339(crawlpike_files::now()), ..PageSource::default() };
        let share = HELD.share(loaded.ruleset.document_memory(), request.network());
        let job = Box::new(Job::new(conversion, source, share));
        Self { loaded: Arc::clone(loaded), decision: *decision, job }
    }

    /// Makes the head of the response that of what is sent, and reports the result.
    fn change_head(&self, handle: &mut StreamHandle<'_>, finished: &Finished) -> Result<(), Refused> {
        let Finished { headers, result, .. } = finished;
        report(result, self.job.url());
        let stream = &mut HostStream::new(handle);
        finish_head(stream, &self.loaded.ruleset, &self.decision, headers, Some(result))
    }

    /// Lets the response go on, now that its body is complete. Returns true if a document takes its place.
    fn send(&self, handle: &mut StreamHandle<'_>, place: BodyPlace) -> Result<bool, Refused> {
        // Envoy ends a stream in the thread that does this, and other streams wait for it.
        let finished = catch(|| self.job.finish(&|| true, None, clock)).unwrap_or_else(|message| {
            errors::note(&message);
            self.job.refused()
        });
        let changed = self.change_head(handle, &finished);
        // With a head that is not that of a document, the page goes on.
        let document = finished.document.filter(|_| changed.is_ok());
        handle.append(place, document.as_ref().map_or(self.job.body(), AsRef::as_ref))?;
        changed.map(|()| document.is_some())
    }
}

/// Counts the result of a request for a document, and logs it.
pub(crate) fn report(result: &DocumentResult, url: Option<&str>) {
    Event::of_document(result).for_each(|(event, added)| statistics::add(event, added));
    static REFUSED: OnceAMinute = OnceAMinute::new();
    if result.outcome == DocumentOutcome::Busy && REFUSED.is_due(crawlpike_files::now()) {
        log(LogLevel::Warn, &format!("crawlpike: {NO_ROOM}"));
    }
    log(LogLevel::Debug, &format!("crawlpike: {result}, {}", url.unwrap_or("-")));
}

/// Takes the bytes that have just come. If they are the last ones, or too many, the response goes on.
pub(crate) fn collect(page: &Cell<Option<Page>>, handle: &mut StreamHandle<'_>, is_last: bool) -> Body {
    match take(page, handle, is_last) {
        Ok(body) => body,
        Err(refused) => {
            errors::note(&refused);
            Body::Continues
        }
    }
}

fn take(page: &Cell<Option<Page>>, handle: &mut StreamHandle<'_>, is_last: bool) -> Result<Body, Refused> {
    let Some(mut collected) = page.take() else { return Ok(Body::Continues) };
    let received = handle.received()?.concat();
    if !received.is_empty() {
        handle.take_received()?;
    }
    if !collected.job.push(&received) {
        let changed = collected.change_head(handle, &collected.job.refused());
        handle.append(BodyPlace::Received, collected.job.body())?;
        handle.append(BodyPlace::Received, &received)?;
        return changed.map(|()| Body::Continues);
    }
    if is_last {
        collected.send(handle, BodyPlace::Received)?;
        return Ok(Body::Continues);
    }
    page.set(Some(collected));
    Ok(Body::Taken)
}

/// The body is complete, and trailers follow.
pub(crate) fn complete(page: &Cell<Option<Page>>, handle: &mut StreamHandle<'_>) {
    let Some(page) = page.take() else { return };
    let sent = page.send(handle, BodyPlace::Kept).and_then(|is_document| match is_document {
        true => finish_trailers(&mut HostStream::new(handle)),
        false => Ok(()),
    });
    if let Err(refused) = sent {
        errors::note(&refused);
    }
}

/// The page will not be complete: the client has left, or Envoy answers in the place of an origin that has broken off.
pub(crate) fn end(page: &Cell<Option<Page>>, handle: &mut StreamHandle<'_>, is_client_gone: bool) {
    let Some(Page { loaded, decision, job }) = page.take() else { return };
    let result = job.abandoned(is_client_gone);
    report(&result, job.url());
    if let Err(refused) = show_result(&mut HostStream::new(handle), &loaded.ruleset, &decision, &result) {
        errors::note(&refused);
    }
}
