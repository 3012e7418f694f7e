//! Reading files whole.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crawlward_core::{FoundFile, is_stored};
use rustix::fs::OFlags;
use zerocopy::IntoBytes;

/// The largest file that is read, in bytes: over it, a path is more likely a mistake than a feed.
pub const LARGEST_FILE: u64 = 1 << 30;

/// Reads a regular file of at most [`LARGEST_FILE`] bytes, whole.
///
/// # Errors
///
/// Those of the file system; a folder, a device, a larger file and one that is being written are errors, too.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_open(open(path)?).map(|(bytes, _)| bytes)
}

/// Whether a regular file holds exactly these bytes. It is not read into memory.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let mut file = open(path)?;
    if check_regular(&file)?.len() != bytes.len() as u64 {
        return Ok(false);
    }
    let (mut buffer, mut rest) = (vec![0; 64 << 10], bytes);
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(count) => buffer.get(..count).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match rest.strip_prefix(read) {
            Some(after) => rest = after,
            None => return Ok(false),
        }
    }
}

/// A file with the time of its last modification.
pub(crate) fn find(path: &Path) -> io::Result<FoundFile> {
    found(open(path)?)
}

/// An open file with the time of its last modification.
pub(crate) fn found(file: File) -> io::Result<FoundFile> {
    let (bytes, metadata) = read_open(file)?;
    Ok(FoundFile { bytes, modified: metadata.modified().ok().map(crate::seconds) })
}

fn read_open(mut file: File) -> io::Result<(Vec<u8>, Metadata)> {
    let before = check_regular(&file)?;
    let mut bytes = Vec::new();
    // The limit holds for a file that grows while it is read, too.
    Read::by_ref(&mut file).take(LARGEST_FILE).read_to_end(&mut bytes)?;
    let after = file.metadata()?;
    if (before.len(), before.modified().ok()) != (after.len(), after.modified().ok()) {
        return Err(io::Error::other(
            "it changed while it was read; replace files in one step, as `mv` does",
        ));
    }
    Ok((bytes, after))
}

fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would otherwise wait until somebody writes to it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

fn check_regular(file: &File) -> io::Result<Metadata> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {LARGEST_FILE} bytes")));
    }
    Ok(metadata)
}

/// The configuration document at `path`; `None` if it is a compiled ruleset.
pub(crate) fn document(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut file = open(path)?;
    check_regular(&file)?;
    let mut start = [0; 4];
    let length = Read::by_ref(&mut file).take(4).read(&mut start)?;
    let is_stored = length == start.len() && is_stored(&start);
    if is_stored { Ok(None) } else { read_file(path).map(Some) }
}

/// A file of whole words, read into place. The up to three bytes after them are dropped: the file was cut, which the length
/// in its header shows.
pub(crate) fn words(path: &Path) -> io::Result<Vec<u32>> {
    let mut file = open(path)?;
    let count = usize::try_from(check_regular(&file)?.len() / 4).map_err(io::Error::other)?;
    let mut words = vec![0_u32; count];
    file.read_exact(words.as_mut_bytes())?;
    Ok(words)
}
