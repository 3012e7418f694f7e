//! The promises of the last release still hold: see docs/versions.md.

use std::fs;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::names::{Names, current};

#[test]
fn no_name_of_the_last_release_is_gone() {
    let released = fs::read(repository().join("tests/released.json")).unwrap();
    let released: Names = serde_json::from_slice(&released).unwrap();
    let current = current();
    let mut gone = Vec::new();
    for (what, names) in &released {
        assert!(names.len() >= 5, "{what}: {names:?}");
        let there = current.get(what).unwrap_or_else(|| panic!("nothing is known of the {what}"));
        gone.extend(names.difference(there).map(|name| format!("{what}: {name}")));
    }
    assert!(gone.is_empty(), "gone, though docs/versions.md promises them: {gone:#?}");
}
