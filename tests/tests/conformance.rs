//! The cases of `conformance/`: Crawlpike answers them as the specifications ask for, and the page with the results of all
//! implementations is about the same cases.

use std::fs;
use std::process::{Command, Output};

use crawlpike_tests::artefacts::{self, repository};

/// `conformance/run` with these arguments, separated by blanks.
fn run(arguments: &str) -> Output {
    let mut command = Command::new(repository().join("conformance/run"));
    command.args(arguments.split(' ')).env("CRAWLPIKE", artefacts::cli()).current_dir(repository());
    command.output().unwrap()
}

/// The cells of a row in a table.
fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn crawlpike_answers_the_corpus_and_the_page_is_about_it() {
    let output = run(
        "--row Crawlpike --differences conformance/adapters/crawlpike.json conformance/adapters/crawlpike",
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let ours = &cells(&text)[1..];
    let page = fs::read_to_string(repository().join("docs/conformance-corpus.md")).unwrap();
    let is_result =
        |row: &Vec<&str>| row.len() == ours.len() + 1 && row.iter().any(|cell| cell.contains(" of "));
    let rows: Vec<Vec<&str>> = page.lines().map(cells).filter(is_result).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    assert_eq!(&rows[0][1..], ours, "docs/conformance-corpus.md is out of date: run `make conformance`");
    for row in rows {
        for (cell, of_ours) in row[1..].iter().zip(ours) {
            let cases = |text: &str| text.split_once(" of ").map(|(_, cases)| cases.to_owned());
            assert!(*cell == "–" || cases(cell) == cases(of_ours), "out of date: {row:?}");
        }
    }
}

#[test]
fn the_script_judges_each_answer() {
    for (command, status, report) in [
        ("sed s/.*/{}/", 1, "failed: rfc9309-2.2.1-own [RFC 9309, 2.2.1]"),
        (r#"sed s/.*/{"unsupported":true}/"#, 0, "            0            0            0          "),
        (r#"sed s/.*/{"allowed":true}/"#, 1, "failed: rfc9309-2.2.1-own [RFC 9309, 2.2.1]"),
        ("true", 2, ""),
        ("no-such-command", 2, ""),
        // A difference that is none.
        (
            "--differences conformance/adapters/crawlpike.json sed s/.*/{\"allowed\":true}/",
            1,
            "failed: rfc9309-2.2.2-semicolon",
        ),
    ] {
        let output = run(&format!("--part robots {command}"));
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{command}: {text}");
        assert!(text.contains(report), "{command}: {text}");
    }
}
