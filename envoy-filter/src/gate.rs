//! A request on its way through: decided, then answered, or passed on with what is known.

use crawlward_core::Decision;
#[cfg(feature = "panic-for-tests")]
use crawlward_core::Request;
use crawlward_core::metrics::OnceAMinute;
use crawlward_core::{Overrides, Ruleset, decide};
use crawlward_core::{Reply, UPSTREAM_HEADER, connection_without_ours, is_forgery, may_hide_ours};
use proxy_wasm::types::{Action, MapType};

use crate::host::Refused;
use crate::metrics::{self, RecentCounters};
use crate::raw::{self, Change};
use crate::request::HostRequest;

/// The filter state for the access log: `%FILTER_STATE(wasm.crawlward:PLAIN)%`.
const FILTER_STATE: &str = "crawlward";

/// What the requests of a configuration share.
pub(crate) struct Gate {
    ruleset: Ruleset,
    recent: RecentCounters,
    /// When an internal error was last logged.
    logged: OnceAMinute,
}

impl Gate {
    pub(crate) fn new(ruleset: Ruleset) -> Self {
        Self { ruleset, recent: RecentCounters::default(), logged: OnceAMinute::new() }
    }

    /// Removes the client's own `X-Crawlward` and decides. Then it records the decision, and either denies the request or
    /// passes it on with what is known.
    pub(crate) fn request(&self, decided: &mut Option<Decision>) -> Result<Action, Refused> {
        let request = HostRequest::fetch()?;
        if request.names().any(may_hide_ours) {
            remove_forgeries(&request)?;
        }
        #[cfg(feature = "panic-for-tests")]
        panic_if_asked(&request);
        let decision = decide(&self.ruleset, &request, Overrides::default());
        let reply = self.ruleset.reply(&decision, &request, None);
        request.facts_complete()?;
        *decided = Some(decision);
        self.note(metrics::count_request(&decision, &self.ruleset, &self.recent));
        if let Some(value) = self.ruleset.header_value(&decision) {
            raw::set_filter_state(FILTER_STATE, value.as_bytes())?;
            let single = self.ruleset.filter_state(&decision);
            if !single.is_empty() {
                // Only these facts may include the purpose, for which the core reads the request once more.
                let facts = self.ruleset.describe(&decision, &request);
                for (fact, text) in single.iter().filter_map(|fact| Some((fact, facts.text(*fact)?))) {
                    raw::set_filter_state(&format!("{FILTER_STATE}.{fact}"), text.as_bytes())?;
                }
            }
            if reply.is_none() {
                change_header(UPSTREAM_HEADER.lowercase.as_bytes(), Change::Replace(value.as_bytes()))?;
            }
        }
        match reply {
            Some(reply) => answer(&decision, &reply),
            None => Ok(Action::Continue),
        }
    }

    /// Counts an internal error, and logs it at most once a minute.
    pub(crate) fn note(&self, done: Result<(), Refused>) {
        let Err(refused) = done else { return };
        // If the host refuses to count it, the log is all there is.
        let _ = metrics::count_error();
        // Without a clock, the first error is the only one in the log.
        if self.logged.is_due(raw::now().unwrap_or_default()) {
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
    if request.header("x-panic").is_some() {
        panic!("a request asked for it");
    }
}

/// Removes what an upstream could take for our header, or what would have the next hop remove it.
fn remove_forgeries(request: &HostRequest) -> Result<(), Refused> {
    // Envoy chooses the route again when a header is removed, even one that is not there.
    for name in request.names().filter(|name| is_forgery(name)) {
        change_header(name, Change::Remove)?;
    }
    // Of an upgrade, Envoy keeps this header.
    if let Some(options) = connection_without_ours(request) {
        let change = if options.is_empty() { Change::Remove } else { Change::Replace(&options) };
        change_header(b"connection", change)?;
    }
    Ok(())
}

fn answer(decision: &Decision, reply: &Reply<'_>) -> Result<Action, Refused> {
    let headers: Vec<_> = reply.headers().collect();
    raw::respond(reply.status, &decision.response_details(), &headers, &reply.body)?;
    Ok(Action::Pause)
}

fn change_header(name: &[u8], change: Change<'_>) -> Result<(), Refused> {
    raw::change_header(MapType::HttpRequestHeaders, name, change)
}
