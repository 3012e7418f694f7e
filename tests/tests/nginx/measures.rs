//! The metrics, the processes that count them, and the page that shows them.

use std::collections::BTreeSet;
use std::thread;

use crawlpike_tests::exposition::{Exposition, Labels};
use crawlpike_tests::http::{Connection, Request, Response, send_bytes};
use crawlpike_tests::lab::{
    DOCUMENT, FIREFOX, HTTP, from, lab, lab_with_robots, lab_with_sites, person, spoofed, verified,
};
use crawlpike_tests::nginx::{Folder, Nginx, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const REQUESTS: &str = "crawlpike_requests_total";
const RELOADS: &str = "crawlpike_reloads_total";

/// An nginx with one port for visitors and one for the measures.
struct Counting {
    nginx: Nginx,
    port: u16,
    status: u16,
}

impl Counting {
    fn start(folder: Folder, server: &str) -> Self {
        let (port, status) = (free_port(), free_port());
        let http = format!(
            "{HTTP}
            server {{ listen 127.0.0.1:{status}; location / {{ crawlpike_status; }} }}
            server {{
                listen 127.0.0.1:{port} reuseport;
                root .;
                add_header X-Worker $pid always;
                location / {{ try_files /lab.txt =404; }}
                {server}
            }}"
        );
        Self { nginx: Nginx::start(folder, &http), port, status }
    }

    fn page(&self) -> Exposition {
        Exposition::parse(&ask(self.status, &Request::get("/").agent("Prometheus/2.48.1")).text())
    }

    fn total(&self) -> f64 {
        self.page().sum(REQUESTS, &[]).unwrap_or(0.0)
    }

    /// Waits until so many requests are counted: nginx counts one when it has answered it.
    fn wait_for_total(&self, expected: usize) -> Exposition {
        wait_for(&format!("{expected} requests"), || (self.total() >= expected as f64).then_some(()));
        let page = self.page();
        assert_eq!(page.sum(REQUESTS, &[]).unwrap_or(0.0), expected as f64, "{page:#?}");
        page
    }

    /// The process that answers a request.
    fn worker(&self) -> Pid {
        let worker = ask(self.port, &person("/")).header("x-worker").and_then(|pid| pid.parse().ok());
        worker.and_then(Pid::from_raw).expect("the header of the server")
    }
}

fn labels(values: [&str; 6]) -> Labels {
    let names = ["action", "enforced", "reason", "identity", "agent", "site"].map(str::to_owned);
    names.into_iter().zip(values.map(str::to_owned)).collect()
}

#[test]
fn each_request_is_counted_once_with_its_last_decision() {
    let folder =
        lab_with_sites(r#"{ "hosts": ["one.test"] }, { "name": "a \"b\" \\", "hosts": ["two.test"] }"#);
    folder.write("denied.html", "our own page");
    let counting = Counting::start(
        folder,
        "error_page 403 /denied.html;
        location /off { crawlpike off; try_files /lab.txt =404; }
        location /observed { crawlpike observe; try_files /lab.txt =404; }
        location /page { error_page 404 = @fallback; try_files /none =404; }
        location /moved { rewrite ^ /observed last; }
        location /asks { auth_request /lab.txt; try_files /lab.txt =404; }
        location /returned { return 200 $crawlpike_action; }
        location @fallback { try_files /lab.txt =404; }",
    );
    let on = |host: &str, agent: &str| from("203.0.113.9", Request::new("GET", "/", host).agent(agent));
    let mut expected = 0;
    let mut send = |count, request: &Request, status| {
        for _ in 0..count {
            assert_eq!(ask(counting.port, request).status, status, "{request:?}");
        }
        expected += count;
    };
    send(3, &verified("/"), 200);
    send(4, &spoofed("/"), 403);
    send(5, &spoofed("/observed"), 200);
    send(6, &person("/"), 200);
    send(7, &on("one.test", "FreeBot"), 200);
    send(8, &on("two.test", "curl/8"), 200);
    send(9, &spoofed("/moved"), 200);
    send(10, &person("/page"), 200);
    send(11, &person("/asks"), 200);
    for target in ["/off", "/returned"] {
        assert_eq!(ask(counting.port, &spoofed(target)).status, 200, "{target}");
    }
    assert!(send_bytes(local(counting.port), b"GET / HTTP/1.1\r\n\r\n").unwrap().starts_with("HTTP/1.1 400"));

    let page = counting.wait_for_total(expected);
    let person = ["allow", "true", "not-automated", "none", "", ""];
    for (count, values) in [
        (3, ["allow", "true", "allowed", "verified", "LabBot", ""]),
        (4, ["deny", "true", "spoofed-agent", "spoofed", "LabBot", ""]),
        (5 + 9, ["deny", "false", "spoofed-agent", "spoofed", "LabBot", ""]),
        (7, ["allow", "true", "allowed", "unverified", "FreeBot", "one.test"]),
        (8, ["allow", "true", "allowed", "generic", "", r#"a "b" \"#]),
        (6 + 10 + 11, person),
    ] {
        assert_eq!(page.of(REQUESTS).get(&labels(values)), Some(&f64::from(count)), "{values:?}: {page:#?}");
    }
    assert_eq!(page.of(REQUESTS).len(), 6, "{page:#?}");
}

#[test]
fn totals_are_exact_with_clients_at_both_workers() {
    const EACH: usize = 300;
    let counting = Counting::start(lab(), "");
    let clients = 6;
    let workers: BTreeSet<String> = thread::scope(|scope| {
        let client = || {
            let mut connection = Connection::open(local(counting.port)).unwrap();
            let mut worker = String::new();
            for request in [verified("/"), spoofed("/"), person("/")].iter().cycle().take(EACH) {
                let response = connection.send(request).unwrap();
                worker = response.header("x-worker").unwrap().to_owned();
            }
            worker
        };
        let running: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        running.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let page = counting.wait_for_total(clients * EACH);
    for identity in ["verified", "spoofed", "none"] {
        let each = (clients * EACH / 3) as f64;
        assert_eq!(page.sum(REQUESTS, &[("identity", identity)]), Some(each), "{page:#?}");
    }
    assert!(!workers.is_empty());
}

#[test]
fn both_workers_add_up() {
    let counting = Counting::start(lab(), "");
    let mut seen = BTreeSet::new();
    let mut sent = 0;
    wait_for("an answer of each worker", || {
        sent += 1;
        seen.insert(counting.worker().as_raw_nonzero());
        (seen.len() == 2).then_some(())
    });
    counting.wait_for_total(sent);
}

#[test]
fn counts_outlive_reloads() {
    let counting = Counting::start(lab(), "");
    let reloads = |result| move |page: &Exposition| page.sum(RELOADS, &[("result", result)]);
    let (good, bad) = (reloads("success"), reloads("failure"));
    let first = counting.page();
    assert_eq!((good(&first), bad(&first)), (Some(0.0), Some(0.0)), "the start is not a reload");
    let loaded = |page: &Exposition| page.sum("crawlpike_ruleset_loaded_timestamp_seconds", &[]).unwrap();
    assert!(loaded(&first) > 1.7e9);

    let mut sent = 0;
    for round in 1..=5 {
        for _ in 0..20 {
            ask(counting.port, &spoofed("/"));
        }
        sent += 20;
        counting.wait_for_total(sent);
        // Another order of agents, so that a number means another one.
        let mut document: Value = serde_json::from_str(DOCUMENT).unwrap();
        document["agents"].as_array_mut().unwrap().rotate_left(round % 2);
        counting.nginx.folder().write("crawlpike.json", document.to_string());
        counting.nginx.reload();
        let page = wait_for("a reload that is counted", || {
            let page = counting.page();
            (good(&page) == Some(round as f64)).then_some(page)
        });
        assert!(loaded(&page) >= loaded(&first));
    }
    counting.nginx.folder().write("crawlpike.json", r#"{ "mood": "enforce" }"#);
    counting.nginx.reload();
    wait_for("a refusal that is counted", || (bad(&counting.page()) == Some(1.0)).then_some(()));
    // An invalid document is not a ruleset.
    counting.nginx.folder().write("crawlpike.json", DOCUMENT);
    counting.nginx.rewrite(&format!("{HTTP} no_such_directive;"));
    counting.nginx.reload();
    counting.nginx.wait_for_line("error.log", r#"unknown directive "no_such_directive""#);
    assert_eq!(bad(&counting.page()), Some(1.0));
    let page = counting.wait_for_total(sent);
    assert_eq!(good(&page), Some(5.0));
    assert_eq!(page.sum(REQUESTS, &[("agent", "LabBot")]), Some(f64::from(100)), "{page:#?}");
}

#[test]
fn counts_outlive_killed_workers() {
    let counting = Counting::start(lab(), "");
    let mut sent = 0;
    for round in 1..=5 {
        let victim = counting.worker();
        sent += 1;
        counting.wait_for_total(sent);
        kill_process(victim, Signal::KILL).unwrap();
        let exited = format!("worker process {} exited on signal 9", victim.as_raw_nonzero());
        counting.nginx.wait_for_line("error.log", &exited);
        for _ in 0..20 {
            ask(counting.port, &spoofed("/"));
        }
        sent += 20;
        let page = counting.wait_for_total(sent);
        assert_eq!(page.sum(REQUESTS, &[("identity", "spoofed")]), Some(f64::from(20 * round)));
    }
}

#[test]
fn clients_can_not_make_series() {
    let counting = Counting::start(lab(), "");
    let mut connection = Connection::open(local(counting.port)).unwrap();
    const MADE_UP: usize = 1500;
    for number in 0..MADE_UP {
        let (host, target) = (format!("host-{number}.test"), format!("/path/{number}?{number}"));
        let agent = match number % 3 {
            0 => format!("Bot{number}/1.0 (+https://bot-{number}.test/)"),
            1 => format!("{FIREFOX} {number}"),
            _ => format!("LabBot/{number}"),
        };
        let request = Request::new("GET", &target, &host).agent(agent);
        let request = request.header("Automation-Purpose", format!("purpose-{number}"));
        let address = format!("198.18.{}.{}", number / 256, number % 256);
        // nginx closes a connection after a thousand requests.
        let answer = connection.send(&from(&address, request.clone())).or_else(|_| {
            connection = Connection::open(local(counting.port))?;
            connection.send(&from(&address, request))
        });
        assert!(answer.is_ok(), "{answer:?}");
    }
    let page = counting.wait_for_total(MADE_UP);
    assert_eq!(page.of(REQUESTS).len(), 3, "{page:#?}");
}

#[test]
fn the_page_tells_feeds_and_state_in_both_forms() {
    let folder = lab();
    let mut document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let feeds = document["feeds"].as_array_mut().unwrap();
    feeds.push(json!({ "name": "lost \"one\"", "format": "cidr", "source": "none.txt" }));
    folder.write("crawlpike.json", document.to_string());
    let counting = Counting::start(folder, "");
    let page = counting.page();
    let metrics = [
        "crawlpike_document_bytes_total",
        "crawlpike_document_microseconds_total",
        "crawlpike_documents_total",
        "crawlpike_doubts_total",
        "crawlpike_errors_total",
        "crawlpike_feed_age_seconds",
        "crawlpike_feed_prefixes",
        "crawlpike_feed_state",
        "crawlpike_name_lookups_total",
        RELOADS,
        REQUESTS,
        "crawlpike_ruleset_loaded_timestamp_seconds",
        "crawlpike_signatures_total",
    ];
    assert!(page.types().keys().map(String::as_str).eq(metrics), "{page:#?}");
    assert_eq!(page.sum("crawlpike_feed_prefixes", &[("feed", "lab")]), Some(2.0));
    assert_eq!(page.sum("crawlpike_feed_prefixes", &[("feed", "lost \"one\"")]), Some(0.0));
    assert!(page.sum("crawlpike_feed_age_seconds", &[("feed", "lab")]).is_some_and(|age| age < 3600.0));
    assert_eq!(page.of("crawlpike_feed_age_seconds").len(), 1, "what was never loaded has no age");
    for (feed, state, value) in [
        ("lab", "ok", 1.0),
        ("lab", "missing", 0.0),
        ("lost \"one\"", "ok", 0.0),
        ("lost \"one\"", "missing", 1.0),
    ] {
        let labels = [("feed", feed), ("state", state)];
        assert_eq!(page.sum("crawlpike_feed_state", &labels), Some(value), "{labels:?}");
    }
    assert_eq!(page.sum("crawlpike_errors_total", &[]), Some(0.0));

    let asked = |accept: &str| ask(counting.status, &Request::get("/").header("Accept", accept));
    let response = asked("application/json");
    assert_eq!(response.header("content-type"), Some("application/json"));
    let json: Value = serde_json::from_str(&response.text()).unwrap();
    assert!(metrics.iter().all(|metric| !json[metric].is_null()), "{json:#}");
    assert_eq!(json["mode"], "enforce");
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let lab = &json["feeds"][0];
    assert_eq!((&lab["name"], &lab["state"], &lab["prefixes"]), (&json!("lab"), &json!("ok"), &json!(2)));
    let lost = &json["feeds"][1];
    assert_eq!(
        (&lost["state"], &lost["prefixes"], &lost["age"]),
        (&json!("missing"), &json!(0), &Value::Null)
    );
    assert!(lost["why"].as_str().unwrap().contains("none.txt"));
    for accept in ["*/*", "text/plain", "text/html", "application/json;q=0.1, text/plain"] {
        let content_type = asked(accept).header("content-type").map(str::to_owned);
        assert_eq!(content_type.as_deref(), Some("text/plain; version=0.0.4; charset=utf-8"), "{accept}");
    }
}

#[test]
fn the_page_is_for_get_and_head_and_for_no_cache() {
    let counting = Counting::start(lab(), "");
    let ask_by = |method| {
        let mut connection = Connection::open(local(counting.status)).unwrap();
        connection.send(&Request::new(method, "/", "example.com").agent("curl/8")).unwrap()
    };
    let check = |response: &Response| {
        assert_eq!(response.status, 200);
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("vary"), Some("Accept"));
    };
    let (get, head) = (ask_by("GET"), ask_by("HEAD"));
    check(&get);
    check(&head);
    assert_eq!(get.header("content-length"), head.header("content-length"));
    assert!(head.text().is_empty() && !get.text().is_empty());
    for method in ["POST", "DELETE", "OPTIONS"] {
        let response = ask_by(method);
        assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
}

#[test]
fn who_reads_the_measures_is_no_visitor_unless_the_location_says_so() {
    let (folder, port) = (lab_with_robots("User-agent: *\nDisallow: /\n"), free_port());
    let http = format!(
        "{HTTP}
        crawlpike enforce;
        server {{
            listen 127.0.0.1:{port};
            location = /status {{ crawlpike_status; }}
            location = /guarded {{ crawlpike_status; crawlpike enforce; }}
        }}"
    );
    let _nginx = Nginx::start(folder, &http);
    let by = |target| ask(port, &Request::get(target).agent("Prometheus/2.48.1"));
    assert_eq!(by("/guarded").status, 403);
    let page = wait_for("the denial that is counted", || {
        let page = Exposition::parse(&by("/status").text());
        page.sum(REQUESTS, &[("action", "deny")]).map(|_| page)
    });
    assert_eq!(page.sum(REQUESTS, &[]), Some(1.0), "the readers of /status are not counted: {page:#?}");
}

#[test]
fn a_page_without_anything_to_show_is_a_mistake() {
    let (folder, port) = (lab(), free_port());
    let without = format!("server {{ listen 127.0.0.1:{port}; location / {{ crawlpike_status; }} }}");
    let output = Nginx::check(&folder, &without);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("\"crawlpike_status\" directive has no effect without \"crawlpike_config\""),
        "{said}"
    );
    let _nginx = Nginx::start(lab(), &without);
    assert_eq!(ask(port, &Request::get("/")).status, 404);
    // The document may come after it.
    let later = format!("server {{ listen 127.0.0.1:1; location / {{ crawlpike_status; }} }} {HTTP}");
    assert!(Nginx::check(&folder, &later).status.success());
    let twice = format!("{HTTP} server {{ listen 127.0.0.1:1; crawlpike_status; }}");
    let said = String::from_utf8_lossy(&Nginx::check(&folder, &twice).stderr).into_owned();
    assert!(said.contains("\"crawlpike_status\" directive is not allowed here"), "{said}");
}
