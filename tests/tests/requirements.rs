//! `docs/requirements.md` explains each requirement ID that a message or a test names, and says which requirements are
//! not implemented yet.

use std::collections::BTreeSet;
use std::fs;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::sources;

const GROUPS: [&str; 9] = ["JAFAR", "GEO", "AUTO", "ROB", "TAG", "USE", "AIWI", "SIG", "RDNS"];

/// The directories with sources, and the extensions of those that name IDs.
const SOURCES: [(&str, &str); 2] = [(".", "rs"), ("tests/cases", "json")];

/// The IDs of our groups in a text.
fn ids(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = text.split(|c: char| !is_part(c));
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(group, number)| {
            GROUPS.contains(&group) && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
        })
    };
    words.filter(is_id).map(str::to_owned).collect()
}

fn named_in_sources() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (directory, extension) in SOURCES {
        for path in sources::files_with(directory, extension) {
            found.extend(ids(&sources::text(&path)));
        }
    }
    found
}

fn page() -> String {
    fs::read_to_string(repository().join("docs/requirements.md")).unwrap()
}

/// The IDs that have a row, in their order.
fn rows(page: &str) -> Vec<String> {
    let first_cell = |line: &str| Some(line.strip_prefix("| ")?.split(" |").next()?.to_owned());
    page.lines().filter_map(first_cell).filter(|cell| ids(cell).contains(cell)).collect()
}

/// The IDs that the page calls not implemented: those of a list, or all of a group but the exceptions.
fn not_implemented(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for paragraph in page.split("\n\n").filter_map(|text| text.strip_prefix("Not implemented yet: ")) {
        let listed = ids(paragraph);
        let group = paragraph.strip_prefix("all of ").and_then(|rest| rest.split([',', '.']).next());
        match group {
            None => found.extend(listed),
            Some(group) => {
                let is_of_group = |id: &&String| id.split('-').next() == Some(group) && !listed.contains(*id);
                found.extend(rows(page).iter().filter(is_of_group).cloned());
            }
        }
    }
    found
}

#[test]
fn each_id_in_the_sources_has_one_row() {
    let page = page();
    let rows = rows(&page);
    let unique: BTreeSet<String> = rows.iter().cloned().collect();
    assert_eq!(rows.len(), unique.len(), "docs/requirements.md has two rows for an ID");
    let named = named_in_sources();
    assert!(named.len() > 50, "{named:?}");
    let missing: Vec<&String> = named.difference(&unique).collect();
    assert!(missing.is_empty(), "docs/requirements.md has no row for {missing:?}");
}

#[test]
fn a_requirement_is_named_in_the_sources_or_not_implemented() {
    let page = page();
    let (named, not_implemented) = (named_in_sources(), not_implemented(&page));
    let implemented: Vec<&String> = not_implemented.intersection(&named).collect();
    assert!(
        implemented.is_empty(),
        "the sources name {implemented:?}: remove them from \"Not implemented yet\" in docs/requirements.md"
    );
    let untested: Vec<String> =
        rows(&page).into_iter().filter(|id| !named.contains(id) && !not_implemented.contains(id)).collect();
    assert!(untested.is_empty(), "neither a source nor \"Not implemented yet\" names {untested:?}");
}
