//! A request and its response on their way through.

use std::sync::Arc;

use crawlward_core::{Decision, Overrides};
use crawlward_envoy_gate::{NAME, Outcome, on_request, on_response};

use crate::configuration::Configuration;
use crate::envoy::StreamHandle;
use crate::errors;
use crate::module::Crawlward;
use crate::request::HostStream;
use crate::route::Route;
use crate::source::Loaded;
use crate::statistics;

/// A decision, with the ruleset in which it means something.
#[derive(Debug)]
pub(crate) struct Decided {
    loaded: Arc<Loaded>,
    decision: Decision,
}

/// Decides about a request. `true`: it was answered.
pub(crate) fn request(
    configuration: &Configuration,
    decided: &mut Option<Decided>,
    handle: &mut StreamHandle<'_>,
) -> bool {
    configuration.on_stream(handle);
    let loaded = configuration.source.ruleset();
    let route = handle.route::<Crawlward>();
    let overrides = route.map_or_else(Overrides::default, |route: &Route| route.overrides(&loaded.ruleset));
    let count = |decision: &Decision| {
        *decided = Some(Decided { loaded: Arc::clone(&loaded), decision: *decision });
        statistics::count_request(decision, &loaded);
    };
    match on_request(&mut HostStream::new(handle), &loaded.ruleset, overrides, count) {
        Ok(Outcome::Continues) => false,
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

/// Edits the headers of a response.
pub(crate) fn response(decided: &mut Option<Decided>, handle: &mut StreamHandle<'_>) {
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(handle, "x-panic-in-response");
    if let Some(Decided { loaded, decision }) = decided.take()
        && let Err(refused) = on_response(&mut HostStream::new(handle), &loaded.ruleset, &decision)
    {
        errors::note(&refused);
    }
}

/// Without a response, either the client is gone, or Envoy starts the request again for an internal redirect: the stream that it
/// then creates has the address of the connection, so this one leaves its own.
pub(crate) fn complete(decided: &mut Option<Decided>, handle: &mut StreamHandle<'_>) {
    #[cfg(feature = "panic-for-tests")]
    panic_if_asked(handle, "x-panic-at-end");
    if decided.take().is_some()
        && handle.kept_address(NAME).is_none()
        && let Some(address) = handle.source_address()
        && let Err(refused) = handle.keep_address(NAME, address)
    {
        errors::note(&refused);
    }
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(handle: &StreamHandle<'_>, header: &str) {
    if handle.header(crate::envoy::HeaderSet::Request, header).is_some() {
        panic!("a request asked for it");
    }
}
