//! Crawlpike as an HTTP filter of Envoy.
//!
//! This crate asks Envoy for facts about a request, and carries out the decision; it asks for a fact only when the core needs it,
//! because each fact costs a call out of the sandbox. It contains no policy, because `crawlpike-core` decides, and no code that the
//! native module needs, too, which is in `crawlpike-envoy-gate`. `crawlpike-envoy-wasm` makes the calls.

#![deny(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]
#![expect(missing_docs, reason = "the only public item is the entry point that a macro of the SDK makes")]

mod contexts;
mod gate;
mod shared;

use crate::contexts::Plugin;

proxy_wasm::main! {{
    crawlpike_envoy_wasm::set_up_log();
    proxy_wasm::set_root_context(|context| Box::new(Plugin::new(context)));
}}
