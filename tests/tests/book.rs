//! The documentation: pages made from the code are current, every link leads somewhere, and what a page says of a test
//! is about a test that exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crawlpike_tests::artefacts::{self, repository};
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::pages;
use crawlpike_tests::sources;
use serde_json::Value;

#[test]
fn pages_made_from_the_code_are_current() {
    for page in pages::all() {
        let there = fs::read_to_string(repository().join(&page.path)).unwrap();
        assert!(there == page.text, "{} is out of date: run `make pages`", page.path);
    }
}

/// Sets an example in a document at its path, such as `feeds[].name`.
fn set(value: &mut Value, path: &str, example: &Value) {
    let Some((step, rest)) = path.split_once('.') else {
        value[path] = example.clone();
        return;
    };
    let inner = match step.strip_suffix("[]") {
        Some(key) => &mut value[key][0],
        None => &mut value[step],
    };
    set(inner, rest, example);
}

/// The names in the examples.
const FILES: [(&str, &str); 8] = [
    ("keys/agent.json", r#"{ "keys": [] }"#),
    ("robots.txt", "User-agent: *\nDisallow: /private/\n"),
    ("automation-preferences.txt", "scope: /\nallowed-methods: GET\n"),
    ("feeds/examplebot.json", r#"{ "prefixes": [{ "ipv4Prefix": "192.0.2.0/24" }] }"#),
    ("feeds/examplebot.txt", "192.0.2.0/24\n"),
    ("networks/as.tsv", "192.0.2.0\t192.0.2.255\t64500\tPL\tExample\n"),
    ("feeds/places.csv", "192.0.2.0/24,PL,,,\n"),
    ("crawlpike.schema.json", "{}"),
];

#[test]
fn each_example_of_a_key_is_accepted() {
    let folder = Folder::new();
    for (path, example) in &pages::configuration::examples() {
        let mut document = serde_json::json!({
            "feeds": [{ "name": "examplebot", "format": "jafar", "source": "feeds/examplebot.json" }],
            "agents": [{
                "token": "ExampleBot",
                "feeds": ["examplebot"],
                "keys": [{ "directory": "https://agent.example", "source": "keys/agent.json" }],
            }],
            "sites": [{
                "robots_txt": "robots.txt",
                "automation_preferences": "automation-preferences.txt",
                "geo": [{ "country": ["PL"], "action": "deny" }],
                "modes": [{ "scope": "/", "mode": "off" }],
                "robots_tag": [{ "rules": "noindex" }],
                "exempt": [{ "feed": "examplebot" }],
                "usage": { "rules": [{ "preferences": "search=y" }] },
            }],
            "exempt": [{ "feed": "examplebot" }],
            "networks": [{ "name": "as", "format": "iptoasn", "source": "networks/as.tsv" }],
            "files": { "*": { "text": "other" } },
        });
        if path == "feeds[].authority" {
            document["agents"][0]["feeds"] = serde_json::json!([]);
            document["feeds"][0]["format"] = "geofeed".into();
            document["feeds"][0]["source"] = "feeds/places.csv".into();
            // A geofeed exempts nobody.
            document["exempt"] = serde_json::json!([]);
            document["sites"][0]["exempt"] = serde_json::json!([]);
        }
        set(&mut document, path, example);
        let files = document["files"].as_object_mut().unwrap();
        for (name, text) in FILES {
            files.entry(name).or_insert_with(|| serde_json::json!({ "text": text }));
        }
        let file = folder.write("crawlpike.json", document.to_string());
        let mut lint = Command::new(artefacts::cli());
        let output = lint.args(["lint", "--format", "config"]).arg(file).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the example of `{path}`: {messages}\n{document}");
    }
}

/// The pages of the book, by their paths in the repository.
fn summary() -> Vec<PathBuf> {
    let summary = fs::read_to_string(repository().join("docs/book/SUMMARY.md")).unwrap();
    links(&summary).into_iter().map(PathBuf::from).collect()
}

/// The targets of the links in a page, without those in code.
fn links(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in page.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code {
            continue;
        }
        // Every second piece is in backticks.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next().map(str::to_owned));
        found.extend(targets);
        if let Some((_, target)) = prose.split_once("]: ").filter(|_| prose.starts_with('[')) {
            found.push(target.to_owned());
        }
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        is_code ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    found
}

/// A path without `..` in it.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}

#[test]
fn every_link_leads_somewhere() {
    let mut read: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    let mut broken = Vec::new();
    let pages = summary();
    assert!(pages.len() > 25, "{pages:?}");
    for page in &pages {
        let text =
            fs::read_to_string(repository().join(page)).unwrap_or_else(|error| panic!("{page:?}: {error}"));
        for target in links(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let folder = page.parent().unwrap_or(Path::new(""));
            let path = if file.is_empty() { page.clone() } else { normal(&folder.join(file)) };
            let there = repository().join(&path);
            let known =
                read.entry(path).or_insert_with(|| anchors(&fs::read_to_string(&there).unwrap_or_default()));
            if !there.exists() || !anchor.is_empty() && !known.contains(anchor) {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_book_has_every_page() {
    let pages: BTreeSet<PathBuf> = summary().into_iter().collect();
    let folders = ["docs", "docs/proxies"].map(|folder| fs::read_dir(repository().join(folder)).unwrap());
    let docs = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let missing: Vec<PathBuf> = docs
        .map(|path| path.strip_prefix(repository()).unwrap().to_owned())
        .filter(|path| !pages.contains(path))
        .collect();
    assert!(missing.is_empty(), "docs/book/SUMMARY.md lacks {missing:?}");
}

#[test]
fn the_tests_that_pages_name_exist() {
    let mut functions = BTreeSet::new();
    for path in sources::files_with(".", "rs") {
        let text = sources::text(&path);
        let names = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
        functions.extend(names.filter_map(|line| line.split(['(', '<']).next().map(str::to_owned)));
    }
    for page in ["docs/security.md", "docs/reliability.md"] {
        let text = fs::read_to_string(repository().join(page)).unwrap();
        // A name of a test is a sentence: three words or more.
        let is_test = |word: &&str| {
            word.matches('_').count() >= 2
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_test).collect();
        assert!(named.len() >= 5, "{page} names {named:?}");
        let gone: Vec<&str> = named.into_iter().filter(|name| !functions.contains(*name)).collect();
        assert!(gone.is_empty(), "{page} names tests that do not exist: {gone:?}");
    }
}
