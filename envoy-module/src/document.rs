//! The body of a response that may become a document.
//!
//! The module takes the bytes as they come, up to the site's limit, so that no limit of Envoy's own buffers counts. The head
//! waits until the page is complete, or too large.

use std::cell::Cell;

use crawlpike_core::DocumentOutcome;
use crawlpike_core::{Conversion, DocumentHeaders, Ruleset, rfc_3339};
use crawlpike_document_gate::{Held, Job, Memory, Outcome, PageSource};
use crawlpike_envoy_gate::{PageRequest, change_head};
use crawlpike_files::catch;

use crate::envoy::{Body, BodyPlace, Refused, StreamHandle};
use crate::errors;
use crate::request::HostStream;
use crate::statistics;

/// The memory that the pages of all workers hold.
static HELD: Memory = Memory::new();

/// A page that is being collected.
#[derive(Debug)]
pub(crate) struct Page {
    /// In a box, since hardly any stream has a page.
    job: Box<Job>,
}

impl Page {
    pub(crate) fn new(conversion: Box<Conversion>, request: &PageRequest, ruleset: &Ruleset) -> Self {
        let url = request.url().map(str::to_owned);
        let source = PageSource { url, fetched_at: rfc_3339(crawlpike_files::now()) };
        let share = HELD.share(ruleset.document_memory());
        Self { job: Box::new(Job::new(conversion, source, share)) }
    }

    /// The changes of the head and the document, now that the page is complete. `None`: the page goes on.
    fn finish(&self) -> (DocumentHeaders, Option<Held>) {
        // Envoy ends a stream in the thread that does this.
        let (headers, document, event) = match catch(|| self.job.finish(&|| true)) {
            Ok(Outcome::Document { headers, body }) => {
                (headers, Some(body), self.job.event(DocumentOutcome::Made))
            }
            Ok(Outcome::Page { headers, reason }) => (headers, None, self.job.event(reason)),
            Err(message) => {
                errors::note(&message);
                (self.job.page(), None, self.job.refused())
            }
        };
        statistics::count_event(event);
        (headers, document)
    }

    /// Lets the response go on, now that its body is complete.
    fn send(&self, handle: &mut StreamHandle<'_>, place: BodyPlace) -> Result<(), Refused> {
        let (headers, document) = self.finish();
        let changed = change_head(&mut HostStream::new(handle), &headers);
        match document {
            Some(document) if changed.is_ok() => handle.append(place, document.as_ref())?,
            // With a head that is not that of a document, the page goes on.
            _ => handle.append(place, self.job.body())?,
        }
        changed
    }
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
    let received = handle.received().concat();
    handle.take_received()?;
    if !collected.job.push(&received) {
        statistics::count_event(collected.job.refused());
        let changed = change_head(&mut HostStream::new(handle), &collected.job.page());
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
    if let Some(page) = page.take()
        && let Err(refused) = page.send(handle, BodyPlace::Kept)
    {
        errors::note(&refused);
    }
}

/// The stream has ended. If its page was not complete, the client or the origin has left.
pub(crate) fn end(page: &Cell<Option<Page>>) {
    if let Some(page) = page.take() {
        statistics::count_event(page.job.event(DocumentOutcome::Gone));
    }
}
