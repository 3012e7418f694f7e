//! Cutting a log into pieces of whole lines, for many threads.

use std::io::{self, Read};

/// The longest line that is read, in bytes, with its end. Longer ones are counted.
pub(crate) const LONGEST: usize = 1 << 20;

/// Whole lines of a log, of at most [`LONGEST`] bytes.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// The lines with their ends; only the last line of a log may have none.
    pub(crate) bytes: Vec<u8>,
    /// The number of lines of the log before these.
    pub(crate) lines_before: u64,
    /// The number of lines longer than [`LONGEST`] that were left out before these.
    pub(crate) too_long: u64,
}

/// Cuts a log into chunks.
pub(crate) struct Chunks<R> {
    input: R,
    /// The beginning of a line whose end has not been read.
    rest: Vec<u8>,
    lines: u64,
    too_long: u64,
    /// In the middle of a line that is too long.
    skips: bool,
    is_done: bool,
}

impl<R: Read> Chunks<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, rest: Vec::new(), lines: 0, too_long: 0, skips: false, is_done: false }
    }

    /// The number of lines that have been given, or left out because they are too long.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// The next chunk, in the memory of one that has been used; `None` at the end. After an error comes the rest of
    /// what was read.
    ///
    /// # Errors
    ///
    /// If the log cannot be read on.
    pub(crate) fn next(&mut self, used: Vec<u8>) -> io::Result<Option<Chunk>> {
        let mut bytes = used;
        bytes.clear();
        bytes.append(&mut self.rest);
        loop {
            if self.is_done {
                return Ok(self.last(bytes));
            }
            let room = LONGEST - bytes.len();
            bytes.reserve_exact(room);
            match self.input.by_ref().take(room as u64).read_to_end(&mut bytes) {
                Ok(_) => self.is_done = bytes.len() < LONGEST,
                Err(error) => {
                    // Whole lines before the error count; the one that is cut does not.
                    self.is_done = true;
                    bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |end| end + 1));
                    self.rest = bytes;
                    return Err(error);
                }
            }
            if self.skips {
                match memchr::memchr(b'\n', &bytes) {
                    Some(end) => {
                        bytes.drain(..=end);
                        self.skips = false;
                    }
                    None => bytes.clear(),
                }
                continue;
            }
            if self.is_done {
                continue;
            }
            match memchr::memrchr(b'\n', &bytes) {
                Some(end) => {
                    self.rest.extend_from_slice(&bytes[end + 1..]);
                    bytes.truncate(end + 1);
                    return Ok(Some(self.chunk(bytes)));
                }
                None => {
                    bytes.clear();
                    self.skips = true;
                    self.too_long += 1;
                    self.lines += 1;
                }
            }
        }
    }

    fn last(&mut self, bytes: Vec<u8>) -> Option<Chunk> {
        (!bytes.is_empty() || self.too_long > 0).then(|| self.chunk(bytes))
    }

    fn chunk(&mut self, bytes: Vec<u8>) -> Chunk {
        let lines_before = self.lines;
        let is_open = bytes.last().is_some_and(|byte| *byte != b'\n');
        self.lines += memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(is_open);
        Chunk { bytes, lines_before, too_long: std::mem::take(&mut self.too_long) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    /// Gives a few bytes at a time, and then perhaps an error.
    struct Dribble<'a>(&'a [u8], Option<ErrorKind>);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(self.0.len()).min(70_000);
            if length == 0 {
                return self.1.take().map_or(Ok(0), |kind| Err(kind.into()));
            }
            let (now, later) = self.0.split_at(length);
            buffer[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    /// The lines, the number of those that are too long, and whether there was an error.
    fn read(bytes: &[u8], error: Option<ErrorKind>) -> (Vec<Vec<u8>>, u64, bool) {
        let mut chunks = Chunks::new(Dribble(bytes, error));
        let (mut lines, mut too_long, mut failed) = (Vec::new(), 0, false);
        loop {
            match chunks.next(Vec::new()) {
                Ok(Some(chunk)) => {
                    assert!(chunk.bytes.len() <= LONGEST);
                    too_long += chunk.too_long;
                    assert_eq!(chunk.lines_before, lines.len() as u64 + too_long);
                    lines.extend(chunk.bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
                }
                Ok(None) => return (lines, too_long, failed),
                Err(_) => failed = true,
            }
        }
    }

    #[test]
    fn no_line_is_cut_or_lost() {
        let mut text = Vec::new();
        for number in 0..60_000 {
            text.extend_from_slice(format!("line {number} {}\n", "x".repeat(number % 90)).as_bytes());
        }
        text.extend_from_slice(b"without an end");
        let (lines, too_long, _) = read(&text, None);
        assert_eq!((lines.len(), too_long), (60_001, 0));
        assert_eq!(lines.concat(), text);
        assert_eq!(read(b"", None), (vec![], 0, false));
        assert_eq!(read(b"a", None), (vec![b"a".to_vec()], 0, false));
    }

    #[test]
    fn a_line_over_the_bound_is_counted_and_the_next_is_read() {
        for excess in [0, 1, 2, 5_000, 3 * LONGEST] {
            let long = [vec![b'x'; LONGEST - 1 + excess], b"\n".to_vec()].concat();
            let text = [b"first\n".to_vec(), long.clone(), b"last\n".to_vec()].concat();
            let (lines, too_long, _) = read(&text, None);
            assert_eq!(too_long, u64::from(excess > 0), "{excess}");
            let expected: &[&[u8]] =
                if excess > 0 { &[b"first\n", b"last\n"] } else { &[b"first\n", &long, b"last\n"] };
            assert!(lines == expected, "{excess}");
        }
        let endless = vec![0_u8; 2 * LONGEST + 7];
        assert_eq!(read(&endless, None), (vec![], 1, false));
    }

    #[test]
    fn whole_lines_before_an_error_count() {
        let (lines, _, failed) = read(b"one\ntwo\nthr", Some(ErrorKind::UnexpectedEof));
        assert_eq!((lines, failed), (vec![b"one\n".to_vec(), b"two\n".to_vec()], true));
    }
}
