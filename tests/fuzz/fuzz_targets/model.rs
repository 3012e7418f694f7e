//! Decisions by a robots.txt, against those of the model: the first line of the input is the path, the rest is the file.
#![no_main]

use crawlpike_core::{Files, FoundFile, Overrides, PlainRequest, Ruleset, decide as core_decide};
use crawlpike_model::{Edge, File, Name, Request, Signature, Versions, decide};
use libfuzzer_sys::fuzz_target;

struct Robots<'r>(&'r [u8]);

impl Files for Robots<'_> {
    fn read(&self, _: &str) -> Result<Option<FoundFile>, String> {
        Ok(Some(FoundFile { bytes: self.0.to_vec(), modified: None }))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let (path, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let Ok(path) = std::str::from_utf8(path) else { return };
    let document = serde_json::json!({
        "catalog": "none", "agents": [{ "token": "a" }], "sites": [{ "robots_txt": "robots.txt" }]
    });
    let compiled = Ruleset::compile("c.json", document.to_string().as_bytes(), &Robots(text));
    let Some(core) = compiled.ruleset else { return };
    let newest = Some(File { bytes: text.to_vec(), modified: 0 });
    let files = [("robots.txt".to_owned(), Versions { newest, ..Versions::default() })].into();
    let model = Edge::load(&document, &files).expect("the core has loaded it");
    for user_agent in [None, Some("a")] {
        let user_agent_bytes = user_agent.map(str::as_bytes);
        let request = PlainRequest { path: path.as_bytes(), user_agent: user_agent_bytes, ..PlainRequest::default() };
        let decision = core_decide(&core, &request, Overrides::default());
        let facts = core.describe_with_usage(&decision, &request);
        let asked = Request {
            address: None,
            host: "",
            method: "GET",
            path,
            user_agent,
            purposes: &[],
            now: 0,
            signature: &Signature::Nothing,
            name: Name::Nothing,
            mode: None,
        };
        let expected = decide(&model, &asked);
        let rule = facts.rule.map(|rule| (rule.file.to_owned(), rule.line));
        assert_eq!((facts.reason.as_str(), rule), (expected.reason, expected.rule), "{user_agent:?}");
        assert_eq!(facts.usage.and_then(|usage| usage.text()), expected.usage, "{user_agent:?}");
    }
});
