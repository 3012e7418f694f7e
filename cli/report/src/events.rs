//! One line of JSON for each request, for engines that query logs.

use std::borrow::Cow;

use crawlpike_core::{Action, Identity, Proof, Reason};
use serde::Serialize;

use crate::harmless::write_json;
use crate::line::moment;
use crate::tally::{Judged, name_of_unknown};

/// A request. Flat, so that every engine reads it; keys are never left out.
#[derive(Debug, Serialize)]
struct Event<'a> {
    time: Option<String>,
    client: Option<String>,
    method: Cow<'a, str>,
    host: Option<Cow<'a, str>>,
    path: Cow<'a, str>,
    status: Option<u16>,
    bytes: u64,
    user_agent: Option<Cow<'a, str>>,
    action: Action,
    enforced: bool,
    reason: Reason,
    identity: Identity,
    proof: Option<Proof>,
    agent: Option<&'a str>,
    /// The product in the User-Agent of automation that claims no known agent.
    unknown_agent: Option<Cow<'a, str>>,
    feed: Option<&'a str>,
    service: Option<&'a str>,
    country: Option<&'a str>,
    site: Option<&'a str>,
    rule_file: Option<&'a str>,
    rule_line: Option<u32>,
    covered: bool,
}

/// Appends the line of a request.
pub(crate) fn write(judged: &Judged<'_, '_>, lines: &mut Vec<u8>) {
    let Judged { record, client, facts, .. } = judged;
    let is_unknown = facts.identity == Identity::Generic;
    let event = Event {
        time: record.time.map(moment::text),
        client: client.map(|client| client.to_string()),
        method: String::from_utf8_lossy(&record.method),
        host: record.authority.as_deref().map(String::from_utf8_lossy),
        path: String::from_utf8_lossy(&record.target),
        status: record.status,
        bytes: record.bytes,
        user_agent: record.user_agent.as_deref().map(String::from_utf8_lossy),
        action: facts.action,
        enforced: facts.enforced,
        reason: facts.reason,
        identity: facts.identity,
        proof: facts.proof,
        agent: facts.agent,
        unknown_agent: is_unknown
            .then(|| String::from_utf8_lossy(name_of_unknown(record.user_agent.as_deref()))),
        feed: facts.feed,
        service: facts.service,
        country: facts.country,
        site: facts.site,
        rule_file: facts.rule.map(|rule| rule.file),
        rule_line: facts.rule.map(|rule| rule.line),
        covered: judged.is_covered,
    };
    // A vector takes everything.
    let _ = write_json(lines, &event);
    lines.push(b'\n');
}
