//! Crawlward as a dynamic module of nginx: directives, variables, the access phase, the response's
//! header filter.
//!
//! What is decided and what is sent is made in `crawlward-core`. This crate asks nginx for facts about the request and
//! carries the decision out. All that is `unsafe` is in [`nginx`], behind types that the rest can use safely; every
//! entry from nginx goes through [`nginx::guard`], so that a bug here lets the request pass.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod directives;
mod gate;
mod measures;
mod nginx;
mod refresh;
mod response;
mod variables;
