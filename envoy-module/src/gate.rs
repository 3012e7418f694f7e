//! A request and its response on their way through.

use std::sync::Arc;

use crawlward_core::{Decision, Overrides};
use crawlward_envoy_gate::{NAME, Outcome, PageRequest, address_of, on_page_head, on_request, on_response};

use crate::configuration::Configuration;
use crate::document::Page;
use crate::envoy::{Head, Refused, StreamHandle};
use crate::errors;
use crate::module::Crawlward;
use crate::request::HostStream;
use crate::route::Route;
use crate::source::Loaded;
use crate::statistics;
use crate::worker::Memory;

/// What the module keeps for a stream.
#[derive(Debug, Default)]
pub(crate) struct Streaming {
    /// Until the response comes.
    decided: Option<Decided>,
    /// The page that may become a document, while its body comes.
    pub(crate) page: Option<Page>,
}

/// A decision, with the ruleset in which it means something.
#[derive(Debug)]
struct Decided {
    loaded: Arc<Loaded>,
    decision: Decision,
    page: Option<Box<PageRequest>>,
}

/// Decides about a request. `true`: it was answered.
pub(crate) fn request(
    configuration: &Configuration,
    streaming: &mut Streaming,
    handle: &mut StreamHandle<'_>,
) -> bool {
    let decided = &mut streaming.decided;
    configuration.on_stream(handle);
    let loaded = configuration.source.ruleset();
    let memory = Memory::of(&loaded);
    let route = handle.route::<Crawlward>();
    let overrides = route.map_or_else(Overrides::default, |route: &Route| route.overrides(&loaded.ruleset));
    let count = |decision: &Decision| {
        *decided = Some(Decided { loaded: Arc::clone(&loaded), decision: *decision, page: None });
        statistics::count_request(decision, &loaded, &memory.counters);
    };
    let stream = &mut HostStream::new(handle);
    match on_request(stream, &loaded.ruleset, &memory.requests, overrides, count) {
        Ok(Outcome::Continues(page)) => {
            if let Some(decided) = decided {
                decided.page = page;
            }
            false
        }
        // Envoy does not show the module its own response, which has all headers already.
        Ok(Outcome::Answered) => {
            *decided = None;
            true
        }
        Err(refused) => {
            errors::note(&refused);
            false
        }
    }
}

/// Edits the headers of a response; if it may become a document, its head waits.
pub(crate) fn response(streaming: &mut Streaming, handle: &mut StreamHandle<'_>, has_body: bool) -> Head {
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(handle, "x-panic-in-response");
    let Some(decided) = streaming.decided.take() else { return Head::Continues };
    match edit_response(&decided, handle, has_body) {
        Ok(page) => streaming.page = page,
        Err(refused) => errors::note(&refused),
    }
    if streaming.page.is_some() { Head::Waits } else { Head::Continues }
}

fn edit_response(
    Decided { loaded, decision, page }: &Decided,
    handle: &mut StreamHandle<'_>,
    has_body: bool,
) -> Result<Option<Page>, Refused> {
    let stream = &mut HostStream::new(handle);
    on_response(stream, &loaded.ruleset, decision)?;
    let Some(request) = page else { return Ok(None) };
    let conversion = on_page_head(stream, &loaded.ruleset, decision, request, has_body)?;
    Ok(conversion.map(|conversion| Page::new(conversion, request)))
}

/// Without a response, either the client is gone, or Envoy starts the request again for an internal redirect: the stream that it
/// then creates has the address of the connection, so this one leaves its own.
pub(crate) fn complete(streaming: &mut Streaming, handle: &mut StreamHandle<'_>) {
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(handle, "x-panic-at-end");
    if streaming.decided.take().is_some()
        && handle.kept_address(NAME).is_none()
        && let Some(address) = handle.source_address().and_then(address_of)
        && let Err(refused) = handle.keep_address(NAME, address)
    {
        errors::note(&refused);
    }
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, clippy::expect_used, reason = "that is what the feature is for")]
fn panic_if_asked(handle: &StreamHandle<'_>, header: &str) {
    let lines = handle.headers(crate::envoy::HeaderSet::Request).expect("a request");
    if lines.iter().any(|(name, _)| name == header.as_bytes()) {
        panic!("a request asked for it");
    }
}
