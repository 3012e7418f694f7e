//! The report of `make bench`: it says on what it was measured, and does not hide what was slower.

use std::process::Command;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::nginx::Folder;

const CORE: &str = "
v4, real feeds
                    build ms  bytes/prefix    inside    random   chained
crawlpike               12.3          30.9      21.8      16.7      55.8
best peer / ours        0.52          1.27      2.10      1.35      1.30
";

const GATE: &str = "# nginx

## browser

| | requests/s | ratio | µs of processor a request | ratio |
|---|---|---|---|---|
| bare nginx | 96100 | 1.000 | 3.00 | 1.000 |
| by hand | 94000 | 0.978 | 3.10 | 0.970 |
| Crawlpike, 3000 prefixes | 93800 | 0.976 | 3.10 | 0.970 |

## verified agent

| | requests/s | ratio | µs of processor a request | ratio |
|---|---|---|---|---|
| bare nginx | 96100 | 1.000 | 3.00 | 1.000 |
| by hand | 41000 | 0.427 | 3.10 | 0.970 |
| Crawlpike, 3000 prefixes | 93800 | 0.976 | 3.10 | 0.970 |
";

/// The output of the script for the results in a folder.
fn report(folder: &Folder) -> (bool, String) {
    let script = repository().join("tests/bench/report.py");
    let output = Command::new("python3").arg(script).arg(folder.path()).output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn the_report_names_the_machine_and_what_was_slower() {
    let folder = Folder::new();
    folder.write("bench-core.txt", CORE);
    folder.write("bench-nginx.md", GATE);
    let (done, text) = report(&folder);
    assert!(done, "{text}");
    for row in ["processor", "memory", "system", "Rust", "nginx", "Envoy", "commit", "day"] {
        let value = text.lines().find_map(|line| line.strip_prefix(&format!("| {row} | ")));
        let value = value.unwrap_or_else(|| panic!("no {row}: {text}"));
        assert!(!value.contains("unknown") && !value.contains("not found"), "{row}: {value}");
    }
    let (_, slower) = text.split_once("## What was not faster\n\n").unwrap();
    let slower: Vec<&str> = slower.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(
        slower,
        [
            "- v4, real feeds: build ms, 0.52 of the best peer",
            "- browser: Crawlpike, 3000 prefixes (93,800 requests/s) was slower than by hand (94,000)",
        ]
    );
    assert!(
        text.contains("## The nginx gate\n\n### browser\n") && text.contains("12.3          30.9"),
        "{text}"
    );
}

#[test]
fn a_folder_without_results_is_an_error() {
    let (done, text) = report(&Folder::new());
    assert!(!done && text.contains("make bench"), "{text}");
}
