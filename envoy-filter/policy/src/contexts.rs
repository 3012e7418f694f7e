//! The contexts of a virtual machine: a [`Plugin`] for each configuration of the filter, and a [`Stream`] for each request
//! with its response.
//!
//! `envoy-filter/trim` removes the exports of all other callbacks from the linked module, so a callback that is added here
//! has to be added there, too.

use std::rc::Rc;
use std::time::Duration;

use crawlpike_core::Decision;
use crawlpike_core::metrics::{Event, ReloadResult};
use crawlpike_core::{Diagnostic, Severity};
use crawlpike_envoy_wasm::configuration::{self, Configuration};
use crawlpike_envoy_wasm::{InForce, Refused, keep_address, keep_address_for_redirects, metrics, raw};
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

use crate::gate::Gate;
use crate::shared::{self, Load};

/// The time between two reports of the counts of requests to Envoy.
const TICK: Duration = Duration::from_secs(1);

/// The ticks between two updates of the ages and states of feeds.
const TICKS_OF_FEEDS: u32 = 10;

thread_local! {
    static IN_FORCE: InForce<Gate> = InForce::default();
}

/// The filter with one configuration.
pub(crate) struct Plugin {
    context: u32,
    /// The name of the plugin in Envoy's configuration.
    name: String,
    /// `None` until a configuration is accepted.
    gate: Option<Rc<Gate>>,
    ticks: u32,
}

impl Plugin {
    pub(crate) fn new(context: u32) -> Self {
        Self { context, name: String::new(), gate: None, ticks: 0 }
    }

    /// Compiles what was read for the plugin with this name, and reports the result. `None` if it is refused.
    fn compile(name: &str, read: Configuration, now: Result<i64, Refused>) -> Option<Rc<Gate>> {
        let Configuration { mut compiled, fingerprint } = read;
        if let Ok(now) = now {
            compiled.warn_of_stale_feeds(configuration::NAME, now);
        }
        // If Envoy refuses the time, no feed is stale.
        let loaded_at = now.unwrap_or_default();
        let result = ReloadResult::of(compiled.ruleset.as_ref(), loaded_at);
        let load = shared::note_load(name, fingerprint, compiled.ruleset.is_none(), loaded_at);
        if !matches!(load, Ok(Load::Known)) {
            for diagnostic in Diagnostic::by_cause(&compiled.diagnostics) {
                match diagnostic.severity {
                    Severity::Error => log::error!("crawlpike: {diagnostic}"),
                    Severity::Warning => log::warn!("crawlpike: {diagnostic}"),
                }
            }
        }
        let counted = match load {
            Ok(Load::Next) => metrics::count_event(Event::Reload(result)),
            Ok(Load::First | Load::Known) => Ok(()),
            Err(refused) => Err(refused),
        };
        let gate = Gate::new(compiled.ruleset?);
        gate.note(counted);
        Some(Rc::new(gate))
    }
}

impl Context for Plugin {}

impl RootContext for Plugin {
    /// Compiles the configuration. If that fails, Envoy rejects the configuration and keeps the one it has.
    fn on_configure(&mut self, size: usize) -> bool {
        let name = configuration::plugin_name();
        let only_plugin = || IN_FORCE.with(InForce::only_plugin).unwrap_or_default();
        self.name = name.clone().unwrap_or_else(|_| only_plugin());
        let now = raw::now();
        let gate = match configuration::read(size) {
            Ok(read) => Self::compile(&self.name, read, now),
            Err(refused) => {
                log::error!("crawlpike: Envoy does not provide the configuration: {refused}");
                let in_force = IN_FORCE.with(|in_force| in_force.get(&self.name)).flatten();
                in_force.inspect(|gate| gate.note(metrics::count_event(Event::Error)))
            }
        };
        let Some(gate) = gate else { return false };
        let shown = now.and_then(|now| metrics::show_ruleset(&self.name, self.context, gate.ruleset(), now));
        for done in [name.map(drop), shown, keep_address_for_redirects(), raw::tick_every(TICK)] {
            gate.note(done);
        }
        IN_FORCE.with(|in_force| in_force.put(&self.name, Some(&gate)));
        self.gate = Some(gate);
        true
    }

    /// Publishes what was counted. Now and then, updates the ages and states of the feeds as well, and reports those that have
    /// become stale.
    fn on_tick(&mut self) {
        if let Some(gate) = &self.gate {
            gate.note(metrics::publish_requests());
            self.ticks = (self.ticks + 1) % TICKS_OF_FEEDS;
            if self.ticks != 0 {
                return;
            }
            gate.check_hops();
            let update = |now| {
                if metrics::update_feeds(&self.name, self.context, gate.ruleset(), now)? {
                    shared::report_stale_feeds(&self.name, gate.ruleset(), now)?;
                }
                Ok(())
            };
            gate.note(raw::now().and_then(update));
        }
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Stream { gate: self.gate.clone(), decision: None }))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

impl Drop for Plugin {
    /// Envoy deletes the context.
    fn drop(&mut self) {
        if let Some(gate) = &self.gate {
            gate.note(metrics::publish_requests());
            metrics::forget(&self.name, self.context);
            // Otherwise Envoy would run the timer of every deleted plugin as long as the virtual machine lives.
            gate.note(raw::tick_every(Duration::ZERO));
        }
    }
}

/// A request and its response. The gate with which it began stays until it ends, whatever happens to the plugin.
struct Stream {
    /// `None` where Envoy uses a plugin that has no configuration: such a request passes.
    gate: Option<Rc<Gate>>,
    /// The decision about the request, until the response comes.
    decision: Option<Decision>,
}

impl Context for Stream {}

impl HttpContext for Stream {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        #[cfg(feature = "faults-for-tests")]
        if let Some(action) = crawlpike_envoy_wasm::faults::answer("x-faults-of-policies") {
            return action;
        }
        let Some(gate) = &self.gate else { return Action::Continue };
        gate.request(&mut self.decision).unwrap_or_else(|refused| {
            gate.note(Err(refused));
            Action::Continue
        })
    }

    fn on_http_request_trailers(&mut self, _: usize) -> Action {
        if let Some(gate) = &self.gate {
            gate.request_trailers();
        }
        Action::Continue
    }

    /// Envoy calls this for its own responses and for the filter's, too, but not for those of filters before this one: the
    /// filter sees neither these requests nor the responses to them.
    fn on_http_response_headers(&mut self, _: usize, _: bool) -> Action {
        if let Some(gate) = &self.gate
            && let Some(decision) = self.decision.take()
        {
            gate.response(&decision);
        }
        Action::Continue
    }
}

impl Drop for Stream {
    /// Envoy deletes the context. Without a response, either the client is gone, or Envoy starts the request again for an
    /// internal redirect.
    fn drop(&mut self) {
        if let Some(gate) = &self.gate
            && self.decision.is_some()
        {
            gate.note(keep_address());
        }
    }
}
