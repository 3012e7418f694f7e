//! Leaving out the known parts of a browser's User-Agent changes no answer.

use alloc::format;
use alloc::string::String;

use proptest::prelude::*;

use super::{catalog, lines};
use crate::user_agent::known_parts::{unknown_part, unknown_parts};
use crate::user_agent::{Claims, Speaker, Tokens};

const TODAY: &str = include_str!("../../../tests/data/ua-browsers-today.txt");

/// The parts of the text that are read, if some are not.
fn unknown(text: &str) -> Option<[&str; 2]> {
    unknown_parts(text.as_bytes()).map(|parts| parts.map(|part| text.get(part).unwrap()))
}

#[test]
fn nothing_is_unknown_of_todays_browsers() {
    for text in lines(TODAY) {
        assert_eq!(unknown(text), Some(["", ""]), "{text}");
    }
}

#[test]
fn a_device_and_an_application_are_unknown() {
    let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
    for (text, parts) in [
        (
            format!("Mozilla/5.0 (Linux; Android 9; X (2)) {webkit} Chrome/1.0 Mobile Safari/1.0"),
            ["(Linux; Android 9; X (2))", ""],
        ),
        (
            format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} HeadlessChrome/1.0 Safari/1.0"),
            ["", " HeadlessChrome/1.0 Safari/1.0"],
        ),
        (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/1.0 Safari/1.0 Bot/1.0"), ["", " Bot/1.0"]),
        (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/1.0 Mobile"), ["", " Mobile"]),
        (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/1.0-bot"), ["", " Chrome/1.0-bot"]),
        (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit}"), ["", ""]),
        ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/".into(), ["", " Firefox/"]),
    ] {
        assert_eq!(unknown(&text), Some(parts), "{text}");
    }
    for text in [
        "",
        "Mozilla/5.0",
        "Mozilla/5.0 (X11; Linux x86_64",
        "Mozilla/5.0 (X11; Linux x86_64) Gecko",
        "Mozilla/5.0 (X11; Linux x86_64) Gecko/1x",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; x) Chrome/1.0",
        "Mozilla/4.0 (X11; Linux x86_64) Gecko/1.0",
    ] {
        assert_eq!(unknown(text), None, "{text}");
    }
}

#[test]
fn a_token_made_of_a_browsers_words_is_found_in_a_browsers_user_agent() {
    let text =
        b"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36";
    for (token, speaker) in [
        ("Chrome", Speaker::Agent(0)),
        ("linux x86_64", Speaker::Agent(0)),
        ("5.0", Speaker::Agent(0)),
        ("36 (khtml", Speaker::Agent(0)),
        ("(X11; Linux", Speaker::Agent(0)),
        ("ChromeBot", Speaker::Browser),
        ("Chrome-Lighthouse", Speaker::Browser),
    ] {
        assert_eq!(Claims::new([token]).unwrap().speaker(Some(text)), speaker, "{token}");
    }
}

#[test]
fn a_token_may_begin_in_a_known_part_and_end_in_an_unknown_one() {
    for (token, text) in [
        (". Foo", "Mozilla/5.0 (X11; Linux x86_64) Gecko/1.. Foo"),
        ("Safari/1.0 Foo", "Mozilla/5.0 (X11; Linux x86_64) Gecko/1.0 Safari/1.0 Foo"),
        ("0 Foo", "Mozilla/5.0 (X11; Linux x86_64) Gecko/1.0 Safari/1.0 Foo"),
        ("(Foo", "Mozilla/5.0 (Foo; U) Gecko/1.0"),
    ] {
        let claims = Claims::new([token]).unwrap();
        assert_eq!(claims.speaker(Some(text.as_bytes())), Speaker::Agent(0), "{token}");
    }
}

#[test]
fn the_words_of_a_crawler_are_unknown() {
    for (text, part) in [
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; FooBot/1.0; +https://foo.example)",
            "; compatible; FooBot/1.0; +https://foo.example)",
        ),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko;FooBot", ";FooBot"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko",
        ),
        ("FooBot/1.0", "FooBot/1.0"),
        ("", ""),
    ] {
        assert_eq!(text.get(unknown_part(text.as_bytes())), Some(part), "{text}");
    }
}

#[test]
fn the_catalog_leaves_the_known_parts_out() {
    assert!(catalog().1.skips_known_parts);
}

/// Tokens that could begin, end or lie in a known part.
const TOKENS: &[&str] = &[
    "Chrome",
    "Chrome/1",
    "15E148",
    "148",
    "1_0",
    "36 Foo",
    ". Foo",
    "..1",
    ".Foo",
    ";Foo",
    "; Foo",
    "Gecko; Foo",
    ") Foo",
    "(Foo",
    "(X11",
    "K",
    "K)",
    "like Mac",
    "Foo",
    "Foo/1.0 Safari",
    "Foo Mobile",
    "Safari/1.0 Foo",
    "Mobile Foo",
    "rv:1",
    "x",
    "Gecko Foo",
    "U",
    "x86_64) Gecko",
    "64",
    "-1",
    "NT 1",
];
const COMMENTS: &[&str] = &[
    "Windows NT 1.0; Win64; x64",
    "Windows NT 1..; Win64; x64; rv:1.0",
    "X11; Linux x86_64",
    "Linux; Android 1; K",
    "iPhone; CPU iPhone OS 1_0 like Mac OS X",
    "X11; CrOS x86_64 1.",
    "Foo; U",
    "Linux; Android 1; Foo (1)",
    "U) (x",
];
const ENGINES: &[&str] =
    &[" AppleWebKit/1.36 (KHTML, like Gecko)", " Gecko/1.0", " Gecko/1..", " AppleWebKit/1.36"];
const PRODUCTS: &[&str] = &[
    " Chrome/1.0",
    " Safari/1.36",
    " Mobile Safari/1.36",
    " Mobile/15E148",
    " Foo",
    " Foo/1.0",
    " Chrome/1..",
    " Mobile",
    " Foo Mobile",
    "(Foo)",
    "Foo",
    ".Foo",
    " . Foo",
    " Chrome/1",
    "-1",
    " bot",
    " HeadlessChrome/1.0",
    " x@foo.example",
];

/// The text before the words of crawlers, which also send [`PRODUCTS`].
const OPENINGS: &[&str] = &[
    "Mozilla/5.0 AppleWebKit/1.36 (KHTML, like Gecko;",
    "Mozilla/5.0 AppleWebKit/1.36 (KHTML, like Gecko; compatible;",
    "Mozilla/5.0 AppleWebKit/1.. (KHTML, like Gecko",
];

/// User-Agents of the known forms, nearly or wholly.
fn user_agent() -> impl Strategy<Value = String> {
    let products = || prop::collection::vec(prop::sample::select(PRODUCTS), 0..5);
    let of_browser = (prop::sample::select(COMMENTS), prop::sample::select(ENGINES), products()).prop_map(
        |(comment, engine, products)| format!("Mozilla/5.0 ({comment}){engine}{}", products.concat()),
    );
    let of_crawler = (prop::sample::select(OPENINGS), products())
        .prop_map(|(opening, products)| format!("{opening}{}", products.concat()));
    prop_oneof![3 => of_browser, 1 => of_crawler]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn known_parts_say_nothing(
        tokens in prop::collection::btree_set(prop::sample::select(TOKENS), 0..3),
        user_agent in user_agent(),
    ) {
        let claims = Claims::new(tokens.iter().copied()).unwrap();
        let mut thorough = claims.clone();
        thorough.skips_known_parts = false;
        let text = Some(user_agent.as_bytes());
        prop_assert_eq!(claims.speaker(text), thorough.speaker(text), "{:?} in {}", tokens, user_agent);
        prop_assert_eq!(Tokens::new(tokens.iter().copied()).find(user_agent.as_bytes()), match claims.speaker(text) {
            Speaker::Agent(token) => Some(token),
            _ => None,
        });
    }
}
