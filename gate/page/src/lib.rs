//! Pages that become documents, for all gates: a [`Job`] collects the body of a response, decodes it, and has it converted.
//! [`Memory`] bounds what all of them hold.
//!
//! No policy and no call of a server belongs here; a job is independent of the request, so that another thread can finish it.
//! `crawlpike-core` decides which response becomes a document and changes its headers, `crawlpike-document` converts HTML, and
//! the gates (`nginx-module`, `envoy-module`, `envoy-filter/documents`) collect the body and send the result.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod coding;
mod job;
mod memory;

pub use crawlpike_document::aidocument::CacheStatus;
pub use job::{Finished, Job, PageSource, clock};
pub use memory::{Held, Memory, NO_ROOM, Share};
