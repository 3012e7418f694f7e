//! Signatures: each line of the input is a line of a header, by its first letter, or a directory of keys. Nothing panics, the
//! result is the same twice, and nothing holds that no key has signed.
#![no_main]

use std::net::IpAddr;

use crawlpike_core::{Identity, NoFiles, Overrides, Request, Ruleset, Scheme, SignatureResult, decide, lint};
use libfuzzer_sys::fuzz_target;

struct Input<'a>(Vec<(&'static str, &'a [u8])>);

impl<'a> Input<'a> {
    fn new(data: &'a [u8]) -> Self {
        let line = |line: &'a [u8]| {
            let (first, rest) = line.split_first()?;
            let name = match first {
                b'i' => "signature-input",
                b's' => "signature",
                b'a' => "signature-agent",
                b'p' => "path",
                b'h' => "host",
                _ => "accept",
            };
            Some((name, rest))
        };
        Self(data.split(|byte| *byte == b'\n').filter_map(line).collect())
    }

    fn first(&self, name: &str) -> &[u8] {
        self.header_lines(name).next().unwrap_or_default()
    }
}

impl Request for Input<'_> {
    fn address(&self) -> Option<IpAddr> {
        None
    }

    fn scheme(&self) -> Option<Scheme> {
        Some(Scheme::Https)
    }

    fn authority(&self) -> Option<&[u8]> {
        Some(self.first("host"))
    }

    fn method(&self) -> &[u8] {
        b"GET"
    }

    fn path(&self) -> &[u8] {
        self.first("path")
    }

    fn user_agent(&self) -> Option<&[u8]> {
        None
    }

    fn now(&self) -> i64 {
        1_800_000_000
    }

    fn header_lines<'r>(&'r self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        self.0.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// An agent with a key whose private half nobody has kept.
const DOCUMENT: &str = r#"{ "catalog": "none", "sites": [ {} ],
  "agents": [ { "token": "A", "keys": [ { "directory": "https://signer.test", "source": "k" } ] } ],
  "files": { "k": { "text": "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w\"}]}" } } }"#;

thread_local! {
    static RULESET: Ruleset =
        Ruleset::compile("c.json", DOCUMENT.as_bytes(), &NoFiles).ruleset.expect("the document is right");
}

fuzz_target!(|data: &[u8]| {
    let request = Input::new(data);
    RULESET.with(|ruleset| {
        let decision = decide(ruleset, &request, Overrides::default());
        assert_eq!(decision, decide(ruleset, &request, Overrides::default()));
        assert_ne!(decision.signature(), Some(SignatureResult::Verified));
        assert_ne!(decision.identity, Identity::Verified);
    });
    for diagnostic in lint::key_directory("keys", data) {
        assert!(diagnostic.to_string().len() < 8192);
    }
});
