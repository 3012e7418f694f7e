//! A page that is being collected, in the memory of the virtual machine: the limits of Envoy's buffers do not count.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crawlpike_core::{Conversion, Decision, rfc_3339};
use crawlpike_document_gate::{Finished, Held, Job, Memory, PageSource};
use crawlpike_envoy_gate::{ChangedHeaders, PageRequest, Stream};
use crawlpike_envoy_wasm::{HostStream, Refused, raw};

use crate::gate::Gate;

/// The memory that the pages of a virtual machine hold. Its own memory never shrinks.
static HELD: Memory = Memory::new();

/// Envoy's `%RESPONSE_CODE_DETAILS%`.
const RESPONSE_DETAILS: &str = "response\0code_details";

/// The details of a response that had to be sent as one of Envoy's own.
const DETAILS: &str = "crawlpike_document";

thread_local! {
    /// The pages by the numbers of their streams. No call of the host is made while they are borrowed: Envoy may end a stream
    /// during a call.
    static PAGES: RefCell<BTreeMap<u32, Page>> = const { RefCell::new(BTreeMap::new()) };
}

/// A page of which a part has come.
pub(crate) struct Page {
    gate: Rc<Gate>,
    decision: Decision,
    job: Job,
}

/// Keeps a page until more of it comes.
pub(crate) fn keep(stream: u32, page: Page) {
    PAGES.with_borrow_mut(|pages| pages.insert(stream, page));
}

/// The page of a stream, which is then kept no longer.
pub(crate) fn take(stream: u32) -> Option<Page> {
    PAGES.with_borrow_mut(|pages| pages.remove(&stream))
}

/// The current stream has ended. If its page was not complete, the client or the origin has left.
pub(crate) fn end(stream: u32) {
    let Some(Page { gate, decision, job }) = take(stream) else { return };
    let details = gate.granted(raw::property(RESPONSE_DETAILS)).flatten();
    let result = job.abandoned(details.is_none_or(|details| is_of_client(&details)));
    gate.report(&result, job.url());
    gate.show(&decision, &result);
}

/// Returns true if these details of a response that was not complete say that the client has left.
fn is_of_client(details: &[u8]) -> bool {
    [&b"downstream_"[..], b"http2.remote_", b"http3.remote_"].iter().any(|start| details.starts_with(start))
}

/// Takes so many bytes of a body, which have just come. False if the response goes on: with these bytes, with all of the page,
/// or with the document in their place.
pub(crate) fn collect(stream: u32, size: usize, is_last: bool) -> bool {
    let Some(mut page) = take(stream) else { return false };
    let before = page.job.body().len();
    let is_taken = page.collect(size, is_last).unwrap_or_else(|refused| {
        page.gate.note(refused);
        page.give_back(before);
        false
    });
    if is_taken {
        keep(stream, page);
    }
    is_taken
}

impl Page {
    pub(crate) fn new(
        gate: Rc<Gate>,
        decision: Decision,
        conversion: Box<Conversion>,
        request: &PageRequest,
    ) -> Self {
        let source = PageSource {
            url: request.url().map(str::to_owned),
            fetched_at: raw::now().ok().and_then(rfc_3339),
            ..PageSource::default()
        };
        let share = HELD.share(gate.document_memory(), request.network());
        Self { gate, decision, job: Job::new(conversion, source, share) }
    }

    fn collect(&mut self, size: usize, is_last: bool) -> Result<bool, Refused> {
        if !self.job.push(&raw::response_body(size)?) {
            self.change_head(self.job.refused())?;
            // Before the bytes that have just come.
            raw::replace_response_body(0, self.job.body())?;
            return Ok(false);
        }
        if is_last {
            let body = self.finish()?;
            raw::replace_response_body(size, body.as_ref().map_or(self.job.body(), AsRef::as_ref))?;
            return Ok(false);
        }
        raw::replace_response_body(size, &[])?;
        Ok(true)
    }

    /// Puts so many bytes that were taken before those that have just come.
    fn give_back(&self, taken: usize) {
        if let Some(taken) = self.job.body().get(..taken)
            && let Err(refused) = raw::replace_response_body(0, taken)
        {
            self.gate.note(refused);
        }
    }

    /// Changes the head of the response, now that its body is complete. The body, if it is not the page.
    fn finish(&self) -> Result<Option<Held>, Refused> {
        // Nothing else runs in a virtual machine meanwhile.
        // If Envoy refuses the time, it is not counted.
        self.change_head(self.job.finish(&|| true, None, || raw::microseconds().unwrap_or_default()))
    }

    /// Makes the head of the response that of what is sent, and reports the result. Returns the document.
    fn change_head(&self, finished: Finished) -> Result<Option<Held>, Refused> {
        self.gate.report(&finished.result, self.job.url());
        self.gate.change_head(&self.decision, &finished)?;
        Ok(finished.document)
    }

    /// Sends the response, whose body is complete, without its trailers; false if that is refused. A filter cannot add bytes to
    /// a body before trailers, unless Envoy's buffer has some. So this is one of Envoy's own responses, which the filters before
    /// this one do not see.
    pub(crate) fn reply(&self) -> bool {
        self.gate.granted(self.send()).is_some()
    }

    fn send(&self) -> Result<(), Refused> {
        self.gate.apply_policies(&self.decision);
        // The body is nowhere else: if Envoy refuses to change the head, the page goes on.
        let body = self.gate.granted(self.finish()).flatten();
        let head = HostStream::default().lines(ChangedHeaders::Response)?;
        let value = |of: &[u8]| head.lines().find(|(name, _)| *name == of).map(|(_, value)| value);
        let status = value(b":status").and_then(|status| str::from_utf8(status).ok()?.parse().ok());
        // Envoy itself adds what says how long the body is.
        let lines: Vec<_> = head
            .lines()
            .filter(|(name, _)| !name.starts_with(b":"))
            .filter(|(name, _)| !matches!(*name, b"content-length" | b"transfer-encoding" | b"trailer"))
            .collect();
        raw::respond(
            status.unwrap_or(200),
            DETAILS,
            &lines,
            body.as_ref().map_or(self.job.body(), AsRef::as_ref),
        )
    }
}
