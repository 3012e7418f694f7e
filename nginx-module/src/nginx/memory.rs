//! Where the module's memory comes from.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// From how many bytes on a block is large.
const LARGE: usize = 128 << 10;

/// What a page is at least, and so how large blocks are aligned.
const PAGE: usize = 4 << 10;

/// Takes large blocks from the system and gives them back when they are freed.
///
/// Compiling takes several times what a ruleset keeps, and glibc holds on to that: once a large block was freed, it takes
/// others as large from its heaps, of which it returns only the end, and of a thread's not even that. A worker with
/// 300,000 prefixes that is refreshed would keep 40 MiB instead of 12.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn is_large(layout: Layout, size: usize) -> bool {
    size >= LARGE && layout.align() <= PAGE
}

// SAFETY: whether a block is large follows from its layout alone, which is the same when it is freed; so each is freed
// where it came from.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_large(layout, layout.size()) {
            true => map(layout.size()),
            // SAFETY: the caller's promise.
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match is_large(layout, layout.size()) {
            // Its pages are zero.
            true => map(layout.size()),
            // SAFETY: the caller's promise.
            false => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; a large block is a mapping of this size. That it can't be unmapped would mean that
        // there is none, or no memory for the kernel to note it, which then is all that is lost.
        unsafe {
            match is_large(layout, layout.size()) {
                true => _ = libc::munmap(block.cast(), layout.size()),
                false => System.dealloc(block, layout),
            }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise, which includes that the size is possible with this alignment.
        unsafe {
            match (is_large(layout, layout.size()), is_large(layout, size)) {
                (false, false) => System.realloc(block, layout, size),
                #[cfg(target_os = "linux")]
                (true, true) => {
                    let moved = libc::mremap(block.cast(), layout.size(), size, libc::MREMAP_MAYMOVE);
                    if moved == libc::MAP_FAILED { ptr::null_mut() } else { moved.cast() }
                }
                _ => {
                    let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !new.is_null() {
                        ptr::copy_nonoverlapping(block, new, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    new
                }
            }
        }
    }
}

/// Pages of zeros; null where there are no more.
fn map(size: usize) -> *mut u8 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of its own, at a place that the kernel chooses, takes no other memory's place.
    let block = unsafe { libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0) };
    if block == libc::MAP_FAILED { ptr::null_mut() } else { block.cast() }
}
