//! The peer: the same policy as an operator writes it with nginx's own `geo` and `map`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crawlpike_tests::artefacts::repository;
use ipnet::IpNet;
use serde_json::Value;

use crate::world::World;

/// For the `http` block: sets `$deny` for who claims an agent of a feed from an address outside of it.
///
/// It says less than Crawlpike does. An address is in one feed only, the one with the most specific prefix; and a token
/// counts wherever it stands, also within another word, which makes its expressions cheaper than right ones.
pub(crate) fn variables(world: &World) -> String {
    let mut text =
        String::from("map_hash_max_size 4096; map_hash_bucket_size 256;\ngeo $feed {\ndefault '';\n");
    // `geo` has one value a prefix.
    let mut feed_of: BTreeMap<IpNet, &str> = BTreeMap::new();
    for feed in world.feeds() {
        for prefix in &feed.prefixes {
            feed_of.entry(*prefix).or_insert(&feed.name);
        }
    }
    for (prefix, feed) in feed_of {
        let _ = writeln!(text, "{prefix} {feed};");
    }
    let agents = agents();
    text.push_str("}\nmap $http_user_agent $agent {\ndefault '';\n");
    for Agent { token, .. } in &agents {
        let _ = writeln!(text, "\"~*{}\" \"{token}\";", escaped(token));
    }
    text.push_str("}\nmap \"$agent:$feed\" $deny {\ndefault 0;\n\":\" 0;\n");
    let loaded: Vec<&str> = world.feeds().iter().map(|feed| feed.name.as_str()).collect();
    for feed in &loaded {
        // People, who need not be looked for among the expressions below.
        let _ = writeln!(text, "\":{feed}\" 0;");
    }
    for Agent { token, feeds, has_all_ranges } in &agents {
        // A feed that is not loaded leaves open who this is, and so do partial ranges.
        let are_loaded = feeds.iter().all(|feed| loaded.contains(&feed.as_str()));
        if feeds.is_empty() || !are_loaded || !has_all_ranges {
            continue;
        }
        for feed in feeds {
            let _ = writeln!(text, "\"{token}:{feed}\" 0;");
        }
        let _ = writeln!(text, "\"~^{}:\" 1;", escaped(token));
    }
    text.push_str("}\n");
    text
}

struct Agent {
    token: String,
    feeds: Vec<String>,
    has_all_ranges: bool,
}

/// The catalog's agents, longer tokens first: the first expression that matches counts.
fn agents() -> Vec<Agent> {
    let text = fs::read(repository().join("core/data/catalog.json")).expect("the catalog");
    let catalog: Value = serde_json::from_slice(&text).expect("the catalog is JSON");
    let strings = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
    };
    let mut agents: Vec<Agent> = catalog["agents"]
        .as_array()
        .expect("the catalog has agents")
        .iter()
        .map(|agent| Agent {
            token: agent["token"].as_str().unwrap_or_default().to_owned(),
            feeds: strings(&agent["feeds"]),
            has_all_ranges: agent["ranges"] != "partial",
        })
        .collect();
    agents.sort_by_key(|agent| std::cmp::Reverse(agent.token.len()));
    agents
}

/// A token as a regular expression.
fn escaped(token: &str) -> String {
    let mut text = String::new();
    for character in token.chars() {
        if !character.is_ascii_alphanumeric() {
            text.push('\\');
        }
        text.push(character);
    }
    text
}
