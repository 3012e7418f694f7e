//! Signature Agent Cards: whatever a card says, what comes of it is a token and URLs that a configuration accepts.
#![no_main]

use crawlpike_core::{AgentCard, NoFiles, Ruleset, check_token};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|data: &[u8]| {
    let (card, diagnostics) = AgentCard::read("card", data);
    for diagnostic in &diagnostics {
        assert!(diagnostic.to_string().len() < 8192);
    }
    let Some(card) = card else {
        assert!(!diagnostics.is_empty(), "a refusal has a reason");
        return;
    };
    let Some(token) = card.token else { return };
    assert_eq!(check_token(&token), Ok(()));
    let keys: Vec<_> = card.jwks_uri.iter().map(|url| json!({ "directory": url, "source": "k" })).collect();
    let purposes: Vec<_> = card.purpose.iter().collect();
    let feeds: Vec<_> = card
        .ips_uri
        .iter()
        .map(|url| json!({ "name": "f", "format": "jafar", "source": "f", "url": url }))
        .collect();
    let agent = json!({ "token": token, "keys": keys, "purposes": purposes });
    let document = json!({ "catalog": "none", "feeds": feeds, "agents": [agent], "sites": [{}] });
    let compiled = Ruleset::compile("c.json", document.to_string().as_bytes(), &NoFiles);
    assert!(compiled.ruleset.is_some(), "{:?}", compiled.diagnostics);
});
