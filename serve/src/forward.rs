//! Forward-auth over HTTP: one question, answered with a 2xx status or a denial.

use crawlpike_core::{PlainRequest, joined_lines};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::http::request;
use hyper::{Response, StatusCode};

use crate::check::{Answer, Header, OURS, Verdict};
use crate::dialect::{Dialect, Parts, Question};
use crate::gate::{Gate, Route};
use crate::unclear::Unclear;

/// The header in which Envoy takes the names of request headers to be removed.
const TO_REMOVE: &str = "x-envoy-auth-headers-to-remove";

/// Answers a question. `may_ask`: the peer is a trusted one.
pub(crate) async fn answer(gate: &Gate, may_ask: bool, head: &request::Parts) -> Response<Full<Bytes>> {
    let lines = lines(head);
    let target = head.uri.path_and_query().map_or("", |target| target.as_str());
    let question =
        Question { method: head.method.as_str().as_bytes(), target: target.as_bytes(), headers: &lines };
    let asked = if may_ask { question.parts(gate.dialect, &gate.trust) } else { Err(Unclear::Peer) };
    match asked {
        Ok((dialect, parts)) => respond(dialect, decide(gate, &parts, &lines).await),
        Err(why) if gate.passes_unclear(why, Route::default()) => Response::default(),
        Err(why) => unclear(why),
    }
}

/// The lines of the headers.
fn lines(head: &request::Parts) -> Vec<(&str, &[u8])> {
    head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

async fn decide(gate: &Gate, parts: &Parts<'_>, lines: &[(&str, &[u8])]) -> Verdict {
    let agents = lines.iter().filter(|(name, _)| *name == "user-agent").map(|(_, value)| *value);
    let user_agent = joined_lines(agents);
    let request = PlainRequest {
        address: Some(parts.address),
        scheme: parts.scheme,
        authority: Some(parts.authority),
        method: parts.method,
        path: parts.target,
        user_agent: user_agent.as_deref(),
        headers: lines,
        ..PlainRequest::default()
    };
    gate.check(request, Route::default()).await
}

/// The answer in the proxy's dialect. A policy that the gates would serve comes from the origin: no proxy takes the body of a
/// permission.
fn respond(dialect: &Dialect, verdict: Verdict) -> Response<Full<Bytes>> {
    match verdict.answer {
        // nginx would not read the body, and close the connection for that.
        Some(Answer { is_denial: true, .. }) if dialect.relays_status_only => response(403, &[], Vec::new()),
        Some(Answer { is_denial: true, status, headers, body }) => response(status, &headers, body),
        _ => {
            let removed = removed(dialect, &verdict);
            let ours = verdict.facts.map(|facts| (OURS.into(), facts.into_bytes()));
            let headers: Vec<Header> =
                verdict.response_lines.into_iter().chain(ours).chain(removed).collect();
            response(200, &headers, Vec::new())
        }
    }
}

/// The list of the headers in which the client speaks in our name, if the proxy takes one. What takes the place of a header is not in
/// it, since the proxy removes last.
fn removed(dialect: &Dialect, verdict: &Verdict) -> Option<Header> {
    if !dialect.removes_headers {
        return None;
    }
    let ours = verdict.facts.is_none().then_some(OURS.as_bytes());
    let others = verdict.forgeries.iter().map(Vec::as_slice).filter(|name| *name != OURS.as_bytes());
    let names: Vec<&[u8]> = others.chain(ours).collect();
    (!names.is_empty()).then(|| (TO_REMOVE.into(), names.join(&b","[..])))
}

/// The answer to a question that is not clear. A proxy that has a setting for failures of its authorization applies it.
fn unclear(why: Unclear) -> Response<Full<Bytes>> {
    let body = format!("crawlpike: this question cannot be answered: {why}\n");
    let headers = [(CONTENT_TYPE.as_str().into(), b"text/plain; charset=utf-8".to_vec())];
    response(500, &headers, body.into_bytes())
}

/// A response. A header whose value HTTP cannot carry is left out.
pub(crate) fn response(status: u16, headers: &[Header], body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
