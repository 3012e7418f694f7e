//! Clients that only the name of their address can verify, with nginx's own resolver and a DNS server on loopback.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crawlpike_tests::dns::{DnsServer, Reply, Zone};
use crawlpike_tests::http::{Connection, Request, Response};
use crawlpike_tests::lab::{FIREFOX, from};
use crawlpike_tests::name_lab::{
    self, DOCUMENT, STRANGERS, bot, zone, zone_with_strangers, zone_with_unusual_names,
};
use crawlpike_tests::nginx::{Folder, Nginx, Setup, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{PATIENCE, wait_for};

fn serving(zone: Zone) -> DnsServer {
    DnsServer::answering(move |name, kind| zone.reply(name, kind))
}

/// A server that answers once it is let go.
fn held(zone: Zone) -> (DnsServer, Arc<AtomicBool>) {
    let (answers, release) = name_lab::held(zone);
    (DnsServer::answering(answers), release)
}

fn http(port: u16, dns: &DnsServer, rdns: &str) -> String {
    format!(
        r#"
    crawlpike_config crawlpike.json;
    resolver {} ipv6=on;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Forwarded-For;
    add_header X-Identity "$crawlpike_identity $crawlpike_proof" always;
    server {{
        listen 127.0.0.1:{port}; {rdns} root www; index index.html;
        location = /metrics {{ crawlpike_status; }}
    }}"#,
        dns.address()
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    folder.write("www/index.html", "a page");
    folder
}

fn start(dns: &DnsServer, rdns: &str) -> (Nginx, u16) {
    let port = free_port();
    (Nginx::start(folder(), &http(port, dns, rdns)), port)
}

fn identity(response: &Response) -> &str {
    response.header("x-identity").unwrap_or_default().trim_end()
}

/// The number of times that the server was asked for names of addresses.
fn name_queries(dns: &DnsServer) -> usize {
    name_lab::name_queries(&dns.asked())
}

/// nginx has done nothing that it should not.
fn assert_clean(nginx: &Nginx) {
    let log = nginx.folder().read("error.log");
    let is_bad = |line: &&str| {
        ["[alert]", "[crit]", "[emerg]", "exited on signal"].iter().any(|bad| line.contains(bad))
    };
    assert_eq!(log.lines().find(is_bad), None);
}

// RDNS-1, JAFAR-19
#[test]
fn a_name_that_has_the_address_verifies_the_agent() {
    let dns = serving(zone_with_unusual_names());
    let (nginx, port) = start(&dns, "crawlpike_rdns 5s;");
    for address in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "192.0.2.3", "192.0.2.4"] {
        let response = ask(port, &bot(address));
        assert_eq!((response.status, identity(&response)), (200, "verified rdns"), "{address}");
    }
    // The site denies unverified clients and serves verified ones.
    let strict = |address| {
        let request = Request::new("GET", "/", "strict.test").agent("NameBot/1.0");
        ask(port, &from(address, request)).status
    };
    assert_eq!((strict("192.0.2.1"), strict("192.0.2.9")), (200, 403));
    // A request with a body, and two in one packet.
    let post = from("192.0.2.3", Request::new("HEAD", "/", "example.com").agent("NameBot/1.0").body(b"body"));
    assert_eq!(identity(&ask(port, &post)), "verified rdns");
    assert_clean(&nginx);
}

// RDNS-1
#[test]
fn any_other_name_leaves_the_agent_unverified() {
    let dns = serving(zone_with_strangers());
    let (nginx, port) = start(&dns, "crawlpike_rdns 5s;");
    for last in STRANGERS {
        let response = ask(port, &bot(&format!("192.0.2.{last}")));
        assert_eq!((response.status, identity(&response)), (200, "unverified"), "192.0.2.{last}");
    }
    // Of the same family only: the other one has the same last bytes.
    assert_eq!(identity(&ask(port, &bot("2001:db8::3"))), "unverified");
    assert!(!dns.asked().iter().any(|name| name.contains("evil") || name.contains("notcrawl")));
    assert_clean(&nginx);
}

// RDNS-2
#[test]
fn thousands_of_names_are_bounded() {
    let mut zone = zone();
    for number in 0..2000 {
        zone = zone.name("192.0.2.30", &format!("n{number}.other.example."));
        zone = zone.address("many.crawl.example.org.", &format!("198.51.{}.{}", number / 250, number % 250));
    }
    zone =
        zone.name("192.0.2.31", "many.crawl.example.org.").address("many.crawl.example.org.", "192.0.2.31");
    let dns = serving(zone.name("192.0.2.30", "a.crawl.example.org."));
    let (nginx, port) = start(&dns, "crawlpike_rdns 5s;");
    for address in ["192.0.2.30", "192.0.2.31"] {
        assert_eq!(identity(&ask(port, &bot(address))), "unverified", "{address}");
    }
    assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "verified rdns");
    assert_clean(&nginx);
}

// RDNS-2
#[test]
fn one_query_serves_all_requests_of_all_workers() {
    let dns = serving(zone());
    let (nginx, port) = start(&dns, "crawlpike_rdns 5s;");
    for _ in 0..20 {
        assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "verified rdns");
        assert_eq!(identity(&ask(port, &bot("192.0.2.99"))), "unverified");
    }
    // A reload keeps what is known.
    nginx.reload();
    nginx.wait_for_line("error.log", "exited with code 0");
    assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "verified rdns");
    assert_eq!(name_queries(&dns), 2, "{:?}", dns.asked());
    assert_clean(&nginx);
}

// RDNS-2
#[test]
fn requests_that_come_meanwhile_wait_for_the_same_query() {
    let (dns, release) = held(zone());
    let port = free_port();
    let setup = Setup { workers: 1, ..Setup::default() };
    let nginx = Nginx::set_up(folder(), &http(port, &dns, "crawlpike_rdns 10s;"), setup);
    let (sender, receiver) = mpsc::channel();
    for _ in 0..20 {
        let sender = sender.clone();
        thread::spawn(move || sender.send(identity(&ask(port, &bot("192.0.2.1"))).to_owned()));
    }
    wait_for("a query", || (name_queries(&dns) > 0).then_some(()));
    // Nobody else waits, and nobody has an answer yet.
    let person = from("192.0.2.1", Request::get("/").agent(FIREFOX));
    assert_eq!(ask(port, &person).status, 200);
    assert!(receiver.try_recv().is_err());
    release.store(true, SeqCst);
    for _ in 0..20 {
        assert_eq!(receiver.recv_timeout(PATIENCE).unwrap(), "verified rdns");
    }
    assert_eq!(name_queries(&dns), 1);
    assert_clean(&nginx);
}

// RDNS-1, RDNS-2
#[test]
fn a_server_that_does_not_answer_is_waited_for_once() {
    for (reply, patience) in [(Reply::Silence, 500), (Reply::Failure, 0)] {
        let dns = DnsServer::new(reply);
        let (nginx, port) = start(&dns, "crawlpike_rdns 500ms;");
        let timed = || {
            let start = Instant::now();
            let response = ask(port, &bot("192.0.2.1"));
            assert_eq!((response.status, identity(&response)), (200, "unverified"));
            start.elapsed()
        };
        assert!(timed() >= Duration::from_millis(patience));
        let asked = name_queries(&dns);
        for _ in 0..10 {
            timed();
        }
        assert_eq!(name_queries(&dns), asked);
        assert_clean(&nginx);
    }
}

// RDNS-1
#[test]
fn one_time_is_for_both_queries() {
    let zone = zone();
    let dns = DnsServer::answering(move |name, kind| match name.to_ascii().ends_with(".arpa.") {
        true => zone.reply(name, kind),
        false => Reply::Silence,
    });
    let (nginx, port) = start(&dns, "crawlpike_rdns 500ms;");
    let start = Instant::now();
    assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "unverified");
    assert!(start.elapsed() >= Duration::from_millis(500));
    assert!(dns.asked().iter().any(|name| name == "a.crawl.example.org."));
    assert_clean(&nginx);
}

// RDNS-2
#[test]
fn people_and_clients_that_no_name_can_verify_cause_no_query() {
    let dns = DnsServer::new(Reply::Silence);
    let (_nginx, port) = start(&dns, "crawlpike_rdns 10s;");
    for (user_agent, expected) in [(FIREFOX, ""), ("PlainBot/1.0", "unverified"), ("curl/8.9", "generic")] {
        let response = ask(port, &from("192.0.2.1", Request::get("/").agent(user_agent)));
        assert_eq!((response.status, identity(&response)), (200, expected), "{user_agent}");
    }
    for off in ["", "crawlpike_rdns off;", "crawlpike_rdns 0;", "crawlpike_rdns 10s; crawlpike off;"] {
        let (_nginx, port) = start(&dns, off);
        assert_eq!(ask(port, &bot("192.0.2.1")).status, 200, "{off}");
    }
    assert_eq!(dns.asked(), [""; 0]);
}

#[test]
fn a_client_that_goes_away_takes_its_question_back() {
    let dns = DnsServer::new(Reply::Silence);
    let port = free_port();
    let setup = Setup { workers: 1, ..Setup::default() };
    let nginx = Nginx::set_up(folder(), &http(port, &dns, "crawlpike_rdns 1s;"), setup);
    for number in 1..=30 {
        let mut client = TcpStream::connect(local(port)).unwrap();
        // All at one address, so that they are in one list, and some at others.
        let address = if number % 3 == 0 { format!("192.0.2.{number}") } else { "192.0.2.1".to_owned() };
        client.write_all(&bot(&address).bytes()).unwrap();
        if number % 2 == 0 {
            // Reset, while others close.
            thread::sleep(Duration::from_millis(20));
            drop(client);
        } else {
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                drop(client);
            });
        }
    }
    thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    assert_eq!(identity(&ask(port, &bot("192.0.2.200"))), "unverified");
    assert!(start.elapsed() >= Duration::from_secs(1));
    thread::sleep(Duration::from_millis(500));
    assert_clean(&nginx);
}

// RDNS-2
#[test]
fn no_more_requests_of_a_worker_wait_than_a_limit() {
    let dns = DnsServer::new(Reply::Silence);
    let port = free_port();
    let setup = Setup { workers: 1, ..Setup::default() };
    let nginx = Nginx::set_up(folder(), &http(port, &dns, "crawlpike_rdns 10s;"), setup);
    let mut clients = waiting(port, (1..=128).map(|number| format!("{number}.0.2.1")));
    wait_for("128 queries", || (name_queries(&dns) >= 128).then_some(()));
    // The index is an internal redirect, which is not counted once more.
    assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "unverified");
    // A site that denies the unverified denies this one for now only.
    let request = Request::new("GET", "/", "strict.test").agent("NameBot/1.0");
    let response = ask(port, &from("192.0.2.1", request));
    assert_eq!((response.status, response.header("retry-after")), (503, Some("1")));
    assert_eq!(response.denial_reason().as_deref(), Some("unverified-agent"));
    let page = ask(port, &Request::get("/metrics")).text();
    assert!(page.contains("crawlpike_name_lookups_total{result=\"over-limit\"} 2\n"), "{page}");
    assert!(page.contains("crawlpike_doubts_total{doubt=\"name-not-looked-up\"} 2\n"), "{page}");
    // One that goes makes room.
    drop(clients.pop());
    let mut waiting = TcpStream::connect(local(port)).unwrap();
    wait_for("a query for another address", || {
        waiting.write_all(&bot("192.0.2.2").bytes()).unwrap();
        let asked = |name: &String| name.starts_with("2.2.0.192.");
        dns.asked().iter().any(asked).then_some(())
    });
    assert_clean(&nginx);
}

/// Connections on which clients at these addresses have sent a request.
fn waiting(port: u16, addresses: impl Iterator<Item = String>) -> Vec<TcpStream> {
    let ask = |address: String| {
        let mut client = TcpStream::connect(local(port)).unwrap();
        client.write_all(&bot(&address).bytes()).unwrap();
        client
    };
    addresses.map(ask).collect()
}

// RDNS-2
#[test]
fn clients_whose_zones_do_not_answer_leave_places_to_others() {
    let zone = zone();
    let dns =
        DnsServer::answering(move |name, kind| match name.to_ascii().ends_with(".18.198.in-addr.arpa.") {
            true => Reply::Silence,
            false => zone.reply(name, kind),
        });
    let port = free_port();
    let setup = Setup { workers: 1, ..Setup::default() };
    let nginx = Nginx::set_up(folder(), &http(port, &dns, "crawlpike_rdns 1s;"), setup);
    let clients = waiting(port, (0..=255).map(|number| format!("198.18.{number}.1")));
    wait_for("64 queries", || (name_queries(&dns) >= 64).then_some(()));
    assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "verified rdns");
    // A client whose zone has not answered does not wait once more.
    wait_for("a lookup that is not made", || {
        drop(waiting(port, (0..=255).map(|number| format!("198.18.{number}.2"))));
        let page = ask(port, &Request::get("/metrics")).text();
        (!page.contains("crawlpike_name_lookups_total{result=\"backed-off\"} 0\n")).then_some(())
    });
    assert_eq!(identity(&ask(port, &bot("2001:db8::1"))), "verified rdns");
    drop(clients);
    assert_clean(&nginx);
}

#[test]
fn a_reload_loses_no_request_that_waits() {
    let (dns, release) = held(zone());
    let (nginx, port) = start(&dns, "crawlpike_rdns 10s;");
    let client = thread::spawn(move || identity(&ask(port, &bot("192.0.2.1"))).to_owned());
    wait_for("a query", || (name_queries(&dns) > 0).then_some(()));
    nginx.reload();
    nginx.wait_for_line("error.log", "gracefully shutting down");
    release.store(true, SeqCst);
    assert_eq!(client.join().unwrap(), "verified rdns");
    nginx.wait_for_line("error.log", "exited with code 0");
    assert_eq!(identity(&ask(port, &bot("192.0.2.1"))), "verified rdns");
    assert_clean(&nginx);
}

#[test]
fn a_connection_goes_on_after_the_wait() {
    let dns = serving(zone());
    let (nginx, port) = start(&dns, "crawlpike_rdns 5s;");
    let mut connection = Connection::open(local(port)).unwrap();
    for address in ["192.0.2.1", "192.0.2.9", "2001:db8::1", "192.0.2.1"] {
        let expected = if address == "192.0.2.9" { "unverified" } else { "verified rdns" };
        assert_eq!(identity(&connection.send(&bot(address)).unwrap()), expected);
    }
    // Two in one packet, of which the first one waits.
    let mut client = TcpStream::connect(local(port)).unwrap();
    let last = bot("192.0.2.1").header("Connection", "close");
    client.write_all(&[bot("192.0.2.77").bytes(), last.bytes()].concat()).unwrap();
    let mut answers = String::new();
    client.read_to_string(&mut answers).unwrap();
    let identities: Vec<&str> =
        answers.lines().filter_map(|line| line.strip_prefix("X-Identity: ")).map(str::trim_end).collect();
    assert_eq!(identities, ["unverified", "verified rdns"]);
    assert_clean(&nginx);
}

// RDNS-2
#[test]
fn lookups_are_counted_by_result() {
    let zone = zone().name("192.0.2.10", "a.other.example.");
    let dns = DnsServer::answering(move |name, kind| match &*name.to_ascii() {
        "50.2.0.192.in-addr.arpa." => Reply::Silence,
        "51.2.0.192.in-addr.arpa." => Reply::Failure,
        _ => zone.reply(name, kind),
    });
    let (nginx, port) = start(&dns, "crawlpike_rdns 500ms;");
    // The zone that does not answer is asked last.
    for last in [1, 1, 10, 99, 98, 51, 50, 50] {
        ask(port, &bot(&format!("192.0.2.{last}")));
    }
    let page = ask(port, &Request::get("/metrics")).text();
    for (result, count) in
        [("confirmed", 1), ("refuted", 1), ("no-name", 2), ("timed-out", 1), ("failed", 1), ("over-limit", 0)]
    {
        let line = format!("crawlpike_name_lookups_total{{result=\"{result}\"}} {count}\n");
        assert!(page.contains(&line), "{line}{page}");
    }
    assert_clean(&nginx);
}
