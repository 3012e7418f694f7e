//! Turns an HTML page into documents for agents: markdown, and an AIDocument 2.0 of AIWebIndex.
//!
//! Nothing in this crate knows requests, headers or policies, and it does no I/O. `crawlpike-core` decides which responses
//! become documents; `crawlpike-document-gate` calls this crate for the gates.
//!
//! A page comes in as bytes, in chunks if need be ([`Page`]). [`Page::read`] finds its encoding, its tree and the part
//! that it is about, without navigation, footers and advertisements. [`Document`] then has its markdown and all fields:
//!
//! ```
//! use crawlpike_document::{Limits, Page};
//!
//! let mut page = Page::new(Limits::default());
//! page.push(b"<title>Bread</title><nav><a href=/>Home</a></nav>");
//! page.push(b"<main><p>Mix <b>flour</b> and <a href=/water>water</a>.</main>");
//! let document = page.read(None, Some("https://example.com/bread"));
//! assert!(!document.is_forbidden(&["AIWebIndex"]));
//! assert_eq!(
//!     document.markdown(),
//!     "# Bread\n\nMix **flour** and [water](https://example.com/water).\n"
//! );
//! ```
//!
//! # Cost
//!
//! Time and memory are linear in the bytes of the page, whatever it holds: [`Limits`] bounds bytes, elements and their
//! depth, only attributes that matter are kept, most of them as places in the page, and what is written is bounded by the
//! bytes that were read. Typical pages take less memory than their own bytes beside them. The worst pages that are known
//! take 12 times as much, and never more than 24 MiB within the default limits.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![deny(clippy::unreachable, clippy::string_slice)]

mod addresses;
pub mod aidocument;
mod content;
mod css;
mod document;
mod encoding;
mod hash;
mod head;
mod html;
mod limits;
mod markdown;
mod memo;
mod text;
mod thin;

pub use self::document::{Document, Page, Refusal, read};
pub use self::limits::Limits;
pub use self::markdown::{Heading, Image, Link};
pub use self::text::approximate_tokens;
pub use self::thin::TextAmount;
