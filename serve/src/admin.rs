//! The administration: is the server alive, is it ready, what has it counted.

use std::sync::atomic::Ordering::Relaxed;

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HeaderValue};
use hyper::http::request;

use crate::check::Header;
use crate::forward::response;
use crate::gate::Gate;

/// Answers a request.
pub(crate) fn answer(gate: &Gate, head: &request::Parts) -> Response<Full<Bytes>> {
    match head.uri.path() {
        "/healthz" => text(200, "alive\n"),
        "/readyz" if gate.is_ending.load(Relaxed) => text(503, "ending\n"),
        // It listens, so there is a ruleset.
        "/readyz" => text(200, "ready\n"),
        "/metrics" => metrics(gate, head),
        _ => text(404, "not found; there are /healthz, /readyz and /metrics\n"),
    }
}

fn metrics(gate: &Gate, head: &request::Parts) -> Response<Full<Bytes>> {
    let loaded = gate.source.ruleset();
    let accept = head.headers.get(ACCEPT).map(HeaderValue::as_bytes);
    let reply = gate.source.page(&loaded).reply(accept);
    let headers: Vec<Header> =
        reply.headers().map(|(name, value)| (name.into(), value.as_bytes().to_vec())).collect();
    response(reply.status, &headers, reply.body.into_owned())
}

fn text(status: u16, text: &str) -> Response<Full<Bytes>> {
    let headers = [(b"content-type".to_vec(), b"text/plain; charset=utf-8".to_vec())];
    response(status, &headers, text.into())
}
