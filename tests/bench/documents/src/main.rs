//! Compares Crawlpike's documents with those of its peers: how near they come to what a page is about, what they cost,
//! and how many tokens they save. `make bench-document` runs it.

#[path = "../../../../document/tests/common/bombs.rs"]
mod bombs;
mod corpus;
mod cost;
mod score;
mod tools;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::Corpus;
use peak_alloc::PeakAlloc;
use score::{Measure, Score, mean, score};
use tools::{TOOLS, Tool};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The corpora, and what each is.
const CORPORA: [(&str, &str); 5] = [
    ("articles", "scrapinghub/article-extraction-benchmark; F1 of runs of four words"),
    ("types", "WCXB, the part for development; F1 of words"),
    ("types-kept", "WCXB, the part for tests; F1 of words"),
    ("readability", "mozilla/readability; F1 of runs of four words"),
    ("snippets", "adbar/trafilatura, given snippets; F1"),
];
const PYTHON: [&str; 2] = ["trafilatura", "readability-lxml"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("usage: crawlpike-document-bench CORPORA|CORPUS TOOL");
    if let Some(tool) = arguments.next() {
        return cost::convert(&Corpus::read(Path::new(&folder)), &tool);
    }
    let read = |name: &str| {
        let folder = Path::new(&folder).join(name);
        folder.join("truth.json").exists().then(|| Corpus::read(&folder))
    };
    let mut is_empty = true;
    for (name, what) in CORPORA {
        let Some(corpus) = read(name) else { continue };
        is_empty = false;
        println!("\n## {name}: {what}\n");
        print_scores(&corpus);
    }
    if is_empty {
        eprintln!(
            "bench-document: no corpora in {folder}: clone those that tests/bench/documents/corpora.py names, CORPORA=DIR"
        );
        std::process::exit(1);
    }
    if let Some(corpus) = read("articles") {
        println!("\n## Cost, on the pages of articles\n");
        cost::print(&corpus, &PYTHON);
    }
}

/// Prints the score of each tool, for each sort of page.
fn print_scores(corpus: &Corpus) {
    let measure = Measure::of(&corpus.name);
    let mut scores: BTreeMap<&str, BTreeMap<&str, Vec<Score>>> = BTreeMap::new();
    let mut add = |tool, index: usize, score| {
        for sort in [&*corpus.pages[index].truth.sort, "all"] {
            scores.entry(sort).or_default().entry(tool).or_default().push(score);
        }
    };
    for tool in TOOLS {
        for (index, score) in score_all(corpus, measure, tool) {
            add(tool.name, index, score);
        }
    }
    for tool in PYTHON {
        let Some(made) = corpus.made_by(tool) else { continue };
        for (index, page) in corpus.pages.iter().enumerate() {
            let text = made.texts.get(&page.id).map_or("", |text| text);
            add(tool, index, score(measure, &page.truth, text));
        }
    }
    let tools: Vec<&str> = scores.get("all").into_iter().flat_map(|tools| tools.keys().copied()).collect();
    println!("| pages | | {} |", tools.join(" | "));
    println!("|---|---|{}", "---|".repeat(tools.len()));
    for (sort, by_tool) in &scores {
        let count = by_tool.values().next().map_or(0, Vec::len);
        let cells: Vec<String> =
            tools.iter().map(|tool| format!("{:.3}", mean(measure, &by_tool[tool]))).collect();
        println!("| {sort} | {count} | {} |", cells.join(" | "));
    }
}

/// The scores of a tool, by the number of the page.
fn score_all(corpus: &Corpus, measure: Measure, tool: &Tool) -> Vec<(usize, Score)> {
    let next = AtomicUsize::new(0);
    let scores = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((index, page)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    corpus.pages.get(index).map(|page| (index, page))
                } {
                    // Most corpora keep the title apart from the text.
                    let text = (tool.text)((tool.without_title)(tool.convert(&page.bytes)));
                    let score = score(measure, &page.truth, &text);
                    scores.lock().expect("no thread panics").push((index, score));
                }
            });
        }
    });
    scores.into_inner().expect("no thread panics")
}
