//! The native module in Envoy.

use std::process::Output;

use crawlpike_tests::envoy::{Envoy, Filter, Listener, bootstrap, command, configuration};
use crawlpike_tests::faults::Faults;
use crawlpike_tests::http::{Request, send_bytes};
use crawlpike_tests::lab::{lab_with_sites, spoofed, verified};
use crawlpike_tests::nginx::{Folder, ask, local};
use crawlpike_tests::page_origin;
use crawlpike_tests::ports::free_port;

use crate::{Excused, each_fault, judge_response};

/// All that a configuration can have.
const SITE: &str = r#"{ "robots_txt": "robots.txt", "robots_tag": [ { "scope": "/", "rules": "noindex=" } ],
    "filter_state": ["action"], "aiwebindex": { "document": { "md_paths": true } } }"#;

/// Envoy answers 500 if it gets no object for a stream.
const NO_STREAM: Excused = Excused { functions: &[], panics: 1 };

struct Lab {
    _envoy: Envoy,
    faults: Faults,
    port: u16,
}

fn folder() -> Folder {
    let folder = lab_with_sites(SITE);
    folder.write("robots.txt", "User-agent: FreeBot\nDisallow: /private/\n");
    folder
}

fn listener(folder: &Folder, port: u16) -> serde_json::Value {
    let filter = Filter::Native.with(folder, &folder.path().join("crawlpike.json"));
    configuration(folder, &Listener { port, filter, access_log: "access.log".into() })
}

impl Lab {
    fn start() -> Self {
        let (folder, port) = (folder(), free_port());
        let (faults, under) = (Faults::new(folder.path()), Faults::under(folder.path()));
        let bootstrap = bootstrap(&[listener(&folder, port)], page_origin::start());
        let under: Vec<&str> = under.iter().map(String::as_str).collect();
        // One worker, so that the same calls come in the same order.
        Self { _envoy: Envoy::boot(folder, bootstrap, 1, &under), faults, port }
    }

    /// Says what is wrong with a server that has to decide as before.
    fn check(&self) -> Result<(), String> {
        let statuses = [spoofed("/page"), verified("/page")].map(|request| ask(self.port, &request).status);
        if statuses == [403, 200] { Ok(()) } else { Err(format!("then {statuses:?}")) }
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
        each_fault(&self.faults, situation, excused, run, |_, answer| {
            judge_response(answer, &is_good).and_then(|()| self.check())
        });
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
    let body = |accept: &str| {
        let bytes = verified("/page").header("Accept", accept).header("Connection", "close").bytes();
        let answer = send_bytes(local(lab.port), &bytes).expect("an answer");
        answer.split_once("\r\n\r\n").expect("a head").1.to_owned()
    };
    let (whole, document) = (body("text/html"), body("text/markdown"));
    assert!(whole != document, "{document}");
    lab.each_fault_in(
        "envoy, document",
        &verified("/page").header("Accept", "text/markdown"),
        Excused { functions: &["http_append_body"], panics: 2 },
        |status, body| status == 200 && (body == whole || body == document),
    );
}
