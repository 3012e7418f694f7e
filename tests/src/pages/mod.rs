//! The pages of the documentation that are made from the code: `make pages` writes them, and a test compares them.

pub mod configuration;
pub mod conformance;
mod sources;

use std::fs;

use crate::artefacts::repository;

/// A page that is made, and what it is made into.
pub struct Page {
    /// Its path in the repository.
    pub path: &'static str,
    /// The required contents.
    pub text: String,
}

/// The pages.
///
/// # Panics
///
/// If what they are made from is missing.
pub fn all() -> [Page; 2] {
    [
        Page { path: "docs/configuration.md", text: configuration::page() },
        Page { path: "docs/conformance.md", text: conformance::page() },
    ]
}

/// A file of the repository.
fn text(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
