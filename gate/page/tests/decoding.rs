//! The memory that decoding takes: no more than a page may have, whatever its body says.
//!
//! The only test of its program, so that no other one allocates beside it.

mod common;

use std::io::Write;

use common::{asked, job_within};
use crawlpike_core::DocumentOutcome;
use crawlpike_document_gate::{Memory, clock};
use flate2::{Compression, GzBuilder};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const PAGE: &[u8] = b"<title>Bread</title><p>Mix flour and water.";

/// A body in Brotli of two blocks that are not compressed, so that its decoder needs the window, which is one of 16 MiB.
fn in_large_window() -> Vec<u8> {
    let length = u32::try_from(PAGE.len() - 1).unwrap();
    let block = |head: u32| [&head.to_le_bytes()[..3], PAGE].concat();
    [block(0xF | length << 7 | 1 << 23), block(length << 3 | 1 << 19), vec![3]].concat()
}

fn with_large_fields() -> Vec<u8> {
    let field = vec![b'a'; 32_000];
    let builder = GzBuilder::new().extra(field.clone()).filename(field.clone()).comment(field);
    let mut encoder = builder.write(Vec::new(), Compression::default());
    encoder.write_all(PAGE).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn decoding_takes_what_a_page_may_have() {
    static MEMORY: Memory = Memory::new();
    // RFC 7932 has no window of 1 GiB.
    let in_huge_window = b"\x11\x1e\x00\x00\x02\x3c\x00\x00\x08\x3c\x03";
    for (coding, body, most, outcome, bytes) in [
        ("br", &in_huge_window[..], 64 << 20, DocumentOutcome::Broken, 1 << 20),
        ("br", &in_large_window(), 16 << 20, DocumentOutcome::Busy, 1 << 20),
        ("br", &in_large_window(), 36 << 20, DocumentOutcome::Made, 17 << 20),
        ("gzip", &with_large_fields(), 4 << 20, DocumentOutcome::Made, 512 << 10),
    ] {
        let lines = [("content-type", "text/html"), ("content-encoding", coding)];
        let asked = asked("/", &[("accept", b"text/markdown")]);
        let before = ALLOCATOR.current_usage();
        let mut job = job_within(&MEMORY, most, &asked, &lines);
        assert!(job.push(body), "{coding} within {most}");
        ALLOCATOR.reset_peak_usage();
        assert_eq!(job.finish(&|| true, None, clock).result.outcome, outcome, "{coding} within {most}");
        let peak = ALLOCATOR.peak_usage() - before;
        assert!(peak <= bytes, "{coding} within {most}: {peak}");
    }
}
