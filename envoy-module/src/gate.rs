//! A request and its response on their way through.

use std::cell::Cell;
use std::sync::Arc;

use crawlpike_core::{Decision, NameFact, NameLookup, NameOutcome, Overrides, Request, Ruleset};
use crawlpike_envoy_gate::{
    NAME, Outcome, PageHead, PageRequest, Stream, UnknownName, address_of, on_page_head, on_request,
    on_request_trailers, on_response, page_path,
};

use crate::configuration::Configuration;
use crate::document::{self, Page};
use crate::envoy::{Admission, Head, OtherModule, Refused, StreamHandle};
use crate::errors;
use crate::module::Crawlpike;
use crate::names::{self, Knowledge};
use crate::request::HostStream;
use crate::route::Route;
use crate::source::Loaded;
use crate::statistics;
use crate::worker::Memory;

/// The state of a stream. It is in cells, and nothing is borrowed from them during a call of Envoy: Envoy may enter a hook of the
/// stream before the call returns.
#[derive(Default)]
pub(crate) struct Streaming {
    /// Until the response comes.
    decided: Cell<Option<Decided>>,
    waiting: Cell<Option<Waiting>>,
    /// The page that may become a document, while its body comes.
    pub(crate) page: Cell<Option<Page>>,
}

/// A decision, with the ruleset that made it.
#[derive(Debug)]
struct Decided {
    loaded: Arc<Loaded>,
    decision: Decision,
    page: Option<Box<PageRequest>>,
}

/// A request that waits for the result of a lookup, with the ruleset that asks for it.
#[derive(Debug)]
struct Waiting {
    loaded: Arc<Loaded>,
    lookup: NameLookup,
}

/// Decides about a request, or has it wait for the result of a lookup.
pub(crate) fn request(
    configuration: &Configuration,
    streaming: &Streaming,
    handle: &mut StreamHandle<'_>,
) -> Admission {
    configuration.on_stream(handle);
    let loaded = configuration.source.ruleset();
    let Some(names) = &configuration.names else {
        return admit(&loaded, streaming, handle, None);
    };
    let lookup = match decide(&loaded, streaming, handle, None, UnknownName::Ask) {
        Ok(admission) => return admission,
        Err(lookup) => lookup,
    };
    match names.know(&lookup, handle) {
        Knowledge::Outcome(outcome) => admit(&loaded, streaming, handle, Some(lookup.fact(outcome))),
        Knowledge::UnderWay => {
            streaming.waiting.set(Some(Waiting { loaded, lookup }));
            Admission::Waits
        }
    }
}

/// Removes what the trailers of a request say in our name.
pub(crate) fn request_trailers(handle: &mut StreamHandle<'_>) {
    if let Err(refused) = on_request_trailers(&mut HostStream::new(handle)) {
        errors::note(&refused);
    }
}

/// Decides about a request that has waited, unless Envoy has answered it in the meantime.
pub(crate) fn resume(streaming: &Streaming, handle: &mut StreamHandle<'_>) -> Admission {
    let Some(Waiting { loaded, lookup }) = streaming.waiting.take() else { return Admission::Answered };
    let outcome = names::outcome(&lookup).unwrap_or(NameOutcome::Unknown);
    admit(&loaded, streaming, handle, Some(lookup.fact(outcome)))
}

/// Decides with what is known of the client's name.
fn admit(
    loaded: &Arc<Loaded>,
    streaming: &Streaming,
    handle: &mut StreamHandle<'_>,
    name: Option<NameFact>,
) -> Admission {
    decide(loaded, streaming, handle, name, UnknownName::Leave).unwrap_or(Admission::Continues)
}

/// Decides, or gives the lookup that may verify the client.
fn decide(
    loaded: &Arc<Loaded>,
    streaming: &Streaming,
    handle: &mut StreamHandle<'_>,
    name: Option<NameFact>,
    unknown: UnknownName,
) -> Result<Admission, NameLookup> {
    let memory = Memory::of(loaded);
    let overrides = overrides(&loaded.ruleset, handle).unwrap_or_else(|refused| {
        errors::note(&refused);
        route_overrides(&loaded.ruleset, handle)
    });
    let overrides = Overrides { name, ..overrides };
    let count = |decision: &Decision| {
        let decided = Decided { loaded: Arc::clone(loaded), decision: *decision, page: None };
        streaming.decided.set(Some(decided));
        statistics::count_request(decision, loaded, &memory.counters);
    };
    let stream = &mut HostStream::new(handle);
    match on_request(stream, &loaded.ruleset, &memory.requests, overrides, unknown, count) {
        Ok(Outcome::Continues(page)) => {
            if page.is_some() {
                let decided = streaming.decided.take().map(|decided| Decided { page, ..decided });
                streaming.decided.set(decided);
            }
            Ok(Admission::Continues)
        }
        // Envoy does not show the module its own response, which has all headers already. The stream may end in this call.
        Ok(Outcome::Answers(answer)) => {
            streaming.decided.take();
            Ok(match answer.send(stream) {
                Ok(()) => Admission::Answered,
                Err(refused) => {
                    errors::note(&refused);
                    Admission::Continues
                }
            })
        }
        Ok(Outcome::Asks(lookup)) => Err(lookup),
        Err(refused) => {
            errors::note(&refused);
            Ok(Admission::Continues)
        }
    }
}

/// The settings for a request: those of its route, or of the page's if it asks for a page's markdown at its own path. Otherwise `.md`
/// would lead to the page by the settings of another route.
fn overrides(ruleset: &Ruleset, handle: &mut StreamHandle<'_>) -> Result<Overrides, Refused> {
    let own = route_overrides(ruleset, handle);
    if !ruleset.has_md_paths() || !handle.routes_differ() {
        return Ok(own);
    }
    let stream = HostStream::new(handle);
    let request = stream.request()?;
    let Some(page) = page_path(ruleset, &request, own) else { return Ok(own) };
    let asked = request.path().to_vec();
    drop(request);
    HostStream::new(handle).change_path(&page)?;
    let of_page = route_overrides(ruleset, handle);
    // The decision is about the request as the client sent it.
    let mut stream = HostStream::new(handle);
    stream.change_path(&asked)?;
    let is_page = page_path(ruleset, &stream.request()?, of_page).is_some();
    Ok(if is_page { of_page } else { Overrides { keeps_path: true, ..own } })
}

/// The settings of the route that Envoy has chosen.
fn route_overrides(ruleset: &Ruleset, handle: &StreamHandle<'_>) -> Overrides {
    match handle.route::<Crawlpike>() {
        Ok(route) => route.map_or_else(Overrides::default, |route: &Route| route.overrides(ruleset)),
        Err(OtherModule) => {
            errors::note(
                &"a route has a configuration of another module for this filter; using that of the filter",
            );
            Overrides::default()
        }
    }
}

/// Edits the headers of a response; if it may become a document, its head waits.
pub(crate) fn response(streaming: &Streaming, handle: &mut StreamHandle<'_>, has_body: bool) -> Head {
    #[cfg(feature = "faults-for-tests")]
    panic_if_asked(handle, "x-panic-in-response");
    // Envoy can answer a request that waits, as when it takes too long.
    streaming.waiting.take();
    let Some(decided) = streaming.decided.take() else { return Head::Continues };
    match edit_response(&decided, handle, has_body) {
        Ok(Some(page)) => {
            streaming.page.set(Some(page));
            Head::Waits
        }
        Ok(None) => Head::Continues,
        Err(refused) => {
            errors::note(&refused);
            Head::Continues
        }
    }
}

fn edit_response(
    Decided { loaded, decision, page }: &Decided,
    handle: &mut StreamHandle<'_>,
    has_body: bool,
) -> Result<Option<Page>, Refused> {
    let stream = &mut HostStream::new(handle);
    on_response(stream, &loaded.ruleset, decision)?;
    let Some(request) = page else { return Ok(None) };
    match on_page_head(stream, &loaded.ruleset, decision, request, has_body)? {
        PageHead::Stays(result) => {
            result.iter().for_each(|result| document::report(result, request.url()));
            Ok(None)
        }
        PageHead::MayBecome(conversion) => Ok(Some(Page::new(conversion, request, loaded, decision))),
    }
}

/// Envoy answers the client itself. Where a page is being collected, its origin has broken off, or has taken too long.
pub(crate) fn local_reply(streaming: &Streaming, handle: &mut StreamHandle<'_>) {
    document::end(&streaming.page, handle, false);
}

/// Without a response, either the client is gone, or Envoy starts the request again for an internal redirect: the stream that it
/// then creates has the address of the connection, so this one leaves its own.
pub(crate) fn complete(streaming: &Streaming, handle: &mut StreamHandle<'_>) {
    #[cfg(feature = "faults-for-tests")]
    panic_if_asked(handle, "x-panic-at-end");
    streaming.waiting.take();
    document::end(&streaming.page, handle, true);
    if streaming.decided.take().is_some()
        && handle.kept_address(NAME).is_none()
        && let Some(address) = handle.source_address().and_then(address_of)
        && let Err(refused) = handle.keep_address(NAME, address)
    {
        errors::note(&refused);
    }
}

#[cfg(feature = "faults-for-tests")]
#[expect(clippy::panic, clippy::expect_used, reason = "that is what the feature is for")]
fn panic_if_asked(handle: &StreamHandle<'_>, header: &str) {
    let lines = handle.headers(crate::envoy::HeaderSet::Request).expect("a request");
    if lines.iter().any(|(name, _)| name == header.as_bytes()) {
        panic!("a request asked for it");
    }
}
