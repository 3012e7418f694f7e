//! Crawlward as an HTTP filter of Envoy.
//!
//! What is decided and what is sent is made in `crawlward-core`. This crate asks Envoy for facts about the request, each
//! when it is first needed, because each costs a call out of the sandbox, and carries the decision out.
//!
//! A panic here kills the virtual machine of a worker with every request in it, so nothing in here panics. The filter speaks
//! the Proxy-Wasm ABI itself: [`callbacks`] is what the host calls, [`host_calls`] what it is asked for, and both are the
//! only places with `unsafe`. A request in which the host says no passes, and the log tells once a minute.

#![deny(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod callbacks;
mod configuration;
mod contexts;
mod gate;
mod host_calls;
mod metrics;
mod request;
mod response;
