//! Documents of pages, as an HTTP filter of Envoy beside the one that carries out policies.
//!
//! It is a file of its own, because the converter would double the size of the other one, and most sites do not need it. The filter
//! decides about a request as `envoy-filter/policy` does, but for the sake of documents alone: it counts nothing, and denies nothing.
//! It contains no conversion, which `crawlpike-document` and `crawlpike-document-gate` do; `crawlpike-envoy-wasm` makes the calls.

#![deny(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]
#![expect(missing_docs, reason = "the only public items are the entry points")]

mod body;
mod contexts;
mod gate;
mod page;

use crate::contexts::Plugin;

proxy_wasm::main! {{
    crawlpike_envoy_wasm::set_up_log();
    proxy_wasm::set_root_context(|_| Box::new(Plugin::default()));
}}
