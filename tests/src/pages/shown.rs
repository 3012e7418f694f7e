//! Pages that show files of the repository: a block of code below a line that is a link to a file, and a colon.

use std::fs;
use std::path::Path;

use super::{Page, text};
use crate::artefacts::repository;

/// The folder of these pages.
const FOLDER: &str = "docs/proxies";

/// The pages, in the order of their names.
///
/// # Panics
///
/// If the folder or a file that a page shows is missing.
pub(super) fn pages() -> Vec<Page> {
    let entries = fs::read_dir(repository().join(FOLDER)).expect("a folder of pages");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("a readable folder").file_name()).collect();
    names.sort();
    let page = |name: std::ffi::OsString| {
        let path = format!("{FOLDER}/{}", name.to_string_lossy());
        Page { text: with_files(&text(&path)), path }
    };
    names.into_iter().map(page).collect()
}

/// The page with what the files contain now.
fn with_files(page: &str) -> String {
    let mut made = String::new();
    let mut lines = page.lines();
    let mut shown = None;
    while let Some(line) = lines.next() {
        made.push_str(line);
        made.push('\n');
        if line.starts_with("```") {
            let content = lines.by_ref().take_while(|line| !line.starts_with("```"));
            let content: String = content.flat_map(|line| [line, "\n"]).collect();
            made.push_str(&shown.take().unwrap_or(content));
            made.push_str("```\n");
        } else if !line.is_empty() {
            shown = link(line).map(|target| text(&format!("{FOLDER}/{target}")));
        }
    }
    made
}

/// The target of a line that is a link and a colon.
fn link(line: &str) -> Option<&str> {
    let (_, target) = line.strip_prefix('[')?.split_once("](")?;
    target.strip_suffix("):").filter(|target| Path::new(target).is_relative())
}
