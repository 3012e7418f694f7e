//! Two sites with every treatment, mode and rule on places; clients of each identity.

use serde_json::{Value, json};

use crate::harness::{Client, Family, World, file};
use crate::signing::{Signed, directory, keys};

const TREATMENTS: [&str; 3] = ["policy", "deny", "allow"];

fn geo(choice: usize) -> Value {
    match choice {
        0 => json!([]),
        1 => json!([{ "country": ["PL"], "action": "deny" }]),
        2 => {
            json!([{ "region": ["us-ca"], "action": "allow" }, { "country": ["US", "PL"], "action": "deny" }])
        }
        _ => {
            json!([{ "country": ["us"], "region": ["US-NY"], "action": "policy" }, { "country": ["US", "PL"], "action": "deny" }])
        }
    }
}

fn world(choice: &[usize]) -> World {
    let [spoofed, unverified, undeclared, mode, action, of_geo, exempt, percent] = *choice else {
        panic!("eight points")
    };
    let (default, modes) = match mode {
        0 => ("enforce", json!([])),
        1 => ("observe", json!([])),
        2 => ("off", json!([])),
        3 => (
            "observe",
            json!([{ "scope": "/api", "mode": "enforce" }, { "scope": "/api/v2", "mode": "off" }]),
        ),
        4 => (
            "enforce",
            json!([{ "scope": "/", "mode": "off" }, { "scope": "/*v2$", "mode": "enforce" }, { "scope": "/api/v2", "mode": "observe" }]),
        ),
        _ => {
            ("off", json!([{ "scope": "/api", "mode": "enforce" }, { "scope": "/%61pi", "mode": "observe" }]))
        }
    };
    let mut one = json!({
        "hosts": ["one.test", "*.wild.test"], "robots_txt": "robots.txt", "spoofed": TREATMENTS[spoofed],
        "unverified": TREATMENTS[unverified], "undeclared": TREATMENTS[undeclared], "modes": modes, "geo": geo(of_geo),
        "aiwebindex": { "verification_tokens": ["0123456789abcdef0123456789abcdef"] }
    });
    if percent > 0 {
        one["enforce_percent"] = json!(0);
    }
    let mut document = json!({
        "mode": default, "catalog": "none",
        "feeds": [
            { "name": "a", "format": "cidr", "source": "a" }, { "name": "b", "format": "cidr", "source": "b" },
            { "name": "places", "format": "geofeed", "source": "places" }
        ],
        "agents": [
            { "token": "ABot", "feeds": ["a"], "action": TREATMENTS[action],
              "keys": [{ "directory": directory(1), "source": "keys1" }] },
            { "token": "BBot" }
        ],
        "sites": [one, { "hosts": ["*.one.test", "a.wild.test"], "name": "two", "automation_preferences": "preferences.txt" }]
    });
    match exempt {
        1 => document["exempt"] = json!(["192.0.2.0/25"]),
        2 => document["sites"][0]["exempt"] = json!([{ "feed": "b" }, "203.0.113.9"]),
        _ => {}
    }
    let files = [
        ("a", "198.51.100.0/24\n"),
        ("b", "192.0.2.0/24\n"),
        (
            "places",
            "198.51.100.0/24,US,US-CA,,\n198.51.100.128/25,US,US-NY,,\n203.0.113.0/24,PL,,Lodz,\n192.0.2.0/24,,,,\n192.0.0.0/16,PL,,,\n",
        ),
        (
            "robots.txt",
            "User-agent: ABot\nDisallow: /closed\n\nUser-agent: *\nDisallow: /closed\nDisallow: /api/v3\n",
        ),
        ("preferences.txt", "scope: /\nallowed-methods: GET\n"),
        ("keys1", &keys(1)),
    ];
    World { document, files: files.into_iter().map(|(name, text)| (name.to_owned(), file(text))).collect() }
}

/// One of each identity, and some in doubt.
const CLIENTS: [(&str, &str, Signed); 11] = [
    ("203.0.113.9", "curl/8.5.0", Signed::No),
    ("203.0.113.9", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", Signed::No),
    ("198.51.100.7", "ABot/1.0", Signed::No),
    ("203.0.113.9", "ABot/1.0", Signed::No),
    ("203.0.113.9", "BBot/1.0", Signed::No),
    ("192.0.2.7", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", Signed::No),
    ("198.51.100.200", "curl/8.5.0", Signed::No),
    ("203.0.113.9", "BBot/1.0", Signed::Forged(1)),
    ("203.0.113.9", "BBot/1.0", Signed::NotExamined),
    ("203.0.113.9", "ABot/1.0", Signed::NotExamined),
    ("192.0.2.200", "BBot/1.0", Signed::By(1)),
];

const HOSTS: [&str; 14] = [
    "one.test",
    "ONE.test.:8080",
    "x.one.test",
    "a.wild.test",
    "b.a.wild.test",
    "wild.test",
    "other.test",
    "",
    "user@one.test",
    "one..test",
    "one.test;x",
    "192.0.2.1",
    "[2001:db8::1]:80",
    "one.test:",
];

const PATHS: [&str; 14] = [
    "/",
    "/closed/a",
    "/api",
    "/api/v2",
    "/api/v2/x",
    "/api/v3",
    "/robots.txt",
    "/robots.txt?x",
    "//robots.txt",
    "/%72obots.txt",
    "/automation-preferences.txt",
    "/.well-known/aiwebindex-verify.txt",
    "/x/../api/v2",
    "/api%2Fv2",
];

fn client(choice: &[usize]) -> Client {
    let [who, host, path, method, mode] = *choice else { panic!("five points") };
    let (address, user_agent, signed) = CLIENTS[who];
    Client {
        address: address.parse().ok(),
        host: HOSTS[host],
        path: PATHS[path].into(),
        method: ["GET", "POST", "HEAD"][method],
        user_agent: Some(user_agent),
        signed,
        mode: [None, Some("enforce"), Some("observe"), Some("off")][mode],
        ..Client::default()
    }
}

/// Each treatment of each client, on a few paths.
pub(crate) fn treatments() -> Family {
    let clients = vec![CLIENTS.len(), 6, 8, 2, 1];
    Family { name: "treatments", worlds: vec![3, 3, 3, 1, 3, 4, 3, 1], clients, world, client }
}

/// Each mode, on all hosts and paths.
pub(crate) fn modes() -> Family {
    let clients = vec![CLIENTS.len(), HOSTS.len(), PATHS.len(), 3, 4];
    Family { name: "modes", worlds: vec![1, 2, 1, 6, 1, 1, 3, 2], clients, world, client }
}
