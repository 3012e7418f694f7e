//! What an automated HTTP client may do, decided from published facts.
//!
//! The crate has no I/O, no clock, no threads and no `unsafe`: a host (nginx, Envoy, the command line) reads the
//! bytes, calls in, and does what it is told.

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod automation_preferences;
pub mod diagnostic;
pub mod feed;
pub mod host;
pub mod path_pattern;
pub mod path_set;
pub mod policy_lines;
pub mod policy_lint;
pub mod prefix;
pub mod robots;
