//! Resolved paths against those of the model; and that anything can be resolved, and stays so.
#![no_main]

use crawlpike_core::Spelling;
use crawlpike_core::internals::{LONGEST, RequestTarget, resolve};
use libfuzzer_sys::fuzz_target;

const FORMS: [Spelling; 4] =
    [Spelling::SlashesFirst, Spelling::DotsFirst, Spelling::Decoded, Spelling::WithoutParameters];

fuzz_target!(|bytes: &[u8]| {
    let (mut room, mut again) = ([0; LONGEST], [0; LONGEST]);
    let mut is_same = true;
    for form in FORMS {
        let once = resolve(bytes, form, &mut room);
        assert_eq!(resolve(once, form, &mut again), once);
        let is_resolved = || RequestTarget::new(once).is_resolved();
        assert!(form != Spelling::WithoutParameters || is_resolved(), "{}", once.escape_ascii());
        is_same &= once == bytes;
    }
    assert_eq!(RequestTarget::new(bytes).is_resolved(), is_same);
    for (form, expected) in FORMS.into_iter().zip(crawlpike_model::FORMS) {
        assert_eq!(resolve(bytes, form, &mut room), crawlpike_model::resolve(bytes, expected), "{form:?}");
    }
});
