//! Crawlward as an HTTP filter of Envoy.
//!
//! `crawlward-core` decides about requests, and `crawlward-envoy-gate` turns decisions into what both gates in Envoy do. This crate
//! asks Envoy for facts about a request and carries the rest out. It asks for a fact only when the core needs it, because each fact costs a call out of the sandbox.
//!
//! The SDK, `proxy-wasm`, provides the entry points, the contexts, the log and what loading a configuration needs. Its wrappers of
//! calls that a request makes panic on statuses that Envoy may answer with, except for properties, and a panic ends the
//! virtual machine of a worker with every request in it. [`raw`] makes these calls instead, and returns a refusal of the host
//! as an error. The filter then lets the request pass, counts the error, and logs it at most once a minute.

#![deny(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]
#![expect(missing_docs, reason = "the only public item is the entry point that a macro of the SDK makes")]

mod configuration;
mod contexts;
mod gate;
mod headers;
mod host;
mod metrics;
mod raw;
mod request;
mod shared;
mod stream;

use std::panic;

use proxy_wasm::hostcalls;
use proxy_wasm::types::LogLevel;

use crate::contexts::Plugin;

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Warn);
    panic::set_hook(Box::new(|panic| {
        // The virtual machine ends here. If the log refuses the message, there is nowhere else to report it.
        let _ = hostcalls::log(LogLevel::Critical, &format!("crawlward: internal error: {panic}"));
    }));
    proxy_wasm::set_root_context(|context| Box::new(Plugin::new(context)));
}}
