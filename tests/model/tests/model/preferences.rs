//! Groups of automation-preferences.txt, two of each kind, and clients of each agent, method and purpose.

use serde_json::json;

use crate::harness::{Client, Family, World, file};

const HOSTS: [&str; 6] = [
    "",
    "host: one.test\n",
    "host: *.one.test\n",
    "host: other.test\n",
    "host: *, one.test\n",
    "host: a b\n",
];
const SCOPES: [&str; 6] = ["scope: /\n", "scope: /a\n", "scope: /*a\n", "scope: /b, /a$\n", "scope: b\n", ""];
const AGENTS: [&str; 5] =
    ["", "user-agent: *\n", "user-agent: abot\n", "user-agent: BBot, ABot/1\n", "user-agent: /\n"];
const METHODS: [&str; 4] =
    ["", "allowed-methods: get\n", "Allowed-Methods : GET, POST\n", "allowed-methods: OTHER\n"];
const PURPOSES: [&str; 4] =
    ["", "allowed-purposes: Search\n", "allowed-purposes:\n", "allowed-purposes: search, training # x\n"];
const USER_AGENTS: [&str; 7] = [
    "curl/8.5.0",
    "ABot",
    "BBot",
    "ABot; search; training",
    "curl/8; Other; Searching",
    "ABot (+https://a.test/training)",
    "ABot; search; training@a.test",
];

/// Five points make one group.
fn group(choice: &[usize]) -> String {
    let [scope, host, agent, methods, purposes] = *choice else { panic!("five points") };
    [SCOPES[scope], HOSTS[host], AGENTS[agent], METHODS[methods], PURPOSES[purposes]].concat()
}

fn world(choice: &[usize]) -> World {
    let (settings, groups) = choice.split_at(2);
    let (one, other) = groups.split_at(5);
    let between = ["\n", "# x\n", " \t\n"][settings[1]];
    let text = format!("# x\n{}{between}{}", group(one), group(other));
    let mut site =
        json!({ "hosts": ["one.test", "*.one.test"], "automation_preferences": "preferences.txt" });
    if settings[0] > 0 {
        site["undeclared_purpose"] = json!("allow");
    }
    let document = json!({
        "mode": "enforce", "catalog": "none", "sites": [site],
        "agents": [{ "token": "ABot" }, { "token": "BBot", "purposes": ["search", "other"] }]
    });
    World { document, files: [("preferences.txt".to_owned(), file(text))].into() }
}

fn client(choice: &[usize]) -> Client {
    let [user_agent, host, path, method, purposes] = *choice else { panic!("five points") };
    let all: [&[&str]; 6] =
        [&[], &["SEARCH"], &["training", "search"], &["search, training"], &["other"], &[""]];
    Client {
        user_agent: Some(USER_AGENTS[user_agent]),
        host: ["one.test", "x.one.test:80", "ONE.test."][host],
        path: ["/", "/a", "/b", "/x/../a"][path].into(),
        method: ["GET", "POST", "get"][method],
        purposes: all[purposes],
        ..Client::default()
    }
}

/// Which of two groups decides.
pub(crate) fn two_groups() -> Family {
    let group = vec![SCOPES.len(), HOSTS.len(), AGENTS.len(), 1, 1];
    let worlds = [vec![1, 1], group.clone(), group].concat();
    Family { name: "two groups", worlds, clients: vec![4, 3, 4, 1, 1], world, client }
}

/// The verdict of a group.
pub(crate) fn one_group() -> Family {
    let group = vec![2, 2, 2, METHODS.len(), PURPOSES.len()];
    let worlds = [vec![2, 3], group, vec![2, 1, 1, 1, 1]].concat();
    Family { name: "one group", worlds, clients: vec![USER_AGENTS.len(), 3, 4, 3, 6], world, client }
}
