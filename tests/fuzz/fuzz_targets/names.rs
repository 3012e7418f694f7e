//! Names of addresses: each line of the input is one. Nothing panics, and what counts is a name that can be asked for as it
//! stands, in a domain of the agent. A slower check by labels agrees.
#![no_main]

use std::sync::LazyLock;

use crawlpike_core::{NameLookup, NoFiles, Overrides, PlainRequest, Ruleset, decide};
use libfuzzer_sys::fuzz_target;

static LOOKUP: LazyLock<NameLookup> = LazyLock::new(|| {
    let document = br#"{ "catalog": "none", "agents": [ { "token": "NameBot", "rdns": ["a.b", "c.d.e"] } ] }"#;
    let ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.expect("a valid document");
    let bot = PlainRequest {
        address: Some([192, 0, 2, 1].into()),
        user_agent: Some(b"NameBot/1.0"),
        ..PlainRequest::default()
    };
    let decision = decide(&ruleset, &bot, Overrides::default());
    ruleset.name_lookup(&decision, &bot, None).expect("an agent with domains")
});

/// The labels that count, one by one.
fn expected(name: &[u8]) -> Option<String> {
    let name = name.strip_suffix(b".").unwrap_or(name).to_ascii_lowercase();
    let labels: Vec<&[u8]> = name.split(|byte| *byte == b'.').collect();
    let is_label = |label: &&[u8]| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        (1..=63).contains(&label.len()) && label.iter().all(is_plain)
    };
    let is_name = name.len() <= 253 && labels.iter().all(is_label);
    let is_within = labels.ends_with(&[b"a", b"b"]) || labels.ends_with(&[b"c", b"d", b"e"]);
    (is_name && is_within).then(|| String::from_utf8(name).expect("ASCII"))
}

fuzz_target!(|data: &[u8]| {
    for name in data.split(|byte| *byte == b'\n') {
        assert_eq!(LOOKUP.candidates([name].into_iter()).next(), expected(name));
    }
    let names = data.split(|byte| *byte == b'\n').take(8).filter_map(expected);
    assert!(LOOKUP.candidates(data.split(|byte| *byte == b'\n')).eq(names));
});
