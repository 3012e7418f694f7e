//! Which files are read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
    /// Another name of a file, and the one by which it is read.
    Duplicate(PathBuf, PathBuf),
    /// A folder that cannot be read, or not to its end, and the reason.
    Unreadable(PathBuf, String),
}

impl Source {
    /// Its name in messages and in the report.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_string(),
            Self::File(path) | Self::Duplicate(path, _) | Self::Unreadable(path, _) => {
                path.display().to_string()
            }
        }
    }

    /// The name by which the file is read, if this is another one.
    pub(crate) fn same_as(&self) -> Option<String> {
        match self {
            Self::Duplicate(_, first) => Some(first.display().to_string()),
            _ => None,
        }
    }

    /// Returns true for a file that can be read again, unlike stdin and pipes.
    pub(crate) fn is_regular(&self) -> bool {
        matches!(self, Self::File(path) if path.is_file())
    }
}

/// The logs behind paths: stdin for `-`, a file, or the files in a folder and in those below it, by their names. In a folder,
/// hidden files and those with `error` in their names are left out, because servers keep their error logs there. That a file cannot
/// be read shows when it is opened.
pub fn sources(paths: &[PathBuf]) -> Vec<Source> {
    let mut found = Found::default();
    for path in paths {
        if path.as_os_str() == "-" {
            found.sources.push(Source::Stdin);
            continue;
        }
        match fs::metadata(path).ok() {
            Some(data) if data.is_dir() => found.add_folder(path),
            data => found.add_file(path.clone(), data),
        }
    }
    found.sources
}

#[derive(Default)]
struct Found {
    sources: Vec<Source>,
    /// The regular files by device and inode, so that each counts once.
    files: HashMap<(u64, u64), PathBuf>,
}

impl Found {
    fn add_folder(&mut self, folder: &Path) {
        let mut entries = Vec::new();
        let read = fs::read_dir(folder).and_then(|mut found| {
            found.try_for_each(|entry| {
                entries.push(entry?);
                Ok(())
            })
        });
        if let Err(error) = read {
            self.sources.push(Source::Unreadable(folder.to_path_buf(), error.to_string()));
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || name.contains("error") {
                continue;
            }
            // A link to a folder could lead back to this one.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add_folder(&entry.path());
                continue;
            }
            let data = fs::metadata(entry.path()).ok();
            if data.as_ref().is_none_or(fs::Metadata::is_file) {
                self.add_file(entry.path(), data);
            }
        }
    }

    fn add_file(&mut self, path: PathBuf, data: Option<fs::Metadata>) {
        let data = data.filter(fs::Metadata::is_file);
        self.sources.push(match data.map(|data| self.files.entry((data.dev(), data.ino()))) {
            Some(Entry::Occupied(first)) => Source::Duplicate(path, first.get().clone()),
            Some(Entry::Vacant(place)) => Source::File(place.insert(path).clone()),
            None => Source::File(path),
        });
    }
}
