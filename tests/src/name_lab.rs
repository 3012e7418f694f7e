//! Agents that only the name of their address can verify: what all gates are asked about them, and what a DNS server says.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use hickory_proto::rr::{Name, RecordType};

use crate::dns::{Reply, Zone};
use crate::http::Request;
use crate::lab::from;
use crate::process::wait_for;

/// One agent has names, the other none.
pub const DOCUMENT: &str = r#"{
  "mode": "enforce", "catalog": "none",
  "agents": [
    { "token": "NameBot", "rdns": ["crawl.example.org"] },
    { "token": "PlainBot" } ],
  "sites": [ { "hosts": ["strict.test"], "unverified": "deny" }, {} ]
}"#;

/// Two agents' addresses with the names that they should have.
pub fn zone() -> Zone {
    Zone::default()
        .name("192.0.2.1", "a.crawl.example.org.")
        .address("a.crawl.example.org.", "192.0.2.1")
        .name("2001:db8::1", "B.CRAWL.Example.org.")
        .address("b.crawl.example.org.", "2001:db8::2")
        .address("b.crawl.example.org.", "2001:db8::1")
}

/// The same, with one whose name is delegated and has an alias, and one whose name no host should have (RFC 1123, 2.1).
pub fn zone_with_unusual_names() -> Zone {
    zone()
        .delegated("192.0.2.3", "3.0-31.2.0.192.in-addr.arpa.", "c.crawl.example.org.")
        .alias("c.crawl.example.org.", "c.hosts.example.net.")
        .address("c.hosts.example.net.", "192.0.2.3")
        .name("192.0.2.4", "-_.crawl.example.org.")
        .address("-_.crawl.example.org.", "192.0.2.4")
}

/// The last octets of 192.0.2.0/24 that [`zone_with_strangers`] verifies nobody by; the last one has no name at all.
pub const STRANGERS: RangeInclusive<u8> = 10..=22;

/// The same as [`zone`], with addresses whose names are not the agent's, or not theirs.
///
/// # Panics
///
/// Never: the names are names.
pub fn zone_with_strangers() -> Zone {
    let strange = |labels: &[&[u8]]| Name::from_labels(labels.iter().copied()).unwrap();
    let long = [&[b'a'; 63][..], &[b'b'; 63], &[b'c'; 63], &[b'd'; 42], b"crawl", b"example", b"org"];
    zone()
        .name("192.0.2.10", "a.crawl.example.net.")
        .address("a.crawl.example.net.", "192.0.2.10")
        .name("192.0.2.11", "a.notcrawl.example.org.")
        .address("a.notcrawl.example.org.", "192.0.2.11")
        .name("192.0.2.12", "a.crawl.example.org.evil.example.")
        .address("a.crawl.example.org.evil.example.", "192.0.2.12")
        // The name of somebody else.
        .name("192.0.2.13", "a.crawl.example.org.")
        // A name without addresses, one that does not exist, and one whose aliases lead nowhere.
        .name("192.0.2.14", "text.crawl.example.org.")
        .alias("text.crawl.example.org.", "a.crawl.example.net.")
        .name("192.0.2.15", "none.crawl.example.org.")
        .name("192.0.2.16", "loop.crawl.example.org.")
        .alias("loop.crawl.example.org.", "pool.crawl.example.org.")
        .alias("pool.crawl.example.org.", "loop.crawl.example.org.")
        // Names that only look right when they are written with dots.
        .named("192.0.2.17", strange(&[b"a.crawl.example.org"]))
        .named("192.0.2.18", strange(&[b"a", b"crawl\0", b"example", b"org"]))
        .named("192.0.2.19", strange(&[b"\xff", b"crawl", b"example", b"org"]))
        .named("192.0.2.20", Name::root())
        .named("192.0.2.21", strange(&long))
}

/// Answers of a server that begins to answer once it is let go.
pub fn held(zone: Zone) -> (impl Fn(&Name, RecordType) -> Reply + Send + Sync + 'static, Arc<AtomicBool>) {
    let release = Arc::new(AtomicBool::new(false));
    let gate = Arc::clone(&release);
    let answers = move |name: &Name, kind| {
        wait_for("the release of the answer", || gate.load(SeqCst).then_some(()));
        zone.reply(name, kind)
    };
    (answers, release)
}

/// A request of a client at this address that says it is the agent.
pub fn bot(address: &str) -> Request {
    from(address, Request::get("/").agent("NameBot/1.0"))
}

/// The number of questions to a server that were for names of addresses.
pub fn name_queries(asked: &[String]) -> usize {
    asked.iter().filter(|name| name.ends_with(".arpa.")).count()
}
