//! The reader, the lint and the decisions of automation-preferences.txt, and the lint that takes robots.txt, too.
//!
//! The first line of the input is `METHOD host/path`, the rest the file.
#![no_main]

use crawlward_core::automation_preferences::{PreferencesFile, Request, Undeclared};
use crawlward_core::diagnostic::{Diagnostics, Strictness};
use crawlward_core::host::RequestHost;
use crawlward_core::path_pattern::RequestPath;
use crawlward_core::policy_lint::scopes_forbidden_by_robots;
use crawlward_core::robots::RobotsFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (request, text) = split(bytes, b'\n');
    let (method, url) = split(request, b' ');
    let (host, path) = split(url, b'/');
    let decisions = |strictness| {
        let mut diagnostics = Diagnostics::new("automation-preferences.txt", strictness);
        let Some(file) = PreferencesFile::parse(text, &mut diagnostics) else {
            assert!(diagnostics.has_errors(), "a refusal has a reason");
            return None;
        };
        let robots = RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", Strictness::Load));
        scopes_forbidden_by_robots(&file, &robots, &mut diagnostics);
        let preferences = file.compile();
        Some(["a", "*", "Googlebot"].map(|agent| {
            let request = Request {
                agent: preferences.agent(agent),
                host: RequestHost::new(host),
                path: RequestPath::new(path),
                method,
            };
            [Undeclared::Deny, Undeclared::Allow]
                .map(|undeclared| preferences.decide(&request, [], undeclared))
        }))
    };
    // Lint reads the same groups.
    assert_eq!(decisions(Strictness::Load), decisions(Strictness::Lint));
});

fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|byte| *byte == at).unwrap_or(0))
}
