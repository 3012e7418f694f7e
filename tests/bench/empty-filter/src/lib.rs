//! A filter of Envoy that does nothing, or, configured with `reads`, only reads the headers that any
//! filter needs to distinguish clients: the least cost of a Wasm filter.

#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "the only public item is the entry point that a macro of the SDK makes")]

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Filter { reads: false }));
}}

#[derive(Clone)]
struct Filter {
    reads: bool,
}

impl Context for Filter {}

impl RootContext for Filter {
    fn on_configure(&mut self, _: usize) -> bool {
        self.reads = self.get_plugin_configuration().is_some_and(|bytes| bytes == b"reads");
        true
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(self.clone()))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

impl HttpContext for Filter {
    fn on_http_request_headers(&mut self, _: usize, _: bool) -> Action {
        if self.reads {
            let agent = self.get_http_request_header_bytes("user-agent");
            let address = self.get_property(vec!["source", "address"]);
            // The compiler may remove a read whose result is not used.
            if agent.is_none() && address.is_none() {
                return Action::Pause;
            }
        }
        Action::Continue
    }
}
