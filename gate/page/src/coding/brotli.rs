//! Brotli (RFC 7932), with its buffers in memory that is claimed before it is allocated.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

use brotli_decompressor::{
    Allocator, BrotliDecompressStream, BrotliResult, BrotliState, HuffmanCode, SliceWrapper, SliceWrapperMut,
};

use super::DECODER;
use crate::memory::Share;

type State = BrotliState<Buffers, Buffers, Buffers>;

/// The largest buffer without a claim of its own. The decoder does not look whether it got those that it always has.
const SMALL: usize = 3 * 1080 * size_of::<HuffmanCode>();

/// The most buffers that the decoder has at a time.
const MOST_BUFFERS: usize = 13;

const _: () = assert!(MOST_BUFFERS * SMALL + size_of::<State>() <= DECODER);

/// Reads a body without its coding. Fails with [`ErrorKind::OutOfMemory`] if there is no room for a buffer.
pub(super) struct Brotli<'b> {
    body: &'b [u8],
    offset: usize,
    state: State,
    is_refused: Rc<Cell<bool>>,
}

impl<'b> Brotli<'b> {
    /// Buffers are claimed in shares like this one.
    pub(super) fn new(body: &'b [u8], share: &Share) -> Self {
        let is_refused = Rc::default();
        let buffers = || Buffers { share: share.another(), is_refused: Rc::clone(&is_refused) };
        // Others than this let a body have a window of 1 GiB, which the RFC does not.
        let state = BrotliState::new_strict(buffers(), buffers(), buffers());
        Self { body, offset: 0, state, is_refused }
    }
}

impl Read for Brotli<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut left = self.body.len().saturating_sub(self.offset);
        let (mut room, mut length) = (to.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut self.offset,
            self.body,
            &mut room,
            &mut length,
            to,
            &mut 0,
            &mut self.state,
        );
        match result {
            BrotliResult::NeedsMoreOutput => Ok(length),
            BrotliResult::ResultSuccess if left == 0 => Ok(length),
            _ if self.is_refused.get() => Err(ErrorKind::OutOfMemory.into()),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }
}

/// The source of the decoder's buffers.
struct Buffers {
    share: Share,
    is_refused: Rc<Cell<bool>>,
}

/// A buffer, and the share of the memory that it holds. It is empty if there was no room.
struct Buffer<T> {
    items: Vec<T>,
    _share: Option<Share>,
}

impl<T: Clone + Default> Allocator<T> for Buffers {
    type AllocatedMemory = Buffer<T>;

    fn alloc_cell(&mut self, length: usize) -> Buffer<T> {
        let bytes = length.saturating_mul(size_of::<T>());
        let mut share = self.share.another();
        if bytes > SMALL && !share.claim(bytes, 0) {
            self.is_refused.set(true);
            return Buffer::default();
        }
        Buffer { items: vec![T::default(); length], _share: Some(share) }
    }

    fn free_cell(&mut self, _: Buffer<T>) {}
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self { items: Vec::new(), _share: None }
    }
}

impl<T> SliceWrapper<T> for Buffer<T> {
    fn slice(&self) -> &[T] {
        &self.items
    }
}

impl<T> SliceWrapperMut<T> for Buffer<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}
