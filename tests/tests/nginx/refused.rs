//! Incomplete and invalid requests: nginx refuses them while it reads them, and its own answer stays.

use crawlpike_tests::http::send_bytes;
use crawlpike_tests::lab::{FIREFOX, HTTP, lab_with_robots};
use crawlpike_tests::nginx::{Nginx, local};
use crawlpike_tests::origin::start_echo;
use crawlpike_tests::ports::free_port;

/// nginx with an operator's page for every refusal, which comes from an origin that shows what it is sent; in a site
/// that denies all automation.
fn start() -> (Nginx, u16) {
    let (echo, port) = (start_echo(), free_port());
    let folder = lab_with_robots("User-agent: *\nDisallow: /\n");
    let http = format!(
        "{HTTP}
        log_format decided '$status:$crawlpike_identity:$crawlpike_action:$crawlpike_rate_key:$http_x_crawlpike';
        client_header_timeout 1s;
        large_client_header_buffers 2 1k;
        server {{
            listen 127.0.0.1:{port};
            access_log decided.log decided;
            error_page 400 405 414 494 /refused;
            location = /refused {{ proxy_pass http://{echo}; }}
            location / {{ proxy_pass http://{echo}; }}
        }}"
    );
    (Nginx::start(folder, &http), port)
}

#[test]
fn what_is_no_request_is_not_decided_about() {
    let (nginx, port) = start();
    let long = "a".repeat(4000);
    // The beginning of the status: a tunnel is 400, and 405 from nginx 1.29 on.
    let table = [
        ("a TLS handshake", "\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), "400"),
        ("one byte", "\0\r\n\r\n".to_owned(), "400"),
        ("no version", "GET / HTTP/9.9\r\n\r\n".to_owned(), "505"),
        ("a long target", format!("GET /{long} HTTP/1.1\r\n\r\n"), "414"),
        ("a long header, before the browser's name", header("x-long", &long), "400"),
        ("no Host", "GET / HTTP/1.1\r\nX-Crawlpike: forged\r\n\r\n".to_owned(), "400"),
        ("two Hosts", "GET / HTTP/1.1\r\nHost: example.com\r\nHost: x.invalid\r\n\r\n".to_owned(), "400"),
        ("a Host with an empty label", "GET / HTTP/1.1\r\nHost: example.com..\r\n\r\n".to_owned(), "400"),
        ("an asterisk", "OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n".to_owned(), "400"),
        ("a tunnel", "CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n".to_owned(), "40"),
        ("a trace", "TRACE / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: curl/8\r\n\r\n".to_owned(), "405"),
    ];
    for (name, bytes, status) in &table {
        let answer = send_bytes(local(port), bytes.as_bytes()).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{name}: {answer}");
        let answer = answer.to_ascii_lowercase();
        assert!(!answer.contains("problem") && !answer.contains("crawlpike"), "{name}: {answer}");
    }
    // Whoever sends half a header has no User-Agent yet.
    let _ = send_bytes(local(port), b"GET /slow HTTP/1.1\r\nHost: example.com\r\n");
    nginx.wait_for_line("decided.log", "408:-:-:-:-");
    let logged = nginx.folder().read("decided.log");
    assert_eq!(logged.matches(":-:-:-:").count(), table.len() + 1, "{logged}");
    let log = nginx.folder().read("error.log");
    assert!(!log.contains("exited on signal") && !log.contains("crawlpike: denied"), "{log}");
}

fn header(name: &str, value: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: example.com\r\nX-Crawlpike: forged\r\n{name}: {value}\r\nUser-Agent: {FIREFOX}\r\n\r\n"
    )
}

#[test]
fn targets_that_name_the_server_are_judged_as_what_is_served() {
    let (_nginx, port) = start();
    for target in ["http://example.com", "http://example.com?a", "http://example.com/", "/"] {
        let request = format!(
            "GET {target} HTTP/1.1\r\nHost: example.com\r\nUser-Agent: curl/8\r\nConnection: close\r\n\r\n"
        );
        let answer = send_bytes(local(port), request.as_bytes()).unwrap();
        assert!(answer.contains("robots-disallowed"), "{target}: {answer}");
    }
}

#[test]
fn what_nginx_passes_on_as_it_came_gets_past_no_rule() {
    let (echo, port) = (start_echo(), free_port());
    let pass = format!("proxy_pass http://{echo}; proxy_set_header Host $http_host;");
    let http = format!("{HTTP} server {{ listen 127.0.0.1:{port}; location / {{ {pass} }} }}");
    let _nginx = Nginx::start(lab_with_robots("User-agent: *\nDisallow: /private\n"), &http);
    let ask = |target: &str, host: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: curl/8\r\n");
        send_bytes(local(port), format!("{head}Connection: close\r\n\r\n").as_bytes()).unwrap()
    };
    // Go takes a fragment for a part of the path.
    for target in ["/x/#/../../private", "/x/#/..%2F../private", "/private#"] {
        assert!(ask(target, "example.com").contains("robots-disallowed"), "{target}");
    }
    assert!(ask("/x/#/../private", "example.com").contains("GET /x/#/../private HTTP"));
    // The host that counts is the one that the origin is asked for.
    for host in ["example.com", "other.example", "EXAMPLE.com:81"] {
        let answer = ask("http://Example.com:80/", host);
        assert!(answer.contains("\r\nHost: Example.com:80\r\n") && !answer.contains(host), "{answer}");
    }
}
