//! Real browsers over TLS and HTTP/2: no request of theirs is `inconsistent`. `make test-browsers` needs Debian's Chromium and Firefox.
//!
//! With `RECORD=1`, `core/tests/data/requests-of-browsers.jsonl` becomes what they send, a line for each sort of request: the headers,
//! without those that say from which page and to which server it goes.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use crawlpike_tests::artefacts::repository;
use crawlpike_tests::nginx::{Folder, Nginx};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{Server, wait_for};
use crawlpike_tests::serving::{Asked, serve};
use crawlpike_tests::tls;
use serde_json::{Value, json};

/// The file that `core/tests/client_facts.rs` reads.
const RECORD: &str = "core/tests/data/requests-of-browsers.jsonl";

/// The lines of a head that nginx writes, that differ from run to run, or that all requests have in common.
const LEFT_OUT: [&str; 16] = [
    "accept-encoding",
    "accept-language",
    "cache-control",
    "ping-from",
    "ping-to",
    "pragma",
    "priority",
    "host",
    "connection",
    "referer",
    "origin",
    "content-length",
    "if-none-match",
    "sec-websocket-key",
    "x-fact",
    "x-protocol",
];

/// A white point.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\xdac\xfc\xff\xff?\x03\0\x05\xfe\x02\xfe\xa7\x9a\xa0\xa0\0\0\0\0IEND\xaeB`\x82";

/// The requests of a browser that reached the server.
type Sent = Arc<Mutex<Vec<Asked>>>;

/// nginx with TLS, HTTP/2 and the module, before the pages in `tests/browsers`.
struct Site {
    nginx: Nginx,
    url: String,
    sent: Sent,
}

impl Site {
    fn start() -> Self {
        let (folder, port, sent) = (Folder::new(), free_port(), Sent::default());
        let url = format!("https://127.0.0.1:{port}");
        let (noted, own_url) = (Arc::clone(&sent), url.clone());
        let origin = serve(move |mut stream: &TcpStream| {
            let asked = Asked::read(&mut stream)?;
            stream.write_all(&answer(&asked.target, &own_url)?)?;
            noted.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
            Ok(())
        });
        folder.write("crawlpike.json", r#"{ "catalog": "none" }"#);
        tls::write_certificate(&folder, &["localhost"]);
        let http = format!(
            "crawlpike_config crawlpike.json;
            server {{
                listen 127.0.0.1:{port} ssl http2;
                ssl_certificate certificate.pem;
                ssl_certificate_key key.pem;
                location / {{
                    proxy_pass http://{origin};
                    proxy_http_version 1.1;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header X-Fact $crawlpike_browser;
                    proxy_set_header X-Protocol $server_protocol;
                }}
            }}"
        );
        Self { nginx: Nginx::start(folder, &http), url, sent }
    }

    fn folder(&self) -> &Folder {
        self.nginx.folder()
    }

    /// Has a database of certificates in the folder trust the server.
    fn be_trusted_by(&self, database: &str) {
        let path = self.folder().path().join(database);
        fs::create_dir_all(&path).unwrap();
        let authority = self.folder().path().join("authority.pem").display().to_string();
        for arguments in
            [&["-N", "--empty-password"][..], &["-A", "-n", "tests", "-t", "C,,", "-i", &authority]]
        {
            let done = Command::new("certutil")
                .arg("-d")
                .arg(format!("sql:{}", path.display()))
                .args(arguments)
                .output();
            let done = done.expect("certutil can be started: `.ci/setup browsers` installs it");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
    }

    /// The requests of a browser, from the first page to the last.
    fn visit(&self, name: &str, command: &mut Command) -> Vec<Asked> {
        for variable in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env_remove(variable);
        }
        command.env("HOME", self.folder().path());
        let log = self.folder().path().join(format!("{name}.log"));
        let _browser = Server::start(name, command, &log, &[]);
        wait_for("the last page", || {
            let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.iter().any(|asked| asked.target == "/done").then(|| sent.clone())
        })
    }
}

/// The response to a request for a target.
fn answer(target: &str, own_url: &str) -> io::Result<Vec<u8>> {
    let path = target.split('?').next().unwrap_or_default();
    let file = match path {
        "/" => "index.html",
        "/redirect" => return Ok(redirect("/third.html")),
        "/fetch-redirect" => return Ok(redirect("/fetch-redirected")),
        "/posted" => "fourth.html",
        other => other.trim_start_matches('/'),
    };
    let (content_type, default) = match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => ("text/html", &b"<!doctype html><title>a page</title>"[..]),
        Some("js") => ("text/javascript", &b"// nothing"[..]),
        Some("css") => ("text/css", &b"/* nothing */"[..]),
        Some("png") => ("image/png", PNG),
        Some("svg") => ("image/svg+xml", &b"<svg xmlns='http://www.w3.org/2000/svg' id='a'/>"[..]),
        Some("vtt") => ("text/vtt", &b"WEBVTT\n"[..]),
        Some("json") => ("application/manifest+json", &br#"{ "name": "a" }"#[..]),
        _ if path == "/events" => ("text/event-stream", &b"data: a\n\n"[..]),
        _ => ("text/plain", &b"a"[..]),
    };
    let body = match fs::read(repository().join("tests/browsers").join(file)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        read => read.unwrap_or_else(|_| default.to_vec()),
    };
    let attachment = if path == "/attachment" { "Content-Disposition: attachment\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{attachment}\
         Cache-Control: no-cache\r\nService-Worker-Allowed: /\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\nAccess-Control-Allow-Methods: *\r\n\
         Content-Security-Policy-Report-Only: default-src 'none'; report-uri /csp-report; report-to reports\r\n\
         Reporting-Endpoints: reports=\"{own_url}/reports\"\r\n\
         Report-To: {{\"group\":\"errors\",\"max_age\":600,\"endpoints\":[{{\"url\":\"{own_url}/errors\"}}]}}\r\n\
         NEL: {{\"report_to\":\"errors\",\"max_age\":600,\"success_fraction\":1.0}}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    Ok([head.as_bytes(), &body].concat())
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .into_bytes()
}

fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let output =
        output.unwrap_or_else(|error| panic!("{program}: {error}: `.ci/setup browsers` installs it"));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Chromium with the User-Agent that Chrome of its version sends.
fn chromium(site: &Site, version: &str) -> Command {
    site.be_trusted_by(".pki/nssdb");
    let major = version.split([' ', '.']).nth(1).expect("a version");
    let user_agent = format!(
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    );
    let mut command = Command::new("chromium");
    command.args([
        "--headless=new",
        "--no-sandbox",
        "--no-first-run",
        "--no-proxy-server",
        "--disable-component-update",
    ]);
    // The sooner reports come, the sooner the test ends.
    command.args([
        "--short-reporting-delay",
        "--disable-popup-blocking",
        "--autoplay-policy=no-user-gesture-required",
    ]);
    command.arg(format!("--user-agent={user_agent}"));
    command.arg(format!("--user-data-dir={}", site.folder().path().join("chromium").display()));
    command.arg(format!("{}/", site.url));
    command
}

fn firefox(site: &Site, _: &str) -> Command {
    site.be_trusted_by("firefox");
    let settings = [
        ("browser.aboutwelcome.enabled", "false"),
        ("browser.shell.checkDefaultBrowser", "false"),
        ("datareporting.policy.dataSubmissionEnabled", "false"),
        ("dom.disable_open_during_load", "false"),
        ("media.autoplay.default", "0"),
        ("network.proxy.type", "0"),
    ];
    let settings = settings.map(|(name, value)| format!("user_pref(\"{name}\", {value});\n"));
    site.folder().write("firefox/user.js", settings.concat());
    let mut command = Command::new("firefox-esr");
    command.args(["--headless", "--no-remote", "--profile"]).arg(site.folder().path().join("firefox"));
    command.arg(format!("{}/", site.url));
    command
}

/// The part of a request that is recorded.
fn recorded(browser: &str, asked: &Asked) -> Value {
    let method = asked.lines[0].split(' ').next().unwrap_or_default();
    let headers: serde_json::Map<String, Value> = asked.lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.into()))
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
        .collect();
    json!({ "browser": browser, "protocol": asked.header("x-protocol"), "method": method, "headers": headers })
}

#[test]
fn no_request_of_a_real_browser_is_inconsistent() {
    type Browser = (&'static str, fn(&Site, &str) -> Command);
    let browsers: [Browser; 2] = [("chromium", chromium), ("firefox-esr", firefox)];
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (program, command) in browsers {
        let (site, version) = (Site::start(), version(program));
        let sent = site.visit(program, &mut command(&site, &version));
        let kinds: BTreeSet<_> = sent.iter().filter_map(|asked| asked.header("sec-fetch-dest")).collect();
        eprintln!("{version}: {} requests, {kinds:?}", sent.len());
        let is_inconsistent = |asked: &&Asked| asked.header("x-fact") == Some("inconsistent");
        wrong.extend(
            sent.iter().filter(is_inconsistent).map(|asked| format!("{version}: {:#?}", asked.lines)),
        );
        let of_this: BTreeSet<String> =
            sent.iter().map(|asked| recorded(&version, asked).to_string()).collect();
        lines.extend(of_this);
    }
    if env::var_os("RECORD").is_some_and(|record| !record.is_empty()) {
        fs::write(repository().join(RECORD), lines.join("\n") + "\n").unwrap();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
