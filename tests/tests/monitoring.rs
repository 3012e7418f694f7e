//! `make test-monitoring`: the dashboard and the alerts in `examples/monitoring`, in a real Prometheus that scrapes all gates.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use crawlpike_tests::artefacts;
use crawlpike_tests::envoy::{Filter, Gate, RESOURCE, write_resource_with};
use crawlpike_tests::http::{self, Request};
use crawlpike_tests::lab::{HTTP, lab_with_sites, person, spoofed, verified};
use crawlpike_tests::nginx::{Folder, Nginx, ask, local};
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{Server, wait_for};
use serde_json::Value;

const JOBS: [&str; 3] = ["crawlpike-nginx", "crawlpike-envoy", "crawlpike-wasm"];

fn example(file: &str) -> String {
    artefacts::repository().join("examples/monitoring").join(file).display().to_string()
}

fn promtool(arguments: &[&str]) -> Output {
    Command::new("promtool").args(arguments).output().expect("`.ci/setup monitoring` installs promtool")
}

#[test]
fn each_alert_fires_and_ends() {
    let commands = [
        ["check", "rules", &example("alerts.yml")],
        ["check", "config", &example("prometheus.yml")],
        ["test", "rules", &example("alerts.test.yml")],
    ];
    for command in commands {
        let output = promtool(&command);
        let text = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&text));
    }
    // No alert is without a test of both.
    let (rules, tests) = (example("alerts.yml"), example("alerts.test.yml"));
    let (rules, tests) = (fs::read_to_string(rules).unwrap(), fs::read_to_string(tests).unwrap());
    for rule in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(tests.contains(&format!("alertname: {rule}\n")), "no test has {rule} fire");
        assert!(tests.contains(&format!("alertname: {rule}, exp_alerts: []")), "no test has {rule} end");
    }
}

/// A feed of LabBot's, a policy that denies it a folder, and one that only observes.
fn folder() -> Folder {
    let folder = lab_with_sites(
        r#"{ "name": "lab", "robots_txt": "robots.txt", "modes": [ { "scope": "/observed/", "mode": "observe" } ] }"#,
    );
    folder.write("robots.txt", "User-agent: LabBot\nDisallow: /private/\n");
    folder
}

/// The compiled ruleset, which says of a feed that it is held.
fn deliver(folder: &Folder) {
    let written =
        write_resource_with(&folder.path().join("crawlpike.json"), &folder.path().join(RESOURCE), &[]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
}

/// All gates.
struct Gates {
    nginx: Nginx,
    nginx_port: u16,
    nginx_status: u16,
    native: Gate,
    wasm: Gate,
}

impl Gates {
    fn start() -> Self {
        let (nginx_port, nginx_status) = (free_port(), free_port());
        let http = format!(
            "{HTTP}
            server {{ listen 127.0.0.1:{nginx_status}; location / {{ crawlpike_status; }} }}
            server {{ listen 127.0.0.1:{nginx_port}; root .; location / {{ try_files /lab.txt =404; }} }}"
        );
        let nginx = Nginx::start(folder(), &http);
        let native = Gate::start(Filter::Native, folder());
        let folder = folder();
        deliver(&folder);
        Self { nginx, nginx_port, nginx_status, native, wasm: Gate::discover(folder, RESOURCE) }
    }

    /// A request of each kind to each gate.
    fn ask(&self) {
        for port in [self.nginx_port, self.native.port, self.wasm.port] {
            for request in
                [verified("/"), verified("/private/"), spoofed("/"), spoofed("/observed/"), person("/")]
            {
                ask(port, &request);
            }
        }
    }

    /// A new version of the feed that the guard holds; all gates look at it.
    fn hold(&self) {
        for folder in [self.nginx.folder(), self.native.folder(), self.wasm.folder()] {
            folder.write("lab.txt", "0.0.0.0/0\n");
        }
        self.nginx.reload();
        deliver(self.wasm.folder());
    }
}

/// Prometheus with the alerts, which come at once.
struct Prometheus {
    _server: Server,
    port: u16,
    _folder: Folder,
}

impl Prometheus {
    fn start(gates: &Gates) -> Self {
        let folder = Folder::new();
        let rules = fs::read_to_string(example("alerts.yml")).unwrap();
        let at_once = |line: &str| !line.trim_start().starts_with("for: ");
        folder.write("alerts.yml", rules.lines().filter(|line| at_once(line)).collect::<Vec<_>>().join("\n"));
        let targets = [
            (gates.nginx_status, "/"),
            (gates.native.envoy.admin_port(), "/stats/prometheus"),
            (gates.wasm.envoy.admin_port(), "/stats/prometheus"),
        ];
        let mut configuration =
            "global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files: [alerts.yml]\nscrape_configs:\n".to_owned();
        for (job, (port, path)) in JOBS.iter().zip(targets) {
            configuration += &format!(
                "  - {{ job_name: {job}, metrics_path: {path}, static_configs: [{{ targets: ['127.0.0.1:{port}'] }}] }}\n"
            );
        }
        folder.write("prometheus.yml", configuration);
        let (port, log) = (free_port(), folder.path().join("stderr.log"));
        let mut command = Command::new("prometheus");
        command
            .current_dir(folder.path())
            .arg("--config.file=prometheus.yml")
            .arg("--storage.tsdb.path=data");
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let server = Server::start("prometheus", &mut command, &log, &[]);
        Self { _server: server, port, _folder: folder }
    }

    /// The series that an expression gives now.
    fn query(&self, expression: &str) -> Vec<Value> {
        let encoded: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let request = Request::get(&format!("/api/v1/query?query={encoded}"));
        let Ok(response) = http::send(local(self.port), &request) else { return Vec::new() };
        let answer: Value = serde_json::from_slice(&response.body).unwrap_or_default();
        assert_ne!(answer["status"], "error", "{expression}: {answer}");
        answer["data"]["result"].as_array().cloned().unwrap_or_default()
    }

    fn wait_for_jobs(&self, what: &str, expression: &str, jobs: &[&str]) {
        wait_for(what, || {
            let found = self.query(expression);
            let of = |series: &Value| series["metric"]["job"].as_str().map(str::to_owned);
            let found: BTreeSet<String> = found.iter().filter_map(of).collect();
            jobs.iter().all(|job| found.contains(*job)).then_some(())
        });
    }
}

#[test]
fn the_dashboard_and_the_alerts_read_the_pages_of_all_gates() {
    let gates = Gates::start();
    let prometheus = Prometheus::start(&gates);
    let named = "{__name__=~'crawlpike_.*'}";
    for name in [
        "crawlpike_feed_state",
        "crawlpike_feed_prefixes",
        "crawlpike_feed_age_seconds",
        "crawlpike_errors_total",
        "crawlpike_reloads_total",
        "crawlpike_ruleset_loaded_timestamp_seconds",
    ] {
        prometheus.wait_for_jobs(name, name, &JOBS);
    }
    gates.ask();
    prometheus.wait_for_jobs("the requests", "crawlpike_requests_total", &JOBS);
    // A rate needs two values.
    let first = prometheus.query("sum(crawlpike_requests_total)");
    gates.ask();
    wait_for("more requests", || (prometheus.query("sum(crawlpike_requests_total)") != first).then_some(()));

    gates.hold();
    prometheus.wait_for_jobs(
        "held feeds",
        r#"ALERTS{alertname="CrawlpikeFeedNotCurrent",state="held"}"#,
        &JOBS,
    );
    for folder in [gates.nginx.folder(), gates.native.folder()] {
        folder.write("crawlpike.json", "{");
    }
    gates.nginx.reload();
    let failed = r#"ALERTS{alertname="CrawlpikeReloadFailed",alertstate="firing"}"#;
    prometheus.wait_for_jobs("refused reloads", failed, &JOBS[..2]);
    assert!(prometheus.query(r#"ALERTS{alertname=~"CrawlpikeErrors|CrawlpikeGateDown"}"#).is_empty());

    // Each panel shows something.
    let dashboard: Value =
        serde_json::from_str(&fs::read_to_string(example("dashboard.json")).unwrap()).unwrap();
    let mut names = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap();
            let shown =
                expression.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$site", ".*");
            assert!(!shown.contains('$'), "{shown}");
            wait_for(&shown, || (!prometheus.query(&shown).is_empty()).then_some(()));
            let words = expression.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            names.extend(words.filter(|word| word.starts_with("crawlpike_")).map(str::to_owned));
        }
    }
    // Each metric is in a panel.
    let there = prometheus.query(&format!("group by (__name__) ({named})"));
    let there: BTreeSet<String> =
        there.iter().filter_map(|series| series["metric"]["__name__"].as_str().map(str::to_owned)).collect();
    assert_eq!(names, there);
}
