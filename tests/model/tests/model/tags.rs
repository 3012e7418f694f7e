//! Robots-Tag: lines of a response in each syntax, and the scopes of a site.

use std::collections::BTreeSet;
use std::fmt::Write;

use crawlpike_core::internals::RobotsTagSyntax;
use crawlpike_core::internals::policy::RobotsTag;
use crawlpike_model::Tag;
use serde_json::json;

use crate::harness::{Client, Family, Report, World, digits};

/// Members of lists in each syntax, and what stands between them.
const MEMBERS: [&str; 22] = [
    "",
    "noindex",
    "NoSnippet",
    "max-snippet:20",
    "max-snippet: 20",
    "Unavailable_After: Fri, 25 Jun 2010 15:00:00 GMT",
    "unavailable_after: 25 Jun 2010",
    "other-rule",
    "new-rule:3",
    "two words",
    "Bot=noindex",
    "Bot=",
    "*=nosnippet",
    "googlebot: noindex",
    "googlebot:noindex",
    "bot: new",
    "*: nofollow",
    "*;noindex",
    "Bot;nosnippet;max-snippet=3",
    "\"all\";x",
    "*",
    "Bot;unavailable_after=\"Fri, 25 Jun\"",
];
const BETWEEN: [&str; 4] = [", ", ";", " ; ", ","];

/// Lines of three members, united with another line.
pub(crate) fn compare_lines(step: usize) -> Report {
    let sizes = [MEMBERS.len(), BETWEEN.len(), MEMBERS.len(), BETWEEN.len(), MEMBERS.len()];
    let mut report = Report::default();
    let mut kinds = BTreeSet::new();
    for number in (0..sizes.iter().product()).step_by(step) {
        report.worlds += 1;
        let choice = digits(&sizes, number);
        let [one, then, other, and, last] = *choice else { panic!("five points") };
        let line = [MEMBERS[one], BETWEEN[then], MEMBERS[other], BETWEEN[and], MEMBERS[last]].concat();
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
