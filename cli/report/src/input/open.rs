//! Opening a log, compressed or not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::sources::Source;
use super::stop::{Stop, Stoppable};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The bytes after the first byte, from 0x50 to 0x5f, of a frame of zstd that is to be skipped.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];
const BUFFER: usize = 128 << 10;

/// Opens a log and gives its text, whatever it is compressed with. `read` counts the bytes of the file as they are read.
///
/// # Errors
///
/// If it cannot be opened, or its first bytes cannot be read.
pub(crate) fn open(source: &Source, read: Arc<AtomicU64>, stop: Stop) -> io::Result<Box<dyn Read + Send>> {
    let file = match source {
        // Without the buffer of the standard library, whose bytes a wait for more would not see.
        Source::Stdin => File::from(io::stdin().as_fd().try_clone_to_owned()?),
        Source::File(path) => File::open(path)?,
        Source::Duplicate(..) => return Ok(Box::new(io::empty())),
        Source::Unreadable(_, why) => return Err(io::Error::other(why.clone())),
    };
    // A folder opens, and fails only when it is read.
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    decompressed(Counted { inner: Stoppable::new(file, stop)?, read })
}

/// The text of a log, whatever it is compressed with.
fn decompressed(mut inner: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut start = Vec::new();
    inner.by_ref().take(ZSTD.len() as u64).read_to_end(&mut start)?;
    let is_gzip = start.starts_with(GZIP);
    let is_zstd = start == ZSTD || matches!(&*start, [0x50..0x60, rest @ ..] if rest == ZSTD_SKIPPABLE);
    let input = io::Cursor::new(start).chain(inner);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, input)))
    } else if is_zstd {
        Box::new(Zstd::Between(BufReader::with_capacity(BUFFER, input)))
    } else {
        Box::new(input)
    })
}

/// The frames of a file in zstd, one after the other.
enum Zstd<R: Read> {
    /// Before the first frame, and after each.
    Between(R),
    Frame(R, Box<FrameDecoder>),
    /// After an error.
    Broken,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            *self = match std::mem::replace(self, Self::Broken) {
                Self::Broken => return Ok(0),
                Self::Between(mut input) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let mut decoder = Box::new(FrameDecoder::new());
                    match decoder.init(&mut input) {
                        Ok(()) => Self::Frame(input, decoder),
                        Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                            length,
                            ..
                        })) => {
                            io::copy(&mut input.by_ref().take(u64::from(length)), &mut io::sink())?;
                            Self::Between(input)
                        }
                        Err(error) => return Err(io::Error::other(error)),
                    }
                }
                Self::Frame(mut input, mut decoder) => match decode(&mut input, &mut decoder, buffer)? {
                    0 => {
                        let expected = decoder.get_checksum_from_data();
                        if expected.is_some() && expected != decoder.get_calculated_checksum() {
                            return Err(io::Error::other("wrong checksum"));
                        }
                        Self::Between(input)
                    }
                    length => {
                        *self = Self::Frame(input, decoder);
                        return Ok(length);
                    }
                },
            };
        }
    }
}

/// The next bytes of a frame; none at its end.
fn decode(input: &mut impl Read, decoder: &mut FrameDecoder, buffer: &mut [u8]) -> io::Result<usize> {
    while decoder.can_collect() == 0 && !decoder.is_finished() {
        decoder.decode_blocks(&mut *input, BlockDecodingStrategy::UptoBlocks(1)).map_err(io::Error::other)?;
    }
    decoder.read(buffer)
}

/// Counts the bytes of a file, before they are decompressed.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn text_of(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decompressed(io::Cursor::new(bytes))?.read_to_end(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn the_first_bytes_say_what_a_log_is_compressed_with() {
        let [long, short] = [b"a line of a log\n".repeat(30_000), b"end".to_vec()];
        let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"any"].concat();
        for bytes in [
            [&long[..], &short].concat(),
            [gzip(&long), gzip(&short)].concat(),
            [zstd(&long), skipped.clone(), zstd(&short)].concat(),
            [skipped.clone(), zstd(&long), zstd(b""), zstd(&short), skipped].concat(),
        ] {
            assert!(text_of(bytes).unwrap() == [&long[..], &short].concat());
        }
        for short in ["", "a", "abc", "\x1f", "Z*M"] {
            assert_eq!(text_of(short.into()).unwrap(), short.as_bytes());
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error() {
        let text = b"a line of a log\n".repeat(3_000);
        for bytes in [gzip(&text), zstd(&text)] {
            for length in [8, bytes.len() / 2, bytes.len() - 1] {
                assert!(text_of(bytes[..length].to_vec()).is_err(), "{length}");
            }
            let mut changed = bytes;
            let last = changed.len() - 1;
            changed[last] ^= 1;
            assert!(text_of(changed).is_err());
        }
    }
}
