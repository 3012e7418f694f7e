//! The cost of the tools: bytes of pages a second, instructions, memory, tokens.

use std::fs;
use std::process::Command;

use crawlpike_document::{Limits, Page, approximate_tokens};

use crate::ALLOCATOR;
use crate::bombs::{BOMBS, Bomb};
use crate::corpus::Corpus;
use crate::tools::{TOOLS, Tool, all_fields};

/// The rounds over all pages; the fastest counts. The tools take turns, so that a slow minute of the machine is one of all.
const ROUNDS: usize = 5;
/// Instructions are counted for each of so many pages, because valgrind takes fifty times as long.
const COUNTED: usize = 5;
/// All that an AIDocument has.
const FIELDS: Tool = Tool {
    name: "crawlpike, all fields as JSON",
    run: all_fields,
    text: |text| text,
    without_title: |text| text,
};

/// Prints what each tool costs.
pub(crate) fn print(corpus: &Corpus, python: &[&str]) {
    let bytes = corpus.bytes() as f64;
    let tools: Vec<&Tool> = tools().collect();
    let mut fastest = vec![f64::INFINITY; tools.len()];
    for _ in 0..ROUNDS {
        for (fastest, tool) in fastest.iter_mut().zip(&tools) {
            *fastest = fastest.min(seconds(corpus, tool));
        }
    }
    let mut rates: Vec<_> = std::iter::zip(&tools, fastest)
        .map(|(tool, seconds)| {
            let measured = (instructions(corpus, tool), memory(corpus, tool));
            (tool.name.to_owned(), bytes / seconds, Some(measured))
        })
        .collect();
    for tool in python {
        if let Some(made) = corpus.made_by(tool) {
            rates.push((format!("{tool} {}", made.version), bytes / made.seconds, None));
        }
    }
    let own = rates.first().map_or(1.0, |(_, rate, _)| *rate);
    println!(
        "| | MB/s | times as fast is crawlpike | instructions for a byte of a page | memory for one, median and most |"
    );
    println!("|---|---|---|---|---|");
    for (name, rate, measured) in rates {
        let measured = measured.map_or("|".to_owned(), |(instructions, (median, most))| {
            format!("{instructions:.0} | {median:.1}, {most:.1}")
        });
        println!("| {name} | {:.1} | {:.1} | {measured} |", rate / 1e6, own / rate);
    }
    print_bombs();
    let tokens = |text: &str| approximate_tokens(text) as f64;
    let pages: f64 = corpus.pages.iter().map(|page| tokens(&String::from_utf8_lossy(&page.bytes))).sum();
    let made: f64 = corpus.pages.iter().map(|page| tokens(crate::tools::read(&page.bytes).markdown())).sum();
    println!("\nTokens saved: {:.1} %", (1.0 - made / pages) * 100.0);
}

/// Prints what pages cost that are made to cost much, and how that grows if they are twice as large.
fn print_bombs() {
    println!(
        "\n| hostile page | bytes | memory for a byte | of half of the page | ns for a byte | of half of the page |"
    );
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

/// The time that a tool takes for all pages.
fn seconds(corpus: &Corpus, tool: &Tool) -> f64 {
    let start = cpu_nanoseconds();
    for page in &corpus.pages {
        std::hint::black_box(tool.convert(&page.bytes));
    }
    (cpu_nanoseconds() - start) / 1e9
}

fn tools() -> impl Iterator<Item = &'static Tool> {
    std::iter::once(&FIELDS).chain(TOOLS)
}

/// The instructions that a tool takes for a byte of a page. This program counts them in itself, by valgrind: nearly the same
/// number in every run, however busy the machine.
fn instructions(corpus: &Corpus, tool: &Tool) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=*Tool::convert*"])
        .arg(format!("--callgrind-out-file={}", corpus.folder.join("callgrind").display()))
        .arg(std::env::current_exe().expect("a program has a path"))
        .args([corpus.folder.as_os_str(), tool.name.as_ref()])
        .output()
        .expect("valgrind can be started: .ci/setup bench installs it");
    let report = String::from_utf8_lossy(&output.stderr);
    let count = report.split_once("Collected :").and_then(|(_, rest)| rest.split_whitespace().next());
    let count: f64 = count.and_then(|count| count.parse().ok()).expect("callgrind's report");
    assert!(count > 0.0, "{report}");
    count / counted(corpus).map(|page| page.bytes.len()).sum::<usize>() as f64
}

fn counted(corpus: &Corpus) -> impl Iterator<Item = &crate::corpus::Page> {
    corpus.pages.iter().step_by(COUNTED)
}

/// Converts the pages that are counted by the tool with this name: what runs under valgrind.
pub(crate) fn convert(corpus: &Corpus, tool: &str) {
    let tool = tools().find(|candidate| candidate.name == tool).expect("the name of a tool");
    for page in counted(corpus) {
        std::hint::black_box(tool.convert(&page.bytes));
    }
}

/// The most memory at a time for a byte of a page, beside the page: the median and the maximum of all pages.
fn memory(corpus: &Corpus, tool: &Tool) -> (f64, f64) {
    let of = |page: &[u8]| {
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let made = tool.convert(page);
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        drop(made);
        peak as f64 / page.len().max(1) as f64
    };
    let mut all: Vec<f64> = corpus.pages.iter().map(|page| of(&page.bytes)).collect();
    all.sort_by(f64::total_cmp);
    (all.get(all.len() / 2).copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0))
}
