//! What pages cost that are made to cost much: memory in proportion to their bytes, whatever is in them.
//!
//! The only test of its program, so that no other one allocates beside it. Memory is counted, and time is not. But the
//! pages are so large that a reader which looks at all open elements, attributes or cells again and again takes minutes.

use std::alloc::System;
use std::fmt::Write;

use crawlward_document::{Limits, Page};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A page that costs much, as far as anybody has found one.
struct Bomb {
    name: &'static str,
    /// The size of the greater one of two.
    size: usize,
    page: fn(usize) -> String,
}

/// The most bytes that are allocated for a byte of the page, those included that are freed at once.
const MOST_BYTES_FOR_A_BYTE: f64 = 45.0;

const BOMBS: &[Bomb] = &[
    Bomb { name: "nested elements", size: 1_000_000, page: |n| format!("{}text", "<div>".repeat(n)) },
    Bomb {
        name: "nested elements with end tags",
        size: 300_000,
        page: |n| format!("{}text{}", "<div>".repeat(n), "</div>".repeat(n)),
    },
    Bomb {
        name: "attributes of one tag",
        size: 100_000,
        page: |n| format!("<p{}>text", (0..n).map(|i| format!(" a{i}=1")).collect::<String>()),
    },
    Bomb {
        name: "one attribute in one tag, again and again",
        size: 200_000,
        page: |n| format!("<p{}>text", " class=a".repeat(n)),
    },
    Bomb {
        name: "an attribute of megabytes",
        size: 2_000_000,
        page: |n| format!("<p class={}>text", "a".repeat(n)),
    },
    Bomb {
        name: "an address of megabytes",
        size: 2_000_000,
        page: |n| format!("<p><a href={}>text</a>", "a".repeat(n)),
    },
    Bomb { name: "unclosed formatting and links", size: 100_000, page: |n| "<b><i><a href=x>t".repeat(n) },
    Bomb { name: "tags that begin", size: 2_000_000, page: |n| format!("text{}", "<".repeat(n)) },
    Bomb { name: "comments that begin", size: 500_000, page: |n| format!("text{}", "<!--".repeat(n)) },
    Bomb {
        name: "end tags of nothing",
        size: 300_000,
        page: |n| format!("text{}", "</p></b></x>".repeat(n)),
    },
    Bomb { name: "cells", size: 1_000_000, page: |n| format!("<table>{}", "<tr><td>1<td>2".repeat(n / 2)) },
    Bomb { name: "one row of cells", size: 500_000, page: |n| format!("<table><tr>{}", "<td>1".repeat(n)) },
    Bomb { name: "nested tables", size: 200_000, page: |n| format!("{}text", "<table><tr><td>".repeat(n)) },
    Bomb { name: "lists in lists", size: 300_000, page: |n| "<ul><li>t".repeat(n) },
    Bomb {
        name: "quotes of lines",
        size: 300_000,
        page: |n| format!("{}{}", "<blockquote>".repeat(9), "t<br>".repeat(n)),
    },
    Bomb { name: "headings", size: 200_000, page: |n| "<h1 id=a>t".repeat(n) },
    Bomb { name: "images", size: 100_000, page: |n| "t<img src=x alt=y>".repeat(n) },
    Bomb {
        name: "paragraphs named as comments",
        size: 100_000,
        page: |n| "<p class=comment>text of a comment".repeat(n),
    },
    Bomb { name: "text to escape", size: 300_000, page: |n| "*_".repeat(n) },
    Bomb { name: "character references", size: 500_000, page: |n| "&amp".repeat(n) },
];

#[test]
fn a_page_takes_memory_in_proportion_to_its_bytes() {
    let mut too_much = String::new();
    for Bomb { name, size, page } in BOMBS {
        let [half, whole] = [size / 2, *size].map(|size| {
            let bytes = page(size);
            let mut page = Page::new(Limits { bytes: bytes.len(), ..Limits::default() });
            assert!(page.push(bytes.as_bytes()), "{name}");
            let region = Region::new(ALLOCATOR);
            let document = page.read(None, Some("https://example.com/"));
            let allocated = region.change().bytes_allocated;
            // AIWI-9
            assert!(document.markdown().trim().contains(['t', '1', '&', '*']), "{name} is empty");
            assert!(
                document.markdown().len() <= 4096 + 2 * bytes.len(),
                "{name}: {}",
                document.markdown().len()
            );
            (bytes.len(), allocated)
        });
        let for_a_byte = whole.1 as f64 / whole.0 as f64;
        println!("{for_a_byte:6.1} {:10} {:10} {name}", whole.0, whole.1);
        // Vectors grow by doubling, which may take place between the two.
        let growth = (whole.1 as f64 / half.1 as f64) / (whole.0 as f64 / half.0 as f64);
        if for_a_byte > MOST_BYTES_FOR_A_BYTE || growth > 1.4 {
            let _ = writeln!(
                too_much,
                "{name}: {for_a_byte:.1} bytes for a byte, {growth:.2} times as many for twice as many"
            );
        }
    }
    assert_eq!(too_much, "");
}
