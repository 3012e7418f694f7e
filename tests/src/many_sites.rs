//! A table that no one would write by hand: hundreds of sites in one configuration.

use serde_json::{Map, Value, json};

use crate::cases::Table;

const SITES: usize = 300;
/// Every so many sites there is one with a wildcard.
const WILDCARD_EVERY: usize = 7;

/// Each site has a robots.txt of its own, whose one rule is in a line that identifies the site.
pub(crate) fn table() -> Table {
    let mut files = Map::new();
    let mut sites = Vec::new();
    for number in 0..SITES {
        let host = format!("site-{number}.test");
        let below = (number.is_multiple_of(WILDCARD_EVERY)).then(|| format!("*.{host}"));
        let robots = format!("{host}/robots.txt");
        files.insert(
            robots.clone(),
            json!({ "text": format!("User-agent: *\n{}Disallow: /{number}/\n", "\n".repeat(number)) }),
        );
        let hosts: Vec<String> = [host].into_iter().chain(below).collect();
        sites.push(json!({ "hosts": hosts, "robots_txt": robots }));
    }
    let cases: Vec<Value> = (0..SITES).step_by(23).flat_map(cases_of).collect();
    let table = json!({
        "about": "Hundreds of sites in one configuration, each under its own rules.",
        "config": { "mode": "enforce", "sites": sites, "files": files },
        "cases": cases
    });
    let mut table: Table = serde_json::from_value(table).expect("a table");
    table.name = "many-sites".into();
    table
}

fn cases_of(number: usize) -> [Value; 3] {
    let site = format!("site-{number}.test");
    let denied = json!({
        "action": "deny", "status": 403, "reason": "robots-disallowed", "site": site,
        "rule": { "file": format!("{site}/robots.txt"), "line": number + 2 }
    });
    let allowed = json!({ "action": "allow", "reason": "allowed", "site": site, "rule": null });
    let below_is =
        if number.is_multiple_of(WILDCARD_EVERY) { denied.clone() } else { json!({ "site": null }) };
    let case = |name: &str, host: String, path: String, expect: Value| {
        json!({
            "name": format!("many sites: {name} {number}"),
            "request": { "ip": "203.0.113.9", "host": host, "path": path, "user_agent": "curl/8.5.0" },
            "expect": expect
        })
    };
    [
        case("the own rule of", site.clone(), format!("/{number}/a"), denied),
        case("another's rule at", site.clone(), format!("/{}/a", number + 1), allowed),
        case("below", format!("www.{site}"), format!("/{number}/a"), below_is),
    ]
}
