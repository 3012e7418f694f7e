//! Robots-Tag: lines of a response in each syntax, and the scopes of a site.

use std::fmt::Write;

use crawlpike_core::internals::RobotsTagSyntax;
use crawlpike_core::internals::policy::RobotsTag;
use crawlpike_model::Tag;
use serde_json::json;

use crate::harness::{Client, Family, Report, World, digits};

/// A syntax: who is addressed, the rules, and what stands between lists.
struct Syntax {
    addressees: &'static [&'static str],
    rules: &'static [&'static str],
    between_rules: &'static str,
    between: &'static str,
}

const RULES: &[&str] = &[
    "noindex",
    "nosnippet",
    "max-snippet:20",
    "Unavailable_After: Fri, 25 Jun 2010 15:00:00 GMT",
    "unavailable_after: 25 Jun 2010",
    "other-rule",
    "new-rule:3",
    "two words",
    "",
];

const SYNTAXES: [Syntax; 5] = [
    Syntax {
        addressees: &["", "*=", "Bot=", "googlebot =", "bot= "],
        rules: RULES,
        between_rules: ", ",
        between: "; ",
    },
    Syntax { addressees: &["", "*=", "Bot=", "BOT="], rules: RULES, between_rules: ",", between: ";" },
    Syntax {
        addressees: &["", "*: ", "googlebot: ", "bot : "],
        rules: RULES,
        between_rules: ", ",
        between: ", ",
    },
    Syntax {
        addressees: &["", "googlebot:", "bot:"],
        rules: &["noindex", "nosnippet", "none"],
        between_rules: ", ",
        between: ",",
    },
    Syntax {
        addressees: &["*", "Bot", "\"all\"", "\"googlebot\""],
        rules: &[
            "",
            ";noindex",
            "; max-snippet=3",
            ";unavailable_after=\"Fri, 25 Jun\"",
            ";max-image-preview=large",
            ";x=\"y\"",
            ";z=4",
        ],
        between_rules: "",
        between: " , ",
    },
];

/// Lines of two lists of two rules each, united with another line.
pub(crate) fn compare_lines(step: usize) -> Report {
    let mut report = Report::default();
    for Syntax { addressees, rules, between_rules, between } in &SYNTAXES {
        let list = [addressees.len(), rules.len(), rules.len()];
        let sizes = [list, list].concat();
        for number in (0..sizes.iter().product()).step_by(step) {
            report.worlds += 1;
            let choice = digits(&sizes, number);
            let list = |choice: &[usize]| {
                let rules: Vec<&str> =
                    choice[1..].iter().map(|rule| rules[*rule]).filter(|rule| !rule.is_empty()).collect();
                addressees[choice[0]].to_owned() + &rules.join(between_rules)
            };
            compare_line(&mut report, &[list(&choice[..3]), list(&choice[3..])].join(between));
        }
    }
    report
}

/// The plainest lines come first, so the first differences are enough.
fn compare_line(report: &mut Report, line: &str) {
    let (mut core, mut model) = (RobotsTag::default(), Tag::default());
    for line in [line, "noarchive, NOINDEX; BOT=nofollow"] {
        core.add_line(line.as_bytes());
        model.add_line(line);
    }
    let core = String::from_utf8(core.write(RobotsTagSyntax::Draft00)).expect("it is text");
    if core != model.text() && report.differences.lines().count() < 60 {
        let _ = writeln!(report.differences, "\n{line:?}\n  core:  {core}\n  model: {}", model.text());
    }
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
