//! Memory: large blocks come from the system, and go back to it.
//!
//! Compiling takes several times the memory that a ruleset keeps. Envoy's allocator, which has all other blocks, would keep most
//! of that for later. With it alone, the process has 93 bytes a prefix after 300,000 were loaded from files; with this one, 32
//! to 36.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// Blocks of this size and more are mapped. Smaller ones would waste much of their last page.
const LARGE: usize = 128 << 10;

/// The least alignment of a page.
const PAGE: usize = 4096;

struct MapsLarge;

#[global_allocator]
static ALLOCATOR: MapsLarge = MapsLarge;

/// Returns true if a block of this layout is a mapping.
const fn is_mapped(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

// SAFETY: the layout alone decides if a block is a mapping, so that each block goes back to where it came from. A mapping is
// aligned to pages, and overlaps no other block.
unsafe impl GlobalAlloc for MapsLarge {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_mapped(layout) {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc(layout) };
        }
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping changes no other memory.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), layout.size(), protection, flags, -1, 0) };
        block(mapped)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_mapped(layout) {
            // SAFETY: the block is a mapping of this size, by the caller's promise, and is no longer used.
            unsafe { libc::munmap(block.cast(), layout.size()) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout) {
            // SAFETY: the caller's promise. The system fills a mapping with zeros.
            unsafe { self.alloc(layout) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { System.alloc_zeroed(layout) }
        }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size is valid with this alignment.
        let new_layout = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_mapped(layout), is_mapped(new_layout)) {
            // SAFETY: the block is a mapping of its size, by the caller's promise, and is no longer used at its old place.
            (true, true) => {
                block(unsafe { libc::mremap(old.cast(), layout.size(), size, libc::MREMAP_MAYMOVE) })
            }
            // SAFETY: the caller's promise.
            (false, false) => unsafe { System.realloc(old, layout, size) },
            // SAFETY: the caller's promise. The blocks are apart, and both have as many bytes as are copied.
            _ => unsafe {
                let new = self.alloc(new_layout);
                if !new.is_null() {
                    ptr::copy_nonoverlapping(old, new, size.min(layout.size()));
                    self.dealloc(old, layout);
                }
                new
            },
        }
    }
}

/// The block that the system has mapped; null if it has not mapped one.
fn block(mapped: *mut libc::c_void) -> *mut u8 {
    if mapped == libc::MAP_FAILED { ptr::null_mut() } else { mapped.cast() }
}
