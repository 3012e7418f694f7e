//! The robots matcher against a straightforward model of RFC 9309: the first line of the input is the path.
#![no_main]

#[path = "../../tests/model/robots.rs"]
mod model;

use crawlward_core::diagnostic::{Diagnostics, Strictness};
use crawlward_core::path_pattern::RequestPath;
use crawlward_core::robots::RobotsFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (path, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let mut diagnostics = Diagnostics::new("robots.txt", Strictness::Load);
    let robots = RobotsFile::parse(text, &mut diagnostics).compile();
    if diagnostics.has_errors() {
        return;
    }
    for agent in ["a", "other", "*"] {
        let verdict = robots.decide(robots.group_for(agent), RequestPath::new(path));
        assert_eq!((verdict.allowed, verdict.line), model::decide(text, agent, path), "{agent}");
    }
});
