//! The versions of a feed, and the entries of a geofeed.

use serde_json::json;

use crate::harness::{Client, Family, NOW, World, file, version};

const DAY: i64 = 24 * 60 * 60;

/// Lists from which versions are made: prefixes of IPv4 and IPv6, of which some lie within others.
fn list(choice: usize) -> Option<String> {
    let lines = |second: u8, thirds: std::ops::Range<u8>| -> String {
        thirds.map(|third| format!("11.{second}.{third}.0/24\n")).collect()
    };
    Some(match choice {
        0 => return None,
        1 => lines(1, 0..10),
        2 => String::new(),
        3 => "<html>".into(),
        // Exactly half, and a prefix less.
        4 => lines(1, 0..5),
        5 => lines(1, 0..4),
        // Seven of ten are gone, and eight; no fewer.
        6 => lines(1, 0..3) + &lines(2, 0..7),
        7 => lines(1, 0..2) + &lines(2, 0..8),
        // Ten times as many, and one more.
        8 => lines(1, 0..100),
        9 => lines(1, 0..101),
        // The same addresses in one prefix and more; and in parts.
        10 => "11.1.0.0/20\n".into(),
        11 => lines(1, 0..10).replace("0/24", "0/25") + &lines(1, 0..10).replace("0/24", "128/25"),
        12 => lines(1, 0..10) + "2600::/32\n",
        13 => lines(1, 0..10) + "2600::/20\n",
        14 => lines(1, 0..10) + "11.0.0.0/7\n",
        15 => lines(1, 0..10) + "12.0.0.0/8\n",
        16 => lines(1, 0..10) + "2600::/15\n",
        17 => lines(1, 0..10) + "not a prefix\n",
        18 => lines(3, 0..6),
        19 => "2600::/32\n2600:0:1::/48\n".into(),
        20 => "2600::/32\n11.1.0.0/16\n".into(),
        _ => "2600::/32\n11.0.0.0/8\n".into(),
    })
}

const LISTS: usize = 22;

/// The lists that were good some days before.
const EARLIER: [usize; 6] = [0, 1, 5, 8, 12, 18];

fn world(choice: &[usize]) -> World {
    let [newest, last, earlier, guard, is_accepted, proving] = *choice else { panic!("six points") };
    let guards = [
        json!({}),
        json!("off"),
        json!({ "shrink": "20%", "replace": "10%" }),
        json!({ "grow": "2x", "cover": "10%", "widest": { "v4": 7, "v6": 15 } }),
    ];
    let mut document = json!({
        "mode": "enforce", "catalog": "none",
        "feeds": [
            { "name": "a", "format": "cidr", "source": "a", "max_age": "1d", "guard": guards[guard] },
            { "name": "b", "format": "cidr", "source": "b" }
        ],
        "agents": [{ "token": "ABot", "feeds": ["a"] }, { "token": "BBot", "feeds": ["b"] }],
        "sites": [{ "hosts": ["one.test"] }]
    });
    match proving {
        1 => document["agents"][0]["feeds"] = json!([]),
        // The same agent's feeds may be equal.
        2 => document["agents"] = json!([{ "token": "ABot", "feeds": ["a", "b"] }]),
        3 => {
            document["agents"][0]["feeds"] = json!([]);
            document["exempt"] = json!([{ "feed": "a" }]);
        }
        _ => {}
    }
    let other = list(18);
    let mut b = file(other.clone().unwrap_or_default());
    b.last_good = other.map(|text| version(text, NOW));
    let versions = crawlpike_model::Versions {
        newest: list(newest).map(|text| version(text, NOW)),
        last_good: list(last).map(|text| version(text, NOW - 60)),
        earlier_good: list(EARLIER[earlier]).map(|text| version(text, NOW - 120)),
        is_accepted: is_accepted > 0,
    };
    World { document, files: [("a".to_owned(), versions), ("b".to_owned(), b)].into() }
}

fn client(choice: &[usize]) -> Client {
    let addresses = ["11.9.0.1", "11.1.0.1", "11.1.9.1", "11.2.0.1", "2600::1", "11.3.0.1"];
    let clocks = [0, DAY - 60, DAY, -DAY - 1, -DAY - 61];
    Client {
        address: addresses[choice[0]].parse().ok(),
        user_agent: Some(["ABot", "BBot", "curl/8.5.0"][choice[1]]),
        now: NOW + clocks[choice[2]],
        ..Client::default()
    }
}

pub(crate) fn versions() -> Family {
    Family {
        name: "versions",
        worlds: vec![LISTS, LISTS, EARLIER.len(), 4, 2, 4],
        clients: vec![6, 2, 5],
        world,
        client,
    }
}

const PREFIXES: [&str; 12] = [
    "198.51.100.0/24",
    "198.51.100.7",
    "198.51.100.7/32",
    "198.51.100.7/24",
    "\"198.51.100.0/24\"",
    " 198.51.100.0/24 ",
    "::ffff:198.51.100.0/120",
    "",
    "198.51.100/24",
    "198.51.0.0/016",
    "198.51.0.0/16",
    "2001:0DB8::0/32",
];
const COUNTRIES: [&str; 7] = ["US", "us", "", "USA", "ZZ", " \"PL\" ", "U1"];
const REGIONS: [&str; 6] = ["", "US-CA", "us-ca", "USA-CA", "PL-MZ", "US-CALI"];
const ENDS: [&str; 8] =
    ["", ",,", ",City,", ",\"A, \"\"B\"\"\",12345", ",,,extra", ",# c", ",\"a # b\",", ", City "];

/// Two entries, one after the other.
pub(crate) fn places() -> Family {
    let world = |choice: &[usize]| {
        let line = |choice: &[usize]| {
            format!(
                "{},{},{}{}",
                PREFIXES[choice[0]], COUNTRIES[choice[1]], REGIONS[choice[2]], ENDS[choice[3]]
            )
        };
        let (authority, entries) = choice.split_at(1);
        let authority = [json!([]), json!(["198.51.100.0/25", "2001::/16"])][authority[0]].clone();
        let (one, other) = entries.split_at(4);
        let document = json!({
            "mode": "enforce", "catalog": "none",
            "feeds": [{ "name": "places", "format": "geofeed", "source": "places", "authority": authority }],
            "sites": [{ "hosts": ["one.test"], "geo": [{ "country": ["US"], "action": "deny" }] }]
        });
        let text = format!("# c\r\n\r\n{}\r\n192.0.2.0/24,DE,,,\n{}", line(one), line(other));
        World { document, files: [("places".to_owned(), file(text))].into() }
    };
    let client = |choice: &[usize]| Client {
        address: ["198.51.100.7", "198.51.100.200", "198.51.9.9", "2001:db8::1", "192.0.2.1"][choice[0]]
            .parse()
            .ok(),
        ..Client::default()
    };
    let entry = [PREFIXES.len(), COUNTRIES.len(), REGIONS.len(), ENDS.len()];
    Family {
        name: "places",
        worlds: [&[2][..], &entry, &[4, 3, 2, 2]].concat(),
        clients: vec![5],
        world,
        client,
    }
}
