//! The functions that Envoy calls, each with the part of the crate that does the work.

use crawlpike_envoy_gate::NAME as FILTER;

use crate::configuration::Configuration;
use crate::document;
use crate::envoy::{Admission, Answer, Body, Configuring, Head, Module, Scheduled, StreamHandle};
use crate::errors;
use crate::gate::{self, Streaming};
use crate::route::Route;

/// The module.
pub(crate) struct Crawlpike;

impl Module for Crawlpike {
    type Configuration = Configuration;
    type Route = Route;
    type Stream = Streaming;

    const NAME: &'static str = FILTER;

    fn configure(configuring: &Configuring<'_>, name: &[u8], text: &[u8]) -> Option<Configuration> {
        Configuration::new(configuring, name, text)
    }

    fn configure_route(text: &[u8]) -> Option<Route> {
        Route::new(text)
    }

    fn on_scheduled(configuration: &Configuration, scheduled: &Scheduled<'_>, event: u64) {
        configuration.on_scheduled(scheduled, event);
    }

    fn on_answer(configuration: &Configuration, scheduled: &Scheduled<'_>, answer: &Answer<'_>) {
        configuration.on_answer(scheduled, answer);
    }

    fn on_dropped(configuration: &Configuration) {
        configuration.stop();
    }

    fn on_request(
        configuration: &Configuration,
        stream: &Streaming,
        handle: &mut StreamHandle<'_>,
    ) -> Admission {
        gate::request(configuration, stream, handle)
    }

    fn on_request_trailers(handle: &mut StreamHandle<'_>) {
        gate::request_trailers(handle);
    }

    fn on_resumed(_: &Configuration, stream: &Streaming, handle: &mut StreamHandle<'_>) -> Admission {
        gate::resume(stream, handle)
    }

    fn on_response(
        _: &Configuration,
        stream: &Streaming,
        handle: &mut StreamHandle<'_>,
        has_body: bool,
    ) -> Head {
        gate::response(stream, handle, has_body)
    }

    fn on_response_body(
        _: &Configuration,
        stream: &Streaming,
        handle: &mut StreamHandle<'_>,
        is_last: bool,
    ) -> Body {
        document::collect(&stream.page, handle, is_last)
    }

    fn on_response_trailers(_: &Configuration, stream: &Streaming, handle: &mut StreamHandle<'_>) {
        document::complete(&stream.page, handle);
    }

    fn on_local_reply(_: &Configuration, stream: &Streaming, handle: &mut StreamHandle<'_>) {
        gate::local_reply(stream, handle);
    }

    fn on_complete(_: &Configuration, stream: &Streaming, handle: &mut StreamHandle<'_>) {
        gate::complete(stream, handle);
    }

    fn on_panic(message: &str) {
        errors::note(&message);
    }
}
