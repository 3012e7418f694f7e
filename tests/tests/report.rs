//! `crawlpike report` on a log that is drawn from a seed: its numbers are exactly those that were drawn, and its page
//! shows them in a real browser.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;

use crawlpike_tests::access_log::{Expected, of_report, write_configuration, write_log};
use crawlpike_tests::artefacts;
use crawlpike_tests::http::{Connection, Request};
use crawlpike_tests::nginx::{Folder, Nginx, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::wait_for;
use serde_json::Value;

/// A folder with a configuration and a log, and what a report must say of it.
struct Scene {
    folder: Folder,
    config: PathBuf,
    log: PathBuf,
    expected: Expected,
}

impl Scene {
    fn new(lines: u64) -> Self {
        let folder = Folder::new();
        let config = write_configuration(folder.path()).unwrap();
        let log = folder.path().join("access.log");
        let expected = write_log(lines, 17, &mut BufWriter::new(File::create(&log).unwrap())).unwrap();
        Self { folder, config, log, expected }
    }

    fn report(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(artefacts::cli());
        command.arg("report").arg("--config").arg(&self.config).args(arguments).arg(&self.log);
        let output = command.current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }
}

#[test]
fn every_number_of_a_report_is_the_one_that_was_drawn() {
    let scene = Scene::new(200_000);
    for threads in ["1", "3"] {
        let report: Value =
            serde_json::from_slice(&scene.report(&["--json", "--threads", threads]).stdout).unwrap();
        let found = of_report(&report);
        assert_eq!(found, scene.expected, "{threads} threads");
        assert_eq!(report["total"]["requests"], scene.expected.requests());
    }
    assert!(scene.expected.outcomes.len() > 20, "{:?}", scene.expected.outcomes);
}

/// The file has all: a browser that renders it asks nobody for anything, and has nothing to complain about.
#[test]
fn the_page_renders_in_a_browser_and_loads_nothing() {
    let scene = Scene::new(20_000);
    scene.report(&["--html", "report.html", "--limit", "key=network rate=2r/m burst=3"]);
    let folder = scene.folder.path();
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for forbidden in
        ["<script", "src=", "href=", "url(", "@import", "<link", "<iframe", "javascript:", "\u{1b}"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("EvilBot"), "the client that forges markup is in the report");
    // Each plot has a name and a description, and a table with its numbers.
    let of = |text: &str| page.matches(text).count();
    assert!(of("<svg") >= 4, "{}", of("<svg"));
    assert_eq!(of("<svg"), of("role=\"img\" aria-labelledby"));
    assert_eq!(of("<svg"), of("<desc"));
    assert!(of("<table aria-label") > of("<svg"));

    let Some(browser) = artefacts::browser() else { return };
    let run = |page: &str, arguments: &[&str]| {
        let output = Command::new(&browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            // The browser looks for updates of itself. It finds no host.
            .args([
                "--disable-background-networking",
                "--no-first-run",
                "--host-resolver-rules=MAP * ~NOTFOUND",
            ])
            .args(["--enable-logging=stderr", "--window-size=1200,3000"])
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .args(arguments)
            .arg(format!("file://{}", folder.join(page).display()))
            .env("HOME", folder)
            .current_dir(folder)
            .output()
            .unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{stderr}");
        (stdout, stderr)
    };
    // The browser writes the errors of a page, and the actions that it blocks, to the console.
    let complaint = |log: &str| log.lines().find(|line| line.contains("CONSOLE")).map(String::from);
    let policy = page.split("<meta ").find(|tag| tag.contains("Content-Security-Policy")).unwrap();
    let policy = policy.split_inclusive('>').next().unwrap();
    for fault in ["<script>alert(1)</script>", "<img src=http://127.0.0.1:9/x.png>"] {
        scene.folder.write("faulty.html", format!("<!DOCTYPE html><meta {policy}<title>x</title>{fault}"));
        let (_, log) = run("faulty.html", &["--dump-dom"]);
        assert!(
            complaint(&log).is_some_and(|line| line.contains("Content Security Policy")),
            "{fault}: {log}"
        );
    }
    let (document, log) = run("report.html", &["--dump-dom"]);
    assert_eq!(complaint(&log), None);
    for rendered in ["<svg", "What Crawlpike would have done", "EvilBot", "<h2>Limits</h2>", "</html>"] {
        assert!(document.contains(rendered), "{rendered}");
    }
    assert!(!document.contains("<script"), "a log became markup");
    let pictures = [("1", "light.png"), ("0", "dark.png")].map(|(scheme, picture)| {
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        run("report.html", &[&format!("--screenshot={picture}"), &scheme]);
        fs::read(folder.join(picture)).unwrap()
    });
    assert!(pictures.iter().all(|picture| picture.starts_with(b"\x89PNG") && picture.len() > 50_000));
    assert_ne!(pictures[0], pictures[1]);
}

/// Requests from 200 networks through nginx's own `limit_req`, and then its log through the report's.
#[test]
fn a_replayed_limit_refuses_what_nginx_refuses() {
    const REQUESTS: u64 = 100_000;
    const CLIENTS: u64 = 8;
    let (folder, port) = (Folder::new(), free_port());
    folder.write("www/page", "a page");
    folder.write("crawlpike.json", r#"{ "catalog": "none" }"#);
    let nginx = Nginx::without_module(
        folder,
        &format!(
            r#"set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;
            map $remote_addr $network {{ "~^(?<first>[0-9]+\.[0-9]+\.[0-9]+)\." $first; }}
            limit_req_zone $network zone=crowd:10m rate=30r/s;
            limit_req_status 429;
            limit_req_log_level info;
            log_format replay '$remote_addr [$msec] "$request" $status "$http_user_agent"';
            server {{
                listen 127.0.0.1:{port};
                root www;
                keepalive_requests 1000000;
                access_log access.log replay;
                limit_req zone=crowd burst=20 nodelay;
            }}"#
        ),
    );
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(client);
                let mut connection = Connection::open(local(port)).unwrap();
                for _ in 0..REQUESTS / CLIENTS {
                    // Some networks send more than others.
                    let network = random.u8(..200).min(random.u8(..200));
                    let address = format!("198.18.{network}.{}", random.u8(..));
                    let request = Request::get("/page").agent("Mozilla/5.0 Firefox/128.0");
                    connection.send(&request.header("X-Forwarded-For", address)).unwrap();
                }
            });
        }
    });
    let folder = nginx.folder();
    wait_for("the log of all requests", || {
        (folder.lines("access.log").len() as u64 == REQUESTS).then_some(())
    });
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    for line in folder.lines("access.log").iter().filter(|line| line.contains("\" 429 \"")) {
        let address = line.split(' ').next().unwrap();
        *refused.entry(format!("{}.0/24", address.rsplit_once('.').unwrap().0)).or_default() += 1;
    }
    let all: u64 = refused.values().sum();
    let output = Command::new(artefacts::cli())
        .args([
            "report",
            "--config",
            "crawlpike.json",
            "--json",
            "--limit",
            "key=network rate=30r/s burst=20",
        ])
        .args([
            "--log-format",
            "$remote_addr [$msec] \"$request\" $status \"$http_user_agent\"",
            "access.log",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let limit = &report["limits"]["limits"][0];
    let replayed = limit["refused"].as_u64().unwrap();
    eprintln!("nginx refuses {all} of {REQUESTS} requests, the replay {replayed}");
    assert_eq!(limit["requests"], REQUESTS);
    assert!((REQUESTS / 20..REQUESTS * 19 / 20).contains(&all), "{all}");
    assert!(replayed.abs_diff(all) * 100 <= all, "{replayed} {all}");
    for item in limit["networks"]["items"].as_array().unwrap() {
        let (network, replayed) = (item["value"].as_str().unwrap(), item["requests"].as_u64().unwrap());
        assert!(replayed.abs_diff(refused[network]) * 50 <= refused[network], "{item} {}", refused[network]);
    }
}

/// The queries of `examples/report`, in the engines that they are written for.
#[test]
fn the_events_can_be_queried_in_duckdb_and_clickhouse() {
    let scene = Scene::new(50_000);
    let events = scene.report(&["--events", "--anonymize"]).stdout;
    assert_eq!(events.iter().filter(|byte| **byte == b'\n').count() as u64, scene.expected.requests());
    scene.folder.write("events.jsonl", events);

    let mut agents: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for (key, (requests, bytes)) in &scene.expected.outcomes {
        let (row, facts) = key.split_once(": ").unwrap();
        let mut facts = facts.split(", ");
        let (identity, action) = (facts.next().unwrap(), facts.next().unwrap());
        if let Some(agent) = row.strip_prefix("agent ") {
            let sums = agents.entry(format!("{agent} {identity}")).or_default();
            let denied = if action == "deny" { *requests } else { 0 };
            *sums = (sums.0 + requests, sums.1 + bytes, sums.2 + denied);
        }
    }
    let Some(python) = artefacts::python_with_engines() else { return };
    let queries = artefacts::repository().join("examples/report");
    for engine in ["duckdb", "clickhouse"] {
        let rows = |query: &str| -> Vec<Value> {
            let output = Command::new(&python)
                .arg(artefacts::repository().join("tests/engines/query.py"))
                .arg(queries.join(format!("{query}.{engine}.sql")))
                .current_dir(scene.folder.path())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let lines = String::from_utf8(output.stdout).unwrap();
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let number = |value: &Value| value.as_u64().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_string();
        let (mut known, mut unknown) = (BTreeMap::new(), BTreeMap::new());
        for row in rows("agents") {
            let [requests, bytes, denied] = ["requests", "bytes_sent", "denied"].map(|key| number(&row[key]));
            let (agent, identity) = (text(&row["name"]), text(&row["identity"]));
            if identity == "generic" {
                unknown.insert(agent, (requests, bytes));
            } else {
                known.insert(format!("{agent} {identity}"), (requests, bytes, denied));
            }
        }
        assert_eq!(known, agents, "{engine}");
        assert_eq!(unknown, scene.expected.unknown, "{engine}");
        let impostors = rows("impostors");
        let impostors = impostors.iter().map(|row| {
            (format!("{} {}", text(&row["network"]), text(&row["agent"])), number(&row["requests"]))
        });
        assert_eq!(impostors.collect::<BTreeMap<_, _>>(), scene.expected.impostors, "{engine}");
    }
}
