//! The robots matcher against a straightforward model of RFC 9309: the first line of the input is the path.
#![no_main]

#[path = "../../../core/tests/model/robots.rs"]
mod model;

use crawlpike_core::internals::RequestPath;
use crawlpike_core::internals::policy::RobotsFile;
use crawlpike_core::internals::{Diagnostics, Load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (path, text) = bytes.split_at(bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0));
    let mut diagnostics = Diagnostics::new("robots.txt", Load);
    let Some(file) = RobotsFile::parse(text, &mut diagnostics) else {
        assert!(diagnostics.has_errors(), "a refusal has a reason");
        return;
    };
    let robots = file.compile();
    for agent in ["a", "other", "*"] {
        let verdict = robots.decide(robots.group_for(agent), RequestPath::new(path));
        assert_eq!((verdict.allowed, verdict.line), model::decide(text, agent, path), "{agent}");
    }
});
