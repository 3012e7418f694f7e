//! A request on its way through, and its response.

use crawlward_core::metrics::OnceAMinute;
use crawlward_core::{Decision, Overrides, Ruleset};
use crawlward_envoy_gate::{self as gate, Outcome};
use proxy_wasm::types::Action;

use crate::host::Refused;
use crate::metrics::{self, RecentCounters};
use crate::raw;
use crate::stream::HostStream;

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

    /// Decides about the request of the current stream, and carries the decision out.
    pub(crate) fn request(&self, decided: &mut Option<Decision>) -> Result<Action, Refused> {
        let count = |decision: &Decision| {
            *decided = Some(*decision);
            self.note(metrics::count_request(decision, &self.ruleset, &self.recent));
        };
        let outcome = gate::on_request(&mut HostStream, &self.ruleset, Overrides::default(), count)?;
        Ok(match outcome {
            Outcome::Continues => Action::Continue,
            Outcome::Answered => Action::Pause,
        })
    }

    /// Makes the headers of its response what they should be.
    pub(crate) fn response(&self, decision: &Decision) {
        self.note(gate::on_response(&mut HostStream, &self.ruleset, decision));
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
