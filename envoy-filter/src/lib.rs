//! Crawlward as an HTTP filter of Envoy.
//!
//! What is decided and what is sent is made in `crawlward-core`. This crate asks Envoy for facts about the request, each
//! when it is first needed, because each costs a call out of the sandbox, and carries the decision out.
//!
//! A panic here kills the virtual machine of a worker with every request in it, so nothing in here panics. The SDK gives
//! the entry points and the log; what asks the host for something goes through [`host_calls`], since the SDK's own calls
//! panic where the host says no. A request in which the host says no passes, and the log tells once a minute.

#![deny(unsafe_code)]
#![expect(missing_docs, reason = "the only public item is the entry point that a macro of the SDK makes")]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod configuration;
mod gate;
mod host_calls;
mod metrics;
mod request;
mod response;

use std::rc::Rc;
use std::time::Duration;

use crawlward_core::diagnostic::Severity;
use crawlward_core::measures::ReloadResult;
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{ContextType, LogLevel};

use crate::configuration::Configuration;
use crate::gate::{Gate, Stream};

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|context| Box::new(Plugin { context, name: String::new(), gate: None }));
}}

/// How often the ages of feeds are shown anew.
const TICK: Duration = Duration::from_secs(10);

/// The filter with one configuration.
struct Plugin {
    context: u32,
    /// As the configuration of Envoy names the filter.
    name: String,
    gate: Option<Rc<Gate>>,
}

impl Context for Plugin {}

impl RootContext for Plugin {
    /// Compiles the configuration document. One that can't be compiled is refused, and Envoy keeps what it has.
    fn on_configure(&mut self, size: usize) -> bool {
        let name = host_calls::property("plugin_name").unwrap_or_default();
        self.name = String::from_utf8_lossy(&name).into_owned();
        let Some(Configuration { mut compiled, fingerprint }) = configuration::read(size) else {
            log::error!("crawlward: Envoy does not give the configuration");
            return false;
        };
        compiled.warn_of_stale_feeds(configuration::NAME, host_calls::now());
        for diagnostic in &compiled.diagnostics {
            match diagnostic.severity {
                Severity::Error => log::error!("crawlward: {diagnostic}"),
                Severity::Warning => log::warn!("crawlward: {diagnostic}"),
            }
        }
        let result = if compiled.ruleset.is_some() { ReloadResult::Success } else { ReloadResult::Failure };
        let counted = metrics::count_reload(&self.name, fingerprint, result);
        let Some(ruleset) = compiled.ruleset else {
            return false;
        };
        let gate = Gate::new(ruleset);
        let shown = metrics::show_ruleset(&self.name, self.context, gate.ruleset(), host_calls::now());
        for done in [counted, shown, host_calls::tick_every(TICK)] {
            gate.note(done);
        }
        self.gate = Some(Rc::new(gate));
        true
    }

    fn on_tick(&mut self) {
        if let Some(gate) = &self.gate {
            gate.note(metrics::show_ages(&self.name, self.context, gate.ruleset(), host_calls::now()));
        }
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Stream::new(self.gate.clone())))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}
