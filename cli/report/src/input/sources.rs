//! Which files are read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// Its name in messages and in the report.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_string(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Returns true for a file that can be read again, unlike stdin and pipes.
    pub(crate) fn is_regular(&self) -> bool {
        matches!(self, Self::File(path) if path.is_file())
    }
}

/// The logs behind a path: stdin for `-`, the file, or the files in the folder and in those below it, by their names. In a
/// folder, hidden files and those with `error` in their names are left out, because servers keep their error logs there.
///
/// # Errors
///
/// If a folder cannot be read. That a file cannot be read shows when it is opened.
pub fn sources(path: &Path) -> io::Result<Vec<Source>> {
    if path.as_os_str() == "-" {
        return Ok(vec![Source::Stdin]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        collect(path, &mut found)?;
    } else {
        found.push(Source::File(path.to_path_buf()));
    }
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<Source>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A link to a folder could lead back to this one.
        let kind = entry.file_type()?;
        if name.starts_with('.') || name.contains("error") {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), found)?;
        } else if entry.path().is_file() {
            found.push(Source::File(entry.path()));
        }
    }
    Ok(())
}
