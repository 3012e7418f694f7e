//! Clients that only the name of their address can verify, with a DNS server on loopback that Envoy asks over HTTP.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;

use crawlpike_tests::dns::{DohServer, Reply, Zone, http_response};
use crawlpike_tests::envoy::{
    Envoy, Filter, Gate, Listener, address, bootstrap, configuration, native_filter,
};
use crawlpike_tests::http::{Request, Response};
use crawlpike_tests::lab::{FIREFOX, from};
use crawlpike_tests::name_lab::{
    self, DOCUMENT, STRANGERS, bot, zone, zone_with_strangers, zone_with_unusual_names,
};
use crawlpike_tests::nginx::{Folder, ask, local};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{PATIENCE, wait_for};
use hickory_proto::rr::Name;
use serde_json::{Value, json};

pub(crate) fn serving(zone: Zone) -> DohServer {
    DohServer::answering(move |name, kind| zone.reply(name, kind))
}

pub(crate) fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("crawlpike.json", DOCUMENT);
    folder
}

/// The element of `http_filters`, which asks a cluster for names.
pub(crate) fn filter(folder: &Folder, timeout: &str) -> Value {
    let rdns = json!({ "cluster": "dns", "authority": "dns.test", "timeout": timeout });
    native_filter(&json!({ "config": folder.path().join("crawlpike.json"), "rdns": rdns }).to_string())
}

/// The cluster with a server at a port.
pub(crate) fn cluster(port: u16) -> Value {
    json!({
        "name": "dns",
        "type": "STATIC",
        "load_assignment": {
            "cluster_name": "dns",
            "endpoints": [{ "lb_endpoints": [{ "endpoint": { "address": address(port) } }] }],
        },
    })
}

/// Envoy with two workers, in front of an origin.
pub(crate) struct Started {
    pub(crate) envoy: Envoy,
    pub(crate) port: u16,
    _origin: Origin,
}

impl Started {
    /// With a cluster at a port, and so long a wait.
    pub(crate) fn new(dns: u16, timeout: &str) -> Self {
        let folder = folder();
        let filter = filter(&folder, timeout);
        Self::with(folder, filter, cluster(dns))
    }

    /// With this filter, and the cluster that it asks.
    pub(crate) fn with(folder: Folder, filter: Value, cluster: Value) -> Self {
        let (origin, port) = (Origin::start(), free_port());
        let listener = Listener { port, filter, access_log: "access.log".into() };
        let mut bootstrap = bootstrap(&[configuration(&folder, &listener)], origin.port());
        let clusters = bootstrap["static_resources"]["clusters"].as_array_mut().unwrap();
        clusters.push(cluster);
        Self { envoy: Envoy::boot(folder, bootstrap, 2, &[]), port, _origin: origin }
    }

    /// The identity of a client of this address that claims to be the agent.
    pub(crate) fn identity(&self, address: &str) -> String {
        identity(&ask(self.port, &bot(address)))
    }

    pub(crate) fn assert_clean(&self) {
        let page = self.envoy.admin("/stats/prometheus");
        assert!(page.contains("crawlpike_errors_total{} 0\n"), "{page}");
        let log = self.envoy.folder().read("envoy.log");
        assert!(!log.contains("crawlpike: internal error") && !log.contains("[critical]"), "{log}");
    }
}

/// The identity in the header that the origin received.
pub(crate) fn identity(response: &Response) -> String {
    assert_eq!(response.status, 200, "{response:?}");
    let found = Received::of(response).and_then(|received| received.crawlpike).unwrap_or_default();
    let identity = found.split(", ").find_map(|fact| fact.strip_prefix("identity="));
    identity.unwrap_or_default().to_owned()
}

/// The number of times that the server was asked for names of addresses.
pub(crate) fn name_queries(dns: &DohServer) -> usize {
    name_lab::name_queries(&dns.asked())
}

// RDNS-1, JAFAR-19
#[test]
fn a_name_that_has_the_address_verifies_the_agent() {
    let dns = serving(zone_with_unusual_names());
    let envoy = Started::new(dns.port(), "10s");
    for address in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "192.0.2.3", "192.0.2.4"] {
        assert_eq!(envoy.identity(address), "verified", "{address}");
    }
    // The site denies unverified clients and serves verified ones.
    let strict = |address| {
        let request = Request::new("GET", "/", "strict.test").agent("NameBot/1.0");
        ask(envoy.port, &from(address, request)).status
    };
    assert_eq!((strict("192.0.2.1"), strict("192.0.2.9")), (200, 403));
    envoy.assert_clean();
}

// RDNS-1
#[test]
fn a_body_waits_with_its_request() {
    let (dns, release) = held(zone());
    let envoy = Started::new(dns.port(), "10s");
    let port = envoy.port;
    let ask = move |address: &str| {
        let request = Request::new("POST", "/", "strict.test").agent("NameBot/1.0");
        ask(port, &from(address, request.body(&[b'b'; 200_000]))).status
    };
    let clients = ["192.0.2.1", "192.0.2.9"].map(|address| thread::spawn(move || ask(address)));
    wait_for("both queries", || (name_queries(&dns) == 2).then_some(()));
    release.store(true, SeqCst);
    assert_eq!(clients.map(|client| client.join().unwrap()), [200, 403]);
    envoy.assert_clean();
}

// RDNS-1
#[test]
fn a_request_that_is_denied_after_its_lookup_is_counted_and_logged_once() {
    const CLIENTS: usize = 8;
    let (dns, release) = held(zone());
    let envoy = Started::new(dns.port(), "10s");
    let port = envoy.port;
    let ask = move |client: usize| {
        let request = Request::new("GET", "/", "strict.test").agent("NameBot/1.0");
        // Some connections end with the response, as the stream does while the module sends it.
        let request = if client.is_multiple_of(2) { request.header("Connection", "close") } else { request };
        ask(port, &from("192.0.2.9", request.header("X-Test-Case", client.to_string())))
    };
    let clients: Vec<_> = (0..CLIENTS).map(|client| thread::spawn(move || ask(client))).collect();
    wait_for("the query", || (name_queries(&dns) == 1).then_some(()));
    release.store(true, SeqCst);
    for client in clients {
        let response = client.join().unwrap();
        assert_eq!(response.denial_reason().as_deref(), Some("unverified-agent"), "{response:?}");
    }
    let counts = || {
        let page = envoy.envoy.admin("/stats/prometheus");
        let count = page.lines().filter(|line| line.starts_with("crawlpike_requests_total{"));
        count.map(str::to_owned).collect::<Vec<_>>()
    };
    let counts = wait_for("the counts", || {
        let counts = counts();
        counts.first()?.ends_with(&format!("}} {CLIENTS}")).then_some(counts)
    });
    assert!(matches!(&*counts, [denied] if denied.contains(r#"action="deny""#)), "{counts:?}");
    for client in 0..CLIENTS {
        let line = envoy.envoy.wait_for_line("access.log", &format!(r#""case":"{client}""#));
        assert!(line.contains(r#""status":403"#) && line.contains("action=deny"), "{line}");
    }
    assert_eq!(envoy.envoy.folder().read("access.log").lines().count(), CLIENTS);
    envoy.assert_clean();
}

// RDNS-1
#[test]
fn any_other_name_leaves_the_agent_unverified() {
    let dns = serving(zone_with_strangers());
    let envoy = Started::new(dns.port(), "10s");
    for last in STRANGERS {
        assert_eq!(envoy.identity(&format!("192.0.2.{last}")), "unverified", "192.0.2.{last}");
    }
    // Of the same family only: the other one has the same last bytes.
    assert_eq!(envoy.identity("2001:db8::3"), "unverified");
    assert!(!dns.asked().iter().any(|name| name.contains("evil") || name.contains("notcrawl")));
    envoy.assert_clean();
}

// RDNS-1, RDNS-2
#[test]
fn several_names_are_asked_for_up_to_a_limit() {
    let mut zone = zone();
    for number in 0..2000 {
        zone = zone.name("192.0.2.30", &format!("n{number}.crawl.example.org."));
    }
    let zone = zone
        .name("192.0.2.31", "n.other.example.")
        .name("192.0.2.31", "a.crawl.example.org.")
        .name("192.0.2.31", "c.crawl.example.org.")
        .address("c.crawl.example.org.", "192.0.2.31");
    let dns = serving(zone);
    let envoy = Started::new(dns.port(), "10s");
    assert_eq!(envoy.identity("192.0.2.31"), "verified", "the third name");
    assert_eq!(envoy.identity("192.0.2.30"), "unverified");
    let asked = dns.asked().iter().filter(|name| name.starts_with('n')).count();
    assert!(asked <= 8, "{asked}");
    envoy.assert_clean();
}

// RDNS-1
#[test]
fn what_is_no_answer_verifies_nobody() {
    let bad: Vec<Vec<u8>> = vec![
        http_response("application/dns-message", b""),
        http_response("application/dns-message", &[0; 11]),
        http_response("application/dns-message", &[0xff; 70_000]),
        http_response("text/html", b"<p>a captive portal</p>"),
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.1 302 Found\r\nLocation: https://elsewhere.test/\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"no HTTP\r\n\r\n".to_vec(),
    ];
    let count = bad.len();
    // To the first question, or to the second one, each for another address.
    let mut zone = zone();
    for last in 0..count {
        let name = format!("n{last}.crawl.example.org.");
        zone = zone.name(&format!("198.51.100.{last}"), &name).address(&name, &format!("198.51.100.{last}"));
    }
    let instead = move |name: &Name, _| {
        let text = name.to_ascii();
        let number =
            text.trim_start_matches('n').split('.').next().and_then(|label| label.parse::<usize>().ok())?;
        let is_meant = text.ends_with("113.0.203.in-addr.arpa.") || text.starts_with('n');
        bad.get(number).filter(|_| is_meant).cloned()
    };
    let dns = DohServer::start(move |name, kind| zone.reply(name, kind), instead);
    let envoy = Started::new(dns.port(), "10s");
    for last in 0..count {
        for network in ["203.0.113", "198.51.100"] {
            assert_eq!(envoy.identity(&format!("{network}.{last}")), "unverified", "{network}.{last}");
        }
    }
    assert!(dns.asked().iter().any(|name| name == "n0.crawl.example.org."), "{:?}", dns.asked());
    assert_eq!(envoy.identity("192.0.2.1"), "verified");
    envoy.assert_clean();
}

// RDNS-2
#[test]
fn one_query_serves_all_requests_of_all_workers() {
    let (dns, release) = held(zone());
    let envoy = Started::new(dns.port(), "10s");
    let port = envoy.port;
    let (sender, receiver) = mpsc::channel();
    for _ in 0..20 {
        let sender = sender.clone();
        thread::spawn(move || sender.send(identity(&ask(port, &bot("192.0.2.1")))));
    }
    wait_for("a query", || (name_queries(&dns) > 0).then_some(()));
    // Nobody else waits, and nobody has an answer yet.
    assert_eq!(ask(port, &from("192.0.2.1", Request::get("/").agent(FIREFOX))).status, 200);
    assert!(receiver.try_recv().is_err());
    release.store(true, SeqCst);
    for _ in 0..20 {
        assert_eq!(receiver.recv_timeout(PATIENCE).unwrap(), "verified");
    }
    for _ in 0..20 {
        assert_eq!(envoy.identity("192.0.2.1"), "verified");
        assert_eq!(envoy.identity("192.0.2.99"), "unverified");
    }
    assert_eq!(name_queries(&dns), 2, "{:?}", dns.asked());
    envoy.assert_clean();
}

// RDNS-1, RDNS-2
#[test]
fn a_server_that_does_not_answer_is_waited_for_once() {
    let zone = zone();
    let only_names = DohServer::answering(move |name, kind| match name.to_ascii().ends_with(".arpa.") {
        true => zone.reply(name, kind),
        false => Reply::Silence,
    });
    for dns in
        [DohServer::answering(|_, _| Reply::Silence), DohServer::answering(|_, _| Reply::Failure), only_names]
    {
        let envoy = Started::new(dns.port(), "0.5s");
        for _ in 0..10 {
            assert_eq!(envoy.identity("192.0.2.1"), "unverified");
        }
        assert_eq!(name_queries(&dns), 1, "{:?}", dns.asked());
        envoy.assert_clean();
    }
    // Nobody listens.
    let envoy = Started::new(free_port(), "10s");
    for _ in 0..10 {
        assert_eq!(envoy.identity("192.0.2.1"), "unverified");
    }
    envoy.assert_clean();
}

// RDNS-2
#[test]
fn people_and_clients_that_no_name_can_verify_cause_no_query() {
    let dns = DohServer::answering(|_, _| Reply::Silence);
    let envoy = Started::new(dns.port(), "10s");
    for (user_agent, expected) in [(FIREFOX, ""), ("PlainBot/1.0", "unverified"), ("curl/8.9", "generic")] {
        let response = ask(envoy.port, &from("192.0.2.1", Request::get("/").agent(user_agent)));
        assert_eq!(identity(&response), expected, "{user_agent}");
    }
    assert_eq!(dns.asked(), [""; 0]);
}

fn without_a_resolver_the_agent_is_unverified(filter: Filter) {
    let gate = Gate::start(filter, folder());
    assert_eq!(identity(&gate.ask(&bot("192.0.2.1"))), "unverified");
}

for_both_gates!(without_a_resolver_the_agent_is_unverified);

#[test]
fn a_client_that_goes_away_harms_nobody() {
    let (dns, release) = held(zone());
    let envoy = Started::new(dns.port(), "10s");
    for _ in 0..20 {
        let mut client = TcpStream::connect(local(envoy.port)).unwrap();
        client.write_all(&bot("192.0.2.1").bytes()).unwrap();
    }
    wait_for("a query", || (name_queries(&dns) > 0).then_some(()));
    wait_for("the end of the requests", || {
        let stats = envoy.envoy.admin("/stats?filter=downstream_rq_active");
        stats
            .lines()
            .filter(|line| line.contains("listener-"))
            .all(|line| line.ends_with(": 0"))
            .then_some(())
    });
    release.store(true, SeqCst);
    assert_eq!(envoy.identity("192.0.2.1"), "verified");
    envoy.assert_clean();
}

#[test]
fn a_cluster_that_does_not_exist_is_reported() {
    let folder = folder();
    let filter = filter(&folder, "10s");
    let gate = Gate::start_with(folder, filter, |_| {});
    assert_eq!(identity(&gate.ask(&bot("192.0.2.1"))), "unverified");
    gate.envoy.wait_for_line("envoy.log", "crawlpike: rdns: Envoy cannot send to the cluster \"dns\"");
}

#[test]
fn a_wrong_configuration_is_refused() {
    for (rdns, why) in [
        (json!({ "cluster": "dns" }), "missing field `authority`"),
        (json!({ "cluster": "dns", "authority": "dns.test", "resolver": "x" }), "unknown field `resolver`"),
        (json!({ "cluster": "dns", "authority": "dns.test", "timeout": "1 s" }), "invalid timeout \"1 s\""),
        (json!({ "cluster": "dns", "authority": "dns.test", "timeout": "90s" }), "at most \"60s\""),
    ] {
        let folder = folder();
        let config = folder.path().join("crawlpike.json");
        let filter = native_filter(&json!({ "config": config, "rdns": rdns }).to_string());
        let text = Envoy::refused(folder, filter, |_| {});
        assert!(text.contains(why), "{rdns}: {text}");
    }
}

/// A server that answers once it is let go.
pub(crate) fn held(zone: Zone) -> (DohServer, Arc<AtomicBool>) {
    let (answers, release) = name_lab::held(zone);
    (DohServer::answering(answers), release)
}
