//! Usage preferences in each notation, on paths of which some may not be crawled, for agents with purposes.

use serde_json::json;

use crate::harness::{Client, Family, World, file};

const LINES: [&str; 20] = [
    "",
    "Content-Usage: train-ai=n",
    "Content-Usage: /a train-ai=y, search=n",
    "Content-Usage:\t/a*\tai-use=n;x, search=y",
    "Content-Usage: /%61b search=y # n",
    "Content-Usage: /a",
    "Content-Usage: train-ai=y, train-ai, search=n, search=\"n\"",
    "Content-Usage: Search=n, ai-use=y",
    "Content-Usage: ai-use=n;a=(",
    "Content-Usage: /ab$ train-ai=n, ai-use=n, search=n",
    "Content-Signal: ai-train=no, search=yes",
    "Content-Signal: ai-input = no , use=reference, search=maybe",
    "Content-Signal: ai-train=yes, ai-train=no, AI-Input=no",
    "Disallow: /ab",
    "Allow: /a",
    "User-agent: TrainBot",
    "User-agent: *",
    "License: https://one.test/license.xml",
    "Content-Usage: * train-ai=n",
    "Content-Usage: train-ai=(n), search=n;q",
];

fn world(choice: &[usize]) -> World {
    let [site_rules, enforce, above, ref lines @ ..] = *choice else { panic!("some points") };
    let rules = [
        json!([]),
        json!([{ "scope": "/a", "preferences": "search=y" }, { "scope": "/ab", "preferences": "train-ai=n" }]),
        json!([{ "preferences": "ai-use=n" }, { "scope": "/*b", "preferences": "search=n" }, { "scope": "/ab", "preferences": "search=y" }]),
    ];
    let usage = json!({ "rules": rules[site_rules], "enforce": enforce > 0 });
    let lines: Vec<&str> = lines.iter().map(|line| LINES[*line]).collect();
    let text = format!("{}\nUser-agent: *\n{}\n", ["", LINES[10], LINES[1]][above], lines.join("\n"));
    let document = json!({
        "mode": "enforce", "catalog": "none",
        "agents": [
            { "token": "TrainBot", "purposes": ["ai-training"] }, { "token": "FindBot", "purposes": ["Search", "train-ai"] },
            { "token": "AnswerBot", "purposes": ["ai-search"] }, { "token": "DataBot", "purposes": ["dataset", "ai-use"] }
        ],
        "sites": [{ "hosts": ["one.test"], "robots_txt": "robots.txt", "usage": usage }]
    });
    World { document, files: [("robots.txt".to_owned(), file(text))].into() }
}

fn client(choice: &[usize]) -> Client {
    let [user_agent, path, purposes] = *choice else { panic!("three points") };
    let agents = [
        "curl/8.5.0",
        "TrainBot",
        "FindBot",
        "AnswerBot",
        "DataBot",
        "Mozilla/5.0 (X11) Gecko/20100101 Firefox/128.0",
    ];
    let all: [&[&str]; 2] = [&[], &["search", "ai-train"]];
    Client {
        user_agent: Some(agents[user_agent]),
        path: ["/a", "/ab", "/a/../ab", "/ab%2F"][path].into(),
        purposes: all[purposes],
        ..Client::default()
    }
}

pub(crate) fn family() -> Family {
    Family {
        name: "usage",
        worlds: vec![3, 2, 3, LINES.len(), LINES.len(), LINES.len()],
        clients: vec![6, 4, 2],
        world,
        client,
    }
}
