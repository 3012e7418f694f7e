//! Usage preferences: the first line of the input is the path, the rest a robots.txt. What is stated is no more than its lines say,
//! and means the same when it is read again.
#![no_main]

use crawlpike_core::{FileUsage, UsageStatement, lint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (path, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    for agent in ["a", "*", "__usage_a"] {
        let (usage, diagnostics) = FileUsage::read("robots.txt", text, agent, path);
        let Some(usage) = usage else {
            assert!(!diagnostics.is_empty(), "a refusal has a reason");
            return;
        };
        assert!(usage.is_allowed || usage.statement.is_empty() || !usage.lines.is_empty());
        let all = usage.lines.iter().fold(UsageStatement::default(), |sum, line| sum.and(line.statement));
        // A path in several spellings allows less than its lines.
        assert_eq!(all, all.and(usage.statement), "{usage:?}");
        if let Some(statement) = usage.statement.text() {
            let again = format!("User-agent: *\nContent-Usage: {statement}\n");
            let (again, _) = FileUsage::read("robots.txt", again.as_bytes(), "*", b"/");
            assert_eq!(again.map(|again| again.statement), Some(usage.statement));
        }
        assert!(!usage.group.starts_with("__usage_"), "{usage:?}");
    }
    for diagnostic in lint::robots("robots.txt", text) {
        let Some(position) = diagnostic.position else { continue };
        assert!(position.line as usize <= text.len() + 1 && position.column as usize <= text.len() + 1);
    }
});
