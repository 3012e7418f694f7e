//! A request on its way through: decided, then answered, or passed on with what is known.

use crawlward_core::decision::Decision;
use crawlward_core::reply::{FORGEABLE, REQUEST_HEADER, Reply};
use crawlward_core::seldom::Seldom;
use crawlward_core::{Overrides, Request, Ruleset, decide};

use crate::callbacks::Action;
use crate::host_calls::{self, Headers, LogLevel, Refused};
use crate::metrics::{self, Requests};
use crate::request::HostRequest;

/// The filter state, for the access log: `%FILTER_STATE(wasm.crawlward:PLAIN)%`.
const FILTER_STATE: &str = "crawlward";

/// What the requests of a configuration share.
pub(crate) struct Gate {
    ruleset: Ruleset,
    requests: Requests,
    /// When an internal error was last told.
    told: Seldom,
}

impl Gate {
    pub(crate) fn new(ruleset: Ruleset) -> Self {
        Self { ruleset, requests: Requests::default(), told: Seldom::new() }
    }

    /// Removes the client's own `X-Crawlward`, decides, notes what was decided, and denies or tells upstreams what is known.
    pub(crate) fn request(&self, decided: &mut Option<Decision>) -> Result<Action, Refused> {
        let request = HostRequest::fetch()?;
        for name in FORGEABLE {
            // Envoy chooses the route again for a header that is removed, whether it was there or not.
            if request.header(name).is_some() {
                host_calls::remove_header(Headers::Request, name)?;
            }
        }
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
                // Only these may need the purpose, which is looked for in the request once more.
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
        let Err(refused) = done else { return };
        // Where that is refused, too, the log has to do.
        let _ = metrics::count_error();
        if self.told.is_due(host_calls::now()) {
            host_calls::log(LogLevel::Error, &format!("crawlward: internal error: {refused}"));
        }
    }

    pub(crate) fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }
}

#[cfg(feature = "panic-for-tests")]
#[expect(clippy::panic, reason = "that is what the feature is for")]
fn panic_if_asked(request: &HostRequest) {
    if request.header("x-panic").is_some() {
        panic!("a request asked for it");
    }
}

fn answer(decision: &Decision, reply: &Reply<'_>) -> Result<Action, Refused> {
    let headers: Vec<_> = reply.headers().collect();
    host_calls::respond(reply.status, &decision.response_details(), &headers, &reply.body)?;
    Ok(Action::Pause)
}
