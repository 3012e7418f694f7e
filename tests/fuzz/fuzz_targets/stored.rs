//! The compiled form: whatever its words say, loading it ends without a panic, and so does every decision by what was
//! loaded.
//!
//! The first byte of the input chooses: edits of the words of a ruleset that is good, or words from the input behind
//! a good header; and whether the checksum is made right afterwards, without which nothing but the header would be
//! reached. Then come the edits: two bytes of place and four of content each.
#![no_main]

#[path = "ruleset_properties.rs"]
mod ruleset_properties;

use std::net::IpAddr;
use std::sync::LazyLock;

use crawlpike_core::{Compiled, NoFiles, Ruleset};
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

/// Words before those that the checksum covers.
const HEADER: usize = 6;

/// A ruleset with feeds of all formats, and policies.
static WORDS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let document = include_bytes!("../seeds/compile/inlined");
    let compiled = Ruleset::compile("seed", document, &NoFiles);
    compiled.store().expect("the seed compiles")
});

fuzz_target!(|input: &[u8]| {
    let Some((mode, rest)) = input.split_first() else { return };
    let (has_own_words, has_checksum) = (mode & 1 == 1, mode & 2 == 2);
    let mut words = WORDS.clone();
    if has_own_words {
        words.truncate(HEADER);
        words.extend(rest.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)));
        words[2] = words.len() as u32;
        // The length of the small part: somewhere in the words, mostly.
        words[3] = (words.len() as u32 * 4).saturating_sub(u32::from(*mode));
    } else {
        for [place_low, place_high, content @ ..] in rest.as_chunks::<6>().0 {
            let place = usize::from(u16::from_le_bytes([*place_low, *place_high])) % words.len();
            let content = u32::from_le_bytes(*content);
            words[place] = match content % 3 {
                0 => words[place] ^ 1 << (content >> 8) % 32,
                1 => words[place] & 0xFC00_0000 | content >> 16,
                _ => content,
            };
        }
    }
    if has_checksum {
        let bytes: Vec<u8> = words[HEADER..].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let sum = XxHash3_64::oneshot(&bytes);
        (words[4], words[5]) = (sum as u32, (sum >> 32) as u32);
    }
    let is_altered = words != *WORDS;
    let compiled = Compiled::load("f", words);
    assert!(compiled.ruleset.is_some() || !compiled.diagnostics.is_empty(), "a refusal has a reason");
    assert!(has_checksum || !is_altered || compiled.ruleset.is_none(), "an altered file is refused");
    if let Some(ruleset) = &compiled.ruleset {
        let addresses = rest.as_chunks::<16>().0.iter().map(|bytes| IpAddr::from(*bytes));
        ruleset_properties::said(ruleset, addresses.take(16));
    }
});
