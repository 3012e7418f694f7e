//! Resolved paths against those of the `url` crate; and that anything can be resolved, and stays so.
#![no_main]

#[path = "../../tests/model/path_spelling.rs"]
mod model;

use crawlward_core::path_spelling::{LONGEST, Spelling, is_resolved, resolve};
use libfuzzer_sys::fuzz_target;

const ORDERS: [Spelling; 2] = [Spelling::SlashesFirst, Spelling::DotsFirst];

fuzz_target!(|bytes: &[u8]| {
    let (mut room, mut again) = ([0; LONGEST], [0; LONGEST]);
    for order in ORDERS {
        let once = resolve(bytes, order, &mut room);
        assert!(is_resolved(once) && resolve(once, order, &mut again) == once, "{}", once.escape_ascii());
        assert_eq!(is_resolved(bytes), once == bytes);
    }
    // No colon: the crate keeps what looks like a drive of Windows, as it should for the scheme `file` only.
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/.%-_~!$&()*+,;=@?#".contains(byte);
    if bytes.first() == Some(&b'/') && bytes.iter().all(is_plain) {
        let expected = model::resolve(std::str::from_utf8(bytes).unwrap());
        for (order, expected) in ORDERS.into_iter().zip(expected) {
            assert_eq!(resolve(bytes, order, &mut room), expected.as_bytes());
        }
    }
});
