//! Sources that are not in memory as a whole.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::source::byte_order_mark::without_byte_order_mark;

/// Bytes that a host reads piece by piece, such as those of a large file.
pub trait Pages {
    /// The number of bytes.
    fn length(&self) -> u64;

    /// Reads bytes from an offset on, at least one unless the offset is at the end or the buffer is empty; gives how many.
    ///
    /// # Errors
    ///
    /// The reason why they cannot be read, for the operator.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String>;
}

/// The bytes of a source, wherever they are.
#[derive(Clone)]
pub enum Content {
    /// In memory.
    Bytes(Vec<u8>),
    /// Elsewhere.
    Pages(Rc<dyn Pages>),
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_source().length())
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl Content {
    /// To read them.
    pub fn as_source(&self) -> Source<'_> {
        match self {
            Self::Bytes(bytes) => Source::Bytes(bytes),
            Self::Pages(pages) => Source::Pages(&**pages),
        }
    }

    /// Returns true if another content has the same bytes; if one of them can't be read, it has not.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(own), Self::Bytes(others)) => own == others,
            _ => self.as_source().has_the_bytes_of(other.as_source()).unwrap_or(false),
        }
    }

    /// The bytes in memory.
    ///
    /// # Errors
    ///
    /// The reason why they cannot be read.
    pub fn into_bytes(self) -> Result<Vec<u8>, String> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Pages(pages) => Source::Pages(&*pages).to_vec(),
        }
    }
}

/// Bytes to be read.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// In memory.
    Bytes(&'a [u8]),
    /// Elsewhere.
    Pages(&'a dyn Pages),
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Source<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl Source<'_> {
    /// The number of bytes.
    pub fn length(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pages(pages) => pages.length(),
        }
    }

    /// Returns true if another source has the same bytes.
    ///
    /// # Errors
    ///
    /// The reason why one of them cannot be read.
    pub fn has_the_bytes_of(self, other: Source<'_>) -> Result<bool, String> {
        if self.length() != other.length() {
            return Ok(false);
        }
        let (mut own, mut others, mut offset) = (Vec::new(), Vec::new(), 0);
        loop {
            let ends = [self.append(offset, PAGE, &mut own)?, other.append(offset, PAGE, &mut others)?];
            if own != others || ends == [true, true] {
                return Ok(own == others);
            }
            offset += own.len() as u64;
            own.clear();
            others.clear();
        }
    }

    /// Appends `most` bytes from an offset on, or all to the end; gives whether that is reached.
    pub(crate) fn append(self, offset: u64, most: usize, to: &mut Vec<u8>) -> Result<bool, String> {
        let rest = self.length().saturating_sub(offset);
        let count = usize::try_from(rest).map_or(most, |rest| rest.min(most));
        let start = to.len();
        match self {
            Self::Bytes(bytes) => {
                let from = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..));
                to.extend(from.unwrap_or_default().iter().take(count));
            }
            Self::Pages(pages) => {
                to.resize(start + count, 0);
                let mut done = 0;
                while let Some(buffer) = to.get_mut(start + done..).filter(|buffer| !buffer.is_empty()) {
                    match pages.read_at(offset + done as u64, buffer)? {
                        0 => {
                            return Err(format!(
                                "it ended after {} bytes while it was read",
                                offset + done as u64
                            ));
                        }
                        count => done += count,
                    }
                }
            }
        }
        Ok(count as u64 == rest)
    }

    /// Calls `step` with all bytes, some at a time.
    ///
    /// # Errors
    ///
    /// That of `step`, or one made of why the bytes can't be read.
    pub fn each_page<E: From<String>>(self, mut step: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if let Self::Bytes(bytes) = self {
            return step(bytes);
        }
        let (mut page, mut offset) = (Vec::new(), 0);
        loop {
            let is_end = self.append(offset, PAGE, &mut page)?;
            step(&page)?;
            if is_end {
                return Ok(());
            }
            offset += page.len() as u64;
            page.clear();
        }
    }

    fn to_vec(self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        self.append(0, usize::MAX, &mut bytes)?;
        Ok(bytes)
    }

    /// All of it in memory, borrowed if it is there.
    pub(crate) fn whole<'s>(self, room: &'s mut Vec<u8>) -> Result<&'s [u8], String>
    where
        Self: 's,
    {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Pages(_) => {
                self.append(0, usize::MAX, room)?;
                Ok(room)
            }
        }
    }
}

/// The number of bytes that are read at once.
pub(crate) const PAGE: usize = 256 << 10;

/// Pages behind a byte order mark, where there is one.
pub(crate) struct Unmarked<'a> {
    pages: &'a dyn Pages,
    skipped: u64,
}

impl<'a> Unmarked<'a> {
    pub(crate) fn new(pages: &'a dyn Pages) -> Result<Self, String> {
        // One byte more, which distinguishes part of a mark from another character.
        let mut start = Vec::new();
        Source::Pages(pages).append(0, 4, &mut start)?;
        let skipped = start.len() - without_byte_order_mark(&start).len();
        Ok(Self { pages, skipped: skipped as u64 })
    }
}

impl Pages for Unmarked<'_> {
    fn length(&self) -> u64 {
        self.pages.length() - self.skipped
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String> {
        self.pages.read_at(offset + self.skipped, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Bytes that are read piece by piece.
    struct Elsewhere<'a>(&'a [u8]);

    impl Pages for Elsewhere<'_> {
        fn length(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, String> {
            let rest =
                usize::try_from(offset).ok().and_then(|offset| self.0.get(offset..)).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    #[test]
    fn sources_of_any_length_are_compared() {
        for length in [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 3 * PAGE + 1] {
            let bytes = vec![b'x'; length];
            let pages = Elsewhere(&bytes);
            let sources = [Source::Bytes(&bytes), Source::Pages(&pages)];
            for (one, other) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                assert_eq!(sources[one].has_the_bytes_of(sources[other]), Ok(true), "{length}");
            }
            let mut others = bytes.clone();
            if let Some(last) = others.last_mut() {
                *last = b'y';
                assert_eq!(
                    Source::Pages(&pages).has_the_bytes_of(Source::Bytes(&others)),
                    Ok(false),
                    "{length}"
                );
            }
        }
    }
}
