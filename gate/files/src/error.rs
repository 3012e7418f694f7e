//! Errors with files.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be read or written, and why.
#[derive(Debug)]
pub struct FileError {
    operation: Operation,
    path: PathBuf,
    source: io::Error,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Read,
    Write,
}

impl FileError {
    pub(crate) fn reading(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { operation: Operation::Read, path: path.into(), source }
    }

    pub(crate) fn writing(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { operation: Operation::Write, path: path.into(), source }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.operation {
            Operation::Read => "read",
            Operation::Write => "write",
        };
        write!(f, "cannot {verb} {}: {}", self.path.display(), self.source)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Errors with several files, at least one.
#[derive(Debug)]
pub struct FileErrors(pub(crate) Vec<FileError>);

impl FileErrors {
    /// An error if there are any.
    pub(crate) fn check(errors: Vec<FileError>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self(errors)) }
    }

    /// The errors.
    pub fn errors(&self) -> &[FileError] {
        &self.0
    }
}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl Error for FileErrors {}
