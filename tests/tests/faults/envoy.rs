//! The native module in Envoy.

use std::cell::Cell;
use std::process::Output;
use std::thread;
use std::time::Duration;

use crawlpike_tests::envoy::{Envoy, Filter, Listener, bootstrap, command, configuration};
use crawlpike_tests::faults::Faults;
use crawlpike_tests::http::{Request, send_bytes};
use crawlpike_tests::lab::{lab_with_sites, spoofed, verified};
use crawlpike_tests::nginx::{Folder, ask, local};
use crawlpike_tests::page_origin;
use crawlpike_tests::ports::free_port;
use crawlpike_tests::process::{PATIENCE, ask_within, wait_for};

use crate::{Excused, each_fault, errors, judge_response};

/// All that a configuration can have.
const SITE: &str = r#"{ "robots_txt": "robots.txt", "robots_tag": [ { "scope": "/", "rules": "noindex=" } ],
    "filter_state": ["action"], "aiwebindex": { "document": { "md_paths": true } } }"#;

/// The counter of errors.
pub(crate) const ERRORS: &str = "crawlpike_errors_total";

/// Envoy answers 500 if it gets no object for a stream.
const NO_STREAM: Excused = Excused { functions: &[], panics: 1 };

struct Lab {
    envoy: Envoy,
    faults: Faults,
    port: u16,
}

pub(crate) fn folder() -> Folder {
    let folder = lab_with_sites(SITE);
    folder.write("robots.txt", "User-agent: FreeBot\nDisallow: /private/\n");
    folder
}

fn listener(folder: &Folder, port: u16) -> serde_json::Value {
    let filter = Filter::Native.with(folder, &folder.path().join("crawlpike.json"));
    configuration(folder, &Listener { port, filter, access_log: "access.log".into() })
}

/// Says what is wrong with a server that has to decide as before.
pub(crate) fn judge_both(port: u16) -> Result<(), String> {
    let statuses = [spoofed("/page"), verified("/page")].map(|request| ask(port, &request).status);
    if statuses == [403, 200] { Ok(()) } else { Err(format!("then {statuses:?}")) }
}

/// The bodies of the page as it is, and of its document, as they are sent.
pub(crate) fn page_and_document(port: u16) -> (String, String) {
    let [page, document] = ["text/html", "text/markdown"].map(|accept| {
        let bytes = verified("/page").header("Accept", accept).header("Connection", "close").bytes();
        let answer = send_bytes(local(port), &bytes).expect("an answer");
        answer.split_once("\r\n\r\n").expect("a head").1.to_owned()
    });
    assert!(page != document, "{document}");
    (page, document)
}

impl Lab {
    fn start() -> Self {
        let (folder, port) = (folder(), free_port());
        let (faults, under) = (Faults::new(folder.path()), Faults::under(folder.path()));
        let bootstrap = bootstrap(&[listener(&folder, port)], page_origin::start());
        let under: Vec<&str> = under.iter().map(String::as_str).collect();
        // One worker, so that the same calls come in the same order.
        Self { envoy: Envoy::boot(folder, bootstrap, 1, &under), faults, port }
    }

    /// Makes a request while something may fail. `is_good` judges its status and body.
    fn each_fault_in(
        &self,
        situation: &str,
        request: &Request,
        excused: Excused,
        is_good: impl Fn(u16, &str) -> bool,
    ) {
        let bytes = request.clone().header("Connection", "close").bytes();
        let run = || send_bytes(local(self.port), &bytes);
        let before = self.envoy.sum(ERRORS);
        let failed = each_fault(&self.faults, situation, excused, run, |_, answer| {
            judge_response(answer, &is_good).and_then(|()| judge_both(self.port))
        });
        // A request without an address has none.
        let all = before + errors(&failed, &["http_filter_get_attribute_string"]);
        wait_for("all errors", || (self.envoy.sum(ERRORS) == all).then_some(()));
    }
}

#[test]
fn envoy_starts_or_says_why_not() {
    let (folder, port) = (folder(), free_port());
    let (faults, under) = (Faults::new(folder.path()), Faults::under(folder.path()));
    let under: Vec<&str> = under.iter().map(String::as_str).collect();
    folder.write("envoy.json", bootstrap(&[listener(&folder, port)], port).to_string());
    let run = || -> Output {
        let mut command = command(&under, &folder.path().join("envoy.json"));
        command.args(["--disable-hot-restart", "--mode", "validate"]).output().expect("Envoy can be started")
    };
    each_fault(&faults, "envoy, load", Excused::default(), run, |_, output| match output.status.code() {
        Some(0 | 1) => Ok(()),
        code => Err(format!("{code:?}: {}", String::from_utf8_lossy(&output.stderr))),
    });
}

#[test]
fn envoy_lets_a_request_pass() {
    let lab = Lab::start();
    lab.each_fault_in("envoy, request", &verified("/page"), NO_STREAM, |status, _| status == 200);
    lab.each_fault_in("envoy, denied request", &spoofed("/page"), NO_STREAM, |status, _| {
        [200, 403].contains(&status)
    });
}

#[test]
fn envoy_sends_the_page_or_its_document() {
    let lab = Lab::start();
    let (whole, document) = page_and_document(lab.port);
    lab.each_fault_in(
        "envoy, document",
        &verified("/page").header("Accept", "text/markdown"),
        Excused { functions: &["http_append_body"], panics: 2 },
        |status, body| status == 200 && (body == whole || body == document),
    );
}

#[test]
fn envoy_keeps_the_ruleset_where_a_reload_fails_and_then_takes_the_new_one() {
    let lab = Lab::start();
    let logged = |text: &str| lab.envoy.folder().read("envoy.log").matches(text).count();
    let in_force = || logged("in force after changes in");
    let ended = || [in_force(), logged("keeping the current ruleset"), logged("internal error")];
    let mut version = 0_u32;
    let run = || {
        version += 1;
        let before = ended();
        lab.envoy
            .folder()
            .write("robots.txt", format!("User-agent: FreeBot\nDisallow: /private-{version}/\n"));
        // A look that fails says nothing.
        let _ = ask_within(Duration::from_secs(3), || (ended() != before).then_some(()));
        (version, before[0])
    };
    each_fault(&lab.faults, "envoy, reload", Excused::default(), run, |_, (version, before)| {
        let forbidden = Request::get(&format!("/private-{version}/page")).agent("FreeBot/1.0");
        // Its line in the log comes a moment later, and must not end the next run.
        let is_in_force = || ask(lab.port, &forbidden).status == 403 && in_force() > before;
        ask_within(PATIENCE, || is_in_force().then_some(())).ok_or("the new ruleset does not come")?;
        judge_both(lab.port)
    });
}

/// A number that Envoy refuses comes later, and none comes twice.
#[test]
fn envoy_counts_each_request_once() {
    let lab = Lab::start();
    let asked = Cell::new(0);
    let run = || {
        let status = ask(lab.port, &verified("/page")).status;
        asked.set(asked.get() + 1);
        // The clock has published what it could.
        thread::sleep(Duration::from_millis(1500));
        status
    };
    each_fault(&lab.faults, "envoy, metrics", NO_STREAM, run, |_, status| {
        if status == 200 { Ok(()) } else { Err(status.to_string()) }
    });
    // Two panics and a refusal of the headers come before a decision.
    let decided = asked.get() - 3;
    wait_for("all requests", || (lab.envoy.sum("crawlpike_requests_total") >= decided).then_some(()));
    thread::sleep(Duration::from_secs(2));
    assert_eq!(lab.envoy.sum("crawlpike_requests_total"), decided);
}
