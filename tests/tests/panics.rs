//! The effect of a panic on requests: `make test-panics` builds gates that panic when a request has the header
//! `X-Panic`, and runs this.

use crawlpike_tests::envoy::{Filter, Gate};
use crawlpike_tests::exposition::Exposition;
use crawlpike_tests::http::Request;
use crawlpike_tests::lab::{HTTP, VERIFIED, lab, lab_with_sites, person, spoofed, verified};
use crawlpike_tests::nginx::{Folder, Nginx, ask};
use crawlpike_tests::origin::{Origin, Received};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use crawlpike_tests::serve::Serve;

fn panicking(request: Request) -> Request {
    request.header("X-Panic", "now").header("X-Crawlpike", "forged")
}

#[test]
fn nginx_lets_the_request_pass_and_says_so_once_a_minute() {
    let (origin, port) = (Origin::start(), free_port());
    let http = format!(
        "{HTTP}
        log_format decided '$status:$crawlpike_identity';
        server {{
            listen 127.0.0.1:{port};
            access_log decided.log decided;
            location / {{ proxy_pass http://127.0.0.1:{}; }}
            location = /status {{ crawlpike_status; access_log off; }}
        }}",
        origin.port()
    );
    let nginx = Nginx::start(lab(), &http);
    let relayed = |request: &Request| Received::of(&ask(port, request)).map(|received| received.crawlpike);
    for _ in 0..50 {
        assert_eq!(relayed(&panicking(spoofed("/"))), Some(None), "passed, the forged header removed");
        assert_eq!(ask(port, &spoofed("/")).status, 403);
        assert_eq!(relayed(&verified("/")), Some(Some(VERIFIED.to_owned())));
    }
    nginx.wait_for_line("decided.log", "200:-");
    let log = nginx.folder().read("error.log");
    let logged: Vec<&str> = log.lines().filter(|line| line.contains("internal error")).collect();
    // Each of the two workers says it once.
    assert!((1..=2).contains(&logged.len()), "{logged:#?}");
    for line in logged {
        assert!(line.contains("[alert]") && line.contains("the request passes: panicked at "), "{line}");
        assert!(line.ends_with("a request asked for it"), "{line}");
    }
    assert!(!log.contains("exited on signal"), "{log}");
    // Every request that panicked did so in the access phase, for its response, and for its variable in the log phase.
    let counted = |metric: &str| {
        let page = Exposition::parse(&ask(port, &Request::get("/status")).text());
        page.sum(metric, &[]).unwrap_or_default()
    };
    wait_for("all errors", || (counted("crawlpike_errors_total") == 150.0).then_some(()));
    wait_for("all decisions", || (counted("crawlpike_requests_total") == 100.0).then_some(()));
}

/// Pages that panic while they become documents: each goes out as it is, once and complete, and is counted as an error.
#[test]
fn nginx_sends_the_page_where_a_document_has_a_bug() {
    let (folder, port) = (Folder::new(), free_port());
    folder.write(
        "crawlpike.json",
        r#"{ "catalog": "none", "sites": [ { "aiwebindex": { "document": true } } ] }"#,
    );
    let filling = "many words ".repeat(10_000);
    let page = |bug: &str| format!("<main><p>{filling}{bug}{filling}</p></main>");
    // The long one is collected in several parts, and a thread converts it.
    let pages = [
        ("collected", page("panic while it is collected")),
        ("converted", page("panic while it is converted")),
        ("converted-here", "<p>panic while it is converted".to_owned()),
        ("head", page("panic while its head is changed")),
        ("head-here", "<p>panic while its head is changed".to_owned()),
    ];
    for (name, page) in &pages {
        folder.write(&format!("www/{name}.html"), page);
    }
    let http = format!(
        "crawlpike_config crawlpike.json;
        types {{ text/html html; }}
        server {{
            listen 127.0.0.1:{port};
            root www;
            location = /status {{ crawlpike_status; }}
        }}"
    );
    let nginx = Nginx::start(folder, &http);
    for (name, page) in &pages {
        for _ in 0..3 {
            let request = Request::get(&format!("/{name}.html")).header("Accept", "text/markdown");
            let response = ask(port, &request);
            assert_eq!(response.status, 200, "{name}");
            assert!(response.text() == *page, "{name}: {} bytes of {}", response.body.len(), page.len());
        }
    }
    let counted = || {
        let page = Exposition::parse(&ask(port, &Request::get("/status")).text());
        page.sum("crawlpike_errors_total", &[]).unwrap_or_default()
    };
    wait_for("all errors", || (counted() == 15.0).then_some(()));
    let log = nginx.folder().read("error.log");
    assert!(log.contains("a page asked for it") && !log.contains("exited on signal"), "{log}");
}

#[test]
fn nginx_keeps_the_ruleset_in_force_where_compiling_has_a_bug() {
    let (folder, port) = (lab_with_sites(r#"{ "robots_txt": "panic.txt" }"#), free_port());
    folder.write("panic.txt", "User-agent: *\nDisallow:\n");
    let http = format!(
        "{HTTP} crawlpike_refresh 100ms;
        server {{ listen 127.0.0.1:{port}; root .; try_files /nginx.conf =404; }}"
    );
    let nginx = Nginx::start(folder, &http);
    nginx.folder().write("panic.txt", "User-agent: *\nDisallow: /\n");
    let line = nginx.wait_for_line("error.log", "internal error");
    assert!(line.contains("[alert]") && line.contains("keeping the current ruleset: panicked at "), "{line}");
    assert!(line.ends_with("a file asked for it"), "{line}");
    // It is tried again and again, and each of the two workers says so once.
    for _ in 0..50 {
        assert_eq!(ask(port, &verified("/")).status, 200);
        assert_eq!(ask(port, &spoofed("/")).status, 403);
    }
    let log = nginx.folder().read("error.log");
    assert!((1..=2).contains(&log.matches("internal error").count()), "{log}");
    assert!(!log.contains("exited on signal"), "{log}");
}

#[test]
fn envoy_starts_the_filter_anew() {
    let gate = Gate::start(Filter::Wasm, lab());
    let good = || {
        [verified("/"), person("/")].iter().all(|request| gate.status(request) == 200)
            && gate.status(&spoofed("/")) == 403
    };
    assert!(good());
    // A panic ends the virtual machine of one worker; the request it happened to can't pass.
    assert_eq!(gate.status(&panicking(verified("/"))), 503);
    gate.envoy.wait_for_line("envoy.log", "a request asked for it");
    let mut in_a_row = 0;
    // Each worker has to be met.
    wait_for("a filter on each worker", || {
        in_a_row = if good() { in_a_row + 1 } else { 0 };
        (in_a_row == 20).then_some(())
    });
}

#[test]
fn the_native_module_lets_the_request_pass_and_says_so_once_a_minute() {
    let gate = Gate::start(Filter::Native, lab());
    let relayed = |request: &Request| Received::of(&gate.ask(request)).map(|received| received.crawlpike);
    for _ in 0..50 {
        assert_eq!(relayed(&panicking(spoofed("/"))), Some(None), "passed, the forged header removed");
        assert_eq!(gate.status(&spoofed("/")), 403);
        assert_eq!(relayed(&verified("/")), Some(Some(VERIFIED.to_owned())));
        // In the hooks for the response, and for the end of the stream.
        for hook in ["X-Panic-In-Response", "X-Panic-At-End"] {
            let received = relayed(&verified("/").header(hook, "now"));
            assert_eq!(received, Some(Some(VERIFIED.to_owned())), "{hook}");
        }
    }
    gate.envoy.wait_for_line("envoy.log", "a request asked for it");
    let log = gate.folder().read("envoy.log");
    let logged: Vec<&str> = log.lines().filter(|line| line.contains("internal error")).collect();
    assert_eq!(logged.len(), 1, "{logged:#?}");
    wait_for("all errors", || {
        let page = gate.envoy.admin("/stats/prometheus");
        page.contains("\ncrawlpike_errors_total{} 150\n").then_some(())
    });
}

#[test]
fn serve_lets_the_request_pass() {
    let folder = lab();
    let serve = Serve::start(&folder, "serve", &folder.path().join("crawlpike.json"), &[]);
    let question = Request::get("/caddy")
        .agent("LabBot/1.0")
        .header("X-Forwarded-For", "198.51.100.1")
        .header("X-Forwarded-Host", "example.com")
        .header("X-Forwarded-Method", "GET")
        .header("X-Forwarded-Uri", "/");
    for _ in 0..50 {
        assert_eq!(serve.ask(&question).status, 403);
        let passed = serve.ask(&panicking(question.clone()));
        assert_eq!((passed.status, passed.header("x-crawlpike")), (200, None));
    }
    let page = Exposition::parse(&serve.admin("/metrics").text());
    assert_eq!(page.sum("crawlpike_errors_total", &[]), Some(50.0));
    folder.wait_for_line("serve.log", "internal error: panicked at ");
}
