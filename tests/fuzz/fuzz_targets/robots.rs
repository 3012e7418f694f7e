//! The reader, the lint and the matcher of robots.txt: the first line of the input is the path, the rest the file.
#![no_main]

use crawlpike_core::internals::policy::{RobotsFile, Verdict};
use crawlpike_core::internals::{Diagnostics, Lint, Load, RequestPath, Strictness};
use crawlpike_core::{Severity, lint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (path, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    // Lint reads the same rules.
    let verdicts = decisions(text, path, Load);
    assert_eq!(verdicts, decisions(text, path, Lint));
    for Verdict { allowed, line } in verdicts.into_iter().flatten() {
        assert!(allowed || line.is_some(), "only a rule forbids");
    }
    for diagnostic in lint::robots("robots.txt", text) {
        let Some(position) = diagnostic.position else {
            assert!(
                diagnostic.severity == Severity::Error || diagnostic.message.starts_with("not shown: "),
                "{diagnostic}"
            );
            continue;
        };
        assert!(position.line >= 1 && position.column >= 1);
        assert!(position.line as usize <= text.len() + 1 && position.column as usize <= text.len() + 1);
    }
});

fn decisions(text: &[u8], path: &[u8], strictness: impl Strictness) -> Option<[Verdict; 3]> {
    let robots = RobotsFile::parse(text, &mut Diagnostics::new("robots.txt", strictness))?.compile();
    Some(
        ["a", "*", "Googlebot"].map(|agent| robots.decide(robots.group_for(agent), RequestPath::new(path))),
    )
}
