//! The part that both gates of Envoy share, the Wasm filters (`envoy-filter`) and the native module (`envoy-module`).
//!
//! This crate turns a decision into calls of Envoy, in their order, so that both gates set the same headers and the same filter
//! state, and send the same responses. It contains no policy, because `crawlpike-core` decides, and makes no call itself: a gate
//! implements [`Stream`].

#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

extern crate alloc;

mod address;
mod document;
mod forwarded;
mod known;
mod request;
mod response;
mod stream;

pub use address::address_of;
pub use document::{
    PageHead, PageRequest, finish_head, finish_trailers, on_page_head, page_path, show_result,
};
pub use forwarded::Forwarded;
pub use known::{KNOWN_LENGTHS, KnownHeaders};
pub use request::{Answer, Outcome, Recent, UnknownName, on_page_request, on_request, on_request_trailers};
pub use response::on_response;
pub use stream::{Change, ChangedHeaders, HeaderLines, HostRequest, NAME, Stream};
