//! A filter of Envoy that does nothing: what every Wasm filter costs.

#![forbid(unsafe_code)]
#![expect(missing_docs, reason = "the only public item is the entry point that a macro of the SDK makes")]

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::ContextType;

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| Box::new(Empty));
}}

struct Empty;

impl Context for Empty {}

impl RootContext for Empty {
    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Self))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

impl HttpContext for Empty {}
