//! A table of random requests, which every way into Crawlpike must answer alike.
//!
//! The requests are put together from parts that matter to some step of a decision. Servers refuse some requests
//! themselves, each its own (a path above the root, a `Host` with a space); such parts are not among them.

use std::fmt::Write;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::cases::Table;

const BROWSERS: &[&str] = &[
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 15; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36 CamScanner/6.27",
    "Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18",
];

const AUTOMATION: &[&str] = &[
    "",
    " ",
    "curl/8.5.0",
    "python-requests/2.32.3",
    "Dalvik/2.1.0 (Linux; U; Android 15; Pixel 9)",
    "MyShop/421 CFNetwork/1494.0.7 Darwin/23.4.0",
    "SomeBot/1.0 (+https://bot.example/)",
    "Mozilla/5.0 (compatible; SomeBot/1.0)",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36",
];

const AGENTS: &[&str] = &[
    "SearchBot",
    "TrainBot",
    "PartBot",
    "LackBot",
    "PlainBot",
    "AllowBot",
    "DenyBot",
    "Googlebot",
    "GPTBot",
    "Claude-User",
];

const PURPOSES: &[&str] =
    &["search", "Search", "training", "indexing", "other", "", "two words", "a, b", "\"quoted\""];

/// Addresses in the feeds below and outside of them.
const ADDRESSES: &[&str] = &[
    "192.0.2.1",
    "192.0.2.77",
    "192.0.2.200",
    "198.51.100.10",
    "198.51.100.70",
    "198.51.100.85",
    "198.51.100.130",
    "66.249.66.1",
    "203.0.113.9",
    "203.0.113.200",
    "10.1.2.3",
    "2001:db8:a::1",
    "2001:db8:a:b::1",
    "2001:db8:f::1",
    "2a00::1",
    "::ffff:192.0.2.77",
];

const NAMES: &[&str] = &[
    "one.test",
    "two.test",
    "three.test",
    "four.test",
    "five.test",
    "deep.wild.test",
    "wild.test",
    "xn--bcher-kva.test",
];

const SEGMENTS: &[&str] = &[
    "private",
    "public",
    "api",
    "wiki",
    "drafts",
    "a",
    "b",
    "index.php",
    "page.html",
    "Special:Search",
    "Special%3ASearch",
    "a%2Fb",
    "%70rivate",
    "PRIVATE",
    "c%2B%2B",
    "x;y=1",
    "..;",
    "a%2Cb",
    "%C5%BC",
    "a.b",
    "...",
    "",
    ".",
    "%2e",
];

const QUERIES: &[&str] =
    &["", "", "", "?", "?a=b", "?x=/private/", "?url=https%3A%2F%2Ffoo.bar", "?a%26b", "?private", "?a=%zz"];

const METHODS: &[&str] = &["GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];

const ACCEPTS: &[&str] = &[
    "*/*",
    "text/html",
    "text/markdown",
    "text/html;q=0.5, text/markdown",
    "application/vnd.aiwebindex+json",
];

/// So many requests, drawn from a seed.
///
/// # Panics
///
/// If a case cannot be read.
pub fn table(seed: u64, requests: usize) -> Table {
    let mut random = Rng::with_seed(seed);
    let cases: Vec<Value> = (0..requests).map(|number| case(number, &mut random)).collect();
    let table = json!({ "about": "Random requests.", "config": config(), "cases": cases });
    let mut table: Table = serde_json::from_value(table).expect("a table");
    table.name = format!("random-{seed}");
    table
}

fn case(number: usize, random: &mut Rng) -> Value {
    let mut request = Map::new();
    let mut set = |key: &str, value: Value| _ = request.insert(key.into(), value);
    set("ip", one_of(ADDRESSES, random).into());
    set("host", host(random).into());
    set("method", one_of(METHODS, random).into());
    set("path", path(random).into());
    set("user_agent", user_agent(random));
    set("purpose", purpose(random));
    if random.bool() {
        set("headers", json!({ "Accept": one_of(ACCEPTS, random) }));
    }
    json!({ "name": format!("request {number}"), "request": request, "expect": {} })
}

fn one_of<'a>(list: &[&'a str], random: &mut Rng) -> &'a str {
    random.choice(list).copied().unwrap_or_default()
}

/// Each letter in upper or lower case.
fn in_any_case(text: &str, random: &mut Rng) -> String {
    let letter = |letter: char| match random.bool() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    text.chars().map(letter).collect()
}

fn host(random: &mut Rng) -> String {
    let name = match random.u8(..10) {
        0 => "unknown.test",
        1 => "[2001:db8::1]",
        2 => "192.0.2.1",
        _ => one_of(NAMES, random),
    };
    match random.u8(..16) {
        0 => in_any_case(name, random),
        1 => format!("{name}:8080"),
        2 => format!("{name}."),
        3 => format!("{name}.:81"),
        // Invalid host names.
        4 => format!("user@{name}"),
        5 => format!("{name},{name}"),
        6 => format!("{name};x"),
        7 => name.replace('e', "%65"),
        8 => format!("-.{name}"),
        _ => name.into(),
    }
}

fn path(random: &mut Rng) -> String {
    match random.u8(..20) {
        0 => return "/robots.txt".into(),
        1 => return "/automation-preferences.txt".into(),
        2 => return "/.well-known/aiwebindex-verify.txt".into(),
        3 => return "/".into(),
        _ => {}
    }
    // A path that leaves the root is refused by servers, so there are as many segments to go up as were gone down.
    let (mut path, mut depth) = (String::new(), 0_usize);
    for _ in 0..random.usize(1..6) {
        let segment = one_of(SEGMENTS, random);
        let up = one_of(&["..", "%2e%2e", ".%2E"], random);
        let goes_up = depth > 0 && random.u8(..5) == 0;
        let _ = write!(path, "/{}", if goes_up { up } else { segment });
        match segment {
            _ if goes_up => depth -= 1,
            "" | "." | "%2e" => {}
            _ => depth += 1,
        }
    }
    path + one_of(QUERIES, random)
}

fn user_agent(random: &mut Rng) -> Value {
    let line = |random: &mut Rng| -> String {
        let agent = one_of(AGENTS, random);
        match random.u8(..8) {
            0 | 1 => one_of(BROWSERS, random).into(),
            2 => one_of(AUTOMATION, random).into(),
            3 => format!("Mozilla/5.0 (compatible; {agent}/2.1; +https://bot.example/)"),
            4 => in_any_case(agent, random) + "/1.0",
            5 => format!("{agent}; {}; +https://bot.example/", one_of(PURPOSES, random)),
            6 => format!("{} {agent}", one_of(BROWSERS, random)),
            _ => format!("Not{agent} {agent}x {agent}-Image/1.0"),
        }
    };
    match random.u8(..12) {
        0 => Value::Null,
        1 | 2 => json!([line(random), line(random)]),
        3 => json!({ "latin1": format!("caf\u{e9} {}", line(random)) }),
        _ => line(random).into(),
    }
}

fn purpose(random: &mut Rng) -> Value {
    match random.u8(..6) {
        0 | 1 => one_of(PURPOSES, random).into(),
        2 => json!([one_of(PURPOSES, random), one_of(PURPOSES, random)]),
        _ => Value::Null,
    }
}

/// One document with each kind of feed, agent, site and policy.
fn config() -> Value {
    json!({
        "mode": "enforce",
        "feeds": [
            { "name": "googlebot", "format": "jafar", "source": "../../core/data/feeds/google-googlebot.json",
              "url": "https://developers.google.com/static/crawling/ipranges/common-crawlers.json" },
            { "name": "nested", "format": "jafar", "source": "data/nested.json" },
            { "name": "partners", "format": "cidr", "source": "partners.txt" },
            { "name": "unreadable", "format": "jafar", "source": "data/unreadable.json" },
            { "name": "missing", "format": "cidr", "source": "missing.txt" },
            { "name": "places", "format": "geofeed", "source": "places.csv" }
        ],
        "agents": [
            { "token": "SearchBot", "feeds": ["nested"], "services": ["search"], "purposes": ["search"] },
            { "token": "TrainBot", "feeds": ["nested", "partners"], "purposes": ["training", "search"] },
            { "token": "PartBot", "feeds": ["unreadable"], "ranges": "partial" },
            { "token": "LackBot", "feeds": ["missing"] },
            { "token": "PlainBot" },
            { "token": "AllowBot", "feeds": ["partners"], "action": "allow" },
            { "token": "DenyBot", "feeds": ["partners"], "action": "deny" }
        ],
        "sites": [
            { "hosts": ["one.test"], "robots_txt": "robots.txt" },
            { "hosts": ["two.test", "*.wild.test"], "robots_txt": "robots.txt",
              "automation_preferences": "preferences.txt",
              "robots_tag": [ { "scope": "/drafts/", "rules": "noindex" }, { "rules": "nosnippet; SearchBot=noarchive" } ] },
            { "hosts": ["three.test"], "automation_preferences": "preferences.txt", "undeclared_purpose": "allow",
              "spoofed": "policy", "unverified": "deny", "undeclared": "policy", "explain": false },
            { "hosts": ["four.test"], "robots_txt": "robots.txt", "undeclared": "deny", "enforce_percent": 50,
              "modes": [ { "scope": "/api/", "mode": "off" }, { "scope": "/wiki/", "mode": "observe" } ],
              "geo": [ { "country": ["PL"], "action": "deny" }, { "region": ["US-CA"], "action": "allow" } ] },
            { "name": "five", "hosts": ["five.test", "bücher.test"], "robots_txt": "strict.txt", "spoofed": "allow" },
            { "name": "others", "robots_txt": "strict.txt" }
        ],
        "files": {
            "partners.txt": { "text": "192.0.2.64/26\n203.0.113.128/25\n2001:db8:f::/48\n" },
            "places.csv": { "text": "192.0.2.0/24,PL,,,\n198.51.100.0/25,US,US-CA,Los Angeles,\n2001:db8:a::/48,US,US-NY,,\n" },
            "robots.txt": { "text": "User-agent: SearchBot\nUser-agent: GPTBot\nDisallow: /private/\nAllow: /private/*.html$\n\n\
                User-agent: *\nDisallow: /private\nDisallow: /*.php$\nDisallow: /wiki/\nAllow: /wiki/Special%3ASearch\n\
                Disallow: /*?url=https://\nDisallow: /a%2Fb\nDisallow: /c++/\n" },
            "strict.txt": { "text": "User-agent: *\nDisallow: /\nAllow: /public/\nAllow: /a%2Cb\nAllow: /$\n" },
            "preferences.txt": { "text": "scope: /\nallowed-methods: GET, HEAD, OPTIONS\n\nscope: /a, /d, /p\nallowed-methods: GET, HEAD\nallowed-purposes: search, training\n\nscope: /api/, /wiki/, /public/\nallowed-methods: GET, HEAD, POST\n\
                allowed-purposes: search, indexing\n\nscope: /drafts/\nuser-agent: TrainBot\nallowed-methods: GET, PUT\n\n\
                host: *.wild.test\nscope: /b\nallowed-methods: GET\nallowed-purposes: training\n\n" }
        }
    })
}
