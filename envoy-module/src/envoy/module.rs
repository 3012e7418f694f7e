//! The trait of a module.

use super::{Answer, Configuring, Scheduled, StreamHandle};

/// The next step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It goes on.
    Continues,
    /// The module has answered it, or Envoy has.
    Answered,
    /// It waits until the stream's scheduler has called [`Module::on_resumed`].
    Waits,
}

/// The next step of the head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// It goes on.
    Continues,
    /// It waits until a part of the body goes on.
    Waits,
}

/// The next step of the bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// They go on, as they are now.
    Continues,
    /// The module has taken them.
    Taken,
}

/// An HTTP filter. Its functions cannot end Envoy: if one panics, [`Self::on_panic`] is called, and the request
/// goes on.
pub(crate) trait Module: 'static {
    /// The module's object for a configuration of the filter. All workers use it at the same time.
    type Configuration: Send + Sync;

    /// The module's object for a configuration of a route.
    type Route: Send + Sync;

    /// The module's state of a stream. Hooks share it: Envoy may enter one while another one runs.
    type Stream: Default;

    /// Its name, for messages.
    const NAME: &'static str;

    /// Makes a configuration of the filter, in the main thread. `None`: Envoy keeps the one that it has, and the module
    /// has logged the reason.
    fn configure(configuring: &Configuring<'_>, name: &[u8], text: &[u8]) -> Option<Self::Configuration>;

    /// Makes a configuration for a route.
    fn configure_route(text: &[u8]) -> Option<Self::Route>;

    /// The event of a scheduler, by its number, in the main thread.
    fn on_scheduled(configuration: &Self::Configuration, scheduled: &Scheduled<'_>, event: u64);

    /// The result of a request to a cluster is there, in the main thread. Envoy may call this before the call returns that sent
    /// the request.
    fn on_answer(configuration: &Self::Configuration, scheduled: &Scheduled<'_>, answer: &Answer<'_>);

    /// Envoy drops a configuration.
    fn on_dropped(configuration: &Self::Configuration);

    /// The headers of a request are there.
    fn on_request(
        configuration: &Self::Configuration,
        stream: &Self::Stream,
        handle: &mut StreamHandle<'_>,
    ) -> Admission;

    /// The body of the request is complete, and trailers follow.
    fn on_request_trailers(handle: &mut StreamHandle<'_>);

    /// The event of a stream's scheduler. [`Admission::Continues`] is for a request that has waited only.
    fn on_resumed(
        configuration: &Self::Configuration,
        stream: &Self::Stream,
        handle: &mut StreamHandle<'_>,
    ) -> Admission;

    /// The headers of a response are there; `has_body` is true if a body or trailers follow.
    fn on_response(
        configuration: &Self::Configuration,
        stream: &Self::Stream,
        handle: &mut StreamHandle<'_>,
        has_body: bool,
    ) -> Head;

    /// Bytes of the response's body are there; `is_last` is true if they are the last ones.
    fn on_response_body(
        configuration: &Self::Configuration,
        stream: &Self::Stream,
        handle: &mut StreamHandle<'_>,
        is_last: bool,
    ) -> Body;

    /// The body of the response is complete, and trailers follow.
    fn on_response_trailers(
        configuration: &Self::Configuration,
        stream: &Self::Stream,
        handle: &mut StreamHandle<'_>,
    );

    /// Envoy answers the request itself, in the place of the response or of the rest of it. Envoy may call this while another
    /// function of the stream runs.
    fn on_local_reply(
        configuration: &Self::Configuration,
        stream: &Self::Stream,
        handle: &mut StreamHandle<'_>,
    );

    /// The stream ends. Envoy may call this while another function of the stream runs.
    fn on_complete(configuration: &Self::Configuration, stream: &Self::Stream, handle: &mut StreamHandle<'_>);

    /// A function of the module has panicked.
    fn on_panic(message: &str);
}
