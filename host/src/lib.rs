//! What the hosts of `crawlward-core` that have a file system share: nginx and the command line.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crawlward_core::{Compiled, Files, Ruleset};

/// The largest file that is read, in bytes: over it, a path is more likely a mistake than a feed.
pub const LARGEST_FILE: u64 = 1 << 30;

/// The files beside a configuration document.
#[derive(Clone, Debug)]
pub struct FilesBeside {
    folder: PathBuf,
}

impl FilesBeside {
    /// Files relative to the folder of `document`.
    pub fn new(document: &Path) -> Self {
        Self { folder: document.parent().map(Path::to_path_buf).unwrap_or_default() }
    }
}

impl Files for FilesBeside {
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        match read_file(&self.folder.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn display_name(&self, path: &str) -> String {
        self.folder.join(path).display().to_string()
    }
}

/// Reads a regular file of at most [`LARGEST_FILE`] bytes, whole.
///
/// # Errors
///
/// Those of the file system; a folder, a device or a larger file is an error, too.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(io::Error::other(format!("over {LARGEST_FILE} bytes")));
    }
    let mut bytes = Vec::new();
    // The limit holds for a file that grows while it is read, too.
    file.take(LARGEST_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Compiles the configuration document at `path` with the files beside it.
///
/// # Errors
///
/// Where the document itself can't be read; all else is in the diagnostics.
pub fn compile(path: &Path) -> io::Result<Compiled> {
    let document = read_file(path)?;
    Ok(Ruleset::compile(&path.display().to_string(), &document, &FilesBeside::new(path)))
}
