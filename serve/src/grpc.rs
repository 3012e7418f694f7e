//! `envoy.service.auth.v3.Authorization`: one method, `Check`.

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use crawlpike_core::{Mode, PlainRequest, joined_lines};
use hyper::body::Incoming;
use hyper::http;
use tonic::body::Body;
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::check::{Answer, Header, OURS, Verdict};
use crate::dialect::scheme;
use crate::gate::{Gate, Route};
use crate::messages::{
    Append, Attributes, CheckRequest, CheckResponse, DeniedResponse, HeaderOption, HeaderValue, HttpRequest,
    HttpResponse, HttpStatus, OkResponse, Struct, Value,
};
use crate::trust;
use crate::unclear::Unclear;

/// The path of the method.
const CHECK: &str = "/envoy.service.auth.v3.Authorization/Check";

/// The largest message: Envoy sends no body of a request unless its configuration asks for that, with a limit of its own.
const MOST_BYTES: usize = 1 << 20;

/// The status of a question that is not clear.
const UNCLEAR: Code = Code::InvalidArgument;

/// The metadata of a call in which Envoy can send the client's address, as it has computed it.
const ADDRESS: &str = "x-real-ip";

/// The key of the dynamic metadata under which the value of `X-Crawlpike` is.
const FACTS: &str = "crawlpike";

/// Answers a call.
pub(crate) async fn answer(
    gate: Arc<Gate>,
    may_ask: bool,
    call: http::Request<Incoming>,
) -> http::Response<Body> {
    if call.uri().path() != CHECK {
        return Status::unimplemented("the only method is envoy.service.auth.v3.Authorization/Check")
            .into_http();
    }
    let mut grpc = Grpc::new(ProstCodec::default()).max_decoding_message_size(MOST_BYTES);
    let response = grpc.unary(Service { gate: Arc::clone(&gate), may_ask }, call).await;
    // A question that is not clear has been counted already.
    let unread = Status::from_header_map(response.headers()).filter(|status| status.code() != UNCLEAR);
    if let Some(status) = unread {
        gate.source.note_error(&format_args!("a call that cannot be read: {}", status.message()));
    }
    response
}

struct Service {
    gate: Arc<Gate>,
    may_ask: bool,
}

impl UnaryService<CheckRequest> for Service {
    type Response = CheckResponse;
    type Future = Pin<Box<dyn Future<Output = Result<Response<CheckResponse>, Status>> + Send>>;

    fn call(&mut self, request: Request<CheckRequest>) -> Self::Future {
        let address = request.metadata().get(ADDRESS).map(|value| value.as_bytes().to_vec());
        let attributes = request.into_inner().attributes.unwrap_or_default();
        let (gate, may_ask) = (Arc::clone(&self.gate), self.may_ask);
        Box::pin(
            async move { check(&gate, may_ask, address.as_deref(), &attributes).await.map(Response::new) },
        )
    }
}

/// Decides. A question that is not clear fails where the document says `enforce`, so that Envoy's `failure_mode_allow` counts.
async fn check(
    gate: &Gate,
    may_ask: bool,
    address: Option<&[u8]>,
    attributes: &Attributes,
) -> Result<CheckResponse, Status> {
    let (route, wrong) = route(attributes);
    let http = attributes.request.as_ref().and_then(|request| request.http.as_ref());
    let lines = http.map(lines).unwrap_or_default();
    let user_agent = joined_lines(named(&lines, "user-agent"));
    let asked = match (may_ask, wrong, http) {
        (false, ..) => Err(Unclear::Peer),
        (true, Some(wrong), _) => Err(wrong),
        (true, None, None) => Err(Unclear::Missing("request.http")),
        (true, None, Some(http)) => client(gate, address, attributes, &lines)
            .and_then(|address| Ok(PlainRequest { address, ..request(http, &lines)? })),
    };
    match asked {
        Ok(request) => {
            let request = PlainRequest { user_agent: user_agent.as_deref(), ..request };
            let verdict = gate.check(request, route).await;
            Ok(if verdict.answer.is_some() { denied(verdict) } else { ok(verdict) })
        }
        Err(why) if gate.passes_unclear(why, route) => Ok(ok(Verdict::passing(&lines))),
        Err(why) => Err(Status::new(UNCLEAR, why.to_string())),
    }
}

/// The request that Envoy asks about, but for the client's address and User-Agent.
fn request<'q>(http: &'q HttpRequest, lines: &'q [(&'q str, &'q [u8])]) -> Result<PlainRequest<'q>, Unclear> {
    if http.method.is_empty() {
        return Err(Unclear::Missing("request.http.method"));
    }
    Ok(PlainRequest {
        scheme: scheme(http.scheme.as_bytes()),
        authority: Some(named(lines, ":authority").next().unwrap_or(http.host.as_bytes())),
        method: http.method.as_bytes(),
        path: named(lines, ":path").next().unwrap_or(http.path.as_bytes()),
        headers: lines,
        ..PlainRequest::default()
    })
}

/// The lines of a header.
fn named<'q>(lines: &[(&'q str, &'q [u8])], name: &str) -> impl DoubleEndedIterator<Item = &'q [u8]> {
    lines.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
}

/// The settings of the route, and what is wrong with them.
fn route(attributes: &Attributes) -> (Route<'_>, Option<Unclear>) {
    let setting = |name: &str| attributes.context_extensions.get(name).map(String::as_str);
    let mode = setting("mode");
    let route = Route { mode: mode.and_then(Mode::from_word), site: setting("site") };
    (route, (mode.is_some() && route.mode.is_none()).then_some(Unclear::Setting("mode")))
}

/// The client: the address that Envoy sends. Without one it is Envoy's peer, unless that is a proxy of the operator's; then
/// `X-Forwarded-For` counts. `None` on a unix socket, of which Envoy sends the path.
fn client(
    gate: &Gate,
    sent: Option<&[u8]>,
    attributes: &Attributes,
    lines: &[(&str, &[u8])],
) -> Result<Option<IpAddr>, Unclear> {
    let source = attributes.source.as_ref().and_then(|source| source.address.as_ref());
    let socket = source.ok_or(Unclear::Missing("source.address"))?.socket_address.as_ref();
    match sent.map(|sent| trust::address(sent).ok_or(Unclear::Unreadable(ADDRESS))) {
        Some(Err(why)) if socket.is_some() => return Err(why),
        Some(Ok(address)) => return Ok(Some(address)),
        _ => {}
    }
    let unreadable = Unclear::Unreadable("source.address");
    let peer =
        socket.map(|socket| trust::address(socket.address.as_bytes()).ok_or(unreadable)).transpose()?;
    match peer {
        Some(peer) if !gate.trust.covers(peer) => Ok(Some(peer)),
        peer => Ok(gate.trust.client(named(lines, "x-forwarded-for"))?.or(peer)),
    }
}

/// The lines of the headers: byte for byte, if Envoy sends them so.
fn lines(http: &HttpRequest) -> Vec<(&str, &[u8])> {
    match &http.header_map {
        Some(raw) => raw.headers.iter().map(|line| (line.key.as_str(), bytes(line))).collect(),
        None => http.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect(),
    }
}

fn bytes(line: &HeaderValue) -> &[u8] {
    if line.raw_value.is_empty() { line.value.as_bytes() } else { &line.raw_value }
}

fn ok(verdict: Verdict) -> CheckResponse {
    let dynamic_metadata = metadata(&verdict);
    let connection = verdict.connection.map(|value| (b"connection".to_vec(), value));
    let ours = verdict.facts.map(|facts| (OURS.into(), facts.into_bytes()));
    let set: Vec<Header> = ours.into_iter().chain(connection).collect();
    // Envoy removes last, so what takes the place of a header is not among those that go.
    let removed = verdict.forgeries.into_iter().filter(|name| set.iter().all(|(other, _)| other != name));
    let response = OkResponse {
        headers_to_remove: removed.filter_map(|name| String::from_utf8(name).ok()).collect(),
        headers: set.into_iter().map(|line| option(line, Append::OverwriteIfExistsOrAdd)).collect(),
        response_headers_to_add: verdict
            .response_lines
            .into_iter()
            .map(|line| (append(&line.0), line))
            .map(|(append, line)| option(line, append))
            .collect(),
    };
    answer_with(Code::Ok, HttpResponse::Ok(response), dynamic_metadata)
}

/// A response in place of the upstream's: a denial, or a policy, which Envoy sends as well.
fn denied(verdict: Verdict) -> CheckResponse {
    let dynamic_metadata = metadata(&verdict);
    let Answer { status, headers, body, .. } = verdict.answer.unwrap_or_default();
    let response = DeniedResponse {
        status: Some(HttpStatus { code: status.into() }),
        headers: headers.into_iter().map(|line| option(line, Append::OverwriteIfExistsOrAdd)).collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    answer_with(Code::PermissionDenied, HttpResponse::Denied(response), dynamic_metadata)
}

fn answer_with(code: Code, response: HttpResponse, dynamic_metadata: Option<Struct>) -> CheckResponse {
    let status = Some(crate::messages::Status { code: code as i32 });
    CheckResponse { status, http_response: Some(response), dynamic_metadata }
}

/// Of a dictionary, the last line counts: that of the site must permit nothing that the upstream does not.
fn append(name: &[u8]) -> Append {
    if name == b"content-usage" { Append::AddIfAbsent } else { Append::AppendIfExistsOrAdd }
}

fn option((name, value): Header, append: Append) -> HeaderOption {
    let key = String::from_utf8_lossy(&name).into_owned();
    let (value, raw_value) = match String::from_utf8(value) {
        Ok(text) => (text, Vec::new()),
        Err(other) => (String::new(), other.into_bytes()),
    };
    HeaderOption { header: Some(HeaderValue { key, value, raw_value }), append_action: append.into() }
}

/// The facts, as the native module writes them into filter state and dynamic metadata.
fn metadata(verdict: &Verdict) -> Option<Struct> {
    let all = verdict.facts.iter().map(|facts| (FACTS.to_owned(), facts));
    let single = verdict.single_facts.iter().map(|(name, text)| (name.clone(), text));
    let value = |text: &String| Value { text: Some(text.clone()) };
    let fields: HashMap<_, _> = all.chain(single).map(|(name, text)| (name, value(text))).collect();
    (!fields.is_empty()).then_some(Struct { fields })
}
