//! Which sources name which requirements.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::artefacts::repository;
use crate::sources;

/// The sources that name a requirement.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The test functions with the ID in their names, and the file of each.
    pub(super) tests: BTreeSet<(String, String)>,
    /// The number of cases of each table that show it.
    pub(super) cases: BTreeMap<String, usize>,
    /// The other files that name it.
    pub(super) files: BTreeSet<String>,
}

/// The sources that name each of the requirements.
pub(super) fn by_requirement(ids: &[String]) -> BTreeMap<String, Named> {
    let mut named: BTreeMap<String, Named> = ids.iter().map(|id| (id.clone(), Named::default())).collect();
    for path in sources::files_with(".", "rs") {
        add_rust(&path, &mut named);
    }
    for entry in fs::read_dir(repository().join("tests/cases")).expect("the table of cases").flatten() {
        if entry.path().extension().is_some_and(|end| end == "json") {
            add_cases(&entry.path(), &mut named);
        }
    }
    named
}

fn add_rust(path: &Path, named: &mut BTreeMap<String, Named>) {
    let text = sources::text(path);
    let file = path.display().to_string();
    for (id, named) in named.iter_mut() {
        let of_id = tests_of(id, &text);
        if of_id.is_empty() && words(&text).any(|word| word == id) {
            named.files.insert(file.clone());
        }
        named.tests.extend(of_id.into_iter().map(|test| (test, file.clone())));
    }
}

/// The functions in a source that have the ID in their names, as in `jafar_18_each_service_proves`.
fn tests_of(id: &str, source: &str) -> Vec<String> {
    let word = id.to_lowercase().replace('-', "_");
    let names = source.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
    let names = names.filter_map(|line| line.split(['(', '<']).next());
    let has = |name: &&str| {
        name.match_indices(&word).any(|(at, _)| {
            let before = name[..at].chars().next_back();
            let after = name[at + word.len()..].chars().next();
            before.is_none_or(|c| c == '_') && after.is_none_or(|c| !c.is_ascii_digit())
        })
    };
    names.filter(has).map(str::to_owned).collect()
}

fn add_cases(path: &Path, named: &mut BTreeMap<String, Named>) {
    let table: Value = serde_json::from_slice(&fs::read(path).unwrap_or_default()).unwrap_or_default();
    let shown = table["cases"].as_array().into_iter().flatten().flat_map(|case| case["shows"].as_array());
    for id in shown.flatten().filter_map(Value::as_str) {
        if let Some(named) = named.get_mut(id) {
            *named.cases.entry(relative(path)).or_default() += 1;
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
}

fn relative(path: &Path) -> String {
    path.strip_prefix(repository()).unwrap_or(path).display().to_string()
}
