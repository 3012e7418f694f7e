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

mod cidr;
mod csv;
pub mod diagnostic;
pub mod feed;
mod geofeed;
mod jafar;
mod json;
pub mod prefix;
mod source_text;
