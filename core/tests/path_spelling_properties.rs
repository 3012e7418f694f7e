//! Properties of resolved paths: they are what the `url` crate makes of them.

#[path = "model/path_spelling.rs"]
mod model;

use crawlpike_core::Spelling;
use crawlpike_core::internals::{LONGEST, RequestTarget, resolve};
use proptest::prelude::*;

const FORMS: [Spelling; 4] =
    [Spelling::SlashesFirst, Spelling::DotsFirst, Spelling::Decoded, Spelling::WithoutParameters];

fn is_resolved(target: &[u8]) -> bool {
    RequestTarget::new(target).is_resolved()
}

/// A path with a query and a fragment, of few segments, so that what is special meets.
fn target() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        3 => Just(""), 2 => Just("."), 3 => Just(".."), 1 => Just("%2e"), 1 => Just(".%2E"), 1 => Just("%2e%2E"),
        4 => Just("a"), 1 => Just("b.c"), 1 => Just("..."), 1 => Just("%2f"), 1 => Just("..%2fa"), 1 => Just(".a"),
        1 => Just("%2"), 1 => Just("%2ea"), 1 => Just("%3Aa"), 1 => Just("%%2c%5d..%2F"), 1 => Just("%3f%25"),
        2 => Just("..;"), 1 => Just("a;b%2F.."), 1 => Just(".%3Bx"), 1 => Just(";")
    ];
    let rest = prop_oneof![
        3 => Just(""), 1 => Just("?x=/../y//z"), 1 => Just("?"), 1 => Just("#/../f"), 1 => Just("?q#f")
    ];
    let path = prop::collection::vec(segment, 0..12);
    (path, rest).prop_map(|(segments, rest)| format!("/{}{rest}", segments.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn resolved_paths_are_those_of_the_url_crate(target in target()) {
        let mut room = [0; LONGEST];
        let all_expected = model::resolve(&target);
        for (form, expected) in FORMS.into_iter().zip(&all_expected) {
            let resolved = std::str::from_utf8(resolve(target.as_bytes(), form, &mut room)).unwrap();
            prop_assert_eq!(resolved, expected, "{:?}", form);
        }
        let is_expected = all_expected.iter().all(|expected| *expected == target);
        prop_assert_eq!(is_resolved(target.as_bytes()), is_expected, "{}", target);
    }

    #[test]
    fn anything_can_be_resolved_and_stays_so(target in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut is_same = true;
        for form in FORMS {
            let (mut room, mut again) = ([0; LONGEST], [0; LONGEST]);
            let once = resolve(&target, form, &mut room);
            prop_assert_eq!(resolve(once, form, &mut again), once);
            prop_assert!(form != Spelling::WithoutParameters || is_resolved(once), "{:?}", once);
            is_same &= once == target;
        }
        prop_assert_eq!(is_resolved(&target), is_same);
    }
}
