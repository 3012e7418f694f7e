//! Whatever the document is, it is compiled or refused with a reason, and lint finds at least what compiling does.

#![no_main]

use crawlpike_core::{NoFiles, Ruleset, Severity, lint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let compiled = Ruleset::compile("c.json", data, &NoFiles);
    let has_errors = |diagnostics: &[crawlpike_core::Diagnostic]| {
        diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    };
    assert_eq!(compiled.ruleset.is_none(), has_errors(&compiled.diagnostics));
    let strict = lint::config("c.json", data, &NoFiles);
    assert!(compiled.ruleset.is_some() || has_errors(&strict));
    strict.iter().for_each(|diagnostic| drop(diagnostic.to_string()));
});
