//! The examples in `examples/nginx` do what they say.

use std::fs;

use crawlpike_tests::artefacts;
use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::{ADDRESS_HEADER, FIREFOX};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use serde_json::Value;

/// An example that runs on another port, in front of an origin of ours.
struct Example {
    nginx: Nginx,
    port: u16,
    _origin: Origin,
}

/// Starts an example, changed where a test has to: it runs beside others, and on one machine.
fn start(name: &str, changes: &[(&str, &str)]) -> Example {
    let (folder, origin, port) = (Folder::new(), Origin::start(), free_port());
    let from = format!("examples/nginx/{name}");
    folder.copy_of_repository(&from);
    fs::rename(folder.path().join(&from), folder.path().join("crawlpike")).unwrap();
    let own = [
        ("listen 8080;", format!("listen 127.0.0.1:{port};")),
        ("http://127.0.0.1:8000", format!("http://127.0.0.1:{}", origin.port())),
    ];
    let changes = changes.iter().map(|(old, new)| (*old, (*new).to_owned()));
    let all: Vec<_> = own.into_iter().chain(changes).collect();
    let text = artefacts::adapted(&format!("{from}/crawlpike.conf"), &all);
    // Its reader fetches this file; ours is as old as the checkout.
    let document = folder.read("crawlpike/crawlpike.json");
    if document.contains("googlebot.json") {
        folder.write(
            "crawlpike/crawlpike.json",
            document.replace(r#""max_age": "7d""#, r#""max_age": "36500d""#),
        );
        let feed = fs::read(artefacts::feeds().join("google-googlebot.json")).unwrap();
        folder.write("crawlpike/googlebot.json", feed);
    }
    Example { nginx: Nginx::start(folder, &text), port, _origin: origin }
}

/// For the examples whose clients come straight to nginx: the tests' client says where it comes from.
const ADDRESS_FROM_HEADER: (&str, &str) = (
    "server_name example.com;",
    "server_name example.com; set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;",
);

impl Example {
    fn get(&self, target: &str, address: &str, user_agent: &str) -> Response {
        ask(self.port, &Request::get(target).agent(user_agent).header(ADDRESS_HEADER, address))
    }
}

/// The header that the origin received; `None` if the request did not reach it.
fn logged(response: &Response) -> Option<String> {
    Received::of(response)?.crawlpike
}

#[test]
fn minimal() {
    let example = start("minimal", &[ADDRESS_FROM_HEADER]);
    let google = example.get("/", "66.249.66.1", "Googlebot/2.1");
    assert!(logged(&google).unwrap().contains(r#"identity=verified, agent="Googlebot""#));
    let reason = |target, address, user_agent| example.get(target, address, user_agent).denial_reason();
    assert_eq!(reason("/", "198.51.100.7", "Googlebot/2.1").as_deref(), Some("spoofed-agent"));
    assert_eq!(reason("/", "198.51.100.7", "GPTBot/1.2").as_deref(), Some("robots-disallowed"));
    assert_eq!(reason("/private/x", "66.249.66.1", "Googlebot/2.1").as_deref(), Some("robots-disallowed"));
    assert_eq!(example.get("/private/x", "203.0.113.9", FIREFOX).status, 200);
    // Whatever the Host, nginx serves the origin's page.
    for (host, reason) in [("x.invalid", "robots-disallowed"), ("user;example.com", "invalid-host")] {
        let request = Request::new("GET", "/private/a", host).agent("GPTBot/1");
        let denied = ask(example.port, &request.header(ADDRESS_HEADER, "198.51.100.7"));
        assert_eq!(denied.problem().unwrap()["reason"], reason, "{host}");
    }
    let robots =
        fs::read_to_string(artefacts::repository().join("examples/nginx/minimal/robots.txt")).unwrap();
    let served = example.get("/robots.txt", "198.51.100.7", "GPTBot/1.2");
    assert_eq!((served.status, served.text()), (200, robots));
}

#[test]
fn behind_a_cdn() {
    let cdn = (
        "set_real_ip_from 198.51.100.0/24;",
        "set_real_ip_from 127.0.0.1; set_real_ip_from 198.51.100.0/24;",
    );
    let example = start("behind-cdn", &[cdn]);
    let verified = example.get("/", "192.0.2.7", "PartnerBot/1.0");
    assert!(logged(&verified).unwrap().contains("identity=verified"));
    let impostor = example.get("/", "203.0.113.9", "PartnerBot/1.0");
    assert_eq!(impostor.denial_reason().as_deref(), Some("spoofed-agent"));
    // The client's own entries are left of the CDN's, and do not count, nor do the CDN's own machines.
    let lie = example.get("/", "192.0.2.7, 203.0.113.9", "PartnerBot/1.0");
    assert_eq!(lie.denial_reason().as_deref(), Some("spoofed-agent"));
    let through_two = example.get("/", "192.0.2.7, 198.51.100.20", "PartnerBot/1.0");
    assert_eq!(through_two.status, 200);
    assert_eq!(example.get("/", "203.0.113.9", FIREFOX).status, 200);

    // A client that does not come through the CDN has its own address.
    let direct = start("behind-cdn", &[]);
    let lie = direct.get("/", "192.0.2.7", "PartnerBot/1.0");
    assert!(logged(&lie).unwrap().contains("identity=unverified"));
}

#[test]
fn aiwi_17_aiwi_18_crawlers_are_slowed_down_and_told_for_how_long() {
    let example = start("rate-limit", &[ADDRESS_FROM_HEADER]);
    let slowed_down = |address, user_agent| {
        // On a busy machine two requests can be two seconds apart.
        let refused = wait_for("a request too many", || {
            Some(example.get("/", address, user_agent)).filter(|response| response.status == 429)
        });
        assert_eq!(refused.header("retry-after"), Some("2"));
        assert_eq!(Received::of(&refused), None);
    };
    assert_eq!(example.get("/", "192.0.2.7", "PartnerBot/1.0").status, 200);
    slowed_down("192.0.2.7", "PartnerBot/1.0");
    // All its machines together.
    slowed_down("2001:db8:10::7", "PartnerBot/1.0");
    // Another client has a rate of its own.
    assert_eq!(example.get("/", "203.0.113.9", "curl/8.5.0").status, 200);
    slowed_down("203.0.113.9", "curl/8.5.0");
    assert_eq!(example.get("/", "203.0.113.10", "curl/8.5.0").status, 200);
    for _ in 0..20 {
        assert_eq!(example.get("/", "203.0.113.9", FIREFOX).status, 200);
    }
    // A request that waits is served, and impostors did not use up the agent's rate.
    let _ = example.get("/", "203.0.113.77", "PartnerBot/1.0");
    wait_for("the agent's next turn", || {
        (example.get("/", "203.0.113.77", "PartnerBot/1.0").status != 200
            && example.get("/", "192.0.2.7", "PartnerBot/1.0").status == 200)
            .then_some(())
    });
}

#[test]
fn a_swarm_is_limited_by_network_and_a_verified_agent_never() {
    let example = start("swarms", &[ADDRESS_FROM_HEADER, ("/var/cache/nginx/copies", "copies")]);
    let ask_from = |host: u8, path: &str| example.get(path, &format!("203.0.113.{host}"), FIREFOX).status;
    // The rate of the example, 21 at once and then five a second, on the paths that cost much.
    wait_for("the end of the burst", || {
        (0..100).any(|host| ask_from(host, "/a/blame/b") == 429).then_some(())
    });
    for host in 0..50 {
        assert_eq!(ask_from(host, "/a"), 200);
        assert_eq!(example.get("/a/blame/b", "192.0.2.7", "PartnerBot/1.0").status, 200);
    }
    assert_eq!(example.get("/a/blame/b", "203.0.112.1", FIREFOX).status, 200, "another network");
    // The origin answers with the User-Agent: a copy has that of the first one.
    let passing = |path: &str, address: &str| {
        let request = Request::get(path).agent(FIREFOX).header(ADDRESS_HEADER, address);
        ask(example.port, &request.header("Cookie", "passed=1"))
    };
    for (host, user_agent) in [(1, "Mozilla/5.0 First"), (2, "Mozilla/5.0 Second")] {
        let address = format!("203.0.109.{host}");
        assert_eq!(example.get("/a/blame/copy", &address, user_agent).text(), "Mozilla/5.0 First");
        assert_eq!(example.get("/a/blame/copy", "192.0.2.7", "PartnerBot/1.0").text(), "PartnerBot/1.0");
        assert_eq!(passing("/a/blame/copy", &address).text(), FIREFOX);
    }
    let challenged = example.get("/archive/1", "203.0.111.1", FIREFOX);
    let leads_to = challenged.header("location").unwrap_or_default();
    assert!(challenged.status == 302 && leads_to.ends_with("/login?next=/archive/1"), "{challenged:?}");
    assert_eq!(example.get("/archive/1", "192.0.2.7", "PartnerBot/1.0").status, 200);
    assert_eq!(passing("/archive/1", "203.0.110.1").status, 200);
}

#[test]
fn observe() {
    let log = ("/var/log/nginx/crawlpike.log", "crawlpike.log");
    let metrics = free_port();
    let status_page = ("listen 127.0.0.1:9145;", &*format!("listen 127.0.0.1:{metrics};"));
    let example = start("observe", &[ADDRESS_FROM_HEADER, log, status_page]);
    assert_eq!(example.get("/", "203.0.113.9", FIREFOX).status, 200);
    for (address, user_agent) in [
        ("66.249.66.1", "Googlebot/2.1"),
        ("198.51.100.7", "Googlebot/2.1"),
        ("198.51.100.7", "GPTBot/1.2 \"q\""),
    ] {
        assert_eq!(example.get("/a?b=\"c\"", address, user_agent).status, 200);
    }
    let mut lines: Vec<Value> = wait_for("a line for each crawler", || {
        let lines = example.nginx.folder().lines("crawlpike.log");
        let lines: Vec<Value> = lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (lines.len() == 3).then_some(lines)
    });
    // Two workers write it, each in its time.
    lines.sort_by_key(|line| line["identity"].to_string());
    let logged: Vec<[&str; 5]> = lines
        .iter()
        .map(|line| {
            ["address", "action", "enforced", "reason", "identity"].map(|key| line[key].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        logged,
        [
            ["198.51.100.7", "deny", "0", "spoofed-agent", "spoofed"],
            ["198.51.100.7", "deny", "0", "robots-disallowed", "unverified"],
            ["66.249.66.1", "allow", "0", "allowed", "verified"],
        ]
    );
    assert_eq!(lines[1]["rule"], "robots.txt:2");
    assert_eq!(lines[1]["user_agent"], "GPTBot/1.2 \"q\"");
    assert_eq!(lines[1]["status"], 200);
    let spoofed = r#"crawlpike_requests_total{action="deny",enforced="false",reason="spoofed-agent",identity="spoofed","#;
    wait_for("the count of the impostor", || {
        let counted = ask(metrics, &Request::get("/metrics")).text();
        counted.lines().any(|line| line.starts_with(spoofed) && line.ends_with(" 1")).then_some(())
    });
}
