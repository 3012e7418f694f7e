//! A request on its way through, and its response.

use crawlpike_core::{Decision, Overrides, Ruleset};
use crawlpike_envoy_gate::{self as gate, Outcome, Recent, UnknownName};
use crawlpike_envoy_wasm::metrics::{self, RecentCounters};
use crawlpike_envoy_wasm::{Errors, HostStream, Refused, TrustedHops};
use proxy_wasm::types::Action;

/// The state that all requests of a configuration share.
pub(crate) struct Gate {
    ruleset: Ruleset,
    counters: RecentCounters,
    recent: Recent,
    errors: Errors,
    hops: Option<TrustedHops>,
}

impl Gate {
    pub(crate) fn new(ruleset: Ruleset) -> Self {
        Self {
            hops: ruleset.trusted_hops().map(TrustedHops::new),
            ruleset,
            counters: RecentCounters::default(),
            recent: Recent::default(),
            errors: Errors::default(),
        }
    }

    /// Decides about the request of the current stream, and carries the decision out.
    pub(crate) fn request(&self, decided: &mut Option<Decision>) -> Result<Action, Refused> {
        let count = |decision: &Decision| {
            *decided = Some(*decision);
            self.note(metrics::count_request(decision, &self.ruleset, &self.counters));
        };
        let stream = &mut HostStream::new(self.hops.as_ref());
        let outcome = gate::on_request(
            stream,
            &self.ruleset,
            &self.recent,
            Overrides::default(),
            UnknownName::Leave,
            count,
        )?;
        match outcome {
            Outcome::Continues(_) | Outcome::Asks(_) => Ok(Action::Continue),
            Outcome::Answers(answer) => answer.send(stream).map(|()| Action::Pause),
        }
    }

    /// Removes what its trailers say in our name.
    pub(crate) fn request_trailers(&self) {
        self.note(gate::on_request_trailers(&mut HostStream::default()));
    }

    /// Makes the headers of its response what they should be.
    pub(crate) fn response(&self, decision: &Decision) {
        self.note(gate::on_response(&mut HostStream::default(), &self.ruleset, decision));
    }

    /// Counts an internal error, and logs it at most once a minute.
    pub(crate) fn note(&self, done: Result<(), Refused>) {
        if let Err(refused) = done {
            self.errors.note(refused);
        }
    }

    /// Has the next request check what the configuration says of Envoy.
    pub(crate) fn check_hops(&self) {
        if let Some(hops) = &self.hops {
            hops.check_again();
        }
    }

    pub(crate) fn ruleset(&self) -> &Ruleset {
        &self.ruleset
    }
}
