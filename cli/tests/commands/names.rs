//! `crawlpike explain --resolve`, with a DNS server on loopback.

use crawlpike_tests::dns::{DnsServer, Reply, Zone};

use crate::explain::explain;
use crate::fixture::Folder;

const DOCUMENT: &str = r#"{ "mode": "enforce", "catalog": "none",
  "agents": [ { "token": "NameBot", "rdns": ["crawl.example.org"] } ],
  "sites": [ { "unverified": "deny" } ] }"#;

/// The lines on the name and the identity, and the first line.
fn explained(zone: Zone, address: &str, more: &[&str]) -> (String, Vec<String>) {
    asked(&DnsServer::answering(move |name, kind| zone.reply(name, kind)), address, more)
}

fn asked(server: &DnsServer, address: &str, more: &[&str]) -> (String, Vec<String>) {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    let arguments = ["--ip", address, "--user-agent", "NameBot/1.0"];
    let done =
        explain(&folder, &[&arguments[..], more, &["--resolve", "--resolver", &server.address()]].concat());
    done.ends(0).says_only("");
    let lines = done.stdout.lines().filter(|line| line.starts_with("name ") || line.starts_with("identity "));
    let first = done.stdout.lines().next().unwrap_or_default().to_owned();
    (first, lines.map(|line| line.replace(&server.address(), "R")).collect())
}

// RDNS-1
#[test]
fn a_name_that_has_the_address_verifies_the_agent() {
    for (address, other) in [("192.0.2.1", "192.0.2.9"), ("2001:db8::1", "2001:db8::9")] {
        let zone = Zone::default()
            .name(address, "host.example.net.")
            .name(address, "A.crawl.example.org.")
            .address("a.crawl.example.org.", other)
            .address("a.crawl.example.org.", address);
        let (first, lines) = explained(zone.clone(), address, &[]);
        assert_eq!(first, "allow: allowed, identity verified, agent NameBot");
        assert_eq!(
            lines,
            [
                "name      host.example.net: not one of the agent's",
                "name      a.crawl.example.org: one of the agent's, and it has the address",
                "identity  verified: a name of the address is one of NameBot's, and has the address",
            ]
        );
        let (json, _) = explained(zone, address, &["--json"]);
        assert!(json.contains(r#""identity":"verified""#) && json.contains(r#""proof":"rdns""#), "{json}");
    }
}

// RDNS-1
#[test]
fn a_name_that_does_not_verify_is_shown_with_its_reason() {
    let zone = |name: &str| Zone::default().name("192.0.2.1", name);
    for (zone, expected) in [
        (Zone::default(), "the address has no name"),
        (zone("a.notcrawl.example.org."), "a.notcrawl.example.org: not one of the agent's"),
        (
            zone("a.crawl.example.org."),
            "a.crawl.example.org: one of the agent's, but it does not have the address",
        ),
        (
            zone("a.crawl.example.org.").address("a.crawl.example.org.", "192.0.2.2"),
            "a.crawl.example.org: one of the agent's, but it does not have the address",
        ),
    ] {
        let (first, lines) = explained(zone, "192.0.2.1", &[]);
        assert_eq!(first, "deny with 403: unverified-agent, identity unverified, agent NameBot");
        assert_eq!(lines[0], format!("name      {expected}"));
        assert!(
            lines[1].starts_with("identity  unverified: no feed has the address for NameBot"),
            "{lines:?}"
        );
    }
    let failing = DnsServer::new(Reply::Failure);
    let (_, lines) = asked(&failing, "192.0.2.1", &[]);
    assert!(lines[0].starts_with("name      unknown: R: the resolver answers "), "{lines:?}");
}

// RDNS-2
#[test]
fn nobody_is_asked_in_vain() {
    let server = DnsServer::new(Reply::Silence);
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    let person = ["--ip", "192.0.2.1", "--user-agent", "Mozilla/5.0 Firefox/140"];
    let resolve = ["--resolve", "--resolver", &server.address()];
    assert_eq!(explain(&folder, &[&person[..], &resolve].concat()).status, 0);
    let done = explain(&folder, &["--ip", "192.0.2.1", "--user-agent", "NameBot"]);
    let hint = "name      not looked up; one in crawl.example.org can verify NameBot: use --resolve\n";
    done.prints(hint);
    assert_eq!(server.asked(), [""; 0]);
    assert_eq!(explain(&folder, &["--ip", "192.0.2.1", "--resolver", "192.0.2.53"]).status, 2);
}
