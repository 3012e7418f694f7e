//! The cost of the tools: bytes of pages a second, memory, tokens.

use std::fs;

use crawlpike_document::approximate_tokens;

use crawlpike_document::{Limits, Page};

use crate::ALLOCATOR;
use crate::bombs::{BOMBS, Bomb};
use crate::corpus::Corpus;
use crate::tools::{TOOLS, Tool, all_fields};

/// The rounds over all pages; the fastest counts.
const ROUNDS: usize = 5;

/// Prints what each tool costs.
pub(crate) fn print(corpus: &Corpus, python: &[&str]) {
    let bytes = corpus.bytes() as f64;
    let fields = Tool {
        name: "crawlpike, all fields as JSON",
        run: all_fields,
        text: |text| text,
        without_title: |text| text,
    };
    let mut rates = Vec::new();
    for tool in std::iter::once(&fields).chain(TOOLS) {
        rates.push((tool.name.to_owned(), bytes / seconds(corpus, tool), Some(memory(corpus, tool))));
    }
    for tool in python {
        if let Some(made) = corpus.made_by(tool) {
            rates.push((format!("{tool} {}", made.version), bytes / made.seconds, None));
        }
    }
    let own = rates.first().map_or(1.0, |(_, rate, _)| *rate);
    println!("| | MB/s | times as fast is crawlpike | memory for a byte of a page, median and most |");
    println!("|---|---|---|---|");
    for (name, rate, memory) in rates {
        let memory = memory.map_or(String::new(), |(median, most)| format!("{median:.1}, {most:.1}"));
        println!("| {name} | {:.1} | {:.1} | {memory} |", rate / 1e6, own / rate);
    }
    print_bombs();
    let tokens = |text: &str| approximate_tokens(text) as f64;
    let pages: f64 = corpus.pages.iter().map(|page| tokens(&String::from_utf8_lossy(&page.bytes))).sum();
    let made: f64 = corpus.pages.iter().map(|page| tokens(crate::tools::read(&page.bytes).markdown())).sum();
    println!("\nTokens saved: {:.1} %", (1.0 - made / pages) * 100.0);
}

/// Prints what pages cost that are made to cost much, and how that grows if they are twice as large.
fn print_bombs() {
    println!("\n| hostile page | bytes | memory for a byte | of half of the page | ns for a byte | of half of the page |");
    println!("|---|---|---|---|---|---|");
    for bomb @ Bomb { name, size, .. } in BOMBS {
        let [half, whole] = [size / 2, *size].map(|size| {
            let bytes = bomb.page(size);
            let mut page = Page::new(Limits { bytes: bytes.len(), ..Limits::default() });
            page.push(bytes.as_bytes());
            let before = ALLOCATOR.current_usage();
            ALLOCATOR.reset_peak_usage();
            let start = cpu_nanoseconds();
            let document = std::hint::black_box(page.read(None, Some("https://example.com/")));
            let (nanoseconds, peak) = (cpu_nanoseconds() - start, ALLOCATOR.peak_usage() - before);
            drop(document);
            (bytes.len(), peak as f64 / bytes.len() as f64, nanoseconds / bytes.len() as f64)
        });
        let (bytes, memory, time) = whole;
        println!("| {name} | {bytes} | {memory:.1} | {:.1} | {time:.1} | {:.1} |", half.1, half.2);
    }
}

/// The time that this thread has had a processor, so that other work on the machine does not count.
fn cpu_nanoseconds() -> f64 {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with CONFIG_SCHED_INFO");
    statistics.split(' ').next().and_then(|time| time.parse().ok()).expect("a number of nanoseconds")
}

fn seconds(corpus: &Corpus, tool: &Tool) -> f64 {
    let round = || {
        let start = cpu_nanoseconds();
        for page in &corpus.pages {
            std::hint::black_box(std::panic::catch_unwind(|| (tool.run)(&page.bytes)).unwrap_or_default());
        }
        (cpu_nanoseconds() - start) / 1e9
    };
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// The most memory at a time for a byte of a page, beside the page: the median and the maximum of all pages.
fn memory(corpus: &Corpus, tool: &Tool) -> (f64, f64) {
    let of = |page: &[u8]| {
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let made = std::panic::catch_unwind(|| (tool.run)(page));
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        drop(made);
        peak as f64 / page.len().max(1) as f64
    };
    let mut all: Vec<f64> = corpus.pages.iter().map(|page| of(&page.bytes)).collect();
    all.sort_by(f64::total_cmp);
    (all.get(all.len() / 2).copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0))
}
