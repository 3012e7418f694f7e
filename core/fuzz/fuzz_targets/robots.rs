//! The reader, the lint and the matcher of robots.txt: the first line of the input is the path, the rest the file.
#![no_main]

use crawlward_core::diagnostic::{Diagnostics, Severity, Strictness};
use crawlward_core::path_pattern::RequestPath;
use crawlward_core::robots::{RobotsFile, Verdict};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (path, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let decisions = |strictness| {
        let mut diagnostics = Diagnostics::new("robots.txt", strictness);
        let robots = RobotsFile::parse(text, &mut diagnostics).compile();
        let verdicts = ["a", "*", "Googlebot"]
            .map(|agent| robots.decide(robots.group_for(agent), RequestPath::new(path)));
        for diagnostic in diagnostics.items() {
            let Some(position) = diagnostic.position else {
                assert_eq!(diagnostic.severity, Severity::Error, "what is no text");
                continue;
            };
            assert!(position.line >= 1 && position.column >= 1);
            assert!(position.line as usize <= text.len() + 1 && position.column as usize <= text.len() + 1);
        }
        verdicts
    };
    // Lint reads the same rules.
    let verdicts = decisions(Strictness::Load);
    assert_eq!(verdicts, decisions(Strictness::Lint));
    for Verdict { allowed, line } in verdicts {
        assert!(allowed || line.is_some(), "only a rule forbids");
    }
});
