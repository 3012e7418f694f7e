//! Crawlpike as a dynamic module of Envoy.
//!
//! `crawlpike-core` decides, and `crawlpike-envoy-gate` turns decisions into what both gates in Envoy do. This crate asks Envoy
//! for facts and carries the rest out. From the bottom up: [`envoy`] has the bindings, with everything that is `unsafe`;
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
