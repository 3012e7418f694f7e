//! From a document and its files to a ruleset, and through the compiled form.
//!
//! The input is the document, then the files that it may name `1`, `2` and so on, then their last good versions in the
//! opposite order, with lines of `---` between them.
#![no_main]

#[path = "ruleset_properties.rs"]
mod ruleset_properties;

use crawlpike_core::Severity;
use crawlpike_core::{Compiled, Files, FoundFile, Ruleset};
use libfuzzer_sys::fuzz_target;

/// Parts of the input.
struct Parts<'a>(Vec<&'a [u8]>);

impl<'a> Parts<'a> {
    fn of(mut input: &'a [u8]) -> Self {
        const SEPARATOR: &[u8] = b"\n---\n";
        let mut parts = Vec::new();
        while let Some(at) = input.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) {
            parts.push(&input[..at]);
            input = &input[at + SEPARATOR.len()..];
        }
        parts.push(input);
        Self(parts)
    }

    fn file(&self, place: usize) -> Option<FoundFile> {
        let bytes = self.0.get(place).filter(|_| place > 0)?.to_vec();
        Some(FoundFile { bytes, modified: Some(1_767_225_600) })
    }
}

impl Files for Parts<'_> {
    fn read(&self, path: &str) -> Result<Option<FoundFile>, String> {
        match path.parse() {
            Ok(place) => Ok(self.file(place)),
            Err(_) if path.is_empty() => Err("no name".to_string()),
            Err(_) => Ok(None),
        }
    }

    fn last_good(&self, path: &str) -> Option<FoundFile> {
        self.file(self.0.len().checked_sub(path.parse().ok()?)?)
    }

    fn accepts(&self, feed: &str) -> bool {
        feed == "accepted"
    }
}

fuzz_target!(|input: &[u8]| {
    let parts = Parts::of(input);
    let compiled = Ruleset::compile("f", parts.0[0], &parts);
    let has_error = compiled.diagnostics.iter().any(|one| one.severity == Severity::Error);
    assert_eq!(compiled.ruleset.is_none(), has_error, "refused means an error: {:?}", compiled.diagnostics);
    assert!(compiled.good_feeds.is_empty() || !has_error, "nothing of what is refused is kept");
    for position in compiled.diagnostics.iter().filter_map(|one| one.position) {
        assert!(position.line >= 1 && position.column >= 1, "{position:?}");
        assert!(position.line as usize <= input.len() + 1 && position.column as usize <= input.len() + 1);
    }
    let Some(ruleset) = &compiled.ruleset else { return };
    let said = ruleset_properties::said(ruleset, std::iter::empty());
    let stored = Compiled::load("f", compiled.store().expect("small enough"));
    let loaded = stored.ruleset.expect("what was compiled can be loaded");
    assert_eq!(
        ruleset_properties::said(&loaded, std::iter::empty()),
        said,
        "the compiled form says the same"
    );
});
