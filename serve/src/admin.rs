//! The administration: is the server alive, is it ready, what has it counted.

use std::sync::atomic::Ordering::Relaxed;

use crate::gate::Gate;
use crate::http_1::{Head, Reply};
use crate::unclear::Unclear;

/// Answers a request.
pub(crate) fn answer(gate: &Gate, head: Result<&Head<'_>, Unclear>) -> Reply {
    let head = match head {
        Ok(head) => head,
        Err(why) => return Reply::text(400, format!("this request cannot be answered: {why}\n")),
    };
    match head.target.split(|byte| *byte == b'?').next().unwrap_or_default() {
        b"/healthz" => Reply::text(200, "alive\n"),
        b"/readyz" if gate.is_ending.load(Relaxed) => Reply::text(503, "ending\n"),
        // It listens, so there is a ruleset.
        b"/readyz" => Reply::text(200, "ready\n"),
        b"/metrics" => metrics(gate, head),
        _ => Reply::text(404, "not found; there are /healthz, /readyz and /metrics\n"),
    }
}

fn metrics(gate: &Gate, head: &Head<'_>) -> Reply {
    let loaded = gate.source.ruleset();
    let reply = gate.source.page(&loaded).reply(head.value("accept"));
    let headers = reply.headers().map(|(name, value)| (name.into(), value.as_bytes().to_vec())).collect();
    Reply { status: reply.status, headers, body: reply.body.into_owned() }
}
