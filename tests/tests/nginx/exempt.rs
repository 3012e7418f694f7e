//! Clients that nobody denies: exempt addresses, `geo` with a mode, and the health checks of others' products.

use crawlpike_tests::http::{Request, send_bytes};
use crawlpike_tests::lab::{DOCUMENT, HTTP, from, lab};
use crawlpike_tests::nginx::{Nginx, ask, local};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;

/// As LabBot, whose addresses these are not.
fn forged(address: &str) -> Request {
    from(address, Request::get("/").agent("LabBot/1.0"))
}

#[test]
fn an_exempt_client_passes_with_its_facts_and_without_a_rate() {
    let (origin, port) = (Origin::start(), free_port());
    let folder = lab();
    folder.write(
        "crawlpike.json",
        DOCUMENT.replace(r#""mode": "enforce","#, r#""mode": "enforce", "exempt": ["203.0.113.0/28"],"#),
    );
    let http = format!(
        "{HTTP}
        log_format facts '$crawlpike_action:$crawlpike_reason:$crawlpike_identity:$crawlpike_agent:[$crawlpike_rate_key]';
        limit_req_zone $crawlpike_rate_key zone=crawlers:1m rate=1r/m;
        server {{
            listen 127.0.0.1:{port};
            access_log facts.log facts;
            limit_req zone=crawlers;
            limit_req_status 429;
            location / {{ proxy_pass http://127.0.0.1:{}; }}
        }}",
        origin.port()
    );
    let nginx = Nginx::start(folder, &http);
    for _ in 0..3 {
        let response = ask(port, &forged("203.0.113.9"));
        let received = Received::of(&response).expect("it reaches the origin");
        assert_eq!(received.crawlpike.as_deref(), Some(r#"action=allow, identity=spoofed, agent="LabBot""#));
    }
    nginx.wait_for_line("facts.log", "allow:exempt:spoofed:LabBot:[-]");
    assert_eq!(ask(port, &forged("203.0.113.16")).denial_reason().as_deref(), Some("spoofed-agent"));
}

/// As docs/exempt.md has it.
#[test]
fn geo_chooses_the_mode_for_an_address() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        "{HTTP}
        geo $mode_for_client {{
            default       enforce;
            192.0.2.0/28  off;
        }}
        server {{
            listen 127.0.0.1:{port};
            crawlpike $mode_for_client;
            location / {{ proxy_pass http://127.0.0.1:{}; }}
        }}",
        origin.port()
    );
    let _nginx = Nginx::start(lab(), &http);
    let reaches =
        |address| Received::of(&ask(port, &from(address, Request::get("/").agent("FreeBot")))).is_some();
    assert!(reaches("192.0.2.1") && reaches("192.0.2.16"));
    let response = ask(port, &forged("203.0.113.9"));
    assert_eq!(response.denial_reason().as_deref(), Some("spoofed-agent"));
}

/// The bytes of products that watch the servers behind them, with whatever Host, or none.
const PROBES: [(&str, &str); 8] = [
    ("HAProxy, option httpchk", "OPTIONS / HTTP/1.0\r\n\r\n"),
    ("HAProxy, option httpchk GET", "GET / HTTP/1.0\r\n\r\n"),
    ("HAProxy, with a comment of its own", "GET / HTTP/1.0\r\nUser-Agent: HAProxy\r\n\r\n"),
    ("nginx, proxy_pass to an upstream", "GET / HTTP/1.0\r\nHost: backend\r\nConnection: close\r\n\r\n"),
    (
        "nginx, an upstream with an underscore",
        "GET / HTTP/1.0\r\nHost: back_end\r\nConnection: close\r\n\r\n",
    ),
    (
        "AWS, Classic Load Balancer",
        "GET / HTTP/1.0\r\nUser-Agent: ELB-HealthChecker/1.0\r\nAccept: */*\r\n\r\n",
    ),
    (
        "AWS, Application Load Balancer",
        "GET / HTTP/1.1\r\nHost: 10.0.0.7:80\r\nConnection: close\r\nUser-Agent: ELB-HealthChecker/2.0\r\n\
         Accept-Encoding: gzip, compressed\r\n\r\n",
    ),
    (
        "Kubernetes",
        "GET / HTTP/1.1\r\nHost: 10.0.0.7:8080\r\nUser-Agent: kube-probe/1.31\r\nAccept: */*\r\nConnection: close\r\n\r\n",
    ),
];

#[test]
fn probes_of_load_balancers_are_not_refused() {
    for document in [
        r#"{ "mode": "enforce" }"#,
        r#"{ "mode": "enforce", "sites": [ { "hosts": ["other.test"], "unverified": "deny" } ] }"#,
        r#"{ "mode": "enforce", "sites": [ { "hosts": ["other.test"], "robots_txt": "r" }, {} ],
             "files": { "r": { "text": "User-agent: *\nDisallow: /\n" } } }"#,
    ] {
        let port = free_port();
        let folder = lab();
        folder.write("crawlpike.json", document);
        let http = format!(
            "{HTTP} server {{ listen 127.0.0.1:{port}; root .; error_page 405 =200 /lab.txt;
               location / {{ try_files /lab.txt =404; }} }}"
        );
        let _nginx = Nginx::start(folder, &http);
        for (name, bytes) in PROBES {
            let answer = send_bytes(local(port), bytes.as_bytes()).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{name} with {document}: {answer}");
        }
        // A Host that is none is still one.
        let odd = "GET / HTTP/1.0\r\nHost: user;other.test\r\nUser-Agent: curl/8\r\n\r\n";
        assert!(send_bytes(local(port), odd.as_bytes()).unwrap().starts_with("HTTP/1.1 400"), "{document}");
    }
}

/// A policy that disallows everything says so itself.
#[test]
fn a_probe_without_host_is_for_the_site_of_all_other_hosts() {
    let port = free_port();
    let folder = lab();
    folder.write(
        "crawlpike.json",
        r#"{ "mode": "enforce", "sites": [ { "hosts": ["open.test"] }, { "robots_txt": "r" } ],
             "files": { "r": { "text": "User-agent: *\nDisallow: /\n" } } }"#,
    );
    let http = format!(
        "{HTTP} server {{ listen 127.0.0.1:{port}; root .; location / {{ try_files /lab.txt =404; }} }}"
    );
    let _nginx = Nginx::start(folder, &http);
    let answer = send_bytes(local(port), b"GET / HTTP/1.0\r\n\r\n").unwrap();
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("robots-disallowed"), "{answer}");
    let open = send_bytes(local(port), b"GET / HTTP/1.0\r\nHost: open.test\r\n\r\n").unwrap();
    assert!(open.starts_with("HTTP/1.1 200"), "{open}");
}
