//! The words of a table that is a part of a larger buffer.

use alloc::vec::Vec;

/// The words of a prefix table at the end of a buffer, where a compiled ruleset holds them.
#[derive(Debug)]
pub(crate) struct TableWords {
    buffer: Vec<u32>,
    start: usize,
}

impl TableWords {
    /// Those from `start` on; none where the buffer ends before.
    pub(crate) const fn new(buffer: Vec<u32>, start: usize) -> Self {
        Self { buffer, start }
    }
}

impl From<Vec<u32>> for TableWords {
    fn from(words: Vec<u32>) -> Self {
        Self::new(words, 0)
    }
}

impl AsRef<[u32]> for TableWords {
    #[inline]
    fn as_ref(&self) -> &[u32] {
        // No table is without words, so loading one from here is an error.
        self.buffer.get(self.start..).unwrap_or_default()
    }
}
