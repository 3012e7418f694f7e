//! Reading files whole.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::rc::Rc;

use crawlpike_core::{Content, FeedFile, FoundFile, Pages, Source, is_stored};
use flate2::bufread::GzDecoder;
use rustix::fs::OFlags;
use zerocopy::IntoBytes;

/// The largest file that is read, in bytes: over it, a path is more likely a mistake than a feed.
pub const LARGEST_FILE: u64 = 1 << 30;

/// The first bytes of a compressed ruleset, as of every file of gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Returns true if a file with these first bytes is a compiled ruleset, compressed or not, and not a document.
pub fn is_compiled(start: &[u8]) -> bool {
    is_stored(start) || start.starts_with(&GZIP)
}

/// Reads a regular file of at most [`LARGEST_FILE`] bytes, whole.
///
/// # Errors
///
/// Those of the file system; a folder, a device, a larger file and one that is being written are errors, too.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_open(open(path)?).map(|(bytes, _)| bytes)
}

/// Returns true if a regular file holds exactly these bytes. It is not read into memory.
pub(crate) fn holds(path: &Path, bytes: Source<'_>) -> io::Result<bool> {
    Source::Pages(&PagedFile::open(path)?).has_the_bytes_of(bytes).map_err(io::Error::other)
}

/// A file that is read piece by piece.
#[derive(Debug)]
pub struct PagedFile {
    file: File,
    length: u64,
}

impl PagedFile {
    /// Opens a regular file of at most [`LARGEST_FILE`] bytes.
    ///
    /// # Errors
    ///
    /// Those of the file system; a folder, a device and a larger file are errors, too.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(open(path)?)
    }

    /// A file that is open for reading, as it is now.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`].
    pub fn new(file: File) -> io::Result<Self> {
        let length = check_regular(&file)?.len();
        Ok(Self { file, length })
    }
}

impl Pages for PagedFile {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String> {
        loop {
            match self.file.read_at(buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map_err(|error| error.to_string()),
            }
        }
    }
}

/// A feed with the time of its last modification. A large one stays where it is.
pub(crate) fn find_feed(path: &Path) -> io::Result<FeedFile> {
    /// In bytes.
    const LARGE: u64 = 1 << 20;
    let paged = PagedFile::open(path)?;
    if paged.length <= LARGE {
        return found(paged.file).map(FeedFile::from);
    }
    let modified = paged.file.metadata()?.modified().ok().map(crate::seconds);
    Ok(FeedFile { content: Content::Pages(Rc::new(paged)), modified })
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
    let is_compiled = is_compiled(start::<4>(&mut file)?.as_slice());
    if is_compiled { Ok(None) } else { read_file(path).map(Some) }
}

/// The first bytes of a file; zeros if it is shorter.
fn start<const N: usize>(file: &mut File) -> io::Result<[u8; N]> {
    let mut start = [0; N];
    fill(file, &mut start)?;
    file.rewind()?;
    Ok(start)
}

/// Reads until the buffer is full or there is nothing more; gives how many bytes were read.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A compiled ruleset, in whole words. The up to three bytes after them are dropped: the file was cut, which the length in its
/// header shows.
pub(crate) fn words(path: &Path) -> io::Result<Vec<u32>> {
    let mut file = open(path)?;
    let length = check_regular(&file)?.len();
    if start(&mut file)? == GZIP {
        return inflated(file);
    }
    // Read into place.
    let count = usize::try_from(length / 4).map_err(io::Error::other)?;
    let mut words = vec![0_u32; count];
    file.read_exact(words.as_mut_bytes())?;
    Ok(words)
}

/// The words of a compressed ruleset, which have the same limit as the file.
fn inflated(file: File) -> io::Result<Vec<u32>> {
    let mut reader = GzDecoder::new(BufReader::new(file)).take(LARGEST_FILE + 1);
    let (mut words, mut block) = (Vec::new(), vec![0_u32; 16 << 10]);
    loop {
        let bytes = fill(&mut reader, block.as_mut_bytes())?;
        words.extend_from_slice(block.get(..bytes / 4).unwrap_or_default());
        if bytes < block.len() * 4 {
            break;
        }
    }
    if reader.limit() == 0 {
        let message = format!("larger than {LARGEST_FILE} bytes when decompressed");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_compressed_file_has_the_words_of_the_file_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, packed) = (folder.path().join("plain"), folder.path().join("packed"));
        // Less and more than a block, and bytes that make no word.
        for length in [0_usize, 3, 4, 7, 65_535, 65_536, 65_539, 200_001] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            fs::write(&plain, &bytes).unwrap();
            fs::write(&packed, compressed(&bytes)).unwrap();
            assert_eq!(words(&plain).unwrap(), words(&packed).unwrap(), "{length}");
        }
        assert!(document(&packed).unwrap().is_none());
        assert!(document(&plain).unwrap().is_some());
    }

    #[test]
    fn a_compressed_file_that_was_cut_or_altered_has_no_other_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("packed");
        let bytes: Vec<u8> = (0..5_000_u32).flat_map(|word| (word % 97).to_ne_bytes()).collect();
        let whole = compressed(&bytes);
        fs::write(&path, &whole).unwrap();
        let expected = words(&path).unwrap();
        for length in 2..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            words(&path).unwrap_err();
        }
        for at in 2..whole.len() {
            for bit in 0..8 {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                fs::write(&path, altered).unwrap();
                // Some bits say nothing about the content: those of the time in the header, for example.
                assert!(words(&path).map_or(true, |words| words == expected), "{at}");
            }
        }
    }
}
