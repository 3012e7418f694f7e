//! Robots-Tag: lines of a response in each syntax, and the scopes of a site.

use std::collections::BTreeSet;
use std::fmt::Write;

use crawlpike_core::internals::RobotsTagSyntax;
use crawlpike_core::internals::policy::RobotsTag;
use crawlpike_model::Tag;
use serde_json::json;

use crate::harness::{Client, Family, Report, World, digits};

const PIECES: [&str; 20] = [
    "",
    "noindex",
    "NoSnippet",
    "max-snippet:20",
    "Bot=",
    "*",
    ";",
    ",",
    " ",
    ": ",
    "unavailable_after: Fri, 25 Jun 2010",
    "Bot",
    "other-rule",
    "\"Bot\"",
    "*=",
    "googlebot: ",
    "max-snippet=3",
    "; ",
    ", ",
    "noindex, ",
];

/// Lines of some pieces, united with another line.
pub(crate) fn compare_lines(pieces: usize, step: usize) -> Report {
    let sizes = vec![PIECES.len(); pieces];
    let mut report = Report::default();
    let mut kinds = BTreeSet::new();
    for number in (0..sizes.iter().product()).step_by(step) {
        report.worlds += 1;
        let line: String = digits(&sizes, number).into_iter().map(|piece| PIECES[piece]).collect();
        let lines = [&*line, "noarchive, NOINDEX; BOT=nofollow"];
        let (mut core, mut model) = (RobotsTag::default(), Tag::default());
        for line in lines {
            core.add_line(line.as_bytes());
            model.add_line(line);
        }
        let core = String::from_utf8(core.write(RobotsTagSyntax::Draft00)).expect("it is text");
        // The plainest lines come first.
        if core != model.text() && kinds.len() < 12 && kinds.insert(core.clone()) {
            let _ = writeln!(report.differences, "\n{line:?}\n  core:  {core}\n  model: {}", model.text());
        }
    }
    report
}

/// Scopes that overlap, and paths in other spellings.
pub(crate) fn scopes() -> Family {
    const SCOPES: [&str; 8] = ["/", "/a", "/a/b", "/*b", "/a$", "/a%2Fb", "/x/", "/%61"];
    let world = |choice: &[usize]| {
        let rules = ["noindex", "nosnippet; ABot=", "NOINDEX; abot=noarchive, nofollow"];
        let rule = |(scope, rules): (&usize, &str)| json!({ "scope": SCOPES[*scope], "rules": rules });
        let tags: Vec<_> = choice.iter().zip(rules).map(rule).collect();
        let document = json!({
            "mode": "enforce", "catalog": "none", "sites": [{ "hosts": ["one.test"], "robots_tag": tags }]
        });
        World { document, files: [].into() }
    };
    let client = |choice: &[usize]| {
        let paths = ["/", "/a", "/a/b", "/x/../a", "/a/../x/", "/a%2Fb", "//a", "/a;/b", "/x/b#", "/a?b"];
        Client { path: paths[choice[0]].into(), ..Client::default() }
    };
    Family { name: "scopes", worlds: vec![SCOPES.len(); 3], clients: vec![10], world, client }
}
