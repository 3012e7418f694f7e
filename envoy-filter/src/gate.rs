//! A request on its way through: decided, then answered, or passed on with what is known.

use std::cell::Cell;
use std::rc::Rc;

use crawlward_core::decision::Decision;
use crawlward_core::reply::{FORGEABLE, REQUEST_HEADER, Reply};
use crawlward_core::{Overrides, Ruleset, decide};
use proxy_wasm::traits::{Context, HttpContext};
use proxy_wasm::types::Action;

use crate::host_calls::{self, Headers, Refused};
use crate::metrics::{self, Requests};
use crate::request::HostRequest;
use crate::response;

/// The filter state, for the access log: `%FILTER_STATE(wasm.crawlward:PLAIN)%`.
const FILTER_STATE: &str = "crawlward";

/// One request with its response.
pub(crate) struct Stream {
    gate: Option<Rc<Gate>>,
    /// What was decided about the request, for its response.
    decision: Option<Decision>,
}

impl Stream {
    /// The stream of a plugin, which has no gate before it is configured.
    pub(crate) fn new(gate: Option<Rc<Gate>>) -> Self {
        Self { gate, decision: None }
    }
}

impl Context for Stream {}

impl HttpContext for Stream {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        let Some(gate) = &self.gate else {
            return Action::Continue;
        };
        gate.request(&mut self.decision).unwrap_or_else(|refused| {
            gate.note(Err(refused));
            Action::Continue
        })
    }

    /// Comes for Envoy's own responses and for ours, too; but not for those of filters before this one, which sees neither
    /// those requests nor the responses to them.
    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        if let (Some(gate), Some(decision)) = (&self.gate, &self.decision) {
            gate.note(response::edit(&gate.ruleset, decision));
        }
        Action::Continue
    }
}

/// What the requests of a configuration share.
pub(crate) struct Gate {
    ruleset: Ruleset,
    requests: Requests,
    /// When an internal error was last told, in seconds since the Unix epoch.
    told: Cell<i64>,
}

impl Gate {
    pub(crate) fn new(ruleset: Ruleset) -> Self {
        Self { ruleset, requests: Requests::default(), told: Cell::default() }
    }

    /// Removes the client's own `X-Crawlward`, decides, notes what was decided, and denies or tells upstreams what is known.
    fn request(&self, decided: &mut Option<Decision>) -> Result<Action, Refused> {
        for name in FORGEABLE {
            // Envoy chooses the route again for a header that is removed, whether it was there or not.
            if host_calls::header(Headers::Request, name).is_some() {
                host_calls::remove_header(Headers::Request, name)?;
            }
        }
        let request = HostRequest::default();
        #[cfg(feature = "panic-for-tests")]
        panic_if_asked(&request);
        let decision = decide(&self.ruleset, &request, Overrides::default());
        *decided = Some(decision);
        self.note(self.requests.count(&decision, &self.ruleset));
        let reply = self.ruleset.reply(&decision, &request, None);
        if let Some(value) = self.ruleset.header_value(&decision) {
            host_calls::set_filter_state(FILTER_STATE, value.as_bytes())?;
            let single = self.ruleset.filter_state(&decision);
            if !single.is_empty() {
                // Only these need what costs another call: the purpose that the request declares.
                let facts = self.ruleset.describe(&decision, &request);
                for (fact, text) in single.iter().filter_map(|fact| Some((fact, facts.text(*fact)?))) {
                    host_calls::set_filter_state(&format!("{FILTER_STATE}.{fact}"), text.as_bytes())?;
                }
            }
            if reply.is_none() {
                host_calls::replace_header(Headers::Request, REQUEST_HEADER, value.as_bytes())?;
            }
        }
        match reply {
            Some(reply) => answer(&decision, &reply),
            None => Ok(Action::Continue),
        }
    }

    /// Counts an internal error, and says so once a minute.
    pub(crate) fn note(&self, done: Result<(), Refused>) {
        const MINUTE: i64 = 60;
        let Err(refused) = done else { return };
        // Where that is refused, too, the log has to do.
        let _ = metrics::count_error();
        let now = host_calls::now();
        if now - self.told.get() >= MINUTE {
            self.told.set(now);
            log::error!("crawlward: internal error: {refused}");
        }
    }

    pub(crate) fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(request: &HostRequest) {
    if crawlward_core::Request::header(request, "x-panic").is_some() {
        panic!("a request asked for it");
    }
}

fn answer(decision: &Decision, reply: &Reply<'_>) -> Result<Action, Refused> {
    let headers: Vec<_> = reply.headers().collect();
    host_calls::respond(reply.status, &decision.response_details(), &headers, &reply.body)?;
    Ok(Action::Pause)
}
