//! The reader, the lint and the decisions of automation-preferences.txt, and the lint that takes robots.txt, too.
//!
//! The first line of the input is `METHOD host/path`, the rest the file.
#![no_main]

use crawlpike_core::internals::policy::{
    AccessRequest, PreferencesFile, PreferencesVerdict, RobotsFile, Undeclared, scopes_forbidden_by_robots,
};
use crawlpike_core::internals::{Diagnostics, Lint, Load, RequestHost, RequestPath, Strictness};
use crawlpike_core::lint;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (request, text) = split(bytes, b'\n');
    // Lint reads the same groups.
    assert_eq!(decisions(text, request, Load), decisions(text, request, Lint));
    let mut diagnostics = Diagnostics::new("f", Lint);
    if let Some(file) = PreferencesFile::parse(text, &mut diagnostics)
        && let Some(robots) = RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", Load))
    {
        scopes_forbidden_by_robots(&file, &robots, &mut diagnostics);
    }
    lint::automation_preferences("f", text);
});

fn decisions(
    text: &[u8],
    request: &[u8],
    strictness: impl Strictness,
) -> Option<[[Option<PreferencesVerdict>; 2]; 3]> {
    let (method, url) = split(request, b' ');
    let (host, path) = split(url, b'/');
    let mut diagnostics = Diagnostics::new("automation-preferences.txt", strictness);
    let Some(file) = PreferencesFile::parse(text, &mut diagnostics) else {
        assert!(diagnostics.has_errors(), "a refusal has a reason");
        return None;
    };
    let preferences = file.compile();
    Some(["a", "*", "Googlebot"].map(|agent| {
        let request = AccessRequest {
            agent: preferences.agent(agent),
            host: RequestHost::new(host),
            path: RequestPath::new(path),
            method,
        };
        [Undeclared::Deny, Undeclared::Allow]
            .map(|undeclared| preferences.decide(&request, || [], undeclared))
    }))
}

fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|byte| *byte == at).unwrap_or(0))
}
