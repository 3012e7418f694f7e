//! From the start to the end of a server: files, sockets, signals, peers.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crawlpike_tests::artefacts;
use crawlpike_tests::http::{Connection, Request, send};
use crawlpike_tests::lab::{DOCUMENT, FIREFOX, lab, lab_with_robots};
use crawlpike_tests::nginx::{Folder, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{Server, wait_for};
use crawlpike_tests::serve::Serve;
use rustix::process::Signal;

/// LabBot asks for a page, from its own address or another one.
pub(crate) fn question(address: &str) -> Request {
    crawlpike_tests::replacements::question("LabBot/1.0", address)
}

pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Serve {
    Serve::start(folder, "serve", &folder.path().join("crawlpike.json"), arguments)
}

pub(crate) fn has_metric(serve: &Serve, line: &str) -> bool {
    serve.admin("/metrics").text().lines().any(|found| found == line)
}

#[test]
fn changed_files_count_and_broken_ones_do_not() {
    let folder = lab();
    let mut serve = start(&folder, &[]);
    assert_eq!(serve.ask(&question("192.0.2.1")).status, 200);
    assert_eq!(serve.ask(&question("198.51.100.1")).status, 403);
    let observing = DOCUMENT.replace("enforce", "observe");
    folder.write("crawlpike.json", &observing);
    wait_for("the new document", || (serve.ask(&question("198.51.100.1")).status == 200).then_some(()));
    assert!(has_metric(&serve, r#"crawlpike_reloads_total{result="success"} 1"#));
    folder.write("crawlpike.json", "{");
    wait_for("the broken one", || {
        has_metric(&serve, r#"crawlpike_reloads_total{result="failure"} 1"#).then_some(())
    });
    assert_eq!(serve.ask(&question("198.51.100.1")).status, 200);
    serve.server().signal(Signal::HUP);
    wait_for("a reload at once", || {
        has_metric(&serve, r#"crawlpike_reloads_total{result="failure"} 2"#).then_some(())
    });
    assert_eq!(serve.admin("/healthz").status, 200);
    assert_eq!(serve.admin("/other").status, 404);
}

#[test]
fn what_is_not_clear_is_an_error_and_passes_unless_the_document_enforces() {
    let folder = lab();
    let unclear = Request::get("/caddy").agent("LabBot/1.0").header("X-Forwarded-For", "198.51.100.1");
    let serve = start(&folder, &[]);
    let refused = serve.ask(&unclear);
    assert_eq!(refused.status, 500);
    assert!(refused.text().contains("x-forwarded-host is missing"), "{}", refused.text());
    assert!(has_metric(&serve, "crawlpike_errors_total 1"));
    folder.write("crawlpike.json", DOCUMENT.replace("enforce", "observe"));
    wait_for("the new document", || (serve.ask(&unclear).status == 200).then_some(()));
    folder.wait_for_line("serve.log", "a question that cannot be answered");
}

#[test]
fn a_question_that_is_not_http_is_not_clear_either() {
    let folder = lab();
    let serve = start(&folder, &[]);
    let ask = || {
        Connection::open_unix(serve.http()).unwrap().send_text("GET /caddy HTTP/1.1\r\na\r\n\r\n").unwrap()
    };
    assert_eq!(ask().status, 500);
    assert!(has_metric(&serve, "crawlpike_errors_total 1"));
    folder.wait_for_line("serve.log", "its head is not one of HTTP/1.1");
    folder.write("crawlpike.json", DOCUMENT.replace("enforce", "observe"));
    wait_for("the new document", || (ask().status == 200).then_some(()));
}

#[test]
fn any_octets_are_decided_about() {
    let folder = lab_with_robots("User-agent: *\nDisallow: /%3Cp\nDisallow: /q?x=%22\n");
    let serve = start(&folder, &[]);
    let of_envoy = |target: &str, agent: &str| {
        let request = Request::get(&format!("/envoy{target}")).agent(agent);
        serve.ask(&request.header("X-Forwarded-For", "198.51.100.1").header("Cookie", b"a=\x01b\xff"))
    };
    for (target, status) in [
        ("/<p", 403),
        ("/%3cp", 403),
        ("/p<", 200),
        ("/q?x=\"", 403),
        ("/q?x={\"a\":`1`}", 200),
        ("/a|b\\^#é", 200),
        (&["/", &"a".repeat(100_000)].concat(), 200),
    ] {
        assert_eq!(of_envoy(target, "FreeBot/1.0").status, status, "{target}");
        assert_eq!(of_envoy(target, FIREFOX).status, 200, "{target}");
    }
    let of_nginx = Request::get("/nginx")
        .header("X-Original-Method", "GET")
        .header("X-Original-URI", "/<p")
        .header("X-Real-IP", "198.51.100.1");
    let of_nginx = (0..1000).fold(of_nginx, |request, number| request.header(&format!("X-{number}"), "v"));
    assert_eq!(serve.ask(&of_nginx.clone().agent("FreeBot/1.0")).status, 403);
    assert_eq!(serve.ask(&of_nginx.agent(FIREFOX)).status, 200);
    assert!(has_metric(&serve, "crawlpike_errors_total 0"));
}

/// A server at a port, whose peers are only trusted as these arguments say.
pub(crate) fn start_at_port(folder: &Folder, arguments: &[&str]) -> (Server, u16) {
    let port = free_port();
    let mut command = Command::new(artefacts::cli());
    command.arg("serve").arg("--config").arg(folder.path().join("crawlpike.json"));
    command.args(["--http", &format!("127.0.0.1:{port}")]).args(arguments);
    let mut server = Server::start("serve", &mut command, &folder.path().join("port.log"), &[]);
    server.wait_until("it serves", || send(local(port), &Request::get("/")).ok());
    (server, port)
}

#[test]
fn a_peer_that_is_not_trusted_says_nothing_of_anybody() {
    let folder = lab();
    let (_server, port) = start_at_port(&folder, &["--trust", "10.0.0.0/8"]);
    for address in ["192.0.2.1", "198.51.100.1"] {
        let answer = send(local(port), &question(address)).unwrap();
        assert_eq!((answer.status, answer.header("x-crawlpike")), (500, None));
    }
    let (_server, port) = start_at_port(&folder, &["--trust", "127.0.0.1"]);
    assert_eq!(send(local(port), &question("192.0.2.1")).unwrap().status, 200);
    assert_eq!(send(local(port), &question("198.51.100.1")).unwrap().status, 403);
}

#[test]
fn it_ends_after_the_questions_that_have_begun() {
    let folder = lab();
    let mut serve = start(&folder, &[]);
    let mut idle = Connection::open_unix(serve.http()).unwrap();
    assert_eq!(idle.send(&question("192.0.2.1")).unwrap().status, 200);
    let mut begun = UnixStream::connect(serve.http()).unwrap();
    begun.write_all(b"GET /caddy HTTP/1.1\r\nHost: a\r\n").unwrap();
    let ending = Instant::now();
    serve.server().signal(Signal::TERM);
    serve.server().wait_for_end();
    assert!(ending.elapsed() < Duration::from_secs(20), "{:?}", ending.elapsed());
    // A socket that nobody serves is in no way of the next server.
    let serve = start(&folder, &[]);
    assert_eq!(serve.ask(&question("192.0.2.1")).status, 200);
}

#[test]
fn systemd_can_pass_its_sockets() {
    let folder = lab();
    let socket = folder.path().join("activated.sock");
    let mut command = Command::new("systemd-socket-activate");
    command.arg("--listen").arg(&socket).arg("--fdname=http").arg(artefacts::cli());
    command
        .arg("serve")
        .arg("--config")
        .arg(folder.path().join("crawlpike.json"))
        .args(["--http", "systemd"]);
    let mut server = Server::start("serve", &mut command, &folder.path().join("activated.log"), &[]);
    let mut connection = server.wait_until("it listens", || Connection::open_unix(&socket).ok());
    assert_eq!(connection.send(&question("192.0.2.1")).unwrap().status, 200);
}

#[test]
fn what_cannot_begin_says_why() {
    let folder = lab();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(artefacts::cli());
        command.arg("serve").args(arguments).stdin(Stdio::null());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let config = folder.path().join("crawlpike.json").display().to_string();
    let file = format!("unix:{config}");
    for (arguments, why) in [
        (&["--config", "/missing.json", "--http", "127.0.0.1:0"][..], "/missing.json"),
        (&["--config", &config], "--http"),
        (&["--config", &config, "--http", "localhost"], "expected an address"),
        (&["--config", &config, "--http", &file], "--http: cannot listen"),
        (&["--config", &config, "--grpc", "systemd"], "FileDescriptorName=grpc"),
        (&["--config", &config, "--http", "127.0.0.1:0", "--dialect", "apache"], "expected one of traefik"),
    ] {
        let (status, text) = run(arguments);
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(why), "{why}: {text}");
    }
}

#[test]
fn a_persons_browser_passes_without_a_header() {
    let folder = lab();
    let serve = start(&folder, &[]);
    let mut request = Request::get("/caddy").agent(FIREFOX);
    for (name, value) in question("198.51.100.1").headers().iter().skip(2) {
        request = request.header(name, value);
    }
    let answer = serve.ask(&request);
    assert_eq!((answer.status, answer.header("x-crawlpike")), (200, None));
}
