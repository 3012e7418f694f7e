//! HTTP/3, which needs an nginx that is built with it, and a curl: `make nginx-matrix` has both. The other protocols are
//! in `nginx/protocols.rs`.

use std::env;
use std::process::Command;

use crawlpike_tests::http::Response;
use crawlpike_tests::lab::FIREFOX;
use crawlpike_tests::nginx::{Folder, Nginx};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::tls;

/// HereBot comes from where the tests run, AwayBot from elsewhere.
const DOCUMENT: &str = r#"{
  "mode": "enforce",
  "catalog": "none",
  "feeds": [ { "name": "here", "format": "cidr", "source": "here.txt" },
             { "name": "away", "format": "cidr", "source": "away.txt" } ],
  "agents": [ { "token": "HereBot", "feeds": ["here"] }, { "token": "AwayBot", "feeds": ["away"] } ]
}"#;

/// The response of example.com on a port of 127.0.0.1 to a request with this User-Agent and a forged header. `$CURL` is
/// another curl than the installed one, with HTTP/3.
fn get(port: u16, user_agent: &str) -> Response {
    let mut command = Command::new(env::var_os("CURL").unwrap_or_else(|| "curl".into()));
    command.args(["--silent", "--show-error", "--insecure", "--include", "--max-time", "60", "--http3-only"]);
    command.args(["--noproxy", "*", "--resolve", &format!("example.com:{port}:127.0.0.1")]);
    command.args(["--header", "X-Crawlpike: forged", "--user-agent", user_agent]);
    let output = command.arg(format!("https://example.com:{port}/")).output().expect("curl can be started");
    assert!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));

    let text = String::from_utf8_lossy(&output.stdout);
    let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/3 ")).expect("HTTP/3");
    let headers = lines.filter_map(|line| line.split_once(": "));
    Response {
        status: status.trim().parse().expect("a status"),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: body.into(),
    }
}

#[test]
fn decisions_over_quic() {
    let (folder, origin, port) = (Folder::new(), Origin::start(), free_port());
    folder.write("crawlpike.json", DOCUMENT);
    folder.write("here.txt", "127.0.0.1\n");
    folder.write("away.txt", "192.0.2.0/24\n");
    tls::write_certificate(&folder, &["example.com"]);
    // Without `reuseport` a packet could reach the worker that does not know its connection.
    let http = format!(
        "crawlpike_config crawlpike.json;
        log_format decided '$server_protocol $status $crawlpike_action $crawlpike_agent';
        server {{
            listen 127.0.0.1:{port} quic reuseport;
            ssl_certificate certificate.pem;
            ssl_certificate_key key.pem;
            access_log decided.log decided;
            location / {{ proxy_pass http://127.0.0.1:{}; }}
        }}",
        origin.port()
    );
    let nginx = Nginx::start(folder, &http);
    let found = |response: &Response| Received::of(response).and_then(|received| received.crawlpike);

    let here = get(port, "HereBot/1.0");
    assert_eq!(here.status, 200);
    let verified = r#"action=allow, identity=verified, agent="HereBot", feed="here""#;
    assert_eq!(found(&here).as_deref(), Some(verified));

    let away = get(port, "AwayBot/1.0");
    assert_eq!((away.status, away.denial_reason().as_deref()), (403, Some("spoofed-agent")));

    let person = get(port, FIREFOX);
    assert_eq!(person.status, 200);
    assert_eq!(found(&person).as_deref(), Some(r#"action=allow, identity=undeclared, feed="here""#));

    for line in ["200 allow HereBot", "403 deny AwayBot", "200 allow -"] {
        nginx.wait_for_line("decided.log", &format!("HTTP/3.0 {line}"));
    }
}
