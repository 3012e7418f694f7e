//! Signatures: each line of the input is a line of a header, by its first letter, or a directory of keys. Nothing panics, the
//! result is the same twice, and nothing holds that no key has signed.
#![no_main]

use crawlpike_core::{Identity, NoFiles, Overrides, PlainRequest, Ruleset, Scheme, SignatureResult, decide, lint};
use libfuzzer_sys::fuzz_target;

/// The lines of headers; `host` and `path` are those of the request.
fn headers(data: &[u8]) -> Vec<(&'static str, &[u8])> {
    let lines = data.split(|byte| *byte == b'\n').filter_map(<[u8]>::split_first);
    let named = lines.map(|(first, rest)| {
        let name = match first {
            b'i' => "signature-input",
            b's' => "signature",
            b'a' => "signature-agent",
            b'p' => "path",
            b'h' => "host",
            _ => "accept",
        };
        (name, rest)
    });
    named.collect()
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
    let headers = headers(data);
    let first = |name| headers.iter().find(|(known, _)| *known == name).map_or(&b""[..], |(_, value)| *value);
    let request = PlainRequest {
        scheme: Some(Scheme::Https),
        authority: Some(first("host")),
        path: first("path"),
        headers: &headers,
        now: 1_800_000_000,
        ..PlainRequest::default()
    };
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
