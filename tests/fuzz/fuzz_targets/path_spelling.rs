//! Resolved paths against those of the `url` crate; and that anything can be resolved, and stays so.
#![no_main]

#[path = "../../../core/tests/model/path_spelling.rs"]
mod model;

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
    // No colon, encoded or not: the crate keeps what looks like a drive of Windows, as it should for the scheme `file` only.
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.%-_~!$&()*+,;=@?#".contains(byte);
    let is_colon = |text: &[u8]| text.eq_ignore_ascii_case(b"%3a");
    if bytes.first() == Some(&b'/') && bytes.iter().all(is_plain) && !bytes.windows(3).any(is_colon) {
        let expected = model::resolve(std::str::from_utf8(bytes).unwrap());
        for (form, expected) in FORMS.into_iter().zip(expected) {
            assert_eq!(resolve(bytes, form, &mut room), expected.as_bytes());
        }
    }
});
