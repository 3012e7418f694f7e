//! The client's own `X-Crawlpike` is removed, and nothing else.

use crawlpike_core::is_forgery;
use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::lab::{ADDRESS_HEADER, FIREFOX, HTTP, VERIFIED, lab};
use crawlpike_tests::nginx::{Nginx, ask, local};
use crawlpike_tests::origin::start_echo;
use crawlpike_tests::ports::free_port;

/// nginx in front of an origin that shows the head of each request as it came.
struct Gate {
    _nginx: Nginx,
    /// By default nginx drops headers with underscores itself.
    port: u16,
    /// `underscores_in_headers on`.
    with_underscores: u16,
    /// `ignore_invalid_headers off`, and upstreams get the client's `Connection`.
    with_odd_names: u16,
}

impl Gate {
    fn start() -> Self {
        let (echo, port) = (start_echo(), free_port());
        let (with_underscores, with_odd_names) = (free_port(), free_port());
        let http = format!(
            "{HTTP}
            large_client_header_buffers 4 16k;
            server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://{echo}; }} }}
            server {{
                listen 127.0.0.1:{with_underscores};
                underscores_in_headers on;
                location / {{ proxy_pass http://{echo}; }}
            }}
            server {{
                listen 127.0.0.1:{with_odd_names};
                ignore_invalid_headers off;
                location / {{ proxy_pass http://{echo}; proxy_set_header Connection $http_connection; }}
            }}"
        );
        Self { _nginx: Nginx::start(lab(), &http), port, with_underscores, with_odd_names }
    }

    /// The header lines that the origin received of this request; its body is read by the origin as a head.
    fn relayed(&self, port: u16, request: &Request) -> Vec<(String, String)> {
        let response = Connection::open(local(port)).unwrap().send(request).unwrap();
        assert_eq!(response.status, 200, "{response:?}");
        let line =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        let lines: Vec<_> = response.text().trim_end().split("\r\n").skip(1).filter_map(line).collect();
        // nginx puts its own first, whatever the client sent: since 1.29.7, which keeps connections to origins, only Host.
        let own = lines.iter().take_while(|(name, _)| name == "Host" || name == "Connection").count();
        assert!(own > 0 && lines[0].0 == "Host", "{lines:?}");
        lines[own..].to_vec()
    }

    /// Checks that the origin receives all header lines but forged ones, in their order, and at the end `added`.
    fn check(&self, port: u16, request: &Request, added: Option<&str>) {
        let is_relayed = |name: &str| {
            !["host", "connection"].contains(&name.to_ascii_lowercase().as_str())
                && !is_forgery(name.as_bytes())
        };
        let mut expected: Vec<(String, String)> = request
            .headers()
            .iter()
            .filter(|(name, _)| is_relayed(name))
            .map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned()))
            .collect();
        expected.extend(added.map(|value| ("X-Crawlpike".to_owned(), value.to_owned())));
        assert_eq!(self.relayed(port, request), expected, "{request:?}");
    }
}

const FORGED: &str = "action=allow, identity=verified";

#[test]
fn wherever_forged_headers_stand_the_others_stay_as_they_are() {
    let gate = Gate::start();
    let lab_bot = |request: Request| request.header(ADDRESS_HEADER, "192.0.2.1").agent("LabBot/1.0");
    let start = || Request::get("/").header("Accept", "*/*");
    let check = |request: Request| gate.check(gate.port, &request, Some(VERIFIED));
    check(lab_bot(start()));
    check(lab_bot(start().header("X-Crawlpike", FORGED)));
    check(lab_bot(start()).header("X-Crawlpike", FORGED));
    check(lab_bot(Request::bare("GET", "/").header("X-Crawlpike", FORGED).header("Host", "example.com")));
    check(lab_bot(start()).header("x-crawlpike", FORGED).header("X-CRAWLPIKE", "").header("Accept", "a"));
    check(lab_bot(start().header("X-Crawlpike-Like", "stays").header("X-Crawlwar", "stays")));
}

#[test]
fn a_forged_header_alone() {
    let gate = Gate::start();
    // The request line has the host.
    let alone = Request::bare("GET", "http://example.com/").http_1_0().header("X-Crawlpike", FORGED);
    gate.check(gate.port, &alone, Some("action=allow, identity=generic"));
    let several = alone.header("X-Crawlpike", FORGED).header("x-crawlpike", FORGED);
    gate.check(gate.port, &several, Some("action=allow, identity=generic"));
}

#[test]
fn people_have_no_such_header() {
    let gate = Gate::start();
    let person = || Request::get("/").agent(FIREFOX);
    gate.check(gate.port, &person(), None);
    gate.check(gate.port, &person().header("X-Crawlpike", FORGED), None);
    gate.check(gate.port, &person().header("X-Crawlpike", FORGED).header("Accept", "*/*"), None);
}

/// nginx keeps headers in parts of twenty; what is removed can be a whole part, its end, or its beginning.
#[test]
fn many_headers_in_every_pattern() {
    type IsForged = fn(usize) -> bool;
    let gate = Gate::start();
    let patterns: [(&str, IsForged); 8] = [
        ("all of them", |_| true),
        ("every second", |at| at % 2 == 0),
        ("every third", |at| at % 3 == 0),
        ("the first thirty", |at| at < 30),
        ("the last thirty", |at| at >= 30),
        ("the second part", |at| (17..37).contains(&at)),
        ("around the end of a part", |at| (15..22).contains(&at)),
        ("none", |_| false),
    ];
    for (name, is_forged) in patterns {
        let mut request = Request::get("/").header(ADDRESS_HEADER, "192.0.2.1").agent("LabBot/1.0");
        for at in 0..60 {
            request = match is_forged(at) {
                true => request.header("X-Crawlpike", format!("{FORGED}; at={at}")),
                false => request.header(&format!("X-Line-{at}"), format!("{name} {at}")),
            };
        }
        gate.check(gate.port, &request, Some(VERIFIED));
        gate.check(gate.port, &request.header("Accept", "*/*"), Some(VERIFIED));
    }
}

#[test]
fn a_header_that_cgi_takes_for_ours() {
    let gate = Gate::start();
    let request = Request::get("/")
        .header("X_Crawlpike", FORGED)
        .agent(FIREFOX)
        .header("x_crawlpike", FORGED)
        .header("Accept", "*/*");
    gate.check(gate.with_underscores, &request, None);
    gate.check(gate.port, &request, None);
}

#[test]
fn a_header_in_any_spelling_that_upstreams_fold_together() {
    let gate = Gate::start();
    let names = ["X.Crawlpike", "x~crawlpike", "X+CRAWLPIKE", "X'Crawlpike", "X!Crawlpike"];
    let mut request = Request::get("/").header(ADDRESS_HEADER, "192.0.2.1").agent("LabBot/1.0");
    for name in names {
        request = request.header(name, FORGED).header(&format!("{name}-Like"), "stays");
    }
    gate.check(gate.with_odd_names, &request, Some(VERIFIED));
}

#[test]
fn no_client_has_the_next_hop_remove_our_header() {
    let gate = Gate::start();
    for (sent, expected) in [
        ("keep-alive, X-Crawlpike", Some("keep-alive")),
        ("x-crawlpike", None),
        ("X_Crawlpike, close", Some("close")),
        ("keep-alive", Some("keep-alive")),
    ] {
        let request = Request::get("/").header(ADDRESS_HEADER, "192.0.2.1").agent("LabBot/1.0");
        let request = request.header("Connection", sent);
        let response = Connection::open(local(gate.with_odd_names)).unwrap().send(&request).unwrap();
        let text = response.text();
        let value = |name: &str| text.split("\r\n").find_map(|line| line.strip_prefix(name));
        assert_eq!(value("Connection: "), expected, "{sent}: {text}");
        assert_eq!(value("X-Crawlpike: "), Some(VERIFIED), "{sent}: {text}");
    }
}

#[test]
fn what_nginx_itself_reads_of_headers_is_still_right() {
    let gate = Gate::start();
    let body = b"a: b\r\n\r\n";
    let request = Request::new("POST", "/", "example.com")
        .header("X-Crawlpike", FORGED)
        .header(ADDRESS_HEADER, "192.0.2.1")
        .header("X-Crawlpike", FORGED)
        .agent("LabBot/1.0")
        .body(body)
        .header("X-Crawlpike", FORGED);
    let lines = gate.relayed(gate.port, &request);
    let value = |name: &str| lines.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    assert_eq!(value("Content-Length"), Some("8"));
    assert_eq!(value("User-Agent"), Some("LabBot/1.0"));
    assert_eq!(value("X-Crawlpike"), Some(VERIFIED));
}

#[test]
fn nginx_itself_does_not_see_a_forged_header() {
    let port = free_port();
    let http = format!(
        r#"{HTTP}
        map $http_x_crawlpike $claimed {{ "" nothing; default $http_x_crawlpike; }}
        server {{
            listen 127.0.0.1:{port};
            if ($http_x_crawlpike) {{ return 200 "forged: $http_x_crawlpike"; }}
            return 200 $claimed;
        }}"#
    );
    let _nginx = Nginx::start(lab(), &http);
    for name in ["X-Crawlpike", "x-crawlpike"] {
        let request = Request::get("/").agent(FIREFOX).header(name, "action=allow, identity=verified");
        assert_eq!(ask(port, &request).text(), "nothing");
    }
}
