//! The bytes of a page, as the tokenizer asks for them.

use std::convert::Infallible;

use html5gum::{Readable, Reader};

/// What of a page has not been read.
#[derive(Debug)]
pub(super) struct Input<'p>(&'p [u8]);

impl<'p> Input<'p> {
    pub(super) fn new(page: &'p str) -> Self {
        Self(page.as_bytes())
    }

    fn take(&mut self, count: usize) -> &'p [u8] {
        let (taken, rest) = self.0.split_at_checked(count).unwrap_or((self.0, &[]));
        self.0 = rest;
        taken
    }
}

/// What ends a run of characters in scripts and styles, which go on for long.
const ENDS_OF_RAW: &[u8] = b"<\0\r";

impl Reader for Input<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, Infallible> {
        Ok(self.take(1).first().copied())
    }

    #[inline(always)]
    fn try_read_string(&mut self, wanted: &[u8], is_case_sensitive: bool) -> Result<bool, Infallible> {
        let next = self.0.get(..wanted.len()).unwrap_or_default();
        let is_next = next == wanted || !is_case_sensitive && next.eq_ignore_ascii_case(wanted);
        if is_next {
            self.take(wanted.len());
        }
        Ok(is_next)
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        ends: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Infallible> {
        let count = if ends == ENDS_OF_RAW {
            // The end itself, if it is next.
            memchr::memchr3(b'<', 0, b'\r', self.0).map_or(self.0.len(), |at| at.max(1))
        } else {
            self.0.to_reader().read_until(ends, buffer)?.map_or(0, <[u8]>::len)
        };
        Ok(Some(self.take(count)).filter(|taken| !taken.is_empty()))
    }
}
