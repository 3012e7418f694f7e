//! Which tests show which requirement.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::sources::{Named, by_requirement};

const HEAD: &str = "\
# Conformance

<!-- `make pages` writes this page from docs/requirements.md and the sources. -->

This page lists the tests behind each [requirement](requirements.md). The tests are functions in the sources, or cases
of the table that all gates and the command line must answer alike. `make test` runs them all; a change lands only if
all of them pass. A requirement without a test of its own has the sources that implement it, and name it in a message or
a comment.
";

/// A row of the table of requirements.
struct Requirement {
    id: String,
    level: String,
    text: String,
}

/// A section of the page of requirements.
struct Group {
    heading: String,
    /// Its own statements about requirements that are not implemented.
    open: String,
    requirements: Vec<Requirement>,
}

/// The page.
pub fn page() -> String {
    let groups = groups(&super::text("docs/requirements.md"));
    let ids: Vec<String> =
        groups.iter().flat_map(|group| &group.requirements).map(|row| row.id.clone()).collect();
    let named = by_requirement(&ids);
    let mut page = HEAD.to_owned();
    let shown = ids.iter().filter(|id| named.get(*id).is_some_and(|named| !is_open(named))).count();
    write!(page, "\n{shown} of {} requirements are implemented.\n", ids.len()).expect("a String");
    for group in groups {
        write!(page, "\n## {}\n\n", group.heading).expect("a String");
        if !group.open.is_empty() {
            write!(page, "{}\n\n", group.open).expect("a String");
        }
        page.push_str("| ID | level | requirement | shown by |\n|---|---|---|---|\n");
        for row in group.requirements {
            let by = shown_by(&row.id, &named);
            writeln!(page, "| {} | {} | {} | {by} |", row.id, row.level, row.text).expect("a String");
        }
    }
    page
}

fn is_open(named: &Named) -> bool {
    named.tests.is_empty() && named.cases.is_empty() && named.files.is_empty()
}

/// The last cell of a row.
fn shown_by(id: &str, named: &BTreeMap<String, Named>) -> String {
    let Some(named) = named.get(id).filter(|named| !is_open(named)) else {
        return "not implemented".to_owned();
    };
    let mut by: Vec<String> = Vec::new();
    for (table, count) in &named.cases {
        let cases = if *count == 1 { "case" } else { "cases" };
        by.push(format!("{count} {cases} in [{}](../{table})", file_name(table)));
    }
    by.extend(named.tests.iter().map(|(test, file)| format!("[`{test}`](../{file})")));
    if by.is_empty() {
        by.extend(named.files.iter().map(|file| format!("[{}](../{file})", file_name(file))));
    }
    by.join(", ")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The sections of docs/requirements.md that have a table of requirements.
fn groups(page: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
        let requirements: Vec<Requirement> = text.lines().filter_map(requirement).collect();
        if requirements.is_empty() {
            continue;
        }
        let says_so = |paragraph: &&str| {
            paragraph.starts_with("Not implemented yet:") || paragraph.starts_with("Partly")
        };
        let open = text.split("\n\n").map(str::trim).filter(says_so).collect::<Vec<_>>().join("\n\n");
        groups.push(Group { heading: heading.to_owned(), open, requirements });
    }
    groups
}

/// A row, if the line is one.
fn requirement(line: &str) -> Option<Requirement> {
    let mut cells = line.strip_prefix("| ")?.split(" | ");
    let (id, level, text) = (cells.next()?, cells.next()?, cells.next()?);
    let (group, number) = id.split_once('-')?;
    let is_id = group.chars().all(|c| c.is_ascii_uppercase()) && number.chars().all(|c| c.is_ascii_digit());
    (is_id && !number.is_empty()).then(|| Requirement {
        id: id.to_owned(),
        level: level.to_owned(),
        text: text.to_owned(),
    })
}
