//! Forward-auth over HTTP: one question, answered with a 2xx status or a denial.

use crawlpike_core::{PlainRequest, joined_lines};

use crate::check::{Answer, Header, OURS, Verdict};
use crate::dialect::{Dialect, Lines, Parts, Question};
use crate::gate::{Gate, Route};
use crate::http_1::{Head, Reply};
use crate::unclear::Unclear;

/// The header in which Envoy takes the names of request headers to be removed.
const TO_REMOVE: &str = "x-envoy-auth-headers-to-remove";

/// Answers a question. `may_ask`: the peer is a trusted one.
pub(crate) async fn answer(gate: &Gate, may_ask: bool, head: Result<&Head<'_>, Unclear>) -> Reply {
    let asked = if may_ask { head.and_then(|head| parts(gate, head)) } else { Err(Unclear::Peer) };
    match asked {
        Ok((dialect, parts, lines)) => respond(dialect, decide(gate, &parts, lines).await),
        Err(why) if gate.passes_unclear(why, Route::default()) => Reply { status: 200, ..Reply::default() },
        Err(why) => Reply::text(500, format!("crawlpike: this question cannot be answered: {why}\n")),
    }
}

fn parts<'h>(
    gate: &Gate,
    head: &'h Head<'h>,
) -> Result<(&'static Dialect, Parts<'h>, &'h Lines<'h>), Unclear> {
    let Head { method, target, headers, .. } = head;
    let (dialect, parts) = Question { method, target, headers }.parts(gate.dialect, &gate.trust)?;
    Ok((dialect, parts, headers))
}

async fn decide(gate: &Gate, parts: &Parts<'_>, lines: &Lines<'_>) -> Verdict {
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
fn respond(dialect: &Dialect, verdict: Verdict) -> Reply {
    match verdict.answer {
        // nginx would not read the body, and close the connection for that.
        Some(Answer { is_denial: true, .. }) if dialect.relays_status_only => {
            Reply { status: 403, ..Reply::default() }
        }
        Some(Answer { is_denial: true, status, headers, body }) => Reply { status, headers, body },
        _ => {
            let removed = removed(dialect, &verdict);
            let ours = verdict.facts.map(|facts| (OURS.into(), facts.into_bytes()));
            let headers = verdict.response_lines.into_iter().chain(ours).chain(removed).collect();
            Reply { status: 200, headers, ..Reply::default() }
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
