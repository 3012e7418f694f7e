//! Requests that curl sends with the headers of `crawlpike sign`: each gate verifies them. The keys are those that openssl
//! reads.

use std::io::Write;
use std::iter;
use std::process::{Command, Stdio};

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::{Filter, Gate};
use crawlpike_tests::http::Connection;
use crawlpike_tests::nginx::{Folder, Nginx, Setup, local};
use crawlpike_tests::origin::Origin;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::publisher::{Authority, Publisher, VALID, respond, trust};
use serde_json::{Value, json};

/// A browser that nothing else gives away.
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Runs a command with this on its stdin; gives what it prints.
fn run(command: &mut Command, stdin: &str) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn sign(folder: &Folder, arguments: &[&str]) -> String {
    run(Command::new(artefacts::cli()).current_dir(folder.path()).arg("sign").args(arguments), "")
}

/// A folder with a key, its directory, and a configuration that has it.
fn folder() -> Folder {
    let folder = Folder::new();
    sign(&folder, &["key", "agent.pem"]);
    folder.write("keys.json", sign(&folder, &["directory", "agent.pem"]));
    let document = json!({
        "mode": "enforce",
        "agents": [{ "token": "SigningBot", "keys": [{ "directory": "https://agent.example", "source": "keys.json" }] }],
        "sites": [{ "unverified": "deny" }],
    });
    folder.write("crawlpike.json", document.to_string());
    folder
}

/// Signs a request for one URL, and sends it with curl to another: what the client gets, headers first.
fn curl(folder: &Folder, signed: &str, asked: &str, options: &[&str]) -> String {
    curl_with(folder, signed, asked, options, &[])
}

/// The same, with options of curl.
fn curl_with(folder: &Folder, signed: &str, asked: &str, options: &[&str], of_curl: &[&str]) -> String {
    let request = ["request", "--key", "agent.pem", "--directory", "https://agent.example"];
    let headers = sign(folder, &[&request, options, &[signed]].concat());
    assert_eq!(headers.lines().count(), 3, "{headers}");
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--include", "--user-agent", FIREFOX, "--header", "@-", asked]);
    command.args(of_curl);
    run(&mut command, &headers)
}

/// The decisions of a gate about signed requests, on a port for HTTP/1.1 and one for HTTP/2.
fn check(folder: &Folder, port: u16, http_2: u16) {
    let url = |target: &str| format!("http://127.0.0.1:{port}{target}");
    let verified = "action=allow, identity=verified, agent=\"SigningBot\"";
    for options in [&[][..], &["--cover", "@target-uri"], &["--cover", "@authority", "--cover", "@scheme"]] {
        let target = url("/a%20b?c=%7e&d");
        let answer = curl(folder, &target, &target, options);
        assert!(answer.contains(" 200 ") && answer.contains(verified), "{options:?}: {answer}");
    }
    // The target names its recipient; the signature has its path as in the other form.
    let target = url("/a%20b?c=%7e");
    for options in [&[][..], &["--cover", "@target-uri"]] {
        let absolute = curl_with(folder, &target, &target, options, &["--request-target", &target]);
        assert!(absolute.contains(" 200 ") && absolute.contains(verified), "{options:?}: {absolute}");
        // Pseudo-headers in their place.
        let target = format!("http://127.0.0.1:{http_2}/a%20b?c=%7e");
        let second = curl_with(folder, &target, &target, options, &["--http2-prior-knowledge"]);
        assert!(second.contains("HTTP/2 200") && second.contains(verified), "{options:?}: {second}");
    }
    let forged = curl(folder, &url("/a"), &url("/b"), &[]);
    assert!(forged.contains(" 403 ") && forged.contains(r#""reason":"bad-signature""#), "{forged}");
    let expired = curl(folder, &url("/"), &url("/"), &["--created", "1700000000"]);
    assert!(expired.contains(" 200 ") && !expired.contains("identity"), "a person's: {expired}");
}

/// The headers of a signature that another request has: a forgery here.
fn forgery(folder: &Folder) -> String {
    let options = ["request", "--key", "agent.pem", "--directory", "https://agent.example"];
    sign(folder, &[&options[..], &["http://elsewhere.test/"]].concat()).replace('\n', "\r\n")
}

/// Sends forged requests until one is not examined, and until the next one is: how many were, and were not.
fn exceed_the_budget(folder: &Folder, port: u16) -> (usize, usize) {
    let request =
        format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: {FIREFOX}\r\n{}\r\n", forgery(folder));
    let mut is_examined = || {
        let answer = Connection::open(local(port)).and_then(|mut gate| gate.send_text(&request)).unwrap();
        match answer.status {
            403 => assert!(answer.text().contains(r#""reason":"bad-signature""#), "{answer:?}"),
            status => {
                // The site denies the unverified, but this one only for now.
                assert_eq!((status, answer.header("retry-after")), (503, Some("1")));
                assert!(answer.text().contains(r#""reason":"unverified-agent""#), "{answer:?}");
            }
        }
        answer.status == 403
    };
    assert!(is_examined(), "the first one");
    let mut until = |wanted: bool| {
        let answers = iter::repeat_with(&mut is_examined).take(100_000);
        let others = answers.take_while(|is_examined| *is_examined != wanted).count();
        assert!(others < 100_000, "no answer of the other kind");
        others
    };
    let (examined, exceeding) = (until(false), until(true));
    (1 + examined + 1, 1 + exceeding)
}

/// The counters, as soon as all requests of [`exceed_the_budget`] are counted.
fn check_exceeded((examined, exceeding): (usize, usize), page: impl Fn() -> String) {
    wait_for("the results of all forged signatures", || {
        let page = page();
        let has = |result, count| {
            page.contains(&format!("crawlpike_signatures_total{{result=\"{result}\"}} {count}\n"))
        };
        let doubt = format!("crawlpike_doubts_total{{doubt=\"signature-not-examined\"}} {exceeding}\n");
        (has("bad-signature", examined + 1) && has("over-budget", exceeding) && page.contains(&doubt))
            .then_some(())
    });
}

/// The counters, as soon as all requests of [`check`] are counted.
fn check_counters(page: impl Fn() -> String) {
    wait_for("the results of all signatures", || {
        let page = page();
        let has = |result, count| {
            page.contains(&format!("crawlpike_signatures_total{{result=\"{result}\"}} {count}\n"))
        };
        (has("verified", 7) && has("bad-signature", 1) && has("expired", 1)).then_some(())
    });
}

#[test]
fn nginx_verifies_what_curl_sends() {
    // SIG-2, SIG-11, SIG-12
    let (origin, port, http_2) = (Origin::start(), free_port(), free_port());
    let folder = folder();
    let http = format!(
        "crawlpike_config {}/crawlpike.json;
        server {{
            listen 127.0.0.1:{port};
            listen 127.0.0.1:{http_2} http2;
            location / {{ proxy_pass http://127.0.0.1:{}; }}
            location = /measures {{ crawlpike off; crawlpike_status; }}
        }}",
        folder.path().display(),
        origin.port()
    );
    let nginx = Nginx::start(folder, &http);
    check(nginx.folder(), port, http_2);
    let measures = format!("http://127.0.0.1:{port}/measures");
    let page = || run(Command::new("curl").args(["--silent", &measures]), "");
    check_counters(page);
    check_exceeded(exceed_the_budget(nginx.folder(), port), page);
}

fn check_envoy(filter: Filter) {
    let gate = Gate::start(filter, folder());
    check(gate.folder(), gate.port, gate.port);
    let page = || gate.envoy.admin("/stats/prometheus");
    check_counters(page);
    check_exceeded(exceed_the_budget(gate.folder(), gate.port), page);
}

#[test]
fn envoy_wasm_verifies_what_curl_sends() {
    // SIG-2, SIG-11, SIG-12
    check_envoy(Filter::Wasm);
}

#[test]
fn envoy_native_verifies_what_curl_sends() {
    // SIG-2, SIG-11, SIG-12
    check_envoy(Filter::Native);
}

#[test]
fn openssl_reads_the_key_and_verifies_its_signature() {
    let folder = folder();
    let text = run(
        Command::new("openssl").current_dir(folder.path()).args([
            "pkey",
            "-in",
            "agent.pem",
            "-noout",
            "-text",
        ]),
        "",
    );
    assert!(text.contains("ED25519 Private-Key"), "{text}");
    // And the other way round.
    run(
        Command::new("openssl").current_dir(folder.path()).args([
            "genpkey",
            "-algorithm",
            "ed25519",
            "-out",
            "other.pem",
        ]),
        "",
    );
    let directory = sign(&folder, &["directory", "agent.pem", "other.pem"]);
    assert_eq!(directory.matches(r#""kty":"OKP""#).count(), 2, "{directory}");
    let headers = sign(&folder, &["directory", "--headers-for", "agent.example", "agent.pem"]);
    for name in [
        "Content-Type: application/http-message-signatures-directory+json",
        "Content-Digest: sha-256=:",
        "Signature-Input: binding=(\"@authority\";req \"content-digest\");created=",
        "Signature: binding=:",
    ] {
        assert!(headers.contains(name), "{headers}");
    }
}

/// Answers with the directory of these keys.
fn publish(publisher: &Publisher, directory: String) {
    const TYPE: &str = "Content-Type: application/http-message-signatures-directory+json";
    publisher.answer(move |_, connection| {
        respond(connection, "200 OK", &[TYPE, "Cache-Control: no-cache"], &directory)
    });
}

fn update(folder: &Folder, authority: &Authority) -> Value {
    let mut command = Command::new(artefacts::cli());
    trust(&mut command, &authority.file());
    command.current_dir(folder.path()).args(["update", "--config", "crawlpike.json", "--json"]);
    serde_json::from_str(&run(&mut command, "")).unwrap()
}

#[test]
fn a_key_verifies_requests_from_its_publication_to_its_revocation() {
    // SIG-6, SIG-7, SIG-8
    let authority = Authority::new();
    let publisher = Publisher::https(authority.identity(VALID), |_, connection| {
        respond(connection, "404 Not Found", &[], "")
    });
    let (folder, origin, port) = (folder(), Origin::start(), free_port());
    let origin_of_keys = publisher.url("");
    let document = json!({
        "mode": "enforce",
        "agents": [{ "token": "SigningBot", "keys": [{ "directory": origin_of_keys, "source": "keys/lab.json" }] }],
        "sites": [{}],
    });
    folder.write("crawlpike.json", document.to_string());
    let http = format!(
        "crawlpike_config {}/crawlpike.json;
        crawlpike_refresh 1s;
        server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://127.0.0.1:{}; }} }}",
        folder.path().display(),
        origin.port()
    );
    // Each worker reads changed files for itself.
    let nginx = Nginx::set_up(folder, &http, Setup { workers: 1, ..Setup::default() });
    let folder = nginx.folder();
    let url = format!("http://127.0.0.1:{port}/");
    let ask = |key: &str| {
        let request = ["request", "--key", key, "--directory", &origin_of_keys, &url];
        let headers = sign(folder, &request);
        let arguments = ["--silent", "--include", "--user-agent", FIREFOX, "--header", "@-", &url];
        run(Command::new("curl").args(arguments), &headers)
    };
    let is_verified = |key: &str| ask(key).contains("identity=verified, agent=\"SigningBot\"");
    let becomes = |key: &str, verified: bool| {
        wait_for("the keys of the new directory", || (is_verified(key) == verified).then_some(()));
    };
    sign(folder, &["key", "next.pem"]);
    assert!(!is_verified("agent.pem"), "nobody has published the key yet");

    publish(&publisher, sign(folder, &["directory", "agent.pem"]));
    assert_eq!(update(folder, &authority)["keys"]["count"], 1);
    becomes("agent.pem", true);
    assert!(!is_verified("next.pem"));

    publish(&publisher, sign(folder, &["directory", "next.pem"]));
    assert_eq!(update(folder, &authority)["keys"]["removed"].as_array().unwrap().len(), 1);
    becomes("agent.pem", false);
    assert!(is_verified("next.pem"));
    let revoked = ask("agent.pem");
    assert!(revoked.contains(" 200 ") && !revoked.contains("identity"), "as without a signature: {revoked}");
}
