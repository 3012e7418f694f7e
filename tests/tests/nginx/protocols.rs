//! The protocols in which clients and proxies talk to nginx: TLS, HTTP/2, unix sockets, the PROXY protocol.

use std::net::SocketAddr;
use std::process::Command;

use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::lab::{FIREFOX, HTTP, VERIFIED, lab, lab_with_robots, lab_with_sites, strict_lab};
use crawlpike_tests::nginx::{Folder, Nginx, local};
use crawlpike_tests::origin::start_echo;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::tls;

/// nginx in front of an origin that shows the head of each request as it came.
struct Gate {
    nginx: Nginx,
    tls: u16,
    /// HTTP/2 without TLS.
    h2c: u16,
}

impl Gate {
    fn start(folder: Folder) -> Self {
        let (echo, tls, h2c) = (start_echo(), free_port(), free_port());
        tls::write_certificate(&folder, &[]);
        let pass = format!(
            "access_log decided.log decided; location / {{ proxy_pass http://{echo}; proxy_set_header Host $host; }}"
        );
        let http = format!(
            "{HTTP}
            log_format decided '$server_protocol $status $uri $crawlpike_identity $crawlpike_action';
            ssl_certificate certificate.pem;
            ssl_certificate_key key.pem;
            underscores_in_headers on;
            server {{ listen 127.0.0.1:{tls} ssl http2; {pass} }}
            server {{ listen 127.0.0.1:{h2c} http2; {pass} }}"
        );
        Self { nginx: Nginx::start(folder, &http), tls, h2c }
    }

    fn ways(&self) -> [Way; 3] {
        let way = |version, options: &[&str]| Way {
            version,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        };
        let (https, h2c) =
            (format!("https://127.0.0.1:{}", self.tls), format!("http://127.0.0.1:{}", self.h2c));
        [
            way("1.1", &["--http1.1", "--url", &https]),
            way("2", &["--http2", "--url", &https]),
            way("2", &["--http2-prior-knowledge", "--url", &h2c]),
        ]
    }

    fn http_2(&self, target: &str) -> Vec<String> {
        let url = format!("https://127.0.0.1:{}{target}", self.tls);
        vec!["--http2".to_owned(), "--url".to_owned(), url]
    }
}

/// A way to a request.
struct Way {
    version: &'static str,
    /// Of curl.
    options: Vec<String>,
}

impl Way {
    /// The responses to requests with these headers: over one connection, but for HTTP/2 without TLS, of which curl 7
    /// can't use a connection twice.
    fn ask<const COUNT: usize>(&self, requests: [Vec<&str>; COUNT]) -> [Answer; COUNT] {
        let requests = requests.map(|headers| with(self.options.clone(), &headers));
        let answers = match self.options.iter().any(|option| option == "--http2-prior-knowledge") {
            true => requests.iter().flat_map(|request| curl(std::slice::from_ref(request))).collect(),
            false => {
                let answers = curl(&requests);
                assert!(answers[1..].iter().all(|answers| answers.connects == "0"), "{answers:?}");
                answers
            }
        };
        assert!(answers.iter().all(|answers| answers.version == self.version), "{answers:?}");
        <[Answer; COUNT]>::try_from(answers).expect("a response to each request")
    }
}

/// A response, as curl shows it.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    version: String,
    status: String,
    content_type: String,
    body: String,
    /// The number of connections that the request opened.
    connects: String,
}

impl Answer {
    fn denial_reason(&self) -> Option<String> {
        let problem: serde_json::Value = serde_json::from_str(&self.body).ok()?;
        assert_eq!(self.content_type, "application/problem+json");
        assert_eq!(problem["status"].to_string(), self.status);
        Some(problem["reason"].as_str()?.to_owned())
    }

    /// The value of a header that the origin received.
    fn at_origin(&self, name: &str) -> Vec<&str> {
        let values = self.body.split("\r\n").filter_map(|line| line.split_once(": "));
        values.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }
}

/// The responses of one curl, which keeps its connection from one request to the next.
fn curl(requests: &[Vec<String>]) -> Vec<Answer> {
    const END: &str = "\u{1}end\u{1}";
    let mut command = Command::new("curl");
    for (number, request) in requests.iter().enumerate() {
        if number > 0 {
            command.arg("--next");
        }
        command.args(["--silent", "--show-error", "--insecure", "--max-time", "60", "--noproxy", "*"]);
        command.args(["--header", "User-Agent:", "--write-out"]);
        command.arg(
            "\u{1}%{http_version}\u{1}%{response_code}\u{1}%{content_type}\u{1}%{num_connects}\u{1}end\u{1}",
        );
        command.args(request);
    }
    let output = command.output().expect("curl can be started");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answers = |part: &str| {
        let mut fields = part.split('\u{1}').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_else(|| panic!("curl: {text}"));
        let (body, version, status) = (next(), next(), next());
        Answer { body, version, status, content_type: next(), connects: next() }
    };
    text.split_terminator(END).map(answers).collect()
}

fn with(mut way: Vec<String>, headers: &[&str]) -> Vec<String> {
    for header in headers {
        way.extend(["--header".to_owned(), (*header).to_owned()]);
    }
    way
}

const AT_HOME: &str = "X-Forwarded-For: 192.0.2.1";
const ELSEWHERE: &str = "X-Forwarded-For: 203.0.113.9";
const LAB_BOT: &str = "User-Agent: LabBot/1.0";

#[test]
fn each_protocol_has_the_same_decisions() {
    let gate = Gate::start(lab());
    let person = format!("User-Agent: {FIREFOX}");
    for way in gate.ways() {
        let [denied, verified, person] =
            way.ask([vec![LAB_BOT, ELSEWHERE], vec![LAB_BOT, AT_HOME], vec![&person, ELSEWHERE]]);
        assert_eq!(
            (denied.status.as_str(), denied.denial_reason().as_deref()),
            ("403", Some("spoofed-agent"))
        );
        assert_eq!(verified.at_origin("x-crawlpike"), [VERIFIED]);
        assert_eq!(person.at_origin("user-agent"), [FIREFOX]);
        assert!(person.at_origin("x-crawlpike").is_empty());
    }
}

#[test]
fn a_connection_of_http_2_is_usable_after_denials() {
    let gate = Gate::start(lab());
    let request = |more: &[&str], headers: &[&str]| {
        let mut request = with(gate.http_2("/"), headers);
        request.extend(more.iter().map(|option| (*option).to_owned()));
        request
    };
    let body = "x".repeat(10_000);
    let answers = curl(&[
        request(&["--data-raw", &body], &[LAB_BOT, ELSEWHERE]),
        request(&["--head"], &[LAB_BOT, ELSEWHERE]),
        request(&[], &[LAB_BOT, AT_HOME]),
    ]);
    let [post, head, verified] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(post.denial_reason().as_deref(), Some("spoofed-agent"));
    assert_eq!((head.status.as_str(), head.content_type.as_str()), ("403", "application/problem+json"));
    assert_eq!(verified.at_origin("x-crawlpike"), [VERIFIED], "{verified:?}");
    assert_eq!([&*head.connects, &*verified.connects], ["0", "0"], "one connection");
}

#[test]
fn forged_headers_in_http_2() {
    let gate = Gate::start(lab());
    let forged = "X-Crawlpike: action=allow, identity=verified";
    let headers = [
        "Cookie: a=1",
        forged,
        "X-First: stays",
        "x_crawlpike: action=allow",
        "Cookie: b=2",
        forged,
        LAB_BOT,
        "X-Last: stays",
        AT_HOME,
    ];
    let answers = curl(&[
        with(gate.http_2("/"), &headers),
        with(gate.http_2("/"), &[forged, AT_HOME, "User-Agent: Firefox/1"]),
    ]);
    assert_eq!(answers[0].at_origin("x-crawlpike"), [VERIFIED], "{answers:?}");
    assert!(answers[0].at_origin("x_crawlpike").is_empty());
    assert_eq!(answers[0].at_origin("x-first"), ["stays"]);
    assert_eq!(answers[0].at_origin("x-last"), ["stays"]);
    // nginx joins the lines of cookies, which HTTP/2 lets a client split.
    assert_eq!(answers[0].at_origin("cookie"), ["a=1; b=2"]);
    assert!(!answers[1].at_origin("x-crawlpike").contains(&forged), "{answers:?}");
}

#[test]
fn a_claim_in_a_second_line_of_the_user_agent_counts_in_http_2() {
    let gate = Gate::start(lab());
    let firefox = format!("User-Agent: {FIREFOX}");
    for lines in [[&*firefox, LAB_BOT], [LAB_BOT, &*firefox]] {
        let answers = curl(&[with(gate.http_2("/"), &[lines[0], lines[1], ELSEWHERE])]);
        assert_eq!(answers[0].denial_reason().as_deref(), Some("spoofed-agent"), "{lines:?}");
    }
}

#[test]
fn the_authority_of_http_2_leads_to_the_site() {
    let folder = lab_with_sites(
        r#"{ "hosts": ["open.example"], "robots_txt": "open.txt" }, { "robots_txt": "closed.txt" }"#,
    );
    folder.write("open.txt", "User-agent: *\nDisallow:\n");
    folder.write("closed.txt", "User-agent: *\nDisallow: /\n");
    let gate = Gate::start(folder);
    for way in gate.ways() {
        // curl makes the `:authority` of it.
        let to = |host| vec!["User-Agent: FreeBot", host];
        let [open, with_port, other] =
            way.ask([to("Host: OPEN.example"), to("Host: open.example:8443"), to("Host: other.example")]);
        assert_eq!((open.status.as_str(), with_port.status.as_str()), ("200", "200"), "{open:?}");
        assert_eq!(other.denial_reason().as_deref(), Some("robots-disallowed"), "{other:?}");
    }
}

#[test]
fn policies_are_served_over_http_2() {
    let gate = Gate::start(lab_with_robots("User-agent: *\n"));
    let robots = |headers: &[&str]| with(gate.http_2("/robots.txt"), headers);
    let answers = curl(&[robots(&[]), robots(&["If-None-Match: *"]), robots(&[])]);
    assert_eq!(answers[0].body, "User-agent: *\n");
    assert_eq!((answers[1].status.as_str(), answers[1].body.as_str()), ("304", ""));
    assert_eq!((answers[2].body.as_str(), answers[2].connects.as_str()), ("User-agent: *\n", "0"));
}

#[test]
fn what_nginx_refuses_of_http_2_is_not_decided_about() {
    let gate = Gate::start(lab());
    let bad_host = with(gate.http_2("/"), &["Host: a/b", LAB_BOT, ELSEWHERE]);
    let mut trace = with(gate.http_2("/"), &[LAB_BOT, ELSEWHERE]);
    trace.extend(["--request", "TRACE"].map(str::to_owned));
    for (request, status) in [(bad_host, "400"), (trace, "405")] {
        let answers = curl(&[request]);
        assert_eq!((answers[0].status.as_str(), answers[0].denial_reason()), (status, None));
    }
    let logged = || {
        let lines = gate.nginx.folder().lines("decided.log");
        (lines.len() == 2).then_some(lines)
    };
    for line in wait_for("two lines in decided.log", logged) {
        assert!(line.starts_with("HTTP/2.0 40") && line.ends_with(" - -"), "{line}");
    }
    assert_eq!(curl(&[with(gate.http_2("/"), &[LAB_BOT, AT_HOME])])[0].status, "200");
    let log = gate.nginx.folder().read("error.log");
    assert!(!log.contains("exited on signal") && !log.contains("crawlpike: denied"), "{log}");
}

const FILE: &str = "root .; location / { try_files /lab.txt =404; }";

fn lab_bot() -> Request {
    Request::get("/").agent("LabBot/1.0")
}

#[test]
fn realip_of_a_unix_socket_gives_the_client_its_address() {
    let folder = lab();
    let socket = folder.path().join("gate.sock");
    let http = format!(
        "crawlpike_config crawlpike.json;
        set_real_ip_from unix:;
        real_ip_header X-Forwarded-For;
        server {{ listen unix:{}; {FILE} }}",
        socket.display()
    );
    let _nginx = Nginx::start(folder, &http);
    let mut connection = Connection::open_unix(&socket).unwrap();
    let mut from = |address: &str| connection.send(&lab_bot().header("X-Forwarded-For", address)).unwrap();
    assert_eq!(from("192.0.2.1").status, 200);
    assert_eq!(from("203.0.113.9").denial_reason().as_deref(), Some("spoofed-agent"));
    // No address: nobody is spoofed.
    assert_eq!(connection.send(&lab_bot()).unwrap().status, 200);
}

#[test]
fn the_address_of_the_proxy_protocol() {
    let (used, unused) = (free_port(), free_port());
    let http = format!(
        "crawlpike_config crawlpike.json;
        set_real_ip_from 127.0.0.1;
        server {{ listen 127.0.0.1:{used} proxy_protocol; real_ip_header proxy_protocol; {FILE} }}
        server {{ listen 127.0.0.1:{unused} proxy_protocol; {FILE} }}"
    );
    let _nginx = Nginx::start(strict_lab(), &http);
    let status = |port: u16, proxied: &str| {
        let mut connection = Connection::open(local(port)).unwrap();
        // Headers do not count here.
        let request = "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: LabBot/1.0\r\n\
            X-Forwarded-For: 192.0.2.2\r\n\r\n";
        let first = connection.send_text(&format!("PROXY {proxied}\r\n{request}")).unwrap().status;
        // It holds for the whole connection.
        assert_eq!(connection.send(&lab_bot()).unwrap().status, first, "{proxied}");
        first
    };
    let home: SocketAddr = "192.0.2.1:1000".parse().unwrap();
    let tcp4 = |client: SocketAddr| format!("TCP4 {} 127.0.0.1 {} 80", client.ip(), client.port());
    assert_eq!(status(used, &tcp4(home)), 200);
    assert_eq!(status(used, "TCP4 203.0.113.9 127.0.0.1 1000 80"), 403);
    assert_eq!(status(used, "TCP6 2001:db8::7 ::1 1000 80"), 200);
    assert_eq!(status(used, "TCP6 2001:db9::7 ::1 1000 80"), 403);
    assert_eq!(status(used, "UNKNOWN"), 403, "the address is that of the connection");
    assert_eq!(status(unused, &tcp4(home)), 403, "nobody asked for the address in the PROXY header");
}
