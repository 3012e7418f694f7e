//! What a module is.

use super::{Answer, Configuring, Scheduled, StreamHandle};

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It goes on.
    Continues,
    /// The module has answered it.
    Answered,
    /// It waits until the stream's scheduler has called [`Module::on_resumed`].
    Waits,
}

/// What happens to the head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// It goes on.
    Continues,
    /// It waits until a part of the body goes on.
    Waits,
}

/// What happens to the bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// They go on, as they are now.
    Continues,
    /// The module has taken them.
    Taken,
}

/// An HTTP filter. Whatever its functions do, they can't end Envoy: if one panics, [`Self::on_panic`] is called, and the request
/// goes on.
pub(crate) trait Module: 'static {
    /// What a configuration of the filter is to the module. All workers use it at the same time.
    type Configuration: Send + Sync;

    /// What a configuration for a route is to the module.
    type Route: Send + Sync;

    /// What the module keeps for a stream.
    type Stream: Default;

    /// Its name, for messages.
    const NAME: &'static str;

    /// Makes a configuration of the filter, in the main thread. On an error, Envoy keeps the one that it has; the module has
    /// logged why.
    fn configure(configuring: &Configuring<'_>, name: &[u8], text: &[u8]) -> Option<Self::Configuration>;

    /// Makes a configuration for a route.
    fn configure_route(text: &[u8]) -> Option<Self::Route>;

    /// What a scheduler asked for, by its number, in the main thread.
    fn on_scheduled(configuration: &Self::Configuration, scheduled: &Scheduled<'_>, event: u64);

    /// What came of a request to a cluster, in the main thread.
    fn on_answer(configuration: &Self::Configuration, scheduled: &Scheduled<'_>, answer: &Answer<'_>);

    /// Envoy drops a configuration.
    fn on_dropped(configuration: &Self::Configuration);

    /// The headers of a request are there.
    fn on_request(
        configuration: &Self::Configuration,
        stream: &mut Self::Stream,
        handle: &mut StreamHandle<'_>,
    ) -> Admission;

    /// What a stream's scheduler asked for. [`Admission::Continues`] is for a request that has waited only.
    fn on_resumed(
        configuration: &Self::Configuration,
        stream: &mut Self::Stream,
        handle: &mut StreamHandle<'_>,
    ) -> Admission;

    /// The headers of a response are there; `has_body` tells whether a body or trailers follow.
    fn on_response(
        configuration: &Self::Configuration,
        stream: &mut Self::Stream,
        handle: &mut StreamHandle<'_>,
        has_body: bool,
    ) -> Head;

    /// Bytes of the response's body are there; `is_last` tells whether they are the last ones.
    fn on_response_body(
        configuration: &Self::Configuration,
        stream: &mut Self::Stream,
        handle: &mut StreamHandle<'_>,
        is_last: bool,
    ) -> Body;

    /// The body of the response is complete, and trailers follow.
    fn on_response_trailers(
        configuration: &Self::Configuration,
        stream: &mut Self::Stream,
        handle: &mut StreamHandle<'_>,
    );

    /// The stream ends.
    fn on_complete(
        configuration: &Self::Configuration,
        stream: &mut Self::Stream,
        handle: &mut StreamHandle<'_>,
    );

    /// A function of the module has panicked.
    fn on_panic(message: &str);
}
