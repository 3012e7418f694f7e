//! Crawlpike as a dynamic module of Envoy.
//!
//! This crate asks Envoy for facts about a request, and carries out the decision. It contains no policy, because `crawlpike-core`
//! decides, and no code that the Wasm filters need, too, which is in `crawlpike-envoy-gate`. Its files come from `crawlpike-files`,
//! and its documents from `crawlpike-document-gate`.
//!
//! From the bottom up: [`envoy`] has the bindings, with everything that is `unsafe`;
//! [`source`] has the rulesets and the files that they come from; [`statistics`] counts; [`gate`] decides; [`module`] ties them
//! to Envoy's hooks.

#![deny(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod clock;
mod configuration;
mod document;
mod envoy;
mod errors;
mod gate;
mod module;
mod names;
mod request;
mod route;
mod source;
mod statistics;
mod worker;

envoy::http_filter!(crate::module::Crawlpike);
