//! The manual page of the nginx module leaves nothing out.

use std::fs;

use crawlward_tests::artefacts::repository;

/// The texts in quotation marks that follow a text in a file of the module.
fn names(file: &str, before: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join("nginx-module/src").join(file)).unwrap();
    let quoted = |rest: &str| rest.split('"').next().map(str::to_owned);
    text.split(before).skip(1).filter_map(quoted).collect()
}

#[test]
fn every_directive_and_variable_has_its_words() {
    let page = fs::read_to_string(repository().join("nginx-module/ngx_http_crawlward_module.5")).unwrap();
    let directives = names("nginx/module.rs", "ngx_string!(\"");
    assert!(directives.len() >= 2, "{directives:?}");
    for name in directives.iter().filter(|name| name.starts_with("crawlward")) {
        let described = page.lines().any(|line| {
            let mut words = line.split([' ', '"', ';', '|']).filter(|word| !word.is_empty());
            words.next().is_some_and(|word| word.starts_with(".B")) && words.next() == Some(name.as_str())
        });
        assert!(described, "the directive {name} is missing");
    }
    let variables = names("variables.rs", "name: \"");
    assert!(variables.len() >= 14, "{variables:?}");
    for name in variables {
        assert!(page.contains(&format!("${name}")), "the variable ${name} is missing");
    }
}
