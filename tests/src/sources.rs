//! The files of the repository, for tests that look at the sources themselves.

use std::fs;
use std::path::{Path, PathBuf};

use crate::artefacts::repository;

/// Directories that hold what is built or fetched, not sources.
const NOT_SOURCES: [&str; 4] = [".git", "target", "dist", "__pycache__"];

/// The files below a directory of the repository, sorted, relative to the repository.
pub fn files(directory: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    add_files(&repository().join(directory), &mut found);
    found.sort();
    found
}

/// The files below a directory of the repository whose names end with `.` and the extension.
pub fn files_with(directory: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = files(directory);
    found.retain(|path| path.extension().is_some_and(|end| end == extension));
    found
}

/// The text of a file that [`files`] lists.
pub fn text(path: &Path) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn add_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.unwrap().path();
        let is_skipped =
            path.file_name().is_some_and(|name| NOT_SOURCES.iter().any(|skipped| name == *skipped));
        // A link names a file that is listed at its own place.
        if is_skipped || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            add_files(&path, found);
        } else {
            found.push(path.strip_prefix(repository()).unwrap_or(&path).to_owned());
        }
    }
}
