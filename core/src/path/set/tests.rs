use super::*;
use crate::path::pattern::steps;
use alloc::format;
use alloc::string::String;

fn patterns(texts: &[String]) -> Vec<PathPattern> {
    texts.iter().map(|text| PathPattern::new(text.as_bytes()).unwrap()).collect()
}

/// Every pattern tried in turn: what a set must agree with.
fn first_of(patterns: &[PathPattern], path: &str) -> Option<u32> {
    let first = patterns.iter().position(|pattern| pattern.matches(RequestPath::new(path.as_bytes())));
    first.map(|index| u32::try_from(index).unwrap())
}

#[test]
fn an_empty_set_matches_nothing() {
    assert_eq!(PathSet::new(&[]).first_match(RequestPath::new(b"/")), None);
    assert_eq!(PathSet::default().first_match(RequestPath::new(b"/")), None);
}

#[test]
fn a_set_finds_what_its_patterns_match_in_order() {
    // ROB-2, ROB-3: with few wildcards (all tried) and with many (found by their grams).
    let texts: Vec<String> = [
        "/$",
        "/a$",
        "/a",
        "/ab/c",
        "/ab",
        "*x$",
        "/*",
        "/a*b",
        "/*/c",
        "/ab%2Fc",
        "/abc",
        "/*%3A%2F",
        "/*%3A",
        "/?*%3A%40x",
        "*%2F*?%3A",
    ]
    .map(String::from)
    .into();
    let more = |count: usize| (0..count).map(|n| format!("/*{n}/*zz{n}$")).collect::<Vec<_>>();
    for fillers in [0, 20, 3000] {
        let mut texts = [more(fillers), texts.clone()].concat();
        for _ in 0..2 {
            let patterns = patterns(&texts);
            let set = PathSet::new(&patterns);
            for path in [
                "",
                "/",
                "/a",
                "/ab",
                "/ab/c",
                "/ab/cd",
                "/abc",
                "/ab%2fc",
                "/x",
                "/yx?",
                "/b/c",
                "b",
                "/7/zz7",
                "/12/12/zz12",
                "/19/zz1",
                "/zz7/7",
                "/\u{E9}7/zz7",
                "/%37/zz7",
                "/x?u=https%3A%2F%2Fy",
                "/x?u=https://y",
                "/y%3Ax",
                "/y%3A%2fx",
                "/y:/x",
                "/?:@x",
                "/%2F?a?:",
            ] {
                assert_eq!(
                    set.first_match(RequestPath::new(path.as_bytes())),
                    first_of(&patterns, path),
                    "{path} {fillers}"
                );
            }
            texts.reverse();
        }
    }
}

#[test]
fn a_path_that_many_patterns_match_has_the_first_of_them() {
    let texts: Vec<String> = (0..2_000).map(|number| format!("/*<{number:04}>")).collect();
    let patterns = patterns(&texts);
    let set = PathSet::new(&patterns);
    for last in [0, 7, 63, 64, 500, 1_023] {
        let path: String =
            (last..last + 40).rev().map(|number| format!("/<{:04}>", number % 2_000)).collect();
        assert_eq!(set.first_match(RequestPath::new(path.as_bytes())), Some(last), "{path}");
    }
}

#[test]
fn auto_18_a_set_takes_steps_for_the_patterns_that_may_match() {
    // AUTO-18, ROB-5: 10,000 wildcard rules, counted, not timed.
    let texts: Vec<String> = (0..10_000).map(|n| format!("/*/section-{n:05}/*.html$")).collect();
    let set = PathSet::new(&patterns(&texts));
    let path = "/shop/section-01234/very/long/name/of/a/page.htm";
    let (steps, found) = steps::of(|| set.first_match(RequestPath::new(path.as_bytes())));
    assert_eq!(found, None);
    assert!(steps <= 10 * path.len(), "{steps}");
    // A path made of grams of all the rules: each rule is tried at most once.
    let path: String = (0..500).map(|n| format!("/section-{n:05}")).collect();
    let (steps, _) = steps::of(|| set.first_match(RequestPath::new(path.as_bytes())));
    assert!(steps <= 2 * path.len() * 1000, "{steps}");
}

#[test]
fn auto_18_hostile_sets_stay_within_the_bound() {
    // AUTO-18: rules that share their grams, and a path full of them: 2n steps for each rule, and no more.
    let texts: Vec<String> = (1..200).map(|n| format!("/{}b", "*a".repeat(n))).collect();
    let set = PathSet::new(&patterns(&texts));
    let path = format!("/{}", "a".repeat(8000));
    let (steps, found) = steps::of(|| set.first_match(RequestPath::new(path.as_bytes())));
    assert_eq!(found, None);
    assert!(steps <= 2 * path.len() * texts.len(), "{steps}");
    // A pattern that is repeated is tried once.
    let same = PathSet::new(&patterns(&alloc::vec![String::from("/*aa*aab"); 1000]));
    let (steps, _) = steps::of(|| same.first_match(RequestPath::new(path.as_bytes())));
    assert!(steps <= 2 * path.len(), "{steps}");
    // A trie as deep as its file is long is built and walked without recursion.
    let texts: Vec<String> = (0..1400).map(|n| format!("/{}", "a".repeat(n))).collect();
    let set = PathSet::new(patterns(&texts).iter().rev());
    assert_eq!(set.first_match(RequestPath::new(path.as_bytes())), Some(0));
    assert_eq!(set.first_match(RequestPath::new(b"/aaab")), Some(1396));
}
