//! The search for words and phrases.

use alloc::vec::Vec;
use core::ops::Range;

use proptest::prelude::*;

use crate::user_agent::phrases::Phrases;
use crate::user_agent::window_filter::WindowFilter;
use crate::user_agent::words::{Word, continues_word, words};

/// The result of a loop over the bytes.
fn model(text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in (0..text.len()).filter(|at| continues_word(text[*at])) {
        match found.last_mut() {
            Some(word) if word.end == at => word.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

fn ranges(text: &[u8], shortest: usize) -> Vec<Range<usize>> {
    words(text, 0..text.len(), shortest).map(Word::range).collect()
}

#[test]
fn letters_digits_hyphens_and_underscores_continue_a_word() {
    for byte in 0..=u8::MAX {
        let expected = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || !byte.is_ascii();
        assert_eq!(continues_word(byte), expected, "{byte}");
    }
}

#[test]
fn words_may_be_longer_than_a_block() {
    for length in [0, 1, 63, 64, 65, 127, 128, 129, 640] {
        for before in 0..3 {
            let text = [&b" ; "[..before], &b"x".repeat(length)].concat();
            assert_eq!(ranges(&text, 1), model(&text), "{before} {length}");
        }
    }
}

#[test]
fn a_filter_lets_through_what_was_inserted() {
    let mut filter = WindowFilter::new();
    ["Alpha", "xyz"].iter().for_each(|text| filter.insert_beginning(text.as_bytes()));
    for text in ["alpha", "ALPHabet", "xyz", "XYZ/1", "xyz\u{ff}"] {
        assert!(filter.may_begin(text.as_bytes()), "{text}");
    }
    for text in ["", "a", "al", "alp", "xy", "beta", "axyz"] {
        assert!(!filter.may_begin(text.as_bytes()), "{text}");
    }
    filter.insert_beginning(b"q");
    assert!(filter.may_begin(b"q"));
}

#[test]
fn phrases_are_found_in_any_case() {
    static PHRASES: Phrases<4> = Phrases::new(["Gecko/", "Goanna", "Good Name", "abc"]);
    for text in ["gecko/1", "GOANNA", "Good name", "ABCD"] {
        assert!(PHRASES.begins(text.as_bytes()), "{text}");
    }
    for text in ["", "geck", "Gecko", "xabc", "Good  Name"] {
        assert!(!PHRASES.begins(text.as_bytes()), "{text}");
    }
}

proptest! {
    #[test]
    fn words_are_those_of_the_model(
        text in prop::collection::vec(prop::sample::select(b"aaaaaaaaaaZ09-_ ;\xff".to_vec()), 0..300),
    ) {
        let all = model(&text);
        for shortest in 1..6 {
            let long: Vec<_> = all.iter().filter(|word| word.len() >= shortest).cloned().collect();
            prop_assert_eq!(ranges(&text, shortest), long);
        }
    }
}
