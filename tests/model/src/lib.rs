//! A decision in the plainest words: no tables, no cleverness, linear scans.
//!
//! The model is written from the specifications and the documentation, to be read beside the paragraphs that its comments name.
//! It shares nothing with the core, which `tests/` compares with it.

mod decision;
mod edge;
mod feed;
mod host;
mod identity;
mod lines;
mod path;
mod preferences;
mod robots;
mod robots_tag;
mod usage;
mod version;

pub use decision::{Decision, decide};
pub use edge::{Edge, Request};
pub use identity::{Name, Signature};
pub use path::{FORMS, Form, resolve};
pub use robots_tag::Tag;
pub use version::{File, Versions};
