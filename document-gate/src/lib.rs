//! What the gates do with a page that becomes a document.
//!
//! `crawlpike-core` says which response does, and what its headers become; `crawlpike-document` converts HTML. This crate is
//! between them: a gate gives a [`Job`] the body of the response as it comes, and gets the document, or learns that the page
//! is to be sent as it is. A job is independent of the request, so that another thread can finish it.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod coding;
mod job;

pub use job::{Job, Outcome, PageSource};
