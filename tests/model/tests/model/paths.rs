//! Rules of robots.txt over a small alphabet, on paths over the same.

use serde_json::json;

use crate::harness::{Client, Family, World, file};

const PIECES: [&str; 14] = ["", "a", "/", "*", "$", "%2F", "%61", "?", "..", "%2A", ";", "%", "%3A", "\\"];

/// Patterns of a slash and some pieces.
pub(crate) fn pattern(pieces: &[usize]) -> String {
    let text: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
    format!("/{text}")
}

fn world_of(rules: &[String]) -> World {
    let document = json!({
        "mode": "enforce", "catalog": "none", "sites": [{ "hosts": ["one.test"], "robots_txt": "robots.txt" }]
    });
    let text = format!("User-agent: *\n{}\n", rules.join("\n"));
    World { document, files: [("robots.txt".to_owned(), file(text))].into() }
}

fn client(choice: &[usize]) -> Client {
    Client { path: pattern(choice), ..Client::default() }
}

/// One rule of three pieces.
pub(crate) fn one_rule() -> Family {
    let world = |choice: &[usize]| world_of(&[format!("Disallow: {}", pattern(choice))]);
    Family { name: "one rule", worlds: vec![PIECES.len(); 3], clients: vec![PIECES.len(); 3], world, client }
}

/// Two rules of two pieces, of which one allows: the longer one, by each form of the path.
pub(crate) fn two_rules() -> Family {
    let world = |choice: &[usize]| {
        let (one, other) = choice.split_at(2);
        world_of(&[format!("Disallow: {}", pattern(one)), format!("Allow: {}", pattern(other))])
    };
    Family { name: "two rules", worlds: vec![PIECES.len(); 4], clients: vec![PIECES.len(); 2], world, client }
}

/// The lines of a robots.txt, out of which files are made.
const LINES: [&str; 15] = [
    "",
    "User-agent: *",
    "User-agent: ABot",
    "user-agent: abot/2 # x",
    "User-agent: __usage_x",
    "Disallow: /a",
    "Allow: /a",
    "allow /a",
    "Disallow:",
    "Disallow: a",
    "Sitemap: https://one.test/",
    "User-agent BBot",
    "Disallow /a b",
    "Content-Usage: search=n",
    "User-agent: * x",
];

/// Files of four lines, with each end.
pub(crate) fn lines() -> Family {
    let world = |choice: &[usize]| {
        let (ends, lines) = choice.split_first().expect("a point");
        let lines: Vec<&str> = lines.iter().map(|line| LINES[*line]).collect();
        let text = [
            lines.join("\n"),
            lines.join("\r"),
            lines.join("\r\n"),
            format!("\u{feff}{}\n", lines.join("\n")),
        ];
        let document = json!({
            "mode": "enforce", "catalog": "none", "agents": [{ "token": "ABot" }, { "token": "BBot" }, { "token": "__usage_x" }],
            "sites": [{ "hosts": ["one.test"], "robots_txt": "robots.txt" }]
        });
        World { document, files: [("robots.txt".to_owned(), file(&*text[*ends]))].into() }
    };
    let client = |choice: &[usize]| Client {
        user_agent: Some(["curl/8.5.0", "ABot", "BBot", "__usage_x"][choice[0]]),
        path: ["/a", "/"][choice[1]].into(),
        ..Client::default()
    };
    Family {
        name: "lines",
        worlds: vec![4, LINES.len(), LINES.len(), LINES.len(), LINES.len()],
        clients: vec![4, 2],
        world,
        client,
    }
}
