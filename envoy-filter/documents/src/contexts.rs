//! The contexts of a virtual machine: a [`Plugin`] for each configuration of the filter, and a [`Stream`] for each request
//! with its response.
//!
//! `envoy-filter/trim` removes the exports of all other callbacks from the linked module, so a callback that is added here
//! has to be added there, too. [`crate::body`] has the one for bodies.

use std::rc::Rc;

use crawlpike_core::Severity;
use crawlpike_envoy_wasm::InForce;
use crawlpike_envoy_wasm::configuration::{self, Configuration};
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

use crate::gate::{Asked, Gate};
use crate::page;

thread_local! {
    static IN_FORCE: InForce<Gate> = InForce::default();
}

/// The filter with one configuration.
#[derive(Default)]
pub(crate) struct Plugin {
    /// `None` until a configuration is accepted, and if no site sends documents.
    gate: Option<Rc<Gate>>,
}

impl Context for Plugin {}

impl RootContext for Plugin {
    /// Compiles the configuration. If that fails, Envoy rejects the configuration and keeps the one it has. The filter that
    /// carries out policies has the same configuration, and reports warnings.
    fn on_configure(&mut self, size: usize) -> bool {
        let only_plugin = |_| IN_FORCE.with(InForce::only_plugin).unwrap_or_default();
        let name = configuration::plugin_name().unwrap_or_else(only_plugin);
        let compiled = match configuration::read(size) {
            Ok(Configuration { compiled, .. }) => compiled,
            Err(refused) => {
                let in_force = IN_FORCE.with(|in_force| in_force.get(&name));
                log::error!("crawlpike: Envoy does not provide the configuration: {refused}");
                self.gate = in_force.clone().flatten();
                return in_force.is_some();
            }
        };
        for error in compiled.diagnostics.iter().filter(|found| found.severity == Severity::Error) {
            log::error!("crawlpike: {error}");
        }
        let Some(ruleset) = compiled.ruleset else { return false };
        self.gate = ruleset.sends_documents().then(|| Rc::new(Gate::new(ruleset)));
        IN_FORCE.with(|in_force| in_force.put(&name, self.gate.as_ref()));
        true
    }

    fn create_http_context(&self, id: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Stream { id, gate: self.gate.clone(), asked: None }))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

/// A request and its response. The gate with which it began stays until it ends, whatever happens to the plugin.
struct Stream {
    id: u32,
    gate: Option<Rc<Gate>>,
    /// Until the response comes.
    asked: Option<Asked>,
}

impl Context for Stream {}

impl HttpContext for Stream {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        #[cfg(feature = "faults-for-tests")]
        if let Some(action) = crawlpike_envoy_wasm::faults::answer("x-faults-of-documents") {
            return action;
        }
        self.asked = self.gate.as_ref().and_then(|gate| gate.request());
        Action::Continue
    }

    /// If the response may become a document, its head waits, and its body comes.
    fn on_http_response_headers(&mut self, _: usize, is_last: bool) -> Action {
        if let Some(gate) = &self.gate
            && let Some(asked) = self.asked.take()
            && let Some(page) = gate.response(&asked, !is_last)
        {
            page::keep(self.id, page);
            return Action::Pause;
        }
        Action::Continue
    }

    /// The body is complete. Without a page of this stream, it has gone on.
    fn on_http_response_trailers(&mut self, _: usize) -> Action {
        match page::take(self.id) {
            Some(page) if page.reply() => Action::Pause,
            _ => Action::Continue,
        }
    }

    /// The stream has ended, and Envoy is about to write the access log.
    fn on_log(&mut self) {
        page::end(self.id);
    }
}

impl Drop for Stream {
    /// Envoy deletes the context. A configuration can keep it from calling for the log.
    fn drop(&mut self) {
        page::end(self.id);
    }
}
