//! Clients that only the name of their address can verify, with a DNS server on loopback.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use crawlpike_tests::dns::{DnsServer, Zone};
use crawlpike_tests::http::Request;
use crawlpike_tests::name_lab::{
    DOCUMENT, STRANGERS, held, name_queries, zone, zone_with_strangers, zone_with_unusual_names,
};
use crawlpike_tests::nginx::Folder;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::replacements::question;
use crawlpike_tests::serve::Serve;

use crate::life::start;

fn serving(zone: Zone) -> DnsServer {
    DnsServer::answering(move |name, kind| zone.reply(name, kind))
}

fn asking(folder: &Folder, dns: &DnsServer) -> Serve {
    folder.write("crawlpike.json", DOCUMENT);
    start(folder, &["--rdns", &dns.address()])
}

fn bot(address: &str) -> Request {
    question("NameBot/1.0", address)
}

fn identity(serve: &Serve, address: &str) -> String {
    let known = serve.ask(&bot(address)).header("x-crawlpike").unwrap_or_default().to_owned();
    known.split(", ").find_map(|member| member.strip_prefix("identity=")).unwrap_or_default().to_owned()
}

// RDNS-1
#[test]
fn a_name_that_has_the_address_verifies_the_agent_and_is_remembered() {
    let (folder, dns) = (Folder::new(), serving(zone_with_unusual_names()));
    let serve = asking(&folder, &dns);
    for address in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "192.0.2.3", "192.0.2.4"] {
        assert_eq!(identity(&serve, address), "verified", "{address}");
    }
    let asked = dns.asked().len();
    assert_eq!(identity(&serve, "192.0.2.1"), "verified");
    assert_eq!(dns.asked().len(), asked);
}

#[test]
fn no_other_name_verifies_anybody() {
    let (folder, dns) = (Folder::new(), serving(zone_with_strangers()));
    let serve = asking(&folder, &dns);
    for last in STRANGERS {
        assert_eq!(identity(&serve, &format!("192.0.2.{last}")), "unverified", "{last}");
    }
}

#[test]
fn requests_wait_for_one_lookup_and_not_for_long() {
    let folder = Folder::new();
    let (answers, release) = held(zone());
    let dns = DnsServer::answering(answers);
    let serve = asking(&folder, &dns);
    // One after the other: each waits as long as a request may, or not at all.
    assert_eq!(identity(&serve, "192.0.2.1"), "unverified");
    release.store(true, SeqCst);
    let (answers, _) = held(zone());
    let silent = DnsServer::answering(answers);
    let folder = Folder::new();
    let serve = &asking(&folder, &silent);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(identity(serve, "192.0.2.1"), "unverified"));
        }
    });
    let questions = name_queries(&silent.asked());
    assert!(questions <= 6, "one lookup, which may ask again: {questions}");
    // Whoever leaves takes no place with him.
    let gone = |address: &str| {
        let mut connection = UnixStream::connect(serve.http()).unwrap();
        connection.write_all(&bot(address).bytes()).unwrap();
    };
    for last in 1..=64 {
        gone(&format!("198.51.100.{last}"));
    }
    wait_for("an answer without a name", || (identity(serve, "203.0.113.1") == "unverified").then_some(()));
}
