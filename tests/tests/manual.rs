//! The manual page of the nginx module is complete, and the commands that the documents name exist.

use std::fs;

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::names::in_source;

#[test]
fn every_directive_and_variable_has_its_words() {
    let page = fs::read_to_string(repository().join("nginx-module/ngx_http_crawlpike_module.5")).unwrap();
    let directives = in_source("nginx-module/src/directives.rs", "(c\"");
    assert!(directives.len() >= 7, "{directives:?}");
    for name in &directives {
        let described = page.lines().any(|line| {
            let mut words = line.split([' ', '"', ';', '|']).filter(|word| !word.is_empty());
            words.next().is_some_and(|word| word.starts_with(".B")) && words.next() == Some(name.as_str())
        });
        assert!(described, "the directive {name} is missing");
    }
    let variables = in_source("nginx-module/src/variables.rs", "    (\"");
    assert!(variables.len() >= 14, "{variables:?}");
    for name in variables {
        assert!(page.contains(&format!("${name}")), "the variable ${name} is missing");
    }
}

#[test]
fn every_target_that_is_told_of_is_in_the_makefile() {
    let makefile = fs::read_to_string(repository().join("Makefile")).unwrap();
    let is_target = |name: &str| makefile.lines().any(|line| line.starts_with(&format!("{name}: ")));
    let phony = makefile.lines().find_map(|line| line.strip_prefix(".PHONY: ")).expect("targets");
    let mut found: Vec<String> = phony.split(' ').map(str::to_owned).collect();
    let docs = fs::read_dir(repository().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    for page in pages.chain(["README.md", "tests/README.md"].map(|name| repository().join(name))) {
        let text = fs::read_to_string(page).unwrap();
        let calls = text.split("`make ").skip(1).chain(text.split("\nmake ").skip(1));
        let name = |call: &str| {
            call.split(|c: char| !matches!(c, '-' | 'a'..='z' | '0'..='9')).next().map(str::to_owned)
        };
        found.extend(calls.filter_map(name).filter(|name| !name.is_empty()));
    }
    assert!(found.len() > 30, "{found:?}");
    found.retain(|name| !is_target(name));
    assert!(found.is_empty(), "{found:?}");
}
