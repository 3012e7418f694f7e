//! The cost of pages that are made to cost much: memory in proportion to their bytes, whatever is in them.
//!
//! The only test of its program, so that no other one allocates beside it. Memory is counted, and time is not. But the
//! pages are so large that a reader which looks at all open elements, attributes or cells again and again takes minutes.

#[path = "common/bombs.rs"]
mod bombs;

use std::fmt::Write;

use bombs::{BOMBS, Bomb};
use crawlpike_document::{Limits, Page};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The most bytes that are in use at a time for a byte of the page, beside the page.
const MOST_BYTES_FOR_A_BYTE: f64 = 12.0;
/// The most that are in use at a time for a page within the default limits, whatever it holds.
const MOST_BYTES: usize = 24 << 20;

#[test]
fn a_page_takes_memory_in_proportion_to_its_bytes() {
    let mut too_much = String::new();
    for bomb @ Bomb { name, size, .. } in BOMBS {
        let [half, whole] = [size / 2, *size].map(|size| {
            let bytes = bomb.page(size);
            let (markdown, used) = read(&bytes, Limits { bytes: bytes.len(), ..Limits::default() });
            // AIWI-9
            assert!(markdown.trim().contains(['t', '1', '&', '*']), "{name} is empty");
            assert!(markdown.len() <= 4096 + 2 * bytes.len(), "{name}: {}", markdown.len());
            (bytes.len(), used)
        });
        let within_limits = if whole.0 > Limits::default().bytes {
            read(&bomb.page(*size), Limits::default()).1
        } else {
            whole.1
        };
        let [of_half, of_whole] = [half, whole].map(|(bytes, used)| used as f64 / bytes as f64);
        // Vectors grow by doubling, which may take place between the two.
        let growth = of_whole / of_half;
        let for_a_byte = of_half.max(of_whole);
        if for_a_byte > MOST_BYTES_FOR_A_BYTE || growth > 1.4 || within_limits > MOST_BYTES {
            let _ = writeln!(
                too_much,
                "{name}: {for_a_byte:.1} bytes for a byte, {growth:.2} times as many for twice as many, \
                {within_limits} within the default limits"
            );
        }
    }
    assert_eq!(too_much, "");
}

/// The markdown of a page, and the most memory in use while it was made, beside the page.
fn read(bytes: &str, limits: Limits) -> (String, usize) {
    let mut page = Page::new(limits);
    page.push(bytes.as_bytes());
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let markdown = page.read(None, Some("https://example.com/")).into_markdown();
    (markdown, ALLOCATOR.peak_usage() - before)
}
