//! The pages of the documentation that are made from the code: `make pages` writes them, and a test compares them.

pub mod configuration;
pub mod conformance;
mod shown;
mod sources;

use std::fs;

use crate::artefacts::repository;

/// A page that is made, and what it is made into.
pub struct Page {
    /// Its path in the repository.
    pub path: String,
    /// The required contents.
    pub text: String,
}

/// The pages.
///
/// # Panics
///
/// If what they are made from is missing.
pub fn all() -> Vec<Page> {
    let mut pages = shown::pages();
    pages.push(Page { path: "docs/configuration.md".into(), text: configuration::page() });
    pages.push(Page { path: "docs/conformance.md".into(), text: conformance::page() });
    pages
}

/// A file of the repository.
fn text(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
