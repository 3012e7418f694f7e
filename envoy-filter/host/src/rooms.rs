//! Memory for the bytes that a call of the host returns.
//!
//! The host has the filter allocate it during the call. Each request needs such memory for its headers and for another fact, and
//! the allocator takes hundreds of instructions to find a block of the size of headers, and to take it back. So the memory of
//! bytes that were read is offered again.

use std::cell::Cell;
use std::mem;
use std::ops::Deref;

/// Larger memory goes back to the allocator. Few requests have that much in headers.
const KEPT: usize = 16 << 10;

thread_local! {
    /// The memory that can be offered: as many pieces as a request has at a time.
    static SPARE: [Cell<Vec<u8>>; 2] = const { [const { Cell::new(Vec::new()) }; 2] };

    /// The memory that is offered to the host, during a call.
    static OFFERED: Cell<Option<Vec<u8>>> = const { Cell::new(None) };
}

/// Bytes that a call of the host has returned.
#[derive(Debug, Default)]
pub struct HostBytes(Vec<u8>);

impl HostBytes {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for HostBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for HostBytes {
    fn drop(&mut self) {
        let room = mem::take(&mut self.0);
        if (1..=KEPT).contains(&room.capacity()) {
            SPARE.with(|[first, second]| second.set(first.replace(room)));
        }
    }
}

/// Offers memory to the host for the bytes that the next call returns.
pub(crate) fn offer() {
    OFFERED.set(Some(SPARE.with(|[first, second]| first.replace(second.take()))));
}

/// Ends the offer: the memory, which has room for as many bytes as the host asked for.
pub(crate) fn end_of_offer() -> Vec<u8> {
    OFFERED.take().unwrap_or_default()
}

/// Makes room for so many bytes in the memory that is offered, until the offer ends; `None` where none is.
pub(crate) fn place_in_offer(size: usize) -> Option<*mut u8> {
    let mut room = OFFERED.take()?;
    room.clear();
    room.reserve(size);
    let place = room.as_mut_ptr();
    OFFERED.set(Some(room));
    Some(place)
}
