//! The part that the Proxy-Wasm filters of Crawlpike share, which carry out policies and make documents: calls of Envoy, the
//! configuration and the statistics. It contains no policy, which belongs in `crawlpike-core`, and nothing that the native module
//! does alike, which belongs in `crawlpike-envoy-gate`. The filters are `envoy-filter/policy` and `envoy-filter/documents`.
//!
//! The SDK, `proxy-wasm`, provides the entry points, the contexts and the log. Its wrappers of calls panic on statuses that Envoy
//! may answer with, and a panic ends the virtual machine of a worker with every request in it. [`raw`] makes the calls
//! instead, and returns a refusal of the host as an error. A filter then lets the request pass, counts the error, and logs it at most once a minute.

#![deny(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

pub mod configuration;
mod errors;
#[cfg(feature = "faults-for-tests")]
pub mod faults;
mod headers;
mod host;
mod in_force;
pub mod metrics;
pub mod raw;
mod request;
mod rooms;
mod stream;
mod trusted_hops;

use std::panic;

use proxy_wasm::types::LogLevel;

pub use errors::Errors;
pub use headers::HeaderMap;
pub use host::Refused;
pub use in_force::InForce;
pub use request::{HostRequest, keep_address, keep_address_for_redirects};
pub use rooms::HostBytes;
pub use stream::HostStream;
pub use trusted_hops::TrustedHops;

/// Writes a line to Envoy's log at the level `debug`.
pub fn log_debug(line: &str) -> Result<(), Refused> {
    raw::log(LogLevel::Debug, line)
}

/// Sets the log up: the first thing that a virtual machine does.
pub fn set_up_log() {
    proxy_wasm::set_log_level(LogLevel::Warn);
    panic::set_hook(Box::new(|panic| {
        // The virtual machine ends here. If the log refuses the message, there is nowhere else to report it.
        let _ = raw::log(LogLevel::Critical, &format!("crawlpike: internal error: {panic}"));
    }));
}
