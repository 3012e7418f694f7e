//! Names of addresses: each line of the input is one. Nothing panics, and what counts is a name that can be asked for as it
//! stands, in a domain of the agent. A slower check by labels agrees.
#![no_main]

use std::net::IpAddr;
use std::sync::LazyLock;

use crawlpike_core::{NameLookup, NoFiles, Overrides, Request, Ruleset, Scheme, decide};
use libfuzzer_sys::fuzz_target;

struct Bot;

impl Request for Bot {
    fn address(&self) -> Option<IpAddr> {
        Some([192, 0, 2, 1].into())
    }

    fn scheme(&self) -> Option<Scheme> {
        None
    }

    fn authority(&self) -> Option<&[u8]> {
        None
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        b"/"
    }

    fn user_agent(&self) -> Option<&[u8]> {
        Some(b"NameBot/1.0")
    }

    fn now(&self) -> i64 {
        0
    }

    fn header_lines<'r>(&'r self, _: &str) -> impl Iterator<Item = &'r [u8]> {
        std::iter::empty()
    }
}

static LOOKUP: LazyLock<NameLookup> = LazyLock::new(|| {
    let document = br#"{ "catalog": "none", "agents": [ { "token": "NameBot", "rdns": ["a.b", "c.d.e"] } ] }"#;
    let ruleset = Ruleset::compile("c.json", document, &NoFiles).ruleset.expect("a valid document");
    let decision = decide(&ruleset, &Bot, Overrides::default());
    ruleset.name_lookup(&decision, &Bot, None).expect("an agent with domains")
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
