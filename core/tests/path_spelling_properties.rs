//! Properties of resolved paths. `tests/model` compares them with those of the model.

use crawlpike_core::Spelling;
use crawlpike_core::internals::{LONGEST, RequestTarget, resolve};
use proptest::prelude::*;

const FORMS: [Spelling; 4] =
    [Spelling::SlashesFirst, Spelling::DotsFirst, Spelling::Decoded, Spelling::WithoutParameters];

fn is_resolved(target: &[u8]) -> bool {
    RequestTarget::new(target).is_resolved()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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
