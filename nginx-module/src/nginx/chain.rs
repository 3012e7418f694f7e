//! The chains of buffers in which nginx passes a body on.

use ngx::ffi::{ngx_chain_t, ngx_http_request_t};

use super::body::Body;
use super::module::Module;
use super::panics::guard;
use super::request_bits::is_kept_alive;
use super::types::Exported;

/// The progress of the collection after a chain.
pub(super) enum Progress {
    More,
    Complete,
    /// From this link on, nothing was taken. The buffers before it are empty now, and nginx refuses to send such.
    GivenUp(*mut ngx_chain_t),
}

/// Takes what a chain has, up to the first part that is not to be taken.
///
/// # Safety
///
/// nginx is calling the body filter in its main thread, with this request, of which there is no handle, and this chain.
pub(super) unsafe fn collect_chain<M: Module + Exported>(
    body: &mut M::Body,
    raw: *mut ngx_http_request_t,
    chain: *mut ngx_chain_t,
) -> Progress {
    let mut link = chain;
    let mut is_complete = false;
    // SAFETY: a chain is valid links to valid buffers, up to null. What a buffer has in memory is between `pos` and `last`.
    unsafe {
        while let Some(ngx_chain_t { buf, next }) = link.as_ref() {
            let buffer = &mut **buf;
            let is_in_memory = buffer.temporary() != 0 || buffer.memory() != 0 || buffer.mmap() != 0;
            if is_in_memory && buffer.last > buffer.pos {
                let length = buffer.last.offset_from(buffer.pos).unsigned_abs();
                let bytes = std::slice::from_raw_parts(buffer.pos, length);
                if !guard::<M, _>(false, |_| body.push(bytes)) {
                    return Progress::GivenUp(link);
                }
                buffer.pos = buffer.last;
            } else if buffer.in_file() != 0 && buffer.file_last > buffer.file_pos {
                // No filter has read it, although this one asked for that.
                return Progress::GivenUp(link);
            } else if buffer.flush() != 0 && buffer.last_buf() == 0 && is_of_broken_upstream(raw) {
                return Progress::GivenUp(link);
            }
            is_complete |= buffer.last_buf() != 0;
            link = *next;
        }
    }
    if is_complete { Progress::Complete } else { Progress::More }
}

/// Returns true if an upstream has broken off: nginx then ends the connection to the client after what there is.
///
/// # Safety
///
/// `request` is live.
unsafe fn is_of_broken_upstream(request: *mut ngx_http_request_t) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let upstream = (*request).upstream;
        !upstream.is_null() && (*upstream).peer.connection.is_null() && !is_kept_alive(request)
    }
}

/// Marks a chain as sent.
///
/// # Safety
///
/// As for [`collect_chain`].
pub(super) unsafe fn consume(mut chain: *mut ngx_chain_t) {
    // SAFETY: as in `collect_chain`.
    unsafe {
        while let Some(ngx_chain_t { buf, next }) = chain.as_ref() {
            (**buf).pos = (**buf).last;
            (**buf).file_pos = (**buf).file_last;
            chain = *next;
        }
    }
}
