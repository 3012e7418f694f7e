//! Two agents with every state of ranges, keys and names; clients who claim them, or not.

use crawlpike_model::{Name, Versions};
use serde_json::{Value, json};

use crate::harness::{Client, Family, NOW, World, file, file_of, version};
use crate::signing::{Signed, directory, keys};

const DAY: i64 = 24 * 60 * 60;

/// The states of an agent's ranges. Each has 198.51.100.0/24 where it is in force.
const RANGES: usize = 16;

fn jafar(entries: &[&str]) -> String {
    let entry = |entry: &&str| match entry.split_once(' ') {
        Some((prefix, service)) => format!(r#"{{"ipv4Prefix":"{prefix}","service":"{service}"}}"#),
        None => format!(r#"{{"ipv4Prefix":"{entry}"}}"#),
    };
    let prefixes: Vec<String> = entries.iter().map(entry).collect();
    format!(
        r#"{{"formatVersion":"1.0","synctoken":"1","creationTime":"2026-01-01T00:00:00Z","prefixes":[{}]}}"#,
        prefixes.join(",")
    )
}

/// The feeds of the first agent, its own keys in the document, and the files.
fn ranges(
    state: usize,
    agent: &mut Value,
    feeds: &mut Vec<Value>,
    files: &mut Vec<(&'static str, Versions)>,
) {
    let mut add = |name: &'static str, more: Value, versions: Versions| {
        let mut feed = json!({ "name": name, "format": "jafar", "source": name });
        feed.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        feeds.push(feed);
        files.push((name, versions));
    };
    let good = jafar(&["198.51.100.0/24"]);
    let (bad, wide) = (jafar(&["198.51.100.0/24", "198.51.100.7/24"]), jafar(&["0.0.0.0/0"]));
    let held = |newest: Option<&str>| Versions {
        newest: newest.map(|text| version(text, NOW)),
        last_good: Some(version(&*good, NOW)),
        ..Versions::default()
    };
    agent["feeds"] = json!(["a"]);
    match state {
        0 => agent["feeds"] = json!([]),
        1 => add("a", json!({}), file(good)),
        2 => add("a", json!({}), file(bad)),
        3 => add("a", json!({}), held(Some("<html>"))),
        4 => add("a", json!({}), held(Some(&wide))),
        5 => add("a", json!({}), held(None)),
        6 => add("a", json!({}), Versions::default()),
        7 => add("a", json!({}), file(jafar(&[]))),
        8 => add("a", json!({ "max_age": "1d" }), file_of(good, NOW - DAY)),
        9 => add("a", json!({ "max_age": "1d" }), file_of(good, NOW + DAY)),
        10 => {
            add("a", json!({}), file(good));
            agent["ranges"] = json!("partial");
        }
        11 => {
            add(
                "a",
                json!({}),
                file(jafar(&["198.51.100.0/24 x", "198.51.100.128/25 y", "198.51.100.128/25 x"])),
            );
            agent["services"] = json!(["x"]);
        }
        12 => {
            add("a", json!({}), file(jafar(&["198.51.100.0/24 x", "198.51.100.0/25 y"])));
            agent["services"] = json!(["z", "y"]);
        }
        13 => {
            add("a", json!({}), file(good));
            add("c", json!({}), Versions::default());
            agent["feeds"] = json!(["a", "c"]);
        }
        14 => add("a", json!({}), file(jafar(&["198.51.100.0/24", "10.0.0.0/8"]))),
        _ => {
            add(
                "a",
                json!({ "url": "https://a.test/a.json" }),
                file(jafar(&["198.51.100.0/24", "10.0.0.0/8"])),
            );
        }
    }
}

fn world(choice: &[usize]) -> World {
    let [of_ranges, has_keys, has_names, of_other, exempt] = *choice else { panic!("five points") };
    let (mut feeds, mut files) = (Vec::new(), Vec::new());
    let mut a = json!({ "token": "ABot" });
    ranges(of_ranges, &mut a, &mut feeds, &mut files);
    let mut agents = vec![a];
    if has_keys > 0 {
        agents[0]["keys"] = json!([{ "directory": directory(1), "source": "keys1" }]);
        files.push(("keys1", file(keys(1))));
    }
    if has_names > 0 {
        agents[0]["rdns"] = json!(["a.test"]);
    }
    let b = match of_other {
        0 => None,
        1 => Some(json!({ "token": "BBot" })),
        // The feed, or the directory, of the first agent.
        2 => Some(json!({ "token": "BBot", "feeds": agents[0]["feeds"] })),
        3 => Some(json!({ "token": "BBot", "keys": agents[0].get("keys").unwrap_or(&json!([])) })),
        _ => {
            feeds.push(json!({ "name": "b", "format": "cidr", "source": "b" }));
            files.push(("b", file("192.0.2.0/24\n198.51.100.0/25\n172.16.0.0/12\n")));
            files.push(("keys2", file(keys(2))));
            Some(
                json!({ "token": "BBot", "feeds": ["b"], "keys": [{ "directory": directory(2), "source": "keys2" }] }),
            )
        }
    };
    agents.extend(b);
    let exempts = [json!([]), json!(["203.0.113.0/24"]), json!([{ "feed": "a" }])];
    let mut exempts = exempts[exempt].clone();
    if !feeds.iter().any(|feed| feed["name"] == "a") && exempt == 2 {
        exempts = json!(["198.51.100.9"]);
    }
    let document = json!({
        "mode": "enforce", "catalog": "none", "feeds": feeds, "agents": agents, "exempt": exempts,
        "nat64": ["2001:db8:64::/96"], "sites": [{ "hosts": ["one.test"] }]
    });
    World { document, files: files.into_iter().map(|(name, versions)| (name.to_owned(), versions)).collect() }
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

const USER_AGENTS: [Option<&str>; 10] = [
    Some("curl/8.5.0"),
    None,
    Some(BROWSER),
    Some("ABot/1.0"),
    Some("Mozilla/5.0 (compatible; abot/2.1; +https://a.test/)"),
    Some("BBot"),
    Some("BBot ABot"),
    Some("NotABot ABotX ABot-Image/1.0"),
    Some("\u{e9}ABot"),
    Some(
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36",
    ),
];

const ADDRESSES: [Option<&str>; 14] = [
    Some("203.0.113.9"),
    Some("198.51.100.7"),
    Some("198.51.100.200"),
    Some("192.0.2.7"),
    Some("10.1.2.3"),
    Some("172.16.9.9"),
    Some("100.64.0.1"),
    Some("fe80::1"),
    Some("2002:c633:6407::1"),
    Some("2001:0:1::1"),
    Some("::ffff:198.51.100.7"),
    Some("64:ff9b::c633:6407"),
    Some("2001:db8:64::c633:6407"),
    None,
];

const SIGNED: [Signed; 7] = [
    Signed::No,
    Signed::By(1),
    Signed::By(2),
    Signed::Forged(1),
    Signed::Unknown,
    Signed::Expired,
    Signed::NotExamined,
];

/// At a limit, before it and after.
const CLOCKS: [i64; 3] = [0, -1, 1];

fn client(choice: &[usize]) -> Client {
    let [address, user_agent, signed, name, clock] = *choice else { panic!("five points") };
    Client {
        address: ADDRESSES[address].map(|text| text.parse().expect("an address")),
        user_agent: USER_AGENTS[user_agent],
        signed: SIGNED[signed],
        name: [Name::Nothing, Name::Confirmed, Name::NotLookedUp][name],
        now: NOW + CLOCKS[clock],
        ..Client::default()
    }
}

pub(crate) fn family() -> Family {
    Family {
        name: "agents",
        worlds: vec![RANGES, 2, 2, 5, 3],
        clients: vec![ADDRESSES.len(), USER_AGENTS.len(), SIGNED.len(), 3, CLOCKS.len()],
        world,
        client,
    }
}
